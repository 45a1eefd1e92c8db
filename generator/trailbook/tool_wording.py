"""What a tool call did, in plain words, for agents that log no words of their own.

"Edited invoice.py", "Ran the tests", "Searched issues in Linear", "Couldn’t read notes.md": from the tool's name, its
arguments and what came back. A new tool is a row in `_TOOLS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from trailbook.chat import JSON
from trailbook.diffs import changed_lines
from trailbook.outcomes import failure_in, printed_in, tests_in
from trailbook.shell_wording import Deed, describe_command, host_of, joined
from trailbook.verbs import going_on, is_verb, past
from trailbook.wording import file_name, line, names_of_files, without_home


@dataclass(slots=True, frozen=True)
class Words:
    """A call in plain words."""

    family: str
    doing: str
    """While it goes on: "Running the tests"."""
    done: str
    """At its end, as it ended: "Ran the tests", "Couldn’t read notes.md", "Didn’t delete build"."""
    outcome: str | None = None
    """What came of it in a few words: "+1 −1", "241 passed", "Failed: no such file", "You said no"."""
    subject: str | None = None
    """What it was about: a path, a command, an address."""


Arguments = Mapping[str, JSON]

NOT_RUN = {
    "declined": "You said no",
    "refused": "Not allowed",
    "expired": "Not answered",
    "stopped": "Stopped before it was done",
    "unanswered": "No result in the log",
}
"""Why a call was not done, by `Returned.not_run`; `unanswered` where its turn is over and nothing came back."""


def describe_call(
    name: str,
    arguments: Arguments,
    raw: str | None = None,
    *,
    status: str = "done",
    not_run: str | None = None,
    output: str | None = None,
    exit_status: int | None = None,
    diff: str | None = None,
) -> Words:
    """The words for a call.

    `status` is `done`, `failed`, `declined` or `waiting`; `not_run` a key of `NOT_RUN`; `raw` the arguments where they
    were no object. Takes any name and arguments of any shape.
    """
    deed = _deed(name, arguments, raw)
    doing, done, plain = _tenses(deed.phrase)
    if status == "declined" and not_run == "unanswered":
        done = doing
    elif status == "declined":
        done = f"Didn’t {plain}"
    elif status == "failed" and deed.family != "verify":
        done = f"Couldn’t {plain}"
    outcome = _outcome(deed.family, status, not_run, output, exit_status, diff)
    return Words(deed.family, doing, done, outcome, deed.subject)


_SECOND_VERB = re.compile(r"(?:,|;| and| then)(?: then)? (\w+)")


def _tenses(phrase: str) -> tuple[str, str, str]:
    """A phrase as something that goes on, as something done, and as it follows "couldn’t"."""
    verb, _, rest = phrase.partition(" ")
    rest = f" {rest}" if rest else ""
    if not is_verb(verb.lower()):
        return phrase, phrase, f"do this: {phrase}"
    verb = verb.lower()
    if any(is_verb(word.lower()) for word in _SECOND_VERB.findall(rest)):
        # "Stage and commit the changes": left as it is, for want of grammar.
        return phrase, phrase, verb + rest
    return going_on(verb).capitalize() + rest, past(verb).capitalize() + rest, verb + rest


def _outcome(
    family: str, status: str, not_run: str | None, output: str | None, exit_status: int | None, diff: str | None
) -> str | None:
    if status == "declined":
        return NOT_RUN.get(not_run or "unanswered", "Not done")
    if status == "waiting":
        return None
    printed = printed_in(output or "")
    tests = tests_in(printed) if family == "verify" and printed else None
    if tests or status == "failed":
        return tests or failure_in(printed, exit_status)
    if diff and family == "edit":
        plus, minus = changed_lines(diff)
        return f"+{plus:,} −{minus:,}"
    return None


# --- from a name to a deed


def _deed(name: str, arguments: Arguments, raw: str | None) -> Deed:
    server = re.match(r"mcp__(.+?)__(.+)", name)
    if server:
        return _of_server(server.group(1), server.group(2), arguments)
    if " " in name.strip():
        return Deed("other", line(name), _main_argument(arguments))
    short = re.split(r"[.:/]", name)[-1]
    tool = re.sub(r"[^a-z0-9]", "", short.lower())
    make = _TOOLS.get(tool)
    deed = make(arguments, raw) if make else None
    return deed or Deed("other", f"use {line(name, 60) or 'a tool'}", _main_argument(arguments))


_NAMES = {"github": "GitHub", "gitlab": "GitLab", "youtube": "YouTube", "openai": "OpenAI", "postgres": "PostgreSQL"}


def _of_server(server: str, tool: str, arguments: Arguments) -> Deed:
    """A tool of an app: "search issues in Linear" of `mcp__linear__search_issues`."""
    words = re.sub(r"([a-z])([A-Z])", r"\1 \2", tool).replace("_", " ").replace("-", " ").lower().split()
    spoken = server.rpartition("_ai_")[2].replace("_", " ").replace("-", " ").split()
    where = " ".join(_NAMES.get(word.lower(), word[:1].upper() + word[1:]) for word in spoken)
    if words and words[0] == server.lower() and len(words) > 1:
        words = words[1:]
    verb = next((word for word in words if is_verb(word)), None)
    if verb is None:
        return Deed("connect", line(f"use {' '.join(words)} in {where}", 120), _main_argument(arguments))
    rest = [word for word in words if word != verb]
    return Deed("connect", line(" ".join([verb, *rest, "in", where]), 120), _main_argument(arguments))


_MAIN = ("query", "q", "title", "name", "description", "url", "path", "file_path", "prompt", "text", "message", "id")


def _main_argument(arguments: Arguments) -> str | None:
    found = _text(arguments, *_MAIN)
    return line(without_home(found), 200) if found else None


def _text(arguments: Arguments, *keys: str) -> str | None:
    for key in keys:
        value = arguments.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip()
    return None


_PATHS = (
    "file_path",
    "path",
    "filePath",
    "filepath",
    "filename",
    "notebook_path",
    "target_file",
    "file",
    "absolute_path",
)
_PATHS_HERE = (*_PATHS, "AbsolutePath", "TargetFile", "uri", "relative_path", "relative_workspace_path")
_FOLDERS = ("path", "dir_path", "directory", "dir", "folder", "target_directory", "relative_workspace_path")
_SCRIPT = re.compile(r"\bawait tools\.")
"""In a program that a model writes to call its tools."""
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
_UNIFIED = re.compile(r"^\+\+\+ (?:b/)?([^\t\n]+)", re.MULTILINE)


def _file(family: str, verb: str) -> Callable[[Arguments, str | None], Deed | None]:
    def make(arguments: Arguments, raw: str | None) -> Deed | None:
        path = _text(arguments, *_PATHS_HERE)
        if path:
            return Deed(family, f"{verb} {line(file_name(path), 100)}", line(without_home(path)))
        return _patched(arguments, raw) or Deed(family, f"{verb} a file")

    return make


def _patched(arguments: Arguments, raw: str | None) -> Deed | None:
    text = raw or _text(arguments, "input", "patch", "patchText", "diff")
    paths = (_PATCHED.findall(text) or _UNIFIED.findall(text)) if text else []
    changes = arguments.get("changes")
    paths = paths or (list(changes) if isinstance(changes, dict) else [])
    if not paths:
        return None
    shown = ", ".join(without_home(path.strip()) for path in paths)
    return Deed("edit", f"edit {line(names_of_files([path.strip() for path in paths]), 100)}", line(shown))


def _editor(arguments: Arguments, raw: str | None) -> Deed | None:
    """One tool for everything with files: `command` says which."""
    command = _text(arguments, "command") or "edit"
    verb = {"view": "read", "create": "write", "undo_edit": "undo the edit of"}.get(command, "edit")
    return _file("explore" if command == "view" else "edit", verb)(arguments, raw)


def _list(arguments: Arguments, _raw: str | None) -> Deed:
    folder = _text(arguments, *_FOLDERS)
    if folder is None or folder in (".", "./", "/"):
        return Deed("explore", "list the files", folder)
    return Deed("explore", f"list {line(file_name(folder), 100)}", line(without_home(folder)))


def _search(arguments: Arguments, _raw: str | None) -> Deed:
    pattern = _text(arguments, "pattern", "query", "regex", "search_term", "q", "search")
    folder = _text(arguments, *_FOLDERS, "glob")
    where = line(without_home(folder)) if folder else None
    return Deed("explore", f"search for “{line(pattern, 80)}”" if pattern else "search the files", where)


def _glob(arguments: Arguments, _raw: str | None) -> Deed:
    pattern = _text(arguments, "pattern", "glob_pattern", "query", "glob")
    return Deed(
        "explore", f"look for {line(pattern, 80)}" if pattern else "look for files", _text(arguments, *_FOLDERS)
    )


def _shell(arguments: Arguments, raw: str | None) -> Deed:
    command = _command(arguments) or raw or ""
    if "apply_patch" in command[:100] and (patch := _patched({}, command)):
        return patch
    if _SCRIPT.search(command[:2_000]):
        return Deed("run", "run a script", line(command, 120))
    deed = describe_command(command) if command.strip() else Deed("run", "run a command")
    described = line(_text(arguments, "description") or "", 120).rstrip(".")
    return Deed(deed.family, described, deed.subject) if described else deed


def _command(arguments: Arguments) -> str | None:
    for key in ("command", "cmd", "script", "code", "commands", "shell_command", "CommandLine", "input"):
        value = arguments.get(key)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, list) and value:
            return joined([word for word in value if isinstance(word, str)])
    return None


def _python(arguments: Arguments, raw: str | None) -> Deed:
    code = _command(arguments) or raw or ""
    first = next((row for row in code[:2_000].split("\n") if row.strip() and not row.lstrip().startswith("#")), "")
    return Deed("run", "run Python code", line(first, 120) or None)


def _fetch(arguments: Arguments, _raw: str | None) -> Deed:
    address = _text(arguments, "url", "uri", "address", "link")
    if address is None:
        return Deed("research", "read a page", _main_argument(arguments))
    return Deed("research", f"read {line(host_of(address) or address, 100)}", line(address))


def _web_search(arguments: Arguments, raw: str | None) -> Deed:
    """A search; some models' own search also opens a page, or looks for something in it (`type` says which)."""
    address, pattern = _text(arguments, "url"), _text(arguments, "pattern")
    if address and pattern:
        return Deed(
            "research", f"search {line(host_of(address) or address, 100)} for “{line(pattern, 80)}”", line(address)
        )
    query = _text(arguments, "query", "q", "search_query", "search_term")
    queries = arguments.get("queries")
    if query is None and isinstance(queries, list):
        query = next((query for query in queries if isinstance(query, str) and query.strip()), None)
    if query is None and address:
        return _fetch(arguments, raw)
    return Deed("research", f"search the web for “{line(query, 80)}”" if query else "search the web")


