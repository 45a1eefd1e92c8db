"""Changes to JSON that a changer of bytes would rarely hit on: values of other types, records moved, doubled, cut."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2**31, 2**53 + 1, 2**63, 2**64, -(2**70), 10**30, 0.1, -0.0, 1e308, float("nan"),
    float("inf"), "", " ", "\0", "\n", "x", "\ud800", "é", "null", "[]", "{}", "[{}]", '{"a":1}', "-1", "1e999",
    "9999-12-31T23:59:59Z", "0001-01-01", "2026-13-45T99:99:99+99:99", "1970-01-01T00:00:00", "../../../etc/passwd",
    "/dev/zero", "a" * 300, "data:image/png;base64,AAAA", "%", "```", "<think>", "</think>", "<tool_call>", "user",
    "assistant", "tool", "system", "text", "tool_use", "tool_result", [], {}, [[]], [{}], [None], [0, "a", None, {}],
    {"": ""}, {"type": "text", "text": "x"}, {"a": [{"b": {"c": None}}]}, [["a", 1]], {"text": None}, [[[[[[]]]]]],
)  # fmt: skip

Slot = tuple[Any, Any]
"""A container, and the key or the index of a value in it."""


def mutate(data: bytes, most: int, seed: int) -> bytes | None:
    """A changed copy, at most so long; None where no line and no document of it is JSON."""
    chance = random.Random(seed)
    lines = data.split(b"\n")
    for _ in range(4):
        number = chance.randrange(len(lines))
        changed = _change_line(lines[number], chance)
        if changed is not None:
            lines[number : number + 1] = changed
            break
    else:
        return _change_document(data, most, chance)
    if chance.random() < 0.3:
        _move_lines(lines, chance)
    return b"\n".join(lines)[:most]


def _change_line(line: bytes, chance: random.Random) -> list[bytes] | None:
    if not line.startswith((b"{", b"[")) or line in (b"{", b"["):
        return None
    changed = _changed(line, chance)
    if changed is None:
        return None
    return [line, changed] if chance.random() < 0.1 else [changed]


def _change_document(data: bytes, most: int, chance: random.Random) -> bytes | None:
    """The last file of a bundle, when it is a JSON document over many lines."""
    head, separator, document = data.rpartition(b"\n{")
    if separator:
        changed = _changed(b"{" + document, chance)
        return (head + b"\n" + changed)[:most] if changed is not None else None
    return None


def _changed(text: bytes, chance: random.Random) -> bytes | None:
    try:
        root = [json.loads(text)]
    except (ValueError, RecursionError):
        return None
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        slots = _slots(root)
        container, key = chance.choice(slots)
        _CHANGES[chance.randrange(len(_CHANGES))](container, key, slots, chance)
        if not root:
            return None
    try:
        return json.dumps(root[0]).encode()
    except (ValueError, RecursionError):
        return None


def _slots(root: list[Any]) -> list[Slot]:
    found: list[Slot] = []
    waiting: list[Any] = [root]
    while waiting and len(found) < 5_000:
        container = waiting.pop()
        keys = list(container) if isinstance(container, dict) else range(len(container))
        for key in keys:
            found.append((container, key))
            if isinstance(container[key], dict | list):
                waiting.append(container[key])
    return found


def _put_odd(container: Any, key: Any, _slots: list[Slot], chance: random.Random) -> None:
    container[key] = json.loads(json.dumps(chance.choice(ODD)))


def _wrap(container: Any, key: Any, _slots: list[Slot], chance: random.Random) -> None:
    value = container[key]
    ways: list[Callable[[], Any]] = [
        lambda: [value],
        lambda: {"text": value},
        lambda: json.dumps(value),
        lambda: str(value),
    ]
    container[key] = chance.choice(ways)()


def _take_out(container: Any, key: Any, _slots: list[Slot], _chance: random.Random) -> None:
    del container[key]


def _put_another(container: Any, key: Any, slots: list[Slot], chance: random.Random) -> None:
    other, place = chance.choice(slots)
    if place in other if isinstance(other, dict) else place < len(other):
        container[key] = json.loads(json.dumps(other[place]))


def _double(container: Any, key: Any, _slots: list[Slot], _chance: random.Random) -> None:
    if isinstance(container, list):
        container.insert(key, container[key])
    else:
        container[f"{key}2"] = container[key]


def _spell_otherwise(container: Any, key: Any, _slots: list[Slot], chance: random.Random) -> None:
    value = container[key]
    if isinstance(value, str):
        cut = chance.randrange(len(value) + 1)
        odd = chance.choice([item for item in ODD if isinstance(item, str)])
        container[key] = value[:cut] + odd + value[cut + chance.randrange(4) :]
    elif isinstance(value, int):
        container[key] = value * chance.choice((-1, 0, 1_000, 10**12)) + chance.choice((-1, 0, 1))


_CHANGES = (_put_odd, _put_odd, _put_odd, _wrap, _take_out, _put_another, _double, _spell_otherwise, _spell_otherwise)


def _move_lines(lines: list[bytes], chance: random.Random) -> None:
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    way = chance.randrange(4)
    if way == 0:
        lines[one], lines[other] = lines[other], lines[one]
    elif way == 1:
        lines.insert(one, lines[other])
    elif way == 2 and len(lines) > 2:
        del lines[one]
    else:
        lines[one] = lines[one][: chance.randrange(len(lines[one]) + 1)]
