"""A session is a tree: the person can go back in place and on from there. What was left is a branch.

The active path leads from the last entry up to the root (format sheet B1). What hangs beside it without a word of the
person or the model (a counter, a note, the result of a parallel call) is no branch: it stands where it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from trailbook.chat import Branch
from trailbook.readers.lines import Problems, Record
from trailbook.readers.values import fields, string


@dataclass(slots=True)
class Standing:
    """Where each entry stands."""

    of_entry: list[str | None] = field(default_factory=list)
    """For each entry the id of its abandoned branch; None on the active path."""
    branches: dict[str, Branch] = field(default_factory=dict)


def standing(entries: list[Record], problems: Problems) -> Standing:
    """Which entries are on the active path and which on a branch that was left."""
    above = _parents(entries, problems)
    found = Standing([None] * len(entries))
    followed: dict[int | None, int] = {}
    done: set[int] = set()
    for leaf in reversed(above):
        if leaf in done:
            continue
        path: list[int] = []
        at: int | None = leaf
        while at is not None and at not in done:
            done.add(at)
            path.append(at)
            at = above[at]
        branch = None if not followed else _branch(path, at, entries, found, followed)
        for index in path:
            found.of_entry[index] = branch
        for below, joint in zip(path, [*path[1:], at], strict=True):
            followed.setdefault(joint, below)
    for index in range(1, len(entries)):
        if index not in above:
            found.of_entry[index] = found.of_entry[index - 1]
    return found


def _branch(
    path: list[int], joint: int | None, entries: list[Record], found: Standing, followed: dict[int | None, int]
) -> str | None:
    """The id of the branch that a path is, which joins another at `joint`; of that other's where it is none itself."""
    if not any(_is_talk(entries[index]) for index in path):
        return found.of_entry[joint] if joint is not None else None
    branch = string(fields(entries[path[-1]].value).get("id")) or ""
    taken = followed.get(joint, joint)
    found.branches[branch] = Branch(branch, left_at=entries[taken].place if taken is not None else None)
    return branch


def _is_talk(entry: Record) -> bool:
    return fields(fields(entry.value).get("message")).get("role") in ("user", "assistant")


def _parents(entries: list[Record], problems: Problems) -> dict[int, int | None]:
    """For each entry with an id of its own its parent, in file order. An entry without one follows the one before it,
    as all did in the first version of the format; so does one whose parent is not there."""
    by_id: dict[str, int] = {}
    for index, entry in enumerate(entries):
        identity = string(fields(entry.value).get("id"))
        if identity is not None:
            by_id.setdefault(identity, index)
    above: dict[int, int | None] = {}
    previous: int | None = None
    for index in by_id.values():
        value = fields(entries[index].value)
        parent = value.get("parentId")
        if parent is None and "parentId" in value:
            above[index] = None
        else:
            above[index] = by_id.get(parent, previous) if isinstance(parent, str) else previous
            if isinstance(parent, str) and parent not in by_id:
                text = "Entries name a parent that is not in the log; they were put behind the entry before them."
                problems.count("missing-parent", text, entries[index].place)
        previous = index
    return above
