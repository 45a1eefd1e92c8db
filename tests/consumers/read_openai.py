"""Reads OpenAI chats as Mistral's validator for fine-tuning does (V13). Runs in the environment `mistral`."""

import json
import sys
from pathlib import Path

from mistral_common.protocol.instruct.request import ChatCompletionRequest
from mistral_common.protocol.instruct.validator import MistralRequestValidatorV13, ValidationMode

VALIDATOR = MistralRequestValidatorV13(mode=ValidationMode.finetuning)


def problem(line):
    try:
        VALIDATOR.validate_request(ChatCompletionRequest.from_openai(**json.loads(line)))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def problems(path):
    return [said for line in path.read_text(encoding="utf-8").split("\n") if line and (said := problem(line))]


print(json.dumps([problems(Path(path)) for path in json.load(sys.stdin)]))
