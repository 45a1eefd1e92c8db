"""Planted values × every text of the model, found by reflection: a new field cannot be forgotten."""

from __future__ import annotations

import types
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from decimal import Decimal
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import pytest

from redaction.known_person import KEY, MIRA, OPAQUE, SECRET
from trailbook import chat as model
from trailbook.chat import Agent, Asked, Chat, Place
from trailbook.redaction.replacing import redact

PLANTED = {
    "a known secret": (SECRET, "[password]"),
    "a known secret in base64": ("dHIwdWI0ZG9yJjMtaG9yc2UiYmF0dGVyeQ==", "[password]"),
    "a key by its shape": (KEY, "[key]"),
    "a key learned elsewhere": (OPAQUE, "[key]"),
    "an email address": ("kate.ng@corp.io", "[email]"),
    "a home folder": ("/home/mira/work", "~/work"),
    "a name": ("Mira Okafor", "[name]"),
    "a phone number": ("+1 415 555 2671", "[phone]"),
    "a card number": ("4111 1111 1111 1111", "[card]"),
    "an address": ("51.15.42.17", "[address]"),
}
CLASSES = [
    value
    for value in vars(model).values()
    if isinstance(value, type) and is_dataclass(value) and value is not model.Event
]
DEEPEST = 3
"""How often a subagent holds a subagent in what is built here."""


def is_json(hint: Any) -> bool:
    return get_origin(hint) in (Union, types.UnionType) and {bool, Decimal} <= set(get_args(hint))


def filled(hint: Any, text: str, depth: int) -> Any:
    """A value of a type, with the text in each place for free text and an id of its own in each `Fixed`."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return "fixed"
    if hint is str:
        return f"x {text} y"
    if is_json(hint):
        return {text: [text, {"deep": {text: text}}], "plain": text, "number": 12}
    if is_dataclass(hint):
        return None if hint is Chat and depth == 0 else built(hint, text, depth - (hint is Chat))
    if origin is list:
        options = [each for each in get_args(arguments[0]) if is_dataclass(each)] or [arguments[0]]
        values = (filled(option, text, depth) for option in options)
        return [value for value in values if value is not None]
    if origin is dict:
        key = "fixed" if get_origin(arguments[0]) is Annotated else text
        return {key: filled(arguments[1], text, depth)}
    if origin in (Union, types.UnionType):
        return filled(next(each for each in arguments if each is not type(None)), text, depth)
    return {int: 7, float: 1.5, bool: True, bytes: text.encode()}[hint]


def built(kind: type, text: str, depth: int) -> Any:
    hints = get_type_hints(kind, include_extras=True)
    return kind(**{field.name: filled(hints[field.name], text, depth) for field in fields(kind)})


def strings(value: Any) -> Iterator[str]:
    """Every text anywhere in a value, whatever its type says."""
    if isinstance(value, str):
        yield value
    elif is_dataclass(value):
        for field in fields(value):
            yield from strings(getattr(value, field.name))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from strings(key)
            yield from strings(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from strings(item)


def chat_with(text: str) -> Chat:
    chat = built(Chat, text, DEEPEST)
    assert isinstance(chat, Chat)
    chat.events.insert(0, Asked(id="ask", text=f"set API_TOKEN={OPAQUE} first"))
    return chat


def test_the_whole_model_is_built() -> None:
    seen: set[type] = set()

    def visit(value: Any) -> None:
        if is_dataclass(value):
            seen.add(type(value))
            for field in fields(value):
                visit(getattr(value, field.name))
        elif isinstance(value, dict):
            for item in value.values():
                visit(item)
        elif isinstance(value, list):
            for item in value:
                visit(item)

    visit(chat_with("x"))
    assert seen == set(CLASSES)


@pytest.mark.parametrize("what", PLANTED)
def test_a_planted_value_is_left_in_no_text(what: str) -> None:
    value, token = PLANTED[what]
    before = chat_with(value)
    after, removed = redact(before, MIRA)
    places = sum(value in text for text in strings(before))
    assert places > 100
    assert [text for text in strings(after) if value in text] == []
    # As a key of an object each token has a number; elsewhere it has none.
    tokens = sum(token in text or token.replace("]", " 1]") in text for text in strings(after))
    assert tokens >= places
    assert removed.counts


@pytest.mark.parametrize("what", PLANTED)
def test_structure_and_pixels_are_not_touched(what: str) -> None:
    value, _ = PLANTED[what]
    before = chat_with("nothing of note")
    for message in before.messages.values():
        message.model = value
    before.id = value
    before.events[-1].place = Place(value, 3)
    image = model.Image(data=value.encode(), sha256=value)
    before.events[0].parts = [image]
    after, _ = redact(before, MIRA)
    assert after.id == value
    assert after.messages["fixed"].model == value
    assert after.events[-1].place == Place(value, 3)
    assert after.events[0].parts == [image]


def test_every_free_text_field_has_a_walker() -> None:
    """A text that stands alone in one field, for each field of each class."""
    for kind in CLASSES:
        hints = get_type_hints(kind, include_extras=True)
        for field in fields(kind):
            if hints[field.name] not in (str, str | None):
                continue
            value = built(kind, "quiet", 1) if kind is not Chat else chat_with("quiet")
            setattr(value, field.name, KEY)
            holder = value if kind is Chat else _holding(value)
            after, _ = redact(holder, MIRA)
            assert KEY not in list(strings(after)), (kind, field.name)


def _holding(value: Any) -> Chat:
    """A chat that holds an object of the model somewhere."""
    chat = Chat(id="c", source="test", agent=Agent())
    for field in fields(Chat):
        hint = get_type_hints(Chat, include_extras=True)[field.name]
        if isinstance(value, tuple(_classes(hint))):
            _put(chat, field.name, value)
            return chat
    for owner in CLASSES:
        for field in fields(owner):
            hint = get_type_hints(owner, include_extras=True)[field.name]
            if owner is not Chat and isinstance(value, tuple(_classes(hint))):
                outer = built(owner, "quiet", 1)
                _put(outer, field.name, value)
                return _holding(outer)
    raise AssertionError(f"nothing holds a {type(value).__name__}")


def _classes(hint: Any) -> Iterator[type]:
    if is_dataclass(hint):
        yield hint
    for each in get_args(hint):
        yield from _classes(each)


def _put(owner: Any, name: str, value: Any) -> None:
    current = getattr(owner, name)
    default = next(field for field in fields(owner) if field.name == name)
    if isinstance(current, list) or default.default_factory is list:
        setattr(owner, name, [value])
    elif isinstance(current, dict) or default.default_factory is dict:
        setattr(owner, name, {"fixed": value})
    else:
        assert default.default is not MISSING or current is not None
        setattr(owner, name, value)
