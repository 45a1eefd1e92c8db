"""Records that a resumed chat copied from earlier files (anthropics/claude-code#92089, ccusage/ccusage#950)."""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

from trailbook import json_text
from trailbook.readers.claude_code.transcript import payload
from trailbook.readers.lines import Problems, read_records
from trailbook.readers.values import Fields


def identity(record: Fields) -> bytes:
    """What makes two records the same one wherever they stand: their id and what they say."""
    return blake2b(json_text.canonical([record.get("uuid"), payload(record)]), digest_size=16).digest()


def records_in(files: Iterable[Path]) -> dict[bytes, str]:
    """The identities of all records in earlier files, each with the id of the first chat that has it.

    Records that those files copied by a fork are left out: they are an even earlier chat's. Raises OSError.
    """
    found: dict[bytes, str] = {}
    for file in files:
        for record in read_records(file, Problems()):
            value = record.value
            if isinstance(value, dict) and "uuid" in value and not value.get("forkedFrom"):
                found.setdefault(identity(value), file.stem)
    return found
