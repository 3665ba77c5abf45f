"""Settings as keyword parameters: how a function shows each of them, and still knows which ones a caller gave.

The signatures are written by `make_keywords.py`, so that completion, `help` and type checkers know every setting with its type
and default. A default applies if neither the caller nor a `config` says otherwise.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

Declared = TypeVar("Declared", bound=Callable[..., Any])


def carried_out_by(body: Callable[..., Any]) -> Callable[[Declared], Declared]:
    """Let a function that only declares its parameters be carried out by another, which takes settings as `**settings`.

    The other one gets what the caller gave, and nothing else: a default must not win over a `config`. It also gets names that
    are not settings, and says which one was meant.
    """

    def declare(declared: Declared) -> Declared:
        code = declared.__code__
        names = frozenset(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])

        @functools.wraps(declared)
        def call(*arguments: Any, **keywords: Any) -> Any:
            # Arguments that do not fit are an error of the function that was called, under its own name.
            with contextlib.suppress(NotImplementedError):
                declared(*arguments, **{name: value for name, value in keywords.items() if name in names})
            return body(*arguments, **keywords)

        return cast(Declared, call)

    return declare
