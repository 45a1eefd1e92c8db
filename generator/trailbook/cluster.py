"""A Dask cluster as an executor. Nothing else connects to anything, and this only where a person names an address."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import cast

from trailbook import __version__
from trailbook.failures import USAGE, Stopped


@contextmanager
def executor(address: str | None) -> Iterator[Executor | None]:
    """The workers of the scheduler at `address`, such as `tcp://scheduler:8786`; None, this computer's, without one.

    Raises Stopped where the package is missing, nothing answers, or the workers have another trailbook.
    """
    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError:
        sentence = "--dask needs the package distributed. Install it: pip install 'trailbook[dask]'."
        raise Stopped(sentence, USAGE) from None
    try:
        client = Client(address, timeout="10s", set_as_default=False)
    except (OSError, ValueError) as error:
        raise Stopped(f"No Dask scheduler answers at {address} ({error}). Check --dask.", USAGE) from None
    with client:
        try:
            versions = set(client.run(version).values())
        except Exception as error:
            raise Stopped(f"The workers of {address} have no trailbook ({error}). Install it there.", USAGE) from None
        if versions - {__version__}:
            raise Stopped(
                f"The workers of {address} have trailbook {', '.join(sorted(versions))}. Install {__version__} there.",
                USAGE,
            )
        # The same work twice is the same: Dask need not look into what it is given to see that.
        yield cast("Executor", client.get_executor(pure=False))


def version() -> str:
    """In a worker: its trailbook's version."""
    return __version__
