"""Reads ATIF documents as Harbor, Pier and the `atif` package do. Runs in the environment `atif`."""

import json
import sys
from pathlib import Path

from atif import Trajectory as Independent
from harbor.models.trajectories import Trajectory as Harbor
from harbor.utils.traces_utils import extract_conversations_from_trajectory, openai_to_sharegpt
from harbor.utils.trajectory_utils import load_model_usage_from_trajectory
from harbor.utils.trajectory_validator import TrajectoryValidator
from pier.models.trajectories import Trajectory as Pier


def problems(path, old):
    """What each reader has against a file that holds one document."""
    found = {}
    validator = TrajectoryValidator()
    if not validator.validate(path):
        found["validator"] = validator.errors
    return found | problems_of_text(path.read_text(encoding="utf-8"), old)


def problems_of_text(text, old):
    found = {}
    models = {"harbor": Harbor, "atif": Independent, **({"pier": Pier} if old else {})}
    for name, model in models.items():
        try:
            model.model_validate_json(text)
        except ValueError as error:
            found[name] = str(error)
    return found


def conversation(path):
    """The longest conversation that Harbor makes of a document for training, as ShareGPT."""
    about = {"agent_name": "a", "model_name": "m", "model_provider": "p", "start_time": "", "task": "t", "episode": ""}
    rows = extract_conversations_from_trajectory(path, {**about, "run_id": "r", "trial_name": "t"})
    return openai_to_sharegpt(rows[-1]["conversations"]) if rows else []


def usage(path):
    """Tokens and money by model, as Harbor adds them up."""
    models = load_model_usage_from_trajectory(path) or {}
    return {name: json.loads(each.model_dump_json()) for name, each in models.items()}


def answer(request):
    path = Path(request["path"])
    kind = request["kind"]
    if kind == "lines":
        return [problems_of_text(line, request["old"]) for line in path.read_text(encoding="utf-8").split("\n") if line]
    return (
        {"conversation": conversation, "usage": usage}[kind](path)
        if kind != "problems"
        else problems(path, request["old"])
    )


print(json.dumps([answer(request) for request in json.load(sys.stdin)]))
