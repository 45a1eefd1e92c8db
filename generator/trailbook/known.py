"""What is known of the person whose chats are exported, gathered once, before any of them is read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from trailbook.readers import Found, readers
from trailbook.redaction.context import Context, load_context


def context_of(
    chats: Sequence[Found], *, names: Iterable[str] = (), secret_files: Iterable[Path] = (), number: bool = False
) -> Context:
    """What is to be taken out of chats, from the agents' settings, a `.env` in the working folders, and this computer.

    `chats` are all that were found, so that a narrower choice takes out the same. `names` are further persons' names,
    `secret_files` the person's own lists of secrets, `number` as in `Context`. The context is all that a worker needs:
    none looks for a `.env`, or anything else that is known of the person, on its own machine.
    Raises redaction.context.UnreadableSecrets.
    """
    settings = [reader.PLACES.names() for _name, reader in readers()]
    return load_context(
        names=[*names, *(name for each in settings for name in each.names), *_names_beside(chats)],
        known=[secret for each in settings for secret in each.secrets],
        secret_files=secret_files,
        working_folders=sorted({chat.cwd for chat in chats if chat.cwd}),
        number=number,
    )


def _names_beside(chats: Iterable[Found]) -> list[str]:
    return sorted({name for chat in chats for name in chat.names})
