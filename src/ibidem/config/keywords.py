"""Settings as keyword parameters: how a function shows each of them, and still knows which ones a caller gave.

The signatures are written by `make_keywords.py`, so that completion, `help` and type checkers know every setting with its type
and default. A default applies if neither the caller nor a `config` says otherwise.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

from ibidem.config.make_keywords import FUNCTIONS
from ibidem.config.surface import spoken
from ibidem.errors import SettingsError

_FEW = 2
Declared = TypeVar("Declared", bound=Callable[..., Any])


def carried_out_by(body: Callable[..., Any]) -> Callable[[Declared], Declared]:
    """Let a function that only declares its parameters be carried out by another, which takes settings as `**settings`.

    The other one gets what the caller gave, and nothing else: a default must not win over a `config`. It also gets names that
    are not settings, and says which one was meant. A setting that belongs to another function is refused.
    """

    def declare(declared: Declared) -> Declared:
        code = declared.__code__
        names = frozenset(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])

        @functools.wraps(declared)
        def call(*arguments: Any, **keywords: Any) -> Any:
            others = [name for name in keywords if name not in names]
            if others:
                _refuse_settings(others, declared.__qualname__)
            # Arguments that do not fit are an error of the function that was called, under its own name.
            with contextlib.suppress(NotImplementedError):
                declared(*arguments, **{name: value for name, value in keywords.items() if name in names})
            return body(*arguments, **keywords)

        return cast(Declared, call)

    return declare


def _refuse_settings(names: Sequence[str], function: str) -> None:
    """Raise for settings that only one or two other functions have; what is no setting at all is found out later.

    Those that most functions share have no effect here, as in a configuration file that serves several of them.
    So is a paper that belongs to another verb. An index checks what it was made with, and programs give it all they have.
    """
    if function.startswith("Index.") or spoken() == "shell":
        return
    settings = {owner: {field.name for field in wanted.fields()} for owner, wanted in FUNCTIONS.items()}
    problems = []
    for name in names:
        owners = [f"`{owner}`" for owner, own in settings.items() if name in own and name != "as_paper"]
        if 0 < len(owners) <= _FEW:
            listed = owners[0] if len(owners) == 1 else f"{', '.join(owners[:-1])} and {owners[-1]}"
            problems.append(f"`{name}` belongs to {listed}, not to `{function}`")
    if problems:
        raise SettingsError(problems)
