"""A chat in which everything that a chat can hold is there, each text the same, or each of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from trailbook import chat as c

START = 1_791_450_000_000
"""8 October 2026, 09:00 UTC."""


def full_chat(text: Callable[[str], str], *, subagent: bool = False) -> c.Chat:
    """A chat of two turns, a branch and an inherited part; `text` gives the words for each place by its name."""
    place = c.Place(text("place.file"), 7)
    clock = iter(range(START, START + 10_000_000, 1_000))

    def common(**more: Any) -> dict[str, Any]:
        return {"at": next(clock), "place": place, "by": text("by"), "message": "m1", **more}

    picture = c.Image(
        "image/png", None, None, 4_096, text("image.reference"), text("image.name"), text("image.problem")
    )
    attached = c.File(text("file.name"), text("file.type"), 812, text("file.reference"), text("file.text"))
    label = c.Label("explore", text("label.doing"), text("label.done"), text("label.outcome"), text("label.subject"))
    arguments: dict[str, c.JSON] = {
        text("argument.name"): text("argument.value"),
        "command": text("argument.command"),
        "todos": [{"content": text("todo"), "status": "done"}],
        "questions": [{"question": text("question"), "options": [{"label": text("option")}]}],
        "nested": {text("nested.name"): [text("nested.value"), 1, None, True]},
        "file_path": text("argument.path"),
    }
    events: list[Any] = [
        c.Asked(id="inherited", text=text("inherited"), **common(inherited=True)),
        c.Asked(id=text("asked.id"), text=text("asked"), parts=[picture, attached], **common()),
        c.Asked(id="command", text="", command=text("command"), **common()),
        c.Asked(id="injected", text=text("injected"), injected=text("injected.what"), **common()),
        c.Thought(text=text("thought"), **common()),
        c.Said(text=text("said"), parts=[picture], **common()),
        c.Called(id=text("call.id"), name=text("call.name"), arguments=arguments, **common()),
        c.Returned(
            call=text("call.id"), parts=[c.Text(text("result")), picture], ok=False, exit_status=1, label=label,
            patch="@@ -1 +1 @@\n-" + text("removed") + "\n+" + text("added"), **common(),
        ),
        c.Called(id="raw", name="tool", raw=text("raw"), **common()),
        c.Returned(call=None, parts=[c.Text(text("orphan"))], linked=None, **common()),
        c.Permission(
            id="p", title=text("permission"), detail=text("permission.detail"), answered=START + 10_500,
            decision="allow", **common(),
        ),
        c.Permission(id="q", title=text("asks"), question=True, answer=text("answer"), decision="answered", **common()),
        c.FilesChanged(
            id="f", label=text("change"), files=[c.FileChange(text("path"), "created"), c.FileChange("b", patch="+x")],
            **common(),
        ),
        c.FilesChanged(id="g", label="", files=[c.FileChange(text("path.bare"), text("path.kind"))], **common()),
        c.Browsed(id="b", label=text("browsed"), url=text("url"), title=text("page"), shot=text("shot"), **common()),
        c.HandedOff(id="h", title=text("task"), state="done", summary=text("summary"), **common()),
        c.Made(id="m", version=1, title=text("made"), action="created", note=text("note"), **common()),
        c.Remembered(id="r", text=text("remembered"), **common()),
        c.Noted(topic=text("topic"), text=text("noted"), detail=text("noted.detail"), parts=[attached], **common()),
        c.Compacted(summary=text("compacted"), **common()),
        c.Answered(outcome="error", problem=text("problem"), model=text("model"), engine=text("engine"), **common()),
        c.Asked(id="aside", text=text("aside"), **common(branch="aside")),
        c.Said(text=text("left"), **common(branch="aside")),
        c.Asked(id="second", text=text("second"), **common()),
        c.Answered(outcome="success", usage=c.Usage(1_200, 34, 1_000), cost=c.Cost(0.02, "metered"), **common()),
    ]  # fmt: skip
    below = [] if subagent else [full_chat(text, subagent=True)]
    for each in below:
        each.id, each.started_by = "below", text("call.id")
    return c.Chat(
        id=text("id"),
        source="conch",
        agent=c.Agent(text("agent"), text("version"), text("product")),
        title=text("title"),
        origin=c.Origin("routine", "o", text("origin")),
        cwd=text("cwd"),
        git_branch=text("git"),
        system_prompt=text("system"),
        tools=[c.Tool(text("tool"), text("tool.description"), {"type": text("tool.parameters")})],
        events=events,
        messages={"m1": c.Message(model=text("message.model"))},
        branches={"aside": c.Branch("aside", place, text("branch"))},
        subagents=below,
        models=[text("model")],
        providers=[text("provider")],
        parent=text("parent"),
        forked=True,
        reopen=["agent", "--resume", text("reopen")],
        naive_times=True,
        diagnostics=[c.Diagnostic("damaged-line", text("diagnostic"), place, 2, True)],
    )


def each_of_its_own(name: str) -> str:
    """Words that stand in one place only."""
    return f"the {name.replace('.', ' ')}"
