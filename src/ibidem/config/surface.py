"""How messages name a setting: as whoever reads them writes it, `--text-field` in the shell, `text_field` in Python.

Messages are made where something goes wrong, far from the caller. They take the names of settings, and of other parameters that
are a flag as well as a keyword, from here. The command line says once that it is the shell that speaks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Literal, TypeVar

Surface = Literal["python", "shell"]
Item = TypeVar("Item")
Argument = TypeVar("Argument")

# Of the process, not of the thread or context: readers and workers run in threads of their own.
_spoken: Surface = "python"


def speak(surface: Surface) -> None:
    """Let all messages from now on be those of the shell, or of Python."""
    global _spoken
    _spoken = surface


def spoken() -> Surface:
    """Return whose messages these are."""
    return _spoken


@contextmanager
def speaking(surface: Surface) -> Iterator[None]:
    """Let messages be those of the shell, or of Python, for a while."""
    before = _spoken
    speak(surface)
    try:
        yield
    finally:
        speak(before)


def flag(name: str) -> str:
    """Return the flag of a setting."""
    return "--" + name.replace("_", "-")


def named(name: str) -> str:
    """Return the name of a setting: `--text-field` or `text_field`."""
    return flag(name) if _spoken == "shell" else name


def given(name: str, value: object) -> str:
    """Return a setting with a value, as it is written in a call: `--level passage` or `level="passage"`."""
    if _spoken == "python":
        return f"{name}={value}" if isinstance(value, (bool, int, float)) else f'{name}="{value}"'
    if isinstance(value, bool):
        return flag(name) if value else flag(f"no_{name}")
    return f"{flag(name)} {value}"


def in_shell(text: str, otherwise: str = "") -> str:
    """Return a text for the shell, and another one, mostly none, for Python."""
    return text if _spoken == "shell" else otherwise


def as_spoken_here(
    work: Callable[[Argument], Iterator[Item]],
) -> Callable[[Argument], Iterator[Item]]:
    """Return a generator function that speaks, wherever it is sent and run, as this process does now."""
    surface = _spoken

    @wraps(work)
    def run(argument: Argument) -> Iterator[Item]:
        with speaking(surface):
            yield from work(argument)

    return run
