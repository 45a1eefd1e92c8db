"""What is known of the person before a chat is looked at: their names, secrets, home folders, logins and hosts."""

from __future__ import annotations

import getpass
import os
import platform
import re
import secrets
import shutil
import stat
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from trailbook.redaction.homes import home_in
from trailbook.redaction.labels import says_secret
from trailbook.redaction.logins import GENERIC_LOGINS, is_generic_login
from trailbook.redaction.values import is_telling, looks_random

LARGEST_ENV_FILE = 1_000_000
"""Bytes of a `.env` in a working folder; a larger one is no list of settings."""

_NOT_A_PERSON = GENERIC_LOGINS | frozenset(
    ("unknown", "your name", "test user", "github actions", "continuous integration")
)


class UnreadableSecrets(Exception):
    """A file of known secrets that cannot be read; says in one sentence what happened, to which file, what to do."""


@dataclass(slots=True, frozen=True)
class Context:
    """What is known before a chat is looked at. Picklable; never written anywhere."""

    names: tuple[str, ...] = ()
    """Full names and single ones."""
    emails: tuple[str, ...] = ()
    secrets: tuple[str, ...] = field(default=(), repr=False)
    homes: tuple[str, ...] = ()
    logins: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    number: bool = False
    """Whether the same value gets the same number within one export: `[email 2]`."""
    passed_over: int = 0
    """How many values of secrets files are not looked for, because they are short or plain words or numbers."""
    salt: bytes = field(default_factory=lambda: secrets.token_bytes(16), repr=False, compare=False)
    """The key under which removed things are told apart; random, the same in every worker."""

    def content(self) -> bytes:
        """All that decides what is taken out, as bytes: for a keyed digest only, since it holds the secrets."""
        return repr((self.names, self.emails, self.secrets, self.homes, self.logins, self.hosts, self.number)).encode(
            "utf-8", "replace"
        )


def load_context(
    *,
    names: Iterable[str] = (),
    known: Iterable[str] = (),
    secret_files: Iterable[Path] = (),
    working_folders: Iterable[Path | str] = (),
    environment: Mapping[str, str] | None = None,
    number: bool = False,
) -> Context:
    """Gather what is known of the person who runs this.

    `names` and `known` are plain values from elsewhere: the command line, `trailbook.toml`, the agents' own settings
    (`PLACES.names`). `secret_files` are the person's own lists, every value of which is a secret (`NAME=value` lines or
    one value a line). `working_folders` are the chats' own: they tell of the home they lie in, and a `.env` there is
    read, if it is a regular file of this user, at most 1 MB and no link. There, as in the `environment` (default: this
    process's), only values that their names call secret, that look random (in files), or that are a URL's password.
    Further: the system's account and `git config`.
    Raises UnreadableSecrets for one of `secret_files`.
    """
    variables = os.environ if environment is None else environment
    own = [value for path in secret_files for _, value in _read_secrets(Path(path))]
    folders = [str(folder) for folder in working_folders]
    found = [value for folder in folders for value in _env_file_secrets(Path(folder))]
    found += [value for name, value in variables.items() for value in _secrets_in(name, value, sure_name_only=True)]
    git_names, git_emails = _git_identity()
    account = _Account.of_this_user(variables)
    telling = [value for value in (*known, *own, *found) if is_telling(value)]
    return Context(
        names=_persons((*names, *account.names, *git_names, *_git_author(variables))),
        emails=_unique((*git_emails, *_git_author_email(variables))),
        secrets=_unique(telling),
        homes=_unique((*filter(_is_home, account.homes), *(home_in(folder) or "" for folder in folders))),
        logins=_unique(login for login in account.logins if not is_generic_login(login) and len(login) > 2),
        hosts=_unique(host for host in (platform.node(),) if _is_personal_host(host)),
        number=number,
        passed_over=sum(not is_telling(value) for value in own),
    )


def _unique(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(value for value in values if value))


# --- names


def _persons(names: Iterable[str]) -> tuple[str, ...]:
    cleaned = (" ".join(name.split()) for name in names)
    return _unique(name for name in cleaned if 1 < len(name) <= 60 and name.lower() not in _NOT_A_PERSON)


def _git_identity() -> tuple[list[str], list[str]]:
    git = shutil.which("git")
    if git is None:
        return [], []
    try:
        answer = subprocess.run(
            [git, "config", "--global", "--null", "--get-regexp", r"^user\.(name|email)$"],
            capture_output=True,
            timeout=5,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.SubprocessError):
        return [], []
    settings = [entry.partition("\n") for entry in answer.stdout.decode("utf-8", "replace").split("\0") if entry]
    names = [value for key, _, value in settings if key == "user.name"]
    return names, [value for key, _, value in settings if key == "user.email" and "@" in value]


