"""OpenAI chats as Mistral's validator for fine-tuning reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from consumers.asking import ask, written


@pytest.mark.parametrize("images", [False, True], ids=["marks", "images"])
def test_every_chat_is_valid_for_fine_tuning(images: bool, tmp_path: Path) -> None:
    files = written("openai", tmp_path, images=images)
    answers = ask("mistral", "read_openai.py", [str(path) for path in files])
    assert {path.name: said for path, said in zip(files, answers, strict=True) if said} == {}
