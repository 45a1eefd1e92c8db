"""Tool names in the alphabet that OpenAI's formats allow, and back again.

A name is changed only where it must be: each character that is not allowed becomes `_xHEX_`, and so does an underscore
that would otherwise be taken for the beginning of one. So two names never become one. Only a name that is then longer
than 64 characters is cut, with a part of its digest; its tool's description says the whole name.
"""

from __future__ import annotations

import re
from hashlib import sha256

from trailbook import json_text

LONGEST = 64
_VALID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_CHANGED = re.compile(r"[^a-zA-Z0-9_-]|_(?=x[0-9A-F]*(?:_|[^a-zA-Z0-9_-]))")
_ESCAPE = re.compile(r"_x([0-9A-F]*)_")


def valid_name(name: str) -> str:
    """A tool's name as `^[a-zA-Z0-9_-]{1,64}$`; most names stay as they are."""
    if not name:
        return "_x_"
    changed = _CHANGED.sub(lambda found: f"_x{ord(found.group()):X}_", name)
    if len(changed) > LONGEST:
        digest = sha256(name.encode("utf-8", "replace")).hexdigest()[:12]
        return f"{changed[: LONGEST - 15].rstrip('_')}_x_{digest}"
    return changed


def whole_name(name: str) -> str:
    """The name as the first line of a description: as it stands, else as JSON spells it."""
    if name.startswith('"') or "\n" in name or name != name.strip():
        return json_text.dump(name).decode("utf-8")
    return name


def true_name(name: str) -> str:
    """The name that `valid_name` was given; a cut one stays as it is."""
    if name == "_x_":
        return ""
    return _ESCAPE.sub(_character, name)


def _character(found: re.Match[str]) -> str:
    point = int(found.group(1) or "0", 16)
    return chr(point) if found.group(1) and point <= 0x10FFFF else found.group()
