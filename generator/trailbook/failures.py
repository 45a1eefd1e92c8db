"""How a run ends: its exit statuses, and the one exception that carries a sentence for a person and a status."""

from __future__ import annotations

DONE = 0
NOTHING = 1
"""Nothing was recognised, or nothing was written."""
USAGE = 2
NOT_CONFIRMED = 3
NOT_VERIFIED = 4
"""A secret was still in what would have been written."""
WORK_LOST = 5
"""A written file lacks something that the log has and the format carries."""
SOME_FAILED = 6
"""Some chats failed, or a file could not be read; the others are written."""
INTERRUPTED = 130


class Stopped(Exception):
    """Why a run cannot go on: one sentence (what happened, to which file, what to do) and the exit status."""

    def __init__(self, sentence: str, status: int = NOTHING) -> None:
        super().__init__(sentence, status)
        self.sentence = sentence
        self.status = status

    def __str__(self) -> str:
        return self.sentence
