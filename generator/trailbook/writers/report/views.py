"""What a report's templates are given: plain values, in which only `Markup` is HTML."""

from __future__ import annotations

from dataclasses import dataclass, field

from markupsafe import Markup

NOTHING = Markup()


@dataclass(slots=True)
class Section:
    """One piece of a step: its words, what it asked for, what came back, what it changed."""

    kind: str
    """`words` (prose), `terminal`, `code`, `diff`, `text`, `numbered`, `facts`, `checklist`, `links`,
    `questions`, `files`, `chat` or `pictures`."""
    label: str
    """`What came back`; empty where the step's words speak for themselves."""
    head: Markup = NOTHING
    left_out: str = ""
    """What stands between head and tail, counted in words."""
    tail: Markup = NOTHING
    folded: bool = False
    note: str = ""
    """Beside the label: `exit status 1`, `212 lines`."""


@dataclass(slots=True)
class Fact:
    name: str
    value: str | Markup
    note: str = ""
    """What is said beside the value, smaller."""


@dataclass(slots=True)
class StepView:
    number: int
    kind: str
    """One of the timeline's kinds."""
    colour: str
    """`you`, `think`, `say`, `tool`, `edit`, `wait` or `fail`."""
    word: str
    """What a step of this kind is called."""
    title: str
    """One line, for the list."""
    heading: str
    """What stands above the details: the title, or who speaks where the words follow."""
    took: str
    status: str
    """`done`, `failed`, `declined`, `waiting` or empty."""
    tally: str
    coarse: int
    fine: int
    """Where the step stands on the axis, in fortieths and, beyond them, thousandths."""
    gap: str
    """The pause before the step that the axis folds, in words."""
    facts: list[Fact] = field(default_factory=list)
    """What to know before the rest: its short arguments, a wait, what a problem cost."""
    about: list[Fact] = field(default_factory=list)
    """Where and when it was, and by what: for who wants to look it up."""
    sections: list[Section] = field(default_factory=list)
    data: list[tuple[str, str]] = field(default_factory=list)
    """What a counter of the page reads: names and values of `data-` attributes."""
    mark: str = ""
    """A word for how it ended, where it did not end well."""
    subtitle: str = ""
    outcome: str = ""
    """What came of it in a word or two, beside the title in the list."""
    speaks: bool = False
    """Whether the title is the beginning of words that the details have whole."""


@dataclass(slots=True)
class Neighbours:
    """Where the buttons of a step lead; an address of another part, a number in this one, or nothing."""

    before: int | str | None
    after: int | str | None


@dataclass(slots=True)
class Mark:
    """The marks of one colour in one lane, as one path."""

    colour: str
    path: str


@dataclass(slots=True)
class Cell:
    """A stretch of the axis that leads to its nearest step."""

    step: int
    address: str | None
    """The other part's page and step, where it is not on this page."""
    title: str


@dataclass(slots=True)
class Track:
    """The time axis of the whole run."""

    label: str
    marks: list[Mark]
    breaks: list[str]
    """Where time was folded, in per cent."""
    ticks: list[tuple[str, str, str]]
    """Per cent, anchor and words."""
    cells: list[Cell] = field(default_factory=list)
