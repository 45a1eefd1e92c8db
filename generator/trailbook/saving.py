"""The only module that writes to the disk: private modes, no following of links, nothing replaced that is not ours.

Every file is first written whole into a private staging folder and then put in its place in one step, so that a file is
whole or absent whenever the run ends, also when it is killed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import stat
import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from trailbook.failures import NOTHING, Stopped
from trailbook.names import numbered

STAGING = ".trailbook-"
"""How the names of staging folders start."""

_JUST_MADE = 60
"""Seconds."""

TRIES = 100
"""How many numbered names are tried for an exported file."""

_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_NO_LINKS_HERE = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EXDEV, errno.EMLINK, errno.EINVAL}
"""What a file system says that has no hard links."""

_SENTENCES = {
    errno.ENOSPC: "The disk is full: {path} could not be written. Make room and run it again.",
    errno.EDQUOT: "Your share of the disk is used up: {path} could not be written. Make room and run it again.",
    errno.EROFS: "{path} lies on a disk that only lets itself be read. Choose another folder.",
    errno.EACCES: "There is no permission to write {path}. Choose another folder.",
    errno.EPERM: "There is no permission to write {path}. Choose another folder.",
    errno.ENAMETOOLONG: "The name of {path} is too long for this disk. Choose a folder with a shorter path.",
    errno.ENOTDIR: "Part of {path} is a file, not a folder. Choose a folder.",
    errno.ELOOP: "{path} is a link; links are not followed. Choose the folder itself.",
    errno.EIO: "The disk failed while {path} was written. Check the disk, then run it again.",
}


def stopped(error: OSError, path: Path) -> Stopped:
    """The sentence for an error of the operating system at `path`."""
    sentence = _SENTENCES.get(error.errno or 0, "{path} could not be written ({why}). Choose another folder.")
    return Stopped(sentence.format(path=path, why=(error.strerror or type(error).__name__).lower()), NOTHING)


# --- folders


def make_folder(folder: Path) -> None:
    """Make a folder of mode 0700, and the missing ones above it. One that is there stays as it is.

    Raises Stopped where it is a file, a link or cannot be made.
    """
    try:
        if not folder.parent.exists():
            make_folder(folder.parent)
        folder.mkdir(mode=0o700)
    except FileExistsError:
        check_folder(folder)
    except OSError as error:
        raise stopped(error, folder) from None


def check_folder(folder: Path) -> None:
    """Raise Stopped unless `folder` is a folder itself, no file and no link to one."""
    try:
        mode = folder.lstat().st_mode
    except OSError as error:
        raise stopped(error, folder) from None
    if stat.S_ISLNK(mode):
        raise Stopped(f"{folder} is a link; links are not followed. Choose the folder itself.", NOTHING)
    if not stat.S_ISDIR(mode):
        raise Stopped(f"{folder} is a file, not a folder. Choose a folder.", NOTHING)


@contextmanager
def staging(folder: Path) -> Iterator[Path]:
    """A private folder (0700) inside `folder` to write into first; gone with all that is left in it at the end.

    Staging folders of runs that were killed are removed on the way. Raises Stopped.
    """
    _sweep(folder)
    private = folder / f"{STAGING}{secrets.token_hex(8)}"
    with contextlib.ExitStack() as stack:
        try:
            private.mkdir(mode=0o700)
            stack.callback(shutil.rmtree, private, ignore_errors=True)
            stack.enter_context(lock(private / "lock"))
        except OSError as error:
            raise stopped(error, folder) from None
        yield private


def clear(folder: Path) -> None:
    """Remove what a worker that died has left in its part of the staging folder."""
    shutil.rmtree(folder, ignore_errors=True)


def _sweep(folder: Path) -> None:
    for left in folder.glob(f"{STAGING}*"):
        with contextlib.suppress(OSError, Busy):
            status = left.lstat()
            # A run that has just made its folder may not hold the lock yet.
            if stat.S_ISDIR(status.st_mode) and time.time() - status.st_mtime > _JUST_MADE:
                with lock(left / "lock"):
                    shutil.rmtree(left, ignore_errors=True)


class Busy(Exception):
    """Another run holds the lock."""


@contextmanager
def lock(path: Path, wait: Callable[[], None] | None = None) -> Iterator[None]:
    """Hold a lock file; the system lets go of it when this process ends, however it ends.

    Where another run holds it, `wait` is called once and this run waits; without `wait`, Busy is raised.
    Raises OSError where the file cannot be made.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _NOFOLLOW, 0o600)
    try:
        try:
            _lock_now(descriptor, blocking=False)
        except BlockingIOError:
            if wait is None:
                raise Busy from None
            wait()
            _lock_now(descriptor, blocking=True)
        yield
    finally:
        os.close(descriptor)


if sys.platform == "win32":  # pragma: no cover
    import msvcrt

    def _lock_now(descriptor: int, *, blocking: bool) -> None:
        while True:
            try:
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            except OSError:
                if not blocking:
                    raise BlockingIOError from None
                time.sleep(0.2)
            else:
                return

