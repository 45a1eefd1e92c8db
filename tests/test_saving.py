"""Writing: private, whole or absent, never through a link, never over what is not ours, never where keys live."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import textwrap
from datetime import UTC, timedelta, timezone
from pathlib import Path

import pytest

import plain_reader
from trailbook import denied, names, saving
from trailbook.failures import Stopped


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


# --- files and folders


def test_folders_and_files_are_private_whatever_the_umask(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        saving.make_folder(tmp_path / "a" / "b")
        saving.write_new(tmp_path / "a" / "b" / "c.html", b"x")
        saving.append(tmp_path / "a" / "b" / "d.jsonl", b"y")
        with saving.staging(tmp_path / "a") as private:
            assert mode(private) == 0o700
    finally:
        os.umask(old)
    assert [mode(tmp_path / name) for name in ("a", "a/b", "a/b/c.html", "a/b/d.jsonl")] == [
        0o700,
        0o700,
        0o600,
        0o600,
    ]


def test_a_staging_folder_leaves_nothing_behind(tmp_path: Path) -> None:
    def fails() -> None:
        with saving.staging(tmp_path) as private:
            saving.write_new(private / "half.html", b"x")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fails()
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_run_left_is_swept_but_not_what_a_live_one_holds(tmp_path: Path) -> None:
    holder = f"""
        import os, sys, time
        from pathlib import Path
        from trailbook import saving
        with saving.staging(Path({str(tmp_path)!r})) as private:
            (private / "page").write_text("x")
            os.utime(private, (0, 0))
            print(private.name, flush=True)
            if sys.argv[1] == "die":
                os._exit(9)
            sys.stdin.read()
    """
    command = [sys.executable, "-c", textwrap.dedent(holder)]
    dead = subprocess.run([*command, "die"], capture_output=True, text=True, check=False).stdout.strip()
    with subprocess.Popen([*command, "live"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as live:
        assert live.stdout is not None
        held = live.stdout.readline().strip()
        assert {path.name for path in tmp_path.iterdir()} == {held}, "the live run sweeps what the dead one left"
        assert dead not in {"", held}
        with saving.staging(tmp_path) as private:
            assert {path.name for path in tmp_path.iterdir()} == {held, private.name}
        live.communicate()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("there", ["file", "link to a file", "link to a folder", "dangling link", "folder"])
def test_nothing_is_written_over_or_through_what_is_there(tmp_path: Path, there: str) -> None:
    target, other = tmp_path / "Chat.html", tmp_path / "other"
    if there == "file":
        target.write_text("theirs")
    elif there == "folder":
        target.mkdir()
    else:
        if there == "link to a file":
            other.write_text("theirs")
        elif there == "link to a folder":
            other.mkdir()
        target.symlink_to(other)
    with pytest.raises(Stopped):
        saving.write_new(target, b"ours")
    staged = tmp_path / "staged"
    staged.write_bytes(b"ours")
    assert not saving.place_new(staged, target)
    assert not saving.place(staged, target, {saving.digest_of(staged) or ""})
    assert not saving.remove(target, {"0" * 64})
    written = saving.place_numbered(staged, tmp_path, "Chat.html")
    assert written.name == "Chat 2.html"
    assert written.read_bytes() == b"ours"
    assert not staged.exists()
    if there in ("file", "link to a file"):
        assert target.read_text() == "theirs"
    if there == "dangling link":
        assert not other.exists()
    if there == "link to a folder":
        assert list(other.iterdir()) == []


def test_numbers_go_up_to_a_hundred_names(tmp_path: Path) -> None:
    (tmp_path / "Chat.html").touch()
    for number in range(2, 101):
        if number != 57:
            (tmp_path / f"Chat {number}.html").touch()
    staged = tmp_path / "staged"
    staged.write_bytes(b"x")
    assert saving.place_numbered(staged, tmp_path, "Chat.html").name == "Chat 57.html"
    staged.write_bytes(b"x")
    with pytest.raises(Stopped, match=r"too many files named Chat\.html"):
        saving.place_numbered(staged, tmp_path, "Chat.html")


def test_only_a_file_that_is_as_we_wrote_it_is_replaced_or_removed(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    target.write_bytes(b"first")
    ours = {saving.digest_of(target) or ""}
    staged = tmp_path / "staged"
    staged.write_bytes(b"second")
    assert saving.place(staged, target, ours)
    assert target.read_bytes() == b"second"
    target.write_bytes(b"second, and a person's note")
    staged.write_bytes(b"third")
    assert not saving.place(staged, target, {*ours, saving.digest_of(staged) or ""})
    assert not saving.remove(target, ours)
    assert target.read_bytes() == b"second, and a person's note"
    assert saving.remove(target, {saving.digest_of(target) or ""})
    assert not target.exists()
    assert saving.remove(target, ours), "what is gone needs no removing"


def test_where_there_are_no_hard_links_nothing_is_replaced_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_paths: object, **_options: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    staged, target = tmp_path / "staged", tmp_path / "Chat.html"
    staged.write_bytes(b"ours")
    assert saving.place_new(staged, target)
    assert target.read_bytes() == b"ours"
    assert not staged.exists()
    staged.write_bytes(b"more")
    assert not saving.place_new(staged, target)
    assert target.read_bytes() == b"ours"


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (errno.ENOSPC, "The disk is full"),
        (errno.EDQUOT, "Your share of the disk is used up"),
        (errno.EROFS, "only lets itself be read"),
        (errno.EACCES, "There is no permission to write"),
        (errno.EIO, "The disk failed"),
        (errno.EBUSY, "could not be written (device or resource busy)"),
    ],
)
def test_a_failed_write_leaves_nothing_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, sentence: str
) -> None:
    real = os.fdopen

    def failing(descriptor, *rest, **named):  # type: ignore[no-untyped-def]
        stream = real(descriptor, *rest, **named)

        class Failing:
            def __enter__(self):  # type: ignore[no-untyped-def]
                return self

            def __exit__(self, *_error: object) -> None:
                stream.close()

            def write(self, data: memoryview) -> int:
                if len(data) <= 4:
                    raise OSError(number, os.strerror(number))
                written: int = stream.write(data[:4])
                return written

        return Failing()

    monkeypatch.setattr(os, "fdopen", failing)
    with pytest.raises(Stopped) as error:
        saving.write_new(tmp_path / "page.html", b"12345678")
    assert sentence in error.value.sentence
    assert str(tmp_path / "page.html") in error.value.sentence
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_a_file_or_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    for name, why in (("file", "is a file, not a folder"), ("link", "is a link"), ("file/below", "is a file")):
        with pytest.raises(Stopped, match=why):
            saving.make_folder(tmp_path / name)
    saving.make_folder(tmp_path / "real")


def test_a_second_run_waits_for_the_lock(tmp_path: Path) -> None:
    holder = f"""
        import sys
        from pathlib import Path
        from trailbook import saving
        with saving.lock(Path({str(tmp_path / "lock")!r})):
            print("held", flush=True)
            sys.stdin.read()
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(holder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdin is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(saving.Busy), saving.lock(tmp_path / "lock"):
            pass
        said: list[str] = []

        def wait() -> None:
            said.append("waiting")
            other.stdin.close()  # type: ignore[union-attr]

        with saving.lock(tmp_path / "lock", wait):
            assert said == ["waiting"]
        other.stdin = None


def test_a_run_that_is_killed_in_mid_write_leaves_files_whole_or_absent(tmp_path: Path) -> None:
    victim = f"""
        import os
        from pathlib import Path
        from trailbook import saving
        target = Path({str(tmp_path)!r})
        real = os.fdopen
        def dying(descriptor, *rest, **named):
            stream = real(descriptor, *rest, **named)
            stream.write(b"half a pa")
            os._exit(9)
        with saving.staging(target) as private:
            saving.write_new(private / "one", b"a whole page")
            saving.place_new(private / "one", target / "one.html")
            os.fdopen = dying
            saving.write_new(private / "two", b"a whole page")
            saving.place_new(private / "two", target / "two.html")
    """
    assert subprocess.run([sys.executable, "-c", textwrap.dedent(victim)], check=False).returncode == 9
    assert (tmp_path / "one.html").read_bytes() == b"a whole page"
    assert not (tmp_path / "two.html").exists()


# --- where nothing is written


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    plain_reader.install(monkeypatch, home / ".plain")
    return home


@pytest.mark.parametrize(
    "place",
    [
        ".plain",
        ".plain/logs",
        ".plain/deep/er",
        ".plain/workspace/../logs",
        ".ssh",
        ".ssh/reports",
        ".gnupg",
        ".aws",
        ".config/gh",
        ".config/gcloud/x",
        ".config/google-chrome",
        ".mozilla/firefox",
        ".password-store",
        ".kube",
    ],
)
def test_stores_and_key_places_are_refused_however_they_are_spelled(home: Path, place: str) -> None:
    (home / place).mkdir(parents=True, exist_ok=True)
    (home / "way-in").symlink_to(home / place)
    for spelling in (
        home / place,
        home / place / "not-there-yet",
        home / "x" / ".." / place,
        home / "way-in",
        home / "way-in" / "below",
        Path("~") / place,
    ):
        with pytest.raises(Stopped, match="nothing is written there"):
            denied.refuse(spelling)


def test_what_only_looks_like_a_store_is_not_refused(home: Path) -> None:
    for place in (".plainly", "plain", ".plain/workspace", ".plain/workspace/site", ".sshd", ".config", "a/.ssh", ""):
        (home / place).mkdir(parents=True, exist_ok=True)
        denied.refuse(home / place)


def test_a_store_that_is_a_link_is_refused_where_it_really_lies(home: Path) -> None:
    (home / "dotfiles" / "ssh").mkdir(parents=True)
    (home / ".ssh").symlink_to(home / "dotfiles" / "ssh")
    for place in ("dotfiles/ssh", "dotfiles/ssh/below", ".ssh"):
        with pytest.raises(Stopped):
            denied.refuse(home / place)
    denied.refuse(home / "dotfiles")


def test_a_link_out_of_an_allowed_folder_back_into_the_store_is_refused(home: Path) -> None:
    (home / ".plain" / "logs").mkdir(parents=True)
    (home / ".plain" / "workspace").mkdir()
    (home / ".plain" / "workspace" / "back").symlink_to(home / ".plain" / "logs")
    with pytest.raises(Stopped):
        denied.refuse(home / ".plain" / "workspace" / "back")


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_case_makes_no_difference_where_the_system_makes_none(
    home: Path, monkeypatch: pytest.MonkeyPatch, system: str
) -> None:
    denied.refuse(home / ".SSH")
    monkeypatch.setattr(sys, "platform", system)
    for place in (".SSH", ".Plain/Logs"):
        with pytest.raises(Stopped):
            denied.refuse(home / place)
    denied.refuse(home / ".PLAIN" / "WorkSpace")


# --- names


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Fix the invoice rounding test", "fix-the-invoice-rounding-test"),
        ("  What's up? / C:\\x  ", "what-s-up-c-x"),
        ("Größe ändern", "größe-ändern"),
        ("हिन्दी में", "हिन्दी-में"),
        ("שלום עולם", "שלום-עולם"),
        ("\u202egnp.exe", "gnp-exe"),
        ("../../etc/passwd", "etc-passwd"),
        ("a\x00b\nc\ud800d", "a-b-c-d"),
        ("[name] asks for [key]", "name-asks-for-key"),
        ("x" * 300, "x" * 60),
        ("字" * 300, "字" * 50),
        ("---", ""),
        (None, ""),
        ("👩‍💻", ""),
    ],
)
def test_a_slug_keeps_words_and_nothing_else(title: str | None, slug: str) -> None:
    assert names.slug(title) == slug


