"""Files that are read with a log: only regular ones, and none through a link, so that a log leads to nothing else.

A pipe or a device in the place of such a file would never end, and a link would show what lies elsewhere.
"""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

_PLAINLY = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def is_own(path: Path) -> bool:
    """Whether there is a regular file that is no link."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except (OSError, ValueError):
        return False


def open_own(path: Path) -> BufferedReader:
    """A regular file that is no link, to be read. Raises OSError for anything else."""
    descriptor = os.open(path, _PLAINLY)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is no regular file", str(path))
    return os.fdopen(descriptor, "rb")


def read_own(path: Path) -> bytes:
    """All that is in a regular file that is no link. Raises OSError for anything else."""
    with open_own(path) as stream:
        return stream.read()
