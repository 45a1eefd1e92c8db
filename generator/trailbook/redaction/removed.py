"""What redaction took out of a chat, counted and shown as it reads afterwards; never the values themselves."""

from __future__ import annotations

from dataclasses import dataclass, field

KINDS = ("password", "key", "email", "card", "phone", "address", "home", "name")
"""Every kind of thing that comes out, the most telling first: where two overlap, the earlier one names the whole."""

_WORDS = {
    "password": ("saved password", "saved passwords"),
    "key": ("key or token", "keys and tokens"),
    "email": ("email address", "email addresses"),
    "card": ("card number", "card numbers"),
    "phone": ("phone number", "phone numbers"),
    "address": ("network address", "network addresses"),
    "home": ("home folder", "home folders"),
    "name": ("name", "names"),
}

MOST_EXAMPLES = 3
_AROUND, _LONGEST = 40, 160


@dataclass(slots=True)
class Removed:
    """What came out, in the order in which each kind was first found. Picklable; two are added with `+`.

    One thing counts once, in however many places and spellings it stood: a secret and its encoded copies, an email
    address, a home folder in all its spellings, a person in full and by one name. The things are known here only by
    keyed digests, so that the same thing in two chats still counts once; the key is the context's.
    """

    things: dict[str, set[bytes]] = field(default_factory=dict, repr=False)
    """By kind, a digest of each thing that came out."""
    examples: dict[str, list[str]] = field(default_factory=dict)
    """By kind, up to three different places as they read afterwards, one line each."""
    learned: frozenset[str] = field(default=frozenset(), repr=False)
    """The keys and tokens that were found, for `verify`. Held in memory only: never write them anywhere."""

    @property
    def counts(self) -> dict[str, int]:
        """How many different things of each kind came out, the kinds in first-found order."""
        return {kind: len(things) for kind, things in self.things.items()}

    def __bool__(self) -> bool:
        return bool(self.things)

    def __add__(self, other: Removed) -> Removed:
        total = Removed(learned=self.learned | other.learned)
        for each in (self, other):
            for kind, things in each.things.items():
                total.things.setdefault(kind, set()).update(things)
            for kind, examples in each.examples.items():
                for example in examples:
                    total.show(kind, example)
        return total

    def count(self, kind: str, digest: bytes) -> None:
        """Count one thing that came out, known by its digest."""
        self.things.setdefault(kind, set()).add(digest)

    def show(self, kind: str, example: str) -> None:
        """Keep a place as it reads afterwards, unless there are three of its kind or it is among them."""
        examples = self.examples.setdefault(kind, [])
        if len(examples) < MOST_EXAMPLES and example not in examples:
            examples.append(example)

    def wants(self, kind: str) -> bool:
        """Whether another example of this kind would be kept."""
        return len(self.examples.get(kind, ())) < MOST_EXAMPLES

    def sentence(self) -> str:
        """What came out in words, such as `2 keys and tokens, 1 email address and a name`; `nothing` for nothing."""
        parts = [_in_words(kind, count) for kind, count in self.counts.items()]
        if not parts:
            return "nothing"
        return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def example_of(text: str, start: int, end: int) -> str:
    """The place of a token in a redacted text as one line: 40 characters around it, `…` where more stands beside."""
    before, after = max(0, start - _AROUND), min(len(text), end + _AROUND)
    line = " ".join(text[before:after].split())
    line = ("…" if before else "") + line + ("…" if after < len(text) else "")
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def _in_words(kind: str, count: int) -> str:
    one, many = _WORDS[kind]
    if count == 1:
        return "a name" if kind == "name" else f"1 {one}"
    return f"{count:,} {many}"