def test_a_stem_has_day_title_and_digits(tmp_path: Path) -> None:
    at = 1_791_496_800_000  # 2026-10-08T22:00:00Z
    assert names.stem("Fix it", at, "3fa9c1", UTC) == "2026-10-08-fix-it-3fa9c1"
    assert names.stem("Fix it", at, "3fa9c1", timezone(timedelta(hours=3))) == "2026-10-09-fix-it-3fa9c1"
    assert names.stem(None, None, "3fa9c1", UTC) == "undated-3fa9c1"
    assert names.stem("Fix it", 10**18, "3fa9c1", UTC) == "undated-fix-it-3fa9c1"
    longest = names.stem("字" * 300, at, "3fa9c1", UTC) + ".html"
    (tmp_path / longest).touch()


def test_digits_are_told_apart_and_never_change(monkeypatch: pytest.MonkeyPatch) -> None:
    class Same:
        def __init__(self, data: bytes) -> None:
            self.data = data

        def hexdigest(self) -> str:
            return "aaaaaa" + self.data.hex()[-8:]

    monkeypatch.setattr(names, "sha256", Same)
    chats = [("plain", "1"), ("plain", "2"), ("plain", "3")]
    first = names.digests(chats[1:2], {})
    assert first == {chats[1]: "aaaaaa"}
    again = names.digests(chats, first)
    assert again[chats[1]] == "aaaaaa"
    assert len(set(again.values())) == 3