def _typed(arguments: Arguments, _raw: str | None) -> Deed:
    """What goes to something that runs: a message to a subagent, keys to a command, or nothing but a look at it."""
    message = _text(arguments, "message")
    if message:
        return Deed("delegate", f"write to a subagent: {line(message, 100)}")
    keys = _text(arguments, "chars", "input")
    if keys is None and arguments.get("chars") is not None:
        return Deed("run", "look at a running command")
    return Deed("run", "type into a running command", line(keys, 200) if keys else None)


def _hand_off(arguments: Arguments, _raw: str | None) -> Deed:
    tasks = arguments.get("tasks")
    first = tasks[0] if isinstance(tasks, list) and tasks and isinstance(tasks[0], dict) else arguments
    task = _text(first, "description", "title", "task", "goal", "objective", "message", "prompt", "name")
    helper = _text(arguments, "subagent_type", "agent_type", "agent")
    return Deed("delegate", f"hand off: {line(task, 120)}" if task else "hand off a task", helper)


def _question(arguments: Arguments, _raw: str | None) -> Deed:
    questions = arguments.get("questions")
    first = questions[0] if isinstance(questions, list) and questions else None
    asked = _text(arguments, "question", "prompt", "message", "title")
    asked = asked or (_text(first, "question", "title") if isinstance(first, dict) else None)
    return Deed("other", f"ask you: {line(asked, 120)}" if asked else "ask you")


