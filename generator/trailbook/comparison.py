"""What came of comparing a log with a file that was written of it, and the line that says so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from trailbook.chat import Place

WORDS = {
    "prompt": ("prompt", "prompts"),
    "answer": ("answer", "answers"),
    "thought": ("thought", "thoughts"),
    "call": ("call", "calls"),
    "result": ("result", "results"),
    "image": ("image", "images"),
    "outcome": ("outcome", "outcomes"),
    "token": ("token", "tokens"),
    "subagent": ("subagent", "subagents"),
    "orphan": ("result without a call", "results without a call"),
    "aside": ("piece beside the active path", "pieces beside the active path"),
}
"""What is counted, as one says it of one and of several."""


@dataclass(slots=True)
class Loss:
    """One thing that differs and should not."""

    kind: str
    text: str
    """One sentence: what differs."""
    place: Place | None = None
    """Where it stands in the log, or in the file for what only the file has."""


@dataclass(slots=True)
class Comparison:
    """What came of comparing a log with a file that was written of it."""

    format: str
    expected: Counter[str] = field(default_factory=Counter)
    """What the log has and the format carries, by kind."""
    found: Counter[str] = field(default_factory=Counter)
    """What of it stands in the file, word for word or redacted."""
    redacted: int = 0
    """Pieces that stand in the file with something taken out."""
    shortened: int = 0
    """Bodies of which a page shows a part and counts the rest."""
    not_carried: Counter[str] = field(default_factory=Counter)
    losses: list[Loss] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether nothing is lost but what the format cannot carry."""
        return not self.losses

    def sentence(self) -> str:
        """One line for a person, as `23 of 23 calls, 23 of 23 results, 41,100 tokens; not carried: 4 thoughts`."""
        parts = [f"{self.found[kind]:,} of {_count(self.expected[kind], kind)}" for kind in ("call", "result")]
        if self.found["token"]:
            parts.append(_count(self.found["token"], "token"))
        if self.redacted:
            parts.append(f"{self.redacted:,} redacted")
        if self.shortened:
            parts.append(f"{self.shortened:,} shortened")
        lines = [", ".join(parts)]
        left_out = [_count(self.not_carried[kind], kind) for kind in WORDS if self.not_carried[kind]]
        if left_out:
            lines.append("not carried: " + ", ".join(left_out))
        if self.losses:
            lost = Counter(loss.kind for loss in self.losses)
            lines.append("lost or changed: " + ", ".join(_count(lost[kind], kind) for kind in WORDS if lost[kind]))
        return "; ".join(lines)


def merged(comparisons: Iterable[Comparison], format_name: str) -> Comparison:
    """Several comparisons as one."""
    whole = Comparison(format_name)
    for comparison in comparisons:
        whole.expected += comparison.expected
        whole.found += comparison.found
        whole.not_carried += comparison.not_carried
        whole.redacted += comparison.redacted
        whole.shortened += comparison.shortened
        whole.losses += comparison.losses
    return whole


def _count(number: int, kind: str) -> str:
    return f"{number:,} {WORDS[kind][number != 1]}"