else:
    import fcntl

    def _lock_now(descriptor: int, *, blocking: bool) -> None:
        try:
            # A record lock, for it is not handed on to worker processes, which may outlive a run that is killed.
            fcntl.lockf(descriptor, fcntl.LOCK_EX | (0 if blocking else fcntl.LOCK_NB))
        except (BlockingIOError, PermissionError):
            raise BlockingIOError from None
        except OSError as error:
            # A network file system without locks: two runs at once are not told apart there.
            if error.errno not in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL):
                raise


# --- files


def write_new(path: Path, data: bytes) -> None:
    """Write a file that is not there yet, mode 0600. Raises Stopped; then nothing is left of it."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | _BINARY, 0o600)
    except OSError as error:
        raise stopped(error, path) from None
    try:
        with os.fdopen(descriptor, "wb", buffering=0) as stream:
            rest = memoryview(data)
            while rest:
                rest = rest[stream.write(rest) or 0 :]
    except OSError as error:
        path.unlink(missing_ok=True)
        raise stopped(error, path) from None


def append(path: Path, data: bytes) -> None:
    """Add to the end of a file of ours. Raises Stopped; the end may then hold a part of `data`."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | _NOFOLLOW | _BINARY, 0o600)
        with os.fdopen(descriptor, "ab", buffering=0) as stream:
            rest = memoryview(data)
            while rest:
                rest = rest[stream.write(rest) or 0 :]
    except OSError as error:
        raise stopped(error, path) from None


def place_new(staged: Path, target: Path) -> bool:
    """Put a staged file in its place without replacing anything; False when the name is taken (by a link, too).

    Raises Stopped.
    """
    try:
        os.link(staged, target, follow_symlinks=False)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS_HERE:
            raise stopped(error, target) from None
        return _claim(staged, target)
    except NotImplementedError:
        return _claim(staged, target)
    staged.unlink(missing_ok=True)
    return True


def _claim(staged: Path, target: Path) -> bool:
    """As `place_new`, where there are no hard links: an empty file of the name keeps others off, then gives way."""
    try:
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW, 0o600))
    except FileExistsError:
        return False
    except OSError as error:
        raise stopped(error, target) from None
    try:
        staged.replace(target)
    except OSError as error:
        target.unlink(missing_ok=True)
        raise stopped(error, target) from None
    return True


def free_name(folder: Path, name: str) -> str:
    """The name, or the first with a number, under which `folder` holds nothing. Raises Stopped after `TRIES` names."""
    for number in range(1, TRIES + 1):
        free = name if number == 1 else numbered(name, number)
        if not os.path.lexists(folder / free):
            return free
    raise _too_many(folder, name)


def place_numbered(staged: Path, folder: Path, name: str) -> Path:
    """Put a staged file into `folder` under `name`, or ` 2`, ` 3` … where that is taken; returns its path.

    Raises Stopped, also after `TRIES` names.
    """
    for number in range(1, TRIES + 1):
        target = folder / (name if number == 1 else numbered(name, number))
        if place_new(staged, target):
            return target
    raise _too_many(folder, name)


def _too_many(folder: Path, name: str) -> Stopped:
    return Stopped(f"There are too many files named {name} in {folder}. Move some away, or choose another folder.")


def place(staged: Path, target: Path, ours: Collection[str]) -> bool:
    """Put a staged file in its place; a file that is there is replaced only if it is one that we wrote.

    `ours` are the digests (`digest_of`) of what we wrote there before. False when something else is there: it is kept.
    Raises Stopped.
    """
    if place_new(staged, target):
        return True
    if not is_ours(target, ours):
        return False
    try:
        staged.replace(target)
    except OSError as error:
        raise stopped(error, target) from None
    return True


def is_ours(target: Path, ours: Collection[str]) -> bool:
    """Whether a file is as we wrote it: one of the digests `ours`, or the empty file with which a name was claimed."""
    digest = digest_of(target)
    return bool(ours) and digest is not None and (digest in ours or digest == _EMPTY)


def remove(target: Path, ours: Collection[str]) -> bool:
    """Delete a file if it is as we wrote it; False when it is not, and is kept. One that is gone is as good as deleted.

    Raises Stopped.
    """
    if not os.path.lexists(target):
        return True
    if not is_ours(target, ours):
        return False
    try:
        target.unlink(missing_ok=True)
    except OSError as error:
        raise stopped(error, target) from None
    return True


def digest_of(path: Path) -> str | None:
    """The SHA-256 of a file in hexadecimal; None when it is absent, unreadable, or no regular file (a link is none)."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return None
        with os.fdopen(os.open(path, os.O_RDONLY | _NOFOLLOW | _BINARY), "rb") as stream:
            digest = sha256()
            while piece := stream.read(1 << 20):
                digest.update(piece)
    except OSError:
        return None
    return digest.hexdigest()


_EMPTY = sha256().hexdigest()
