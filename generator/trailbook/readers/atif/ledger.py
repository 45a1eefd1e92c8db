"""What is in one ATIF trajectory, counted straight from its steps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path

from trailbook.chat import JSON, Place, Usage
from trailbook.ledger import (
    Entry,
    Keep,
    Ledger,
    arguments_of,
    bytes_of_data_url,
    entry_of_call,
    entry_of_image,
    entry_of_written,
)
from trailbook.readers import Found
from trailbook.readers.lines import Problems
from trailbook.readers.pieces import again, parse, place_of
from trailbook.stand_ins import is_no_result

_MAX_IMAGE = 64 * 1024 * 1024


def count(found: Found, keep: Keep) -> Ledger:
    """The trajectory's ledger, its embedded subagents' beside it. Raises Unreadable, OSError."""
    piece = again(found, arrays=True)
    value = parse(found.path, piece, Problems())
    return _count(value if isinstance(value, dict) else {}, place_of(found.path, piece, 1), found.path.parent, keep)


def _count(trajectory: dict[str, JSON], first: Place, folder: Path, keep: Keep) -> Ledger:
    ledger = Ledger(chat=_text(trajectory.get("trajectory_id")) or _text(trajectory.get("session_id")))
    started: dict[str, str] = {}
    for number, step in enumerate(_dicts(trajectory.get("steps")), 1):
        copied = step.get("is_copied_context") is True
        counter = _Counter(
            ledger, ledger.aside if copied else ledger.entries, replace(first, number=number), folder, keep
        )
        counter.step(step)
        if not copied:
            ledger.usage = _sum(ledger.usage, _usage(step.get("metrics")))
        started.update(_started(step))
    totals = trajectory.get("final_metrics")
    ledger.usage = _sum(ledger.usage, _usage(_extra(totals).get("in_no_step")))
    ledger.stated = _stated(totals)
    for number, child in enumerate(_dicts(trajectory.get("subagent_trajectories")), 1):
        subagent = _count(child, replace(first, file=f"{first.file}/{number}"), folder, keep)
        subagent.started_by = started.get(_text(child.get("trajectory_id")) or "")
        ledger.subagents.append(subagent)
    return ledger


@dataclass(slots=True)
class _Counter:
    """Counts one step."""

    ledger: Ledger
    entries: list[Entry]
    place: Place
    folder: Path
    keep: Keep

    def step(self, step: dict[str, JSON]) -> None:
        source, message = step.get("source"), step.get("message")
        if source == "agent":
            self._say("thought", step.get("reasoning_content"))
            self._say("answer", message)
        else:
            entry = self._say("prompt" if source == "user" else "system", message, always=True)
            extra = step.get("extra")
            if entry is not None:
                entry.injected = isinstance(extra, dict) and "injected" in extra
        for call in _dicts(step.get("tool_calls")):
            name, arguments = str(call.get("function_name")), arguments_of(call.get("arguments"))
            self.entries.append(entry_of_call(self.place, _text(call.get("tool_call_id")), name, arguments, self.keep))
        for result in _results(step):
            self._result(result)

    def _result(self, result: dict[str, JSON]) -> None:
        if is_no_result(_words(result.get("content"))):
            return
        call, extra = _text(result.get("source_call_id")), result.get("extra")
        entry = self._say("result", result.get("content"), always=True, call=call)
        for key in ("is_error", "tool_result_is_error"):
            failed = extra.get(key) if isinstance(extra, dict) else None
            if isinstance(failed, bool) and entry is not None:
                entry.ok = not failed

    def _say(self, kind: str, content: JSON, *, always: bool = False, call: str | None = None) -> Entry | None:
        """Count some words and the pictures in them."""
        pictures = [_picture(part, self.folder) for part in _dicts(content) if part.get("type") == "image"]
        text, entry = _words(content), None
        if text.strip() or always:
            entry, marks = entry_of_written(kind, self.place, text, self.keep)
            entry.id, entry.images = call, len(pictures)
            self.entries.append(entry)
            self.ledger.left_out("image", marks)
        self.entries += [entry_of_image(self.place, call, picture) for picture in pictures]
        return entry


def _results(step: dict[str, JSON]) -> list[dict[str, JSON]]:
    observation = step.get("observation")
    return _dicts(observation.get("results")) if isinstance(observation, dict) else []


def _started(step: dict[str, JSON]) -> Iterator[tuple[str, str]]:
    """The subagents that a step's results name, each with the id of the call that started it."""
    for result in _results(step):
        call = _text(result.get("source_call_id"))
        for reference in _dicts(result.get("subagent_trajectory_ref")):
            child = _text(reference.get("trajectory_id"))
            if call and child:
                yield child, call


def _words(content: JSON) -> str:
    if isinstance(content, str):
        return content
    texts = [part.get("text") for part in _dicts(content) if part.get("type") == "text"]
    return "\n".join(text for text in texts if isinstance(text, str))


def _picture(part: dict[str, JSON], folder: Path) -> bytes | None:
    source = part.get("source")
    path = source.get("path") if isinstance(source, dict) else None
    return bytes_of_data_url(path) or _beside(folder, path)


def _beside(folder: Path, path: JSON) -> bytes | None:
    """The bytes of a picture that lies beside the trajectory; a path that leads out of its folder is not followed."""
    if not isinstance(path, str) or not path or "\0" in path:
        return None
    try:
        file = (folder / path).resolve()
        inside = file.is_relative_to(folder.resolve())
        return file.read_bytes() if inside and file.is_file() and file.stat().st_size <= _MAX_IMAGE else None
    except (OSError, ValueError, RuntimeError):
        return None


def _usage(metrics: JSON) -> Usage | None:
    if not isinstance(metrics, dict):
        return None
    more = _extra(metrics)
    usage = Usage(
        prompt_tokens=_tokens(metrics.get("prompt_tokens")),
        output_tokens=_tokens(metrics.get("completion_tokens")),
        cached_tokens=_tokens(metrics.get("cached_tokens")),
        cache_write_tokens=_tokens(more.get("cache_creation_input_tokens")),
        reasoning_tokens=_tokens(more.get("reasoning_tokens")),
    )
    return usage if usage != Usage() else None


def _extra(value: JSON) -> dict[str, JSON]:
    extra = value.get("extra") if isinstance(value, dict) else None
    return extra if isinstance(extra, dict) else {}


def _stated(metrics: JSON) -> Usage | None:
    if not isinstance(metrics, dict):
        return None
    usage = Usage(
        prompt_tokens=_tokens(metrics.get("total_prompt_tokens")),
        output_tokens=_tokens(metrics.get("total_completion_tokens")),
        cached_tokens=_tokens(metrics.get("total_cached_tokens")),
    )
    return usage if usage != Usage() else None


def _sum(total: Usage | None, more: Usage | None) -> Usage | None:
    if total is None or more is None:
        return total or more
    for part in fields(Usage):
        values = [getattr(each, part.name) for each in (total, more)]
        known = [value for value in values if value is not None]
        setattr(total, part.name, sum(known) if known else None)
    return total


def _tokens(value: JSON) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(value: JSON) -> str | None:
    return value if isinstance(value, str) and value else None


def _dicts(value: JSON) -> list[dict[str, JSON]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