@pytest.mark.parametrize(
    ("title", "cleaned"),
    [
        ("Fix the invoice rounding test", "Fix the invoice rounding test"),
        (
            "a/b\\c:d*e?f\"g<h>i|j#k%l&m{n}o$p!q'r`s@t+u=v~w^x[y]z",
            "a b c d e f g h i j k l m n o p q r s t u v w x y z",
        ),
        ("..", "Chat"),
        (" . hidden . ", "hidden"),
        ("[name]", "name"),
        ("one\ntwo\tthree", "one two three"),
        ("a\x07b\u202ec\u200bd", "abcd"),
        ("y" * 61, "y" * 60),
        ("x" * 59 + ". y", "x" * 59),
        ("字" * 300, "字" * 50),
        ("CON", "Chat"),
        ("lpt1.txt", "Chat"),
        ("\ud800", "Chat"),
        ("ﬁne", "fine"),
    ],
)
def test_a_title_in_a_file_name_is_cleaned(title: str, cleaned: str) -> None:
    assert names.cleaned(title, "Chat") == cleaned


def test_an_exported_file_is_named_for_agent_title_and_day() -> None:
    assert names.export_name("Conch", "Fix: the test", "2026-10-08") == "Conch – Fix the test – 2026-10-08"
    assert names.export_name("Conch chats", None, "2026-10-08") == "Conch chats – 2026-10-08"
    assert names.export_name("Conch", "", "2026-10-08") == "Conch – Chat – 2026-10-08"
