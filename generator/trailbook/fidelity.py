"""Nothing of a log may be missing in what was written of it: two ledgers compared, by content and by pairing.

A file can be valid and still have lost the work. So every written file is counted again from its bytes, on a path of
its own, and compared with the log: each call with its name and arguments, each result with its call, the words, the
images, the tokens. What a format has no place for stands in `NOT_CARRIED`; everything else that differs is a loss.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, replace

from trailbook.alignment import gaps
from trailbook.answering import Pair, answers, paired
from trailbook.chat import Place, Usage
from trailbook.comparison import WORDS, Comparison, Loss
from trailbook.ledger import Entry, Ledger, digest_of_text
from trailbook.second_reading import Doubt, Piece, Recount, Side, Verdict, is_needed, settle
from trailbook.stand_ins import STAND_INS
from trailbook.unanswered import outside_exchanges

NOT_CARRIED: dict[str, frozenset[str]] = {
    "openai": frozenset({"thought", "outcome", "token", "subagent", "orphan", "unanswered", "owner"}),
    "sharegpt": frozenset({"id", "image", "outcome", "token", "subagent", "orphan", "unanswered"}),
    "atif": frozenset(),
    "trajectory_v1": frozenset({"subagent", "orphan"}),
}
"""What each format has no place for; it is reported as not carried, never as lost.

