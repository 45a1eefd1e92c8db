"""What a shell command does, in plain words: the table of programs, and how a command line is looked through."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from trailbook.wording import file_name, line

LONGEST = 2_000
"""Only so much of a command is looked at."""


@dataclass(slots=True, frozen=True)
class Deed:
    """What a call does: `phrase` begins with a verb in its plain form ("run the tests")."""

    family: str
    phrase: str
    subject: str | None = None


_RUNNERS = (
    r"(?:(?:uv|poetry|pdm|hatch|pipenv|rye) run |(?:\S*/)?python[\d.]* -m |npx (?:-y |--yes )?|bunx |pnpm exec |)"
)
_GIT_OPTIONS = r"(?: -[cC] [^-\s]\S*| -(?![cC] )\S+)*"
_WITH_VALUE = r"(?:-[CFw]|--filter|--prefix|--workspace)"
_SCRIPT = rf"(?:npm|pnpm|yarn|bun)(?: {_WITH_VALUE} [^-\s]\S*| (?!{_WITH_VALUE} )-\S+)*(?: run(?: -\S+)*)? "

# The first that fits anywhere in a command line says what the whole line is for: the most telling stand first.
_TELLING: tuple[tuple[re.Pattern[str], str, str], ...] = tuple(
    (re.compile(rf"^{pattern}(?=\s|$)"), family, phrase)
    for pattern, family, phrase in (
        (
            _RUNNERS + r"(?:\S*/)?(?:pytest|py\.test|unittest|nose2|tox|nox|jest|vitest|mocha|ava)",
            "verify",
            "run the tests",
        ),
        (_RUNNERS + r"(?:playwright|cypress) (?:test|run)", "verify", "run the tests"),
        (_SCRIPT + r"(?:test|t)(?::\S+)?", "verify", "run the tests"),
        (r"(?:go|cargo|deno|dotnet|swift|mix|rake|flutter|bazel|zig build|forge) test", "verify", "run the tests"),
        (r"cargo nextest(?: run)?", "verify", "run the tests"),
        (r"(?:make|just|task) (?:\S+ )*(?:test|tests|check)", "verify", "run the tests"),
        (r"(?:\S*/)?(?:mvn|mvnw|gradle|gradlew)(?: \S+)* (?:test|check|verify)", "verify", "run the tests"),
        (r"(?:bundle exec )?(?:rspec|phpunit|ctest|bats)", "verify", "run the tests"),
        (rf"git{_GIT_OPTIONS} push", "ship", "push the commits"),
        (r"gh pr create", "ship", "open a pull request"),
        (r"gh pr merge", "ship", "merge the pull request"),
        (r"gh release create", "ship", "publish a release"),
        (r"(?:(?:npm|pnpm|yarn|bun|cargo|uv|poetry) publish|twine upload|gem push)", "ship", "publish the package"),
        (r"docker(?: image)? push", "ship", "push the image"),
        (r"(?:kubectl (?:apply|rollout)|helm (?:upgrade|install)|terraform apply|pulumi up)", "ship", "deploy"),
        (r"(?:vercel|netlify|fly|flyctl|wrangler|firebase|railway|serverless|sls)(?: \S+)*? deploy", "ship", "deploy"),
        (r"(?:make|just|task|npm run|pnpm run|yarn|bun run) (?:\S+ )*deploy(?::\S+)?", "ship", "deploy"),
        (rf"git{_GIT_OPTIONS} commit", "ship", "commit the changes"),
        (
            _RUNNERS + r"(?:ruff check|flake8|pylint|eslint|stylelint|biome (?:check|lint)|oxlint)",
            "verify",
            "lint the code",
        ),
        (r"(?:golangci-lint|cargo clippy|shellcheck|rubocop|swiftlint|ktlint|hadolint)", "verify", "lint the code"),
        (_SCRIPT + r"lint(?::\S+)?", "verify", "lint the code"),
        (r"(?:make|just|task) (?:\S+ )*lint", "verify", "lint the code"),
        (
            _RUNNERS + r"(?:mypy|pyright|basedpyright|ty check|tsc(?: \S+)* --noEmit|flow check)",
            "verify",
            "check the types",
        ),
        (_SCRIPT + r"(?:typecheck|type-check|check-types|tsc)", "verify", "check the types"),
        (r"cargo check", "verify", "check the code"),
        (_RUNNERS + r"(?:ruff format|black|isort|prettier|biome format)", "edit", "format the code"),
        (r"(?:gofmt|go fmt|cargo fmt|rustfmt|clang-format)", "edit", "format the code"),
        (_SCRIPT + r"(?:format|fmt)", "edit", "format the code"),
        (_SCRIPT + r"build(?::\S+)?", "run", "build the project"),
        (
            _RUNNERS + r"(?:tsc|vite build|webpack|next build|rollup|esbuild|build|mkdocs build)",
            "run",
            "build the project",
        ),
        (r"(?:go|cargo|dotnet|swift|zig|bazel|hatch|uv|poetry) build", "run", "build the project"),
        (
            r"(?:\S*/)?(?:mvn|mvnw|gradle|gradlew)(?: \S+)* (?:package|install|assemble|build)",
            "run",
            "build the project",
        ),
        (r"(?:make|just|task)(?: (?:-\S+|all|build))*$", "run", "build the project"),
        (r"cmake --build", "run", "build the project"),
        (r"docker(?:-compose| compose| buildx)? build", "run", "build the image"),
    )
)

_INSTALL = re.compile(
    r"^(?:sudo )?(?:(?:\S*/)?python[\d.]* -m )?(?:(?:uv )?(?:\S*/)?pip[\d.]*|npm|pnpm|yarn|bun|uv|poetry|apt|apt-get|"
    r"brew|dnf|apk|gem|cargo|go|bundle|composer|pipx|conda) (?:-\S+ )*(install|i|ci|add|get|sync)(?=\s|$)(.*)"
)

_GIT = {
    "status": ("explore", "look at the changes"),
    "diff": ("explore", "look at the changes"),
    "log": ("explore", "look at the history"),
    "show": ("explore", "look at a commit"),
    "blame": ("explore", "look at the history"),
    "branch": ("explore", "look at the branches"),
    "pull": ("run", "pull the latest changes"),
    "fetch": ("run", "fetch the latest changes"),
    "clone": ("run", "clone a repository"),
    "add": ("run", "stage the changes"),
    "checkout": ("run", "switch branches"),
    "switch": ("run", "switch branches"),
    "merge": ("run", "merge a branch"),
    "rebase": ("run", "rebase the branch"),
    "stash": ("run", "set the changes aside"),
    "restore": ("run", "restore files"),
    "revert": ("run", "revert a commit"),
    "reset": ("run", "reset the branch"),
    "tag": ("ship", "tag a version"),
}

_READ = frozenset(("cat", "head", "tail", "less", "more", "nl", "bat", "sed", "wc"))
_SEARCH = frozenset(("grep", "rg", "egrep", "fgrep", "ag", "ack"))
_LIST = frozenset(("ls", "tree", "find", "fd", "exa", "eza"))
_LOOK = frozenset(("pwd", "which", "type", "file", "stat", "du", "df", "ps", "env", "whoami", "uname", "date", "jq"))
_FILES = {
    "rm": "delete",
    "rmdir": "delete",
    "mkdir": "make",
    "mv": "move",
    "cp": "copy",
    "touch": "make",
    "chmod": "change the rights of",
}
_LANGUAGES = {"python": "Python", "node": "JavaScript", "ruby": "Ruby", "perl": "Perl", "deno": "JavaScript"}
_WRITTEN = re.compile(r"(?:>>?|^tee(?: -a)?)\s*([^\s&>|;<]+)(?<!/dev/null)")
_PREFIX = re.compile(
    r"^(?:sudo\s+(?:-\S+\s+)*|time\s+|nohup\s+|env\s+(?=\w+=)|(?:timeout|gtimeout)\s+(?:-\S+\s+)*\S+\s+|"
    r"(?:do|then|else|elif|if|while|until|!|exec|command|xargs)\s+(?:-\S+\s+)*|"
    r"[A-Za-z_]\w*=(?:'[^']*'|\"[^\"]*\"|[^\s'\"]*)\s+)"
)
_QUOTED_OR_BREAK = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.|(&&|\|\||[;|\n&])", re.DOTALL)
_SKIPPED = re.compile(
    r"(?:cd|pushd|popd|set|export|source|\.|true|for|case|done|fi|esac)(?=\s|$)|echo(?![^>]*[^2&]>)|[#}]"
)
_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?")


def describe_command(command: str) -> Deed:
    """What a command line is for. Looks at its first 2,000 characters; "run" and the command itself where it is not
    known. `command` may hold several commands, pipes, quotes, here-documents."""
    return _describe(command[:LONGEST])


@lru_cache(maxsize=1_024)
def _describe(command: str) -> Deed:
    shown = line(command)
    parts = _simple_commands(command)
    for pattern, family, phrase in _TELLING:
        if any(pattern.match(part) for part in parts):
            return Deed(family, phrase, shown)
    for part in parts:
        install = _INSTALL.match(part)
        if install:
            return Deed("run", "install " + _packages(install.group(2)), shown)
    for part in parts:
        deed = _of_program(part)
        if deed is not None:
            return Deed(deed.family, deed.phrase, shown)
    return Deed("run", "run " + line(parts[0] if parts else command, 60), shown)


def joined(words: list[str]) -> str:
    """A command given word by word, as a person types it; `bash -lc …` gives what the shell was told."""
    if len(words) > 2 and file_name(words[0]) in ("bash", "sh", "zsh") and re.fullmatch(r"-l?i?c|-lic", words[1]):
        return words[2]
    return shlex.join(words)


def _simple_commands(command: str) -> list[str]:
    """The single commands of a line, without changes of folder, variables before them and what is fed to them."""
    heredoc = _HEREDOC.search(command)
    if heredoc:
        command = command[: heredoc.start()]
    found: list[str] = []
    start = 0
    for match in _QUOTED_OR_BREAK.finditer(command):
        # `2>&1` and `&>` are no breaks.
        joins = match.group(1) == "&" and (
            command[match.start() - 1 : match.start()] == ">" or command[match.end() :][:1] == ">"
        )
        if match.group(1) and not joins:
            found.append(command[start : match.start()])
            start = match.end()
    found.append(command[start:])
    stripped = (_without_prefix(_without_brackets(part)) for part in found)
    return [part for part in stripped if part and not _SKIPPED.match(part)]


def _without_brackets(part: str) -> str:
    part = part.strip().lstrip("({ ")
    return part[:-1].rstrip() if part.endswith(")") and part.count(")") > part.count("(") else part


def _without_prefix(part: str) -> str:
    while (match := _PREFIX.match(part)) is not None:
        part = part[match.end() :]
    return part


def _of_program(part: str) -> Deed | None:
    words = _words(part)
    program = file_name(words[0]) if words else ""
    plain = [word for word in words[1:] if not word.startswith("-")]
    if program == "git":
        known = _GIT.get(plain[0] if plain else "")
        return Deed(*known) if known else None
    if program in ("curl", "wget", "http"):
        return _fetch(plain)
    written = _WRITTEN.search(part) if program in ("cat", "echo", "printf", "tee") else None
    if written:
        return Deed("edit", f"write {_names([written.group(1)])}")
    if program in _FILES:
        targets = plain[:-1] if program in ("mv", "cp") and len(plain) > 1 else plain
        return Deed("edit", f"{_FILES[program]} {_names(targets)}")
    return _running(program, words, plain) or _looking(program, words, plain)


def _running(program: str, words: list[str], plain: list[str]) -> Deed | None:
    """A language given a program: by name, or in the command itself."""
    language = next((known for known in _LANGUAGES if re.fullmatch(known + r"[\d.]*", program)), None)
    if language is None or "-m" in words or "--version" in words:
        return None
    if plain and not {"-c", "-e", "-"} & set(words):
        return Deed("run", f"run {_names(plain[:1])}")
    return Deed("run", f"run {_LANGUAGES[language]} code")


def _looking(program: str, words: list[str], plain: list[str]) -> Deed | None:
    if program == "sed" and any(re.match(r"-\w*i|--in-place", word) for word in words[1:]):
        return Deed("edit", f"edit {_names(plain[1:])}")
    if program in _READ:
        # The first word of `sed` is its script, numbers belong to an option.
        files = [word for word in (plain[1:] if program == "sed" else plain) if not word.isdigit()]
        return Deed("explore", f"read {_names(files)}") if files else None
    if program in _SEARCH:
        return Deed("explore", f"search for “{line(plain[0], 60)}”") if plain else None
    if program == "find" and "-name" in words[:-1]:
        return Deed("explore", f"look for {line(words[words.index('-name') + 1], 60)}")
    if program in _LIST:
        return Deed("explore", f"look through {file_name(plain[0])}" if plain and plain[0] != "." else "list the files")
    return Deed("explore", f"run {line(' '.join(words), 60)}") if program in _LOOK else None


def _fetch(plain: list[str]) -> Deed | None:
    address = next((word for word in plain if "://" in word), None)
    host = host_of(address) if address else None
    return Deed("research", f"read {host}") if host else None


def host_of(address: str) -> str | None:
    """The host of an address, without the `www.`; None where there is none."""
    try:
        host = urlsplit(address.strip()[:LONGEST]).hostname
    except ValueError:
        return None
    return host.removeprefix("www.") if host else None


def _names(paths: list[str]) -> str:
    names = [line(file_name(path), 60) for path in paths if path not in (">", ">>", "2>&1", "2>/dev/null")]
    if not names:
        return "files"
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1:,} more"


def _packages(rest: str) -> str:
    names = [word for word in _words(rest) if not word.startswith(("-", "2>", ">", "."))]
    if not names or any(word.endswith((".txt", ".toml")) for word in names):
        return "the dependencies"
    return line(", ".join(names[:3]), 60) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()
