"""What is known of the person: from the command line, files, the environment, git and the account."""

from __future__ import annotations

import os
import pickle
import shutil
from pathlib import Path

import pytest

from trailbook.redaction import context as context_module
from trailbook.redaction.context import Context, UnreadableSecrets, load_context
from trailbook.redaction.replacing import redact_text

PASSWORD = "Vq7" + "tR2xW9!k"
EMPTY: dict[str, str] = {}


@pytest.fixture(autouse=True)
def nobody(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No account, no git: only what a test gives."""
    monkeypatch.setattr(context_module.shutil, "which", lambda _: None)
    monkeypatch.setattr(context_module._Account, "_ask_the_system", lambda _: None)
    monkeypatch.setattr(context_module.getpass, "getuser", lambda: "root")
    monkeypatch.setattr(context_module.platform, "node", lambda: "localhost")


def test_nothing_is_known_where_nothing_is_told() -> None:
    known = load_context(environment=EMPTY)
    assert known == Context(salt=known.salt)


def test_names_are_those_of_persons() -> None:
    given = ["Mira  Okafor", "root", "Your Name", "x", "Mira Okafor", "mokafor", "y" * 61]
    assert load_context(names=given, environment=EMPTY).names == ("Mira Okafor", "mokafor")


def test_a_file_of_secrets_holds_secrets_only(tmp_path: Path) -> None:
    listed = tmp_path / "secrets.env"
    listed.write_text(
        f"# mine\nexport A={PASSWORD}\nB=\"two words 7\"\nC='it\\''\n{PASSWORD}x\nD=3000\nE=true\nF=short\nG=postgres\n"
        "H=correct horse battery staple # not this\n"
    )
    known = load_context(secret_files=[listed], environment=EMPTY)
    assert known.secrets == (PASSWORD, "two words 7", f"{PASSWORD}x", "correct horse battery staple")
    # 3000, true, short, postgres and what is left of C: short, numbers, plain words.
    assert known.passed_over == 5


def test_a_missing_file_of_secrets_is_said(tmp_path: Path) -> None:
    with pytest.raises(UnreadableSecrets, match=r"secrets\.env cannot be read \(No such file or directory\); correct"):
        load_context(secret_files=[tmp_path / "secrets.env"], environment=EMPTY)


@pytest.mark.parametrize(
    ("line", "secret"),
    [
        (f"API_KEY={PASSWORD}", PASSWORD),
        (f"SMTP_PASS='{PASSWORD}'", PASSWORD),
        (f'WHATEVER="{"Zk81Pq47" * 3}"', "Zk81Pq47" * 3),
        (f"DATABASE_URL=postgres://app:{PASSWORD}@db/x", PASSWORD),
        ("DATABASE_URL=postgres://app:p%40ss%2Fw0rd@db/x", "p@ss/w0rd"),
        ("APP_NAME=trailbook-demo", None),
        ("PUBLIC_URL=https://app.corp.net/path", None),
        ("NODE_ENV=production", None),
        ("PASSWORD=postgres", None),
        ("GOOGLE_APPLICATION_CREDENTIALS=/srv/keys/app.json", None),
        ("broken http://[::1", None),
    ],
)
def test_a_working_folders_env_file(tmp_path: Path, line: str, secret: str | None) -> None:
    (tmp_path / ".env").write_text(line + "\n")
    known = load_context(working_folders=[tmp_path, tmp_path / "missing"], environment=EMPTY)
    assert known.secrets == ((secret,) if secret else ())


def test_an_env_file_that_is_no_plain_small_file_of_ones_own_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = tmp_path / "real.env"
    real.write_text(f"API_KEY={PASSWORD}\n")

    def secrets_of(folder: Path) -> tuple[str, ...]:
        return load_context(working_folders=[folder], environment=EMPTY).secrets

    linked, large, pipe, folder = (tmp_path / name for name in ("linked", "large", "pipe", "folder"))
    for each in (linked, large, pipe, folder):
        each.mkdir()
    (linked / ".env").symlink_to(real)
    (large / ".env").write_text(f"API_KEY={PASSWORD}\n" + "#" * context_module.LARGEST_ENV_FILE)
    (folder / ".env").mkdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo(pipe / ".env")
    assert [secrets_of(each) for each in (linked, large, pipe, folder)] == [(), (), (), ()]

    (tmp_path / ".env").write_text(f"API_KEY={PASSWORD}\n")
    assert secrets_of(tmp_path) == (PASSWORD,)
    monkeypatch.chdir(tmp_path)
    assert secrets_of(Path()) == ()
    if hasattr(os, "getuid"):
        monkeypatch.setattr(context_module.os, "getuid", lambda: 12345)
        assert secrets_of(tmp_path) == ()


def test_variables_whose_names_say_secret() -> None:
    environment = {
        "OPENAI_API_KEY": PASSWORD,
        "EDITOR": "Zk81Pq47Rt26Vw93Lm",
        "HTTPS_PROXY": "http://me:s3cr3tpw@proxy:3128",
        "PATH": "/usr/bin",
        "SSH_AUTH_SOCK": "/run/user/1000/ssh-Ab12/agent.7",
        "HOME": "/home/zora",
        "USER": "zora",
        "GIT_AUTHOR_NAME": "Zora Neale",
        "GIT_AUTHOR_EMAIL": "zora@corp.io",
    }
    known = load_context(environment=environment)
    assert known.secrets == (PASSWORD, "s3cr3tpw")
    assert known.homes == ("/home/zora",)
    assert known.logins == ("zora",)
    assert known.names == ("Zora Neale",)
    assert known.emails == ("zora@corp.io",)


def test_working_folders_tell_of_the_home_they_lie_in() -> None:
    folders = [
        "/Users/zora/code",
        "/Users/zora/notes",
        "/home/runner/work",
        "/srv/app",
        "D:\\Users\\Zora N\\x",
        "relative",
    ]
    assert load_context(working_folders=folders, environment=EMPTY).homes == ("/Users/zora", "D:\\Users\\Zora N")


@pytest.mark.parametrize("home", ["/", "", "C:\\"])
def test_a_home_that_would_be_every_path_is_none(home: str) -> None:
    assert load_context(environment={"HOME": home}).homes == ()


def test_git_is_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.undo()
    if shutil.which("git") is None:
        pytest.skip("there is no git here")
    (tmp_path / ".gitconfig").write_text("[user]\n\tname = Zora Neale\n\temail = zora@corp.io\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("GIT_CONFIG_GLOBAL", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    known = load_context(environment=EMPTY)
    assert "Zora Neale" in known.names
    assert "zora@corp.io" in known.emails


def test_a_context_shows_no_secret_and_survives_a_worker() -> None:
    known = load_context(known=[PASSWORD], environment=EMPTY)
    assert PASSWORD not in repr(known)
    again = pickle.loads(pickle.dumps(known))
    assert again == known
    assert again.salt == known.salt
    assert redact_text(f"a {PASSWORD} b", again) == "a [password] b"


def test_what_decides_is_in_the_content() -> None:
    one, other = (load_context(known=[value], environment=EMPTY) for value in (PASSWORD, PASSWORD + "x"))
    assert one.content() != other.content()
    assert one.content() == load_context(known=[PASSWORD], environment=EMPTY).content()