`unanswered` is what stands in no exchange of a prompt and its reply (`unanswered.outside_exchanges`); `owner` is whose
result a picture came with, `id` the ids of calls.
"""

_NOTHING = digest_of_text("")
_STAND_INS = frozenset(map(digest_of_text, STAND_INS.values()))


def compare(
    log: Ledger, written: Ledger, format_name: str, recount_log: Recount | None, recount_written: Recount | None
) -> Comparison:
    """Compare a log's ledger with that of a file written of it, as `format_name` (a key of `NOT_CARRIED`).

    The recounts read either again where digests differ, to tell what was redacted from what was lost; without them
    every difference is a loss. Raises second_reading.Changed, and what the recounts raise.
    """
    comparer = _Comparer(Comparison(format_name), NOT_CARRIED.get(format_name, frozenset()))
    comparer.chat(log, written)
    sides = Side(log, recount_log), Side(written, recount_written)
    for verdict in settle(comparer.doubts, *sides):
        comparer.verdict(verdict)
    for verdict in settle(comparer.doubts_aside(), *sides):
        comparer.verdict_aside(verdict)
    return comparer.comparison


@dataclass(slots=True)
class _Comparer:
    comparison: Comparison
    left_out: frozenset[str]
    doubts: list[Doubt] = field(default_factory=list)
    explained: set[bytes] = field(default_factory=set)
    """Words that the log has elsewhere: on another branch, or as text of the harness."""
    aside: list[Entry] = field(default_factory=list)
    """What the log has outside its active path."""
    unknown: list[tuple[str, Piece]] = field(default_factory=list)
    """Written words and calls that nothing in the log is; `aside` may have them redacted, or in several pieces."""
    written: set[bytes] = field(default_factory=set)
    """The digests of what is written."""
    outside: set[int] = field(default_factory=set)
    """The identities of the log's entries that the format need not carry where they stand."""
    known_as: dict[str | None, str | None] = field(default_factory=dict)
    """The ids of the chat's calls in the log, with those that they have in the file."""

    def chat(self, log: Ledger, written: Ledger) -> None:
        self.aside += log.aside
        self.written.update(entry.digest for entry in written.entries)
        self.explained.update(entry.digest for entry in log.aside)
        self.explained.update(entry.digest for entry in log.of("system"))
        if "unanswered" in self.left_out:
            self.outside |= outside_exchanges(log)
        self._calls(log, written)
        self._words("prompt", log, written)
        self._words("answer", log, written)
        if "thought" in self.left_out:
            self.comparison.not_carried["thought"] += len(log.of("thought"))
        else:
            self._words("thought", log, written)
        self._images(log, written)
        self._tokens(log.usage, written)
        self._aside(log, written)
        self._subagents(log, written)

    # --- calls and results

    def _calls(self, log: Ledger, written: Ledger) -> None:
        ours, theirs = log.of("call"), written.of("call")
        self.comparison.expected["call"] += len(ours)
        pairs, lost, added = paired(ours, theirs, ids="id" not in self.left_out)
        self.known_as = {pair.ours.id: pair.theirs.id for pair in reversed(pairs)}
        our_answers, our_orphans = answers(log)
        their_answers, _ = answers(written)
        for pair in pairs:
            if "unanswered" in self.left_out and pair.theirs.place == written.entries[-1].place:
                # Nobody replied to the results of the last calls.
                self.outside |= _of_call(pair.ours, log)
            self._call(pair)
            self._result(pair, our_answers.get(id(pair.ours), []), their_answers.get(id(pair.theirs), []))
        for call in lost:
            self._miss(call, f"The call of {call.name} ({call.id}) is missing.")
            results = our_answers.get(id(call), [])
            self.comparison.expected["result"] += bool(results)
            if results:
                self._miss(results[0], "The result of a missing call is missing too.")
        self.unknown += [("call", [call]) for call in added if call.digest not in self.explained]
        self._orphans(our_orphans, written)

    def _call(self, pair: Pair) -> None:
        if pair.ours.name != pair.theirs.name:
            text = f"The call of {pair.ours.name} ({pair.ours.id}) is written as one of {pair.theirs.name}."
            self._lose("call", text, pair.ours.place)
        elif pair.ours.digest == pair.theirs.digest:
            self.comparison.found["call"] += 1
        else:
            self.doubts.append(Doubt("call", [[pair.ours]], [[pair.theirs]]))

    def _result(self, pair: Pair, ours: Piece, theirs: Piece) -> None:
        self.comparison.expected["result"] += bool(ours)
        name = f"{pair.ours.name} ({pair.ours.id})"
        if not ours:
            if any(not _is_stand_in(entry) for entry in theirs):
                self._lose("result", f"The file has a result of {name} that the log has not.", theirs[0].place)
            return
        self._outcome(name, ours, theirs)
        if not theirs:
            if ours[0].not_run or _is_blank(ours):
                self.comparison.found["result"] += 1
            else:
                self._miss(ours[0], f"The result of {name} is missing.")
        elif [entry.digest for entry in ours] == [entry.digest for entry in theirs] or _stands_in(ours, theirs):
            self.comparison.found["result"] += 1
        else:
            self.doubts.append(Doubt("result", [ours], [theirs]))

    def _outcome(self, name: str, ours: Piece, theirs: Piece) -> None:
        ok = ours[-1].ok
        if ok is None:
            return
        if "outcome" in self.left_out:
            self.comparison.not_carried["outcome"] += 1
        elif theirs and theirs[-1].ok is not ok and not (ok and theirs[-1].ok is None):
            self._lose("outcome", f"Whether {name} went well is not as in the log.", ours[-1].place)

    def _orphans(self, orphans: list[Entry], written: Ledger) -> None:
        if "orphan" in self.left_out:
            self.comparison.not_carried["orphan"] += len(orphans)
            return
        theirs = [entry for entry in written.entries if entry.kind in ("result", "system")]
        known = Counter(entry.digest for entry in theirs)
        for orphan in orphans:
            if known[orphan.digest]:
                known[orphan.digest] -= 1
            else:
                self.doubts.append(Doubt("orphan", [[orphan]], [[entry] for entry in theirs if entry.id is None]))

    # --- words

    def _words(self, kind: str, log: Ledger, written: Ledger) -> None:
        # What else the model read may be written as one with a prompt: a summary and what was asked after it.
        kinds = ("prompt", "system") if kind == "prompt" else (kind,)
        ours = list(_pieces(entry for entry in log.entries if entry.kind in kinds))
        theirs = list(_pieces(entry for entry in written.entries if entry.kind in kinds))
        self.comparison.expected[kind] += sum(map(is_needed, ours))
        self.comparison.found[kind] += sum(map(is_needed, ours))
        for our_gap, their_gap in gaps([_key(piece) for piece in ours], [_key(piece) for piece in theirs]):
            missing, extra = [ours[at] for at in our_gap], [theirs[at] for at in their_gap]
            self.comparison.found[kind] -= sum(map(is_needed, missing))
            if missing and extra:
                self.doubts.append(Doubt(kind, missing, extra))
            else:
                self._missing(kind, missing)
                self._added(kind, extra)

    def verdict(self, verdict: Verdict) -> None:
        kind = verdict.doubt.kind
        if kind == "orphan":
            if verdict.lost:
                self._missing(kind, verdict.lost)
            return
        self.comparison.found[kind] += verdict.same
        self.comparison.redacted += verdict.redacted
        if kind in ("call", "result"):
            if verdict.lost:
                entry = verdict.lost[0][0]
                what = "The arguments of a call differ" if kind == "call" else "The result of a call differs"
                self._lose(kind, f"{what} from the log's ({entry.id}).", entry.place)
            return
        self._missing(kind, verdict.lost)
        self._added(kind, verdict.added)

    def _missing(self, kind: str, pieces: list[Piece]) -> None:
        for piece in filter(is_needed, pieces):
            self._miss(
                replace(piece[0], kind=kind) if kind == "orphan" else piece[0],
                f"{_article(kind)} is missing or changed.",
            )

    def _added(self, kind: str, pieces: list[Piece]) -> None:
        for piece in pieces:
            known = all(entry.kind == "system" or entry.digest in self.explained for entry in piece)
            if not known:
                self.unknown.append((kind, piece))

    def doubts_aside(self) -> list[Doubt]:
        """What is written and not known yet, against what the log has outside its active path."""
        found: list[Doubt] = []
        for kind in dict.fromkeys(kind for kind, _ in self.unknown):
            aside = [[entry] for entry in self.aside if entry.kind == kind and entry.digest not in self.written]
            found.append(Doubt(kind, aside, [piece for other, piece in self.unknown if other == kind]))
        return found

    def verdict_aside(self, verdict: Verdict) -> None:
        """What is not even there is no log's; nothing that stands aside need be written."""
        for piece in verdict.added:
            entry = piece[0]
            what = f"a call of {entry.name} ({entry.id})" if entry.kind == "call" else _article(entry.kind).lower()
            self._lose(verdict.doubt.kind, f"The file has {what} that the log has not.", entry.place)

    # --- images, tokens, subagents

    def _images(self, log: Ledger, written: Ledger) -> None:
        ours, theirs = log.of("image"), written.of("image")
        if "image" in self.left_out:
            self.comparison.not_carried["image"] += len(ours)
            return
        self.comparison.expected["image"] += len(ours)
        owned = Counter((entry.digest, entry.id) for entry in theirs)
        lost = []
        for image in ours:
            owner = self.known_as.get(image.id, image.id)
            if not owned[image.digest, owner] and "owner" in self.left_out:
                owner = None
            if owned[image.digest, owner]:
                owned[image.digest, owner] -= 1
                self.comparison.found["image"] += 1
            else:
                lost.append(image)
        self._lost_images(lost, written.not_carried.get("image", 0))

    def _lost_images(self, lost: list[Entry], placeholders: int) -> None:
        there = [image for image in lost if image.digest]
        # An image of which the log has no bytes is in no file, and that is no fault of the file.
        self.comparison.not_carried["image"] += len(lost) - len(there) + min(len(there), placeholders)
        for image in there[placeholders:]:
            self._miss(image, "An image is missing, or hangs on another message.")

    def _tokens(self, ours: Usage | None, written: Ledger) -> None:
        total = _total(ours)
        if "token" in self.left_out or (written.usage is None and written.not_carried.get("token")):
            self.comparison.not_carried["token"] += total
            return
        self.comparison.expected["token"] += total
        for theirs, where in ((written.usage, "messages"), (written.stated, "totals")):
            if theirs is None and where == "totals":
                continue
            for name in _differing(ours, theirs, stated=where == "totals"):
                self._lose("token", f"The file's {where} have other {name.replace('_', ' ')} than the log.", None)
        self.comparison.found["token"] += total

    def _aside(self, log: Ledger, written: Ledger) -> None:
        everywhere = Counter((entry.kind, entry.digest) for entry in [*written.aside, *written.entries])
        everywhere.subtract((entry.kind, entry.digest) for entry in log.entries)
        for entry in log.aside:
            key = (entry.kind, entry.digest)
            self.comparison.not_carried["aside"] += everywhere[key] <= 0
            everywhere[key] -= 1

    def _subagents(self, log: Ledger, written: Ledger) -> None:
        if "subagent" in self.left_out:
            self.comparison.not_carried["subagent"] += sum(1 for _ in _below(log))
            return
        theirs = list(written.subagents)
        for subagent in log.subagents:
            match = _counterpart(subagent, theirs)
            if match is None:
                self._lose("subagent", f"The subagent {subagent.chat} is missing.", None)
            else:
                theirs.remove(match)
                self.chat(subagent, match)
        for other in theirs:
            self._lose("subagent", f"The file has a subagent {other.chat} that the log has not.", None)

    def _miss(self, entry: Entry, text: str) -> None:
        """The file has not what the log has: a loss, unless the format need not carry it."""
        if id(entry) in self.outside:
            self.comparison.expected[entry.kind] -= 1
            self.comparison.not_carried[entry.kind] += 1
        else:
            self._lose(entry.kind, text, entry.place)

    def _lose(self, kind: str, text: str, place: Place | None) -> None:
        self.comparison.losses.append(Loss(kind, text, place))


