"""trailbook: how did the agent get there? Reports, notes and trajectories from the logs that agents leave.

For programs: `survey(paths).chats` are the chats that were found, `context_of(chats)` is what is known of the person,
`Output(context=…)` how a chat is written, and `export_chat(found, format, output)` makes one file of one chat.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in `typing`, which takes longer to load than all else here
if TYPE_CHECKING:
    from typing import Any

    from trailbook.bundling import Exported, export_chat
    from trailbook.formats import Output
    from trailbook.known import context_of
    from trailbook.readers import Found
    from trailbook.redaction.context import Context
    from trailbook.stores import survey

__version__ = "0.1.0"
__all__ = ["Context", "Exported", "Found", "Output", "context_of", "export_chat", "survey"]

_MODULES = {
    "Context": "redaction.context",
    "Exported": "bundling",
    "Found": "readers",
    "Output": "formats",
    "context_of": "known",
    "export_chat": "bundling",
    "survey": "stores",
}


def __getattr__(name: str) -> Any:
    """What is public, loaded when it is first asked for."""
    if name not in _MODULES:
        raise AttributeError(f"trailbook has no {name}")
    from importlib import import_module

    return getattr(import_module(f"trailbook.{_MODULES[name]}"), name)
