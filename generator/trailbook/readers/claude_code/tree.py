"""Where the person went back and asked something else.

`parentUuid` mixes three things: the true sequence, stubs (each parallel call's result hangs on its own call, hooks and
progress hang beside the next step), and real branches. Walking it from a leaf loses the results of parallel calls, so
the file's order is kept and only one shape counts as a branch (daaain/claude-code-log#97): two prompts of a person with
one parent. The later one is the active path.
"""

from __future__ import annotations

from dataclasses import dataclass

from trailbook.chat import Branch, Place


@dataclass(slots=True)
class Node:
    """One record of the tree."""

    parent: str | None
    place: Place
    prompt: bool = False
    """True for what a person asked in a line of the user role."""


def branches_of(nodes: dict[str, Node]) -> tuple[dict[str, str], dict[str, Branch]]:
    """The abandoned branch of each record that stands in one (record id → branch id), and the branches by id."""
    branches: dict[str, Branch] = {}
    latest: dict[str, str] = {}
    for uuid, node in nodes.items():
        if node.prompt and node.parent is not None:
            abandoned = latest.get(node.parent)
            if abandoned is not None:
                branches[abandoned] = Branch(abandoned, left_at=node.place)
            latest[node.parent] = uuid
    if not branches:
        return {}, {}
    known: dict[str, str | None] = {}
    for uuid in nodes:
        _walk_up(uuid, nodes, branches, known)
    return {uuid: branch for uuid, branch in known.items() if branch is not None}, branches


def _walk_up(uuid: str, nodes: dict[str, Node], branches: dict[str, Branch], known: dict[str, str | None]) -> None:
    """Find the nearest abandoned prompt above a record; all records on the way are known afterwards."""
    path: list[str] = []
    at: str | None = uuid
    branch = None
    while at is not None and at in nodes:
        if at in known:
            branch = known[at]
            break
        path.append(at)
        known[at] = None  # a circle ends here
        if at in branches:
            branch = at
            break
        at = nodes[at].parent
    for step in path:
        known[step] = branch