def _pieces(entries: Iterable[Entry]) -> Iterator[Piece]:
    """The entries as messages: what the log says to be one message is one, where its first piece stands."""
    messages: dict[str, Piece] = {}
    for entry in entries:
        if entry.digest == _NOTHING:
            continue
        if entry.message is None:
            yield [entry]
        elif entry.message in messages:
            messages[entry.message].append(entry)
        else:
            messages[entry.message] = [entry]
            yield messages[entry.message]


def _key(piece: Piece) -> object:
    return piece[0].digest if len(piece) == 1 else tuple(entry.digest for entry in piece)


def _is_stand_in(entry: Entry) -> bool:
    return entry.digest in _STAND_INS


def _is_blank(piece: Piece) -> bool:
    return all(entry.digest == _NOTHING for entry in piece)


def _stands_in(ours: Piece, theirs: Piece) -> bool:
    """Whether a sentence stands for a result that has no words: the call never ran, or gave back nothing."""
    return all(map(_is_stand_in, theirs)) and _is_blank(ours)


def _of_call(call: Entry, log: Ledger) -> set[int]:
    """The identities of a call's results and their images."""
    return {id(entry) for entry in log.entries if entry.kind in ("result", "image") and entry.id == call.id}


def _article(kind: str) -> str:
    word = WORDS[kind][0]
    return f"{'An' if word[0] in 'aeiou' else 'A'} {word}"


def _total(usage: Usage | None) -> int:
    return (usage.prompt_tokens or 0) + (usage.output_tokens or 0) if usage else 0


def _differing(ours: Usage | None, theirs: Usage | None, *, stated: bool) -> Iterator[str]:
    for part in fields(Usage):
        one, other = getattr(ours, part.name, None), getattr(theirs, part.name, None)
        if one != other and not (other is None and (stated or part.name == "cache_write_hour_tokens")):
            yield part.name


def _below(ledger: Ledger) -> Iterator[Ledger]:
    for subagent in ledger.subagents:
        yield subagent
        yield from _below(subagent)


def _counterpart(subagent: Ledger, others: list[Ledger]) -> Ledger | None:
    """The written subagent that is the log's: by its id, else by the call that started it, else the next one."""
    for key in ("chat", "started_by"):
        value = getattr(subagent, key)
        for other in others:
            if value is not None and getattr(other, key) == value:
                return other
    return next((other for other in others if other.chat is None and other.started_by is None), None)