def _git_author(variables: Mapping[str, str]) -> list[str]:
    return [variables[name] for name in ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME") if name in variables]


def _git_author_email(variables: Mapping[str, str]) -> list[str]:
    found = (variables.get(name, "") for name in ("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL", "EMAIL"))
    return [email for email in found if "@" in email]


# --- the account


@dataclass(slots=True)
class _Account:
    names: list[str] = field(default_factory=list)
    logins: list[str] = field(default_factory=list)
    homes: list[str] = field(default_factory=list)

    @classmethod
    def of_this_user(cls, variables: Mapping[str, str]) -> _Account:
        account = cls()
        account.homes += [variables[name] for name in ("HOME", "USERPROFILE") if variables.get(name)]
        account.logins += [variables[name] for name in ("USER", "LOGNAME", "USERNAME") if variables.get(name)]
        with suppress(OSError, KeyError, ImportError):  # an account without a name, as in some containers
            account.logins.append(getpass.getuser())
        account._ask_the_system()
        account.homes += [os.path.realpath(home) for home in account.homes if _is_home(home)]
        return account

    def _ask_the_system(self) -> None:
        try:
            import pwd
        except ImportError:  # Windows has no such list
            return
        try:
            entry = pwd.getpwuid(os.getuid())
        except KeyError:
            return
        self.names.append(entry.pw_gecos.split(",")[0])
        self.logins.append(entry.pw_name)
        self.homes.append(entry.pw_dir)


def _is_home(path: str) -> bool:
    # "/", "C:\" and the like would turn every path into "~".
    return bool(re.match(r"(?:[A-Za-z]:)?[/\\]+[^/\\]", path))


def _is_personal_host(host: str) -> bool:
    # A plain word ("server", "laptop") would shred texts; a name made of several parts is one machine's own.
    return len(host) >= 6 and bool(re.search(r"[-.\d]", host)) and not host.lower().startswith(("localhost", "ip-"))


# --- files and variables


_LINE = re.compile(r"\s*(?:export\s+|set\s+)?([A-Za-z_][\w.-]*)\s*[=:]\s*(.*)$")


def _read_secrets(path: Path) -> list[tuple[str, str]]:
    try:
        text = path.expanduser().read_text("utf-8-sig", "replace")
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise UnreadableSecrets(
            f"The file of known secrets {path} cannot be read ({why}); correct its name or leave it out."
        ) from None
    return list(_entries(text))


def _entries(text: str) -> Iterator[tuple[str, str]]:
    """The settings of a `.env` text: name and value; the name is empty for a line that is a value by itself."""
    for line in re.split(r"\r?\n", text):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found = _LINE.match(line)
        yield (found[1], _unquoted(found[2])) if found else ("", line.strip())


def _unquoted(value: str) -> str:
    value = value.strip()
    if value[:1] in ("'", '"'):
        end = value.find(value[0], 1)
        while end > 0 and value[0] == '"' and value[end - 1] == "\\":
            end = value.find(value[0], end + 1)
        inner = value[1:end] if end > 0 else value[1:]
        return re.sub(r'\\(["\\$])', r"\1", inner) if value[0] == '"' else inner
    return re.sub(r"\s+#.*$", "", value)


def _env_file_secrets(folder: Path) -> Iterator[str]:
    # A folder that is not absolute is another computer's, or none: this process's own would be read instead.
    text = _own_small_file(folder / ".env") if folder.is_absolute() else ""
    for name, value in _entries(text):
        yield from _secrets_in(name, value, sure_name_only=False)


def _own_small_file(path: Path) -> str:
    """The text of a regular file of this user, at most 1 MB, no link; empty for anything else."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except (OSError, ValueError):
        return ""
    try:
        status = os.fstat(handle)
        own = not hasattr(os, "getuid") or status.st_uid == os.getuid()
        if not stat.S_ISREG(status.st_mode) or not own or status.st_size > LARGEST_ENV_FILE or path.is_symlink():
            return ""
        return os.read(handle, LARGEST_ENV_FILE).decode("utf-8-sig", "replace")
    except OSError:
        return ""
    finally:
        os.close(handle)


def _secrets_in(name: str, value: str, *, sure_name_only: bool) -> Iterator[str]:
    if says_secret(name) or (not sure_name_only and looks_random(value)):
        yield value
    elif "://" in value and "@" in value:
        try:
            password = urlsplit(value).password
        except ValueError:
            return
        if password:
            yield unquote(password)
