"""The libraries of a verb: loaded once it is known that it will run, and set up for a process that runs one command."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from types import ModuleType

from ibidem.cli.signals import loading
from ibidem.errors import ResourceError


@contextmanager
def loading_libraries() -> Iterator[None]:
    """Load what a verb needs in a block, where a signal ends the process at once; Arrow is set up before."""
    with loading():
        _prepare_arrow()
        with _without("cffi"):  # numba would load a parser for C with it, which no kernel needs
            import numba  # noqa: F401
        yield


@contextmanager
def loading_extra(verb: str, extra: str) -> Iterator[None]:
    """Load what an extra installs in a block; ResourceError names what is missing, and how to get it."""
    try:
        with loading():
            yield
    except ModuleNotFoundError as problem:
        if (problem.name or "").partition(".")[0] == "ibidem":
            raise
        raise ResourceError(
            f"ibidem {verb} needs {problem.name}, which is not installed", f"Install it with: pip install 'ibidem[{extra}]'"
        ) from None


def _prepare_arrow() -> None:
    """Have Arrow return freed memory to the system, and work without pandas, before it makes its first array."""
    import pyarrow as pa

    from ibidem.execution.memory import use_system_memory

    use_system_memory()
    if "pandas" in sys.modules:
        return
    # With its first array Arrow looks for pandas, and loads it where it is installed: a quarter of a second of every run. A
    # command reads no data frames. Arrow remembers that this first look failed, and looks again when it has to make a frame.
    with _without("pandas"):
        pa.array([0])


@contextmanager
def _without(library: str) -> Iterator[None]:
    """Make an import of a library fail in a block, as if it were not installed."""
    hidden = _Hidden(library)
    sys.meta_path.insert(0, hidden)
    try:
        yield
    finally:
        sys.meta_path.remove(hidden)


class _Hidden(MetaPathFinder):
    """Finds no library of one name, and keeps others from finding it."""

    def __init__(self, library: str) -> None:
        self._library = library

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        """Leave all other modules to the next finder."""
        if name == self._library:
            raise ModuleNotFoundError(f"{name} is not needed here", name=name)