def _fixed(family: str, phrase: str, *keys: str) -> Callable[[Arguments, str | None], Deed | None]:
    def make(arguments: Arguments, _raw: str | None) -> Deed | None:
        subject = _text(arguments, *keys) if keys else None
        return Deed(family, phrase, line(subject, 200) if subject else None)

    return make


def _not_to_be_run(arguments: Arguments, _raw: str | None) -> Deed | None:
    """What stands for a call of a tool that is not there, or with damaged arguments: `tool` says which was meant."""
    meant = _text(arguments, "tool")
    return Deed("other", f"use {line(meant, 60)}") if meant else None


def _skill(arguments: Arguments, _raw: str | None) -> Deed:
    skill = _text(arguments, "skill", "name", "command")
    return Deed("other", f"use the skill {line(skill, 60)}" if skill else "use a skill", _text(arguments, "args"))


_TOOLS: dict[str, Callable[[Arguments, str | None], Deed | None]] = {
    alias: make
    for aliases, make in (
        ("read readfile readtextfile view viewfile openfile cat notebookread fileread", _file("explore", "read")),
        ("viewimage imageview readimage vision screenshot", _file("explore", "look at")),
        ("ls list listdir listdirectory listfiles", _list),
        (
            "grep grepfiles search searchfiles searchtext searchfilecontent grepsearch ripgrep rg codebasesearch",
            _search,
        ),
        ("glob findfiles filesearch find findbyname globfilesearch", _glob),
        (
            "edit multiedit strreplace replace editfile searchreplace notebookedit fileedit replaceinfile",
            _file("edit", "edit"),
        ),
        ("patch patchmany applypatch applydiff hashlineedit morph insert insertedit", _file("edit", "edit")),
        ("strreplaceeditor strreplacebasededittool texteditor fileeditor editor", _editor),
        ("write writefile writetofile createfile create save filewrite", _file("edit", "write")),
        ("append appendfile", _file("edit", "add to")),
        ("delete deletefile removefile", _file("edit", "delete")),
        ("bash shell sh exec execcommand runcommand runterminalcmd runinterminal runshellcommand", _shell),
        (
            "localshell localshellcall terminal tmux executebash executecommand run powershell process shellcommand",
            _shell,
        ),
        ("execute", _shell),
        ("ipython python py executecode jupyter runpython codeinterpreter pythonexec", _python),
        ("webfetch fetch fetchurl readurl webextract read_url fetchwebpage webreader openurl", _fetch),
        ("websearch googlewebsearch searchweb websearchcall internetsearch", _web_search),
        ("task agent subagent delegatetask spawnagent dispatchagent sessionsspawn handoff runsubagent", _hand_off),
        ("codebaseinvestigator", _hand_off),
        (
            "todowrite updateplan todo writetodos updatetodos todos manage_todo_list tasktracker",
            _fixed("plan", "update the to-do list"),
        ),
        ("todoread readtodos", _fixed("plan", "look at the to-do list")),
        ("exitplanmode presentplan", _fixed("plan", "show its plan")),
        ("enterplanmode", _fixed("plan", "start to plan")),
        (
            "askuserquestion question requestuserinput clarify ask choice form elicit askuser askfollowupquestion",
            _question,
        ),
        ("bashoutput readterminal getterminaloutput taskoutput", _fixed("run", "read what a command printed")),
        ("writestdin sendinput sendmessage followuptask", _typed),
        ("closeagent interruptagent", _fixed("delegate", "stop a subagent")),
        ("listagents", _fixed("delegate", "list the subagents")),
        ("killshell killbash taskstop stopprocess", _fixed("run", "stop a running command")),
        ("toolsearch", _fixed("explore", "look for tools", "query")),
        ("skill useskill skillview", _skill),
        ("invalid", _not_to_be_run),
        ("memory savememory remember", _fixed("remember", "remember something", "fact", "text", "content")),
        ("memorysearch memoryget", _fixed("explore", "look through its memory", "query", "path")),
        ("message sessionssend", _fixed("other", "send a message", "message")),
        (
            "sessionslist sessionshistory sessionstatus agentslist",
            _fixed("explore", "look at other chats", "sessionKey"),
        ),
        ("cron", _fixed("plan", "look after its schedule", "action")),
        ("tts", _fixed("make", "read a text aloud", "text")),
        ("think sequentialthinking", _fixed("plan", "think it through")),
        ("wait sleep waitagent", _fixed("other", "wait")),
        ("complete finish attemptcompletion taskcomplete", _fixed("other", "finish")),
        ("imagegeneration imagegenerationcall generateimage imagegenerate", _fixed("make", "make a picture", "prompt")),
    )
    for alias in aliases.replace("_", "").split()
}
