"""Every free text of a chat, found by the model's types: a plain `str` and what a JSON value holds, never a `Fixed`.

A walker goes over one value and returns it with its texts replaced: the same object where nothing changed. What it
walks is worked out once for each class of the model, so that a new field cannot be forgotten.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from decimal import Decimal
from functools import cache
from typing import Annotated, Any, Protocol, Union, get_args, get_origin, get_type_hints

from trailbook.redaction.labels import says_secret


class Replacement(Protocol):
    """What a walker asks for each text."""

    def text(self, text: str, name: str) -> str:
        """The text as it shall read. `name` is the JSON key it stands under, where that says secret; else empty."""

    def keys(self, keys: list[str]) -> list[str]:
        """The keys of one JSON object as they shall read, no two alike."""


Walker = Callable[[Any, Replacement], Any]


def walk(value: Any, replacement: Replacement) -> Any:
    """An object of the model with every free text in it replaced; the same object where none changed."""
    changed: dict[str, Any] = {}
    for name, walker in _walkers(value.__class__):
        before = getattr(value, name)
        if before is None:
            continue
        after = walker(before, replacement)
        if after is not before:
            changed[name] = after
    return _copied(value, changed) if changed else value


def walk_json(value: Any, replacement: Replacement) -> Any:
    """A JSON value with every string and key in it replaced; the same object where none changed."""
    kind = type(value)
    if kind is str:
        return replacement.text(value, "")
    if kind is dict:
        return _walk_object(value, replacement)
    if kind is list:
        return _walk_items(value, replacement, walk_json)
    return value


def _walk_object(value: dict[str, Any], replacement: Replacement) -> dict[str, Any]:
    keys = list(value)
    new_keys = replacement.keys(keys)
    items: list[Any] = []
    same = new_keys is keys
    named = value.get("name", value.get("key")) if "value" in value else None
    for key, item in value.items():
        kind = type(item)
        if kind is str:
            name = (
                key
                if says_secret(key)
                else named
                if key == "value" and type(named) is str and says_secret(named)
                else ""
            )
            new = replacement.text(item, name)
        elif kind is dict or kind is list:
            new = walk_json(item, replacement)
        else:
            new = item
        same = same and new is item
        items.append(new)
    return value if same else dict(zip(new_keys, items, strict=True))


def _walk_items(values: list[Any], replacement: Replacement, walker: Walker) -> list[Any]:
    new = [walker(value, replacement) for value in values]
    return values if all(after is before for after, before in zip(new, values, strict=True)) else new


def _copied(value: Any, changed: dict[str, Any]) -> Any:
    # Not `dataclasses.replace`: a copy must not depend on what a constructor does.
    new = object.__new__(type(value))
    for field in fields(value):
        object.__setattr__(new, field.name, changed.get(field.name, getattr(value, field.name)))
    return new


# --- from types to walkers


@cache
def _walkers(kind: type) -> tuple[tuple[str, Walker], ...]:
    hints = get_type_hints(kind, include_extras=True)
    found = ((field.name, _walker_of(hints[field.name])) for field in fields(kind))
    return tuple((name, walker) for name, walker in found if walker is not None)


def _walker_of(hint: Any) -> Walker | None:
    """The walker for values of a type; None where nothing of it is free text."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return None
    if hint is str or _is_json(hint):
        return walk_json
    if is_dataclass(hint):
        return walk
    if origin is list:
        return _items_walker(arguments[0])
    if origin is dict:
        return _values_walker(*arguments)
    if origin in (Union, types.UnionType):
        return _any_walker([walker for each in arguments if (walker := _walker_of(each))])
    return None


def _is_json(hint: Any) -> bool:
    # The model's name for it is gone by now; no other type holds all of these.
    return get_origin(hint) in (Union, types.UnionType) and {bool, float, Decimal, str} <= set(get_args(hint))


def _items_walker(item: Any) -> Walker | None:
    walker = _walker_of(item)
    if walker is None:
        return None
    return lambda values, replacement: _walk_items(values, replacement, walker)


def _values_walker(key: Any, item: Any) -> Walker | None:
    if _walker_of(key) is not None:
        return _walk_object if _is_json(item) else None
    walker = _walker_of(item)
    if walker is None:
        return None

    def walk_values(values: dict[str, Any], replacement: Replacement) -> dict[str, Any]:
        new = {key: walker(value, replacement) for key, value in values.items()}
        return values if all(new[key] is value for key, value in values.items()) else new

    return walk_values


def _any_walker(walkers: list[Walker]) -> Walker | None:
    if not walkers:
        return None
    if len(set(walkers)) == 1:
        return walkers[0]
    return _walk_anything


def _walk_anything(value: Any, replacement: Replacement) -> Any:
    return walk(value, replacement) if is_dataclass(value) else walk_json(value, replacement)


# --- structure


def fixed_texts(value: Any) -> set[str]:
    """Every `Fixed` text of an object of the model: its ids, names and other structure."""
    found: set[str] = set()
    _gather_fixed(value, found)
    return found


def _gather_fixed(value: Any, found: set[str]) -> None:
    texts, others = _structure(value.__class__)
    for name in texts:
        found.add(getattr(value, name))
    for name in others:
        items = getattr(value, name)
        if isinstance(items, dict):
            found.update(items)
            items = list(items.values())
        for item in items if isinstance(items, list) else (items,):
            if isinstance(item, str):
                found.add(item)
            elif is_dataclass(item):
                _gather_fixed(item, found)


@cache
def _structure(kind: type) -> tuple[list[str], list[str]]:
    """The fields of a class that are a `Fixed` (or nothing), and those that hold such texts further down."""
    hints = get_type_hints(kind, include_extras=True)
    names = [field.name for field in fields(kind) if _holds_fixed(hints[field.name])]
    texts = [name for name in names if not any(map(_is_container, (hints[name], *get_args(hints[name]))))]
    return texts, [name for name in names if name not in texts]


def _is_container(hint: Any) -> bool:
    return is_dataclass(hint) or get_origin(hint) in (list, dict)


def _holds_fixed(hint: Any) -> bool:
    return get_origin(hint) is Annotated or is_dataclass(hint) or any(_holds_fixed(each) for each in get_args(hint))
