"""How kernels are compiled: the decorators that all stages share, and the one helper that grows arrays."""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators, no-check-untyped-defs

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial, update_wrapper
from typing import Any

import numpy as np
from numba import njit, typeof
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.options import DefaultOptions
from numba.core.types import unliteral
from numba.core.typing.typeof import typeof_impl

from ibidem.execution.kernel_cache import KernelCache, will_be_stored

# For kernels that only kernels call and that make no arrays. Without Python wrappers they compile in half the time; without
# reference counts they run several times as fast. Options that a numba version lacks are left out.
_INNER_OPTIONS = {"_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True, "no_rewrites": True}
_KNOWN_OPTIONS: dict[str, Any] = {name: value for name, value in _INNER_OPTIONS.items() if hasattr(DefaultOptions, name)}


class _LinkedCode(JITCodeLibrary):
    """Code that is optimised and made machine code in the kernels that call it, and not by itself before."""

    def finalize(self):
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True

    def get_pointer_to_function(self, name):
        """Return 0: there is no machine code."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self):
        return self

    def set_env(self, name, environment):
        """Do nothing: no code of its own looks at it."""


class _InnerCompiler(Compiler):
    """The compiler of kernels that only kernels call."""

    def define_pipelines(self):
        self.state.library = _LinkedCode(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        return super().define_pipelines()


class Kernel:
    """A function that numba compiles. It is handed to numba when it is first used: most runs use few of all kernels."""

    dispatcher: Any

    def __init__(self, function: Any, is_stored: bool, options: dict[str, Any]) -> None:
        self.py_func = function
        self._is_stored = is_stored
        self._options = options
        update_wrapper(self, function)
        if is_stored:
            will_be_stored(function)

    def __call__(self, *arguments: Any) -> Any:
        """Call what is compiled for arguments of these types."""
        return self.dispatcher(*arguments)

    def __getattr__(self, name: str) -> Any:
        if name != "dispatcher":
            return getattr(self.dispatcher, name)
        self._hand_over()
        return self.dispatcher

    def __reduce__(self) -> str:
        """Return the name that its module has for it, which need not be that of the function."""
        return next(name for name, value in vars(sys.modules[self.__module__]).items() if value is self)

    @global_compiler_lock
    def _hand_over(self) -> None:
        if "dispatcher" in self.__dict__:  # by another thread
            return
        dispatcher = njit(nogil=True, **self._options)(self.py_func)
        if dispatcher is not self.py_func:  # it is where compiling is turned off
            dispatcher.get_call_template = partial(_one_for_all_literals, dispatcher.get_call_template)
        if self._is_stored:
            with suppress(RuntimeError):  # the sources are in no file
                dispatcher._cache = KernelCache(self.py_func)
        self.dispatcher = dispatcher


def _one_for_all_literals(template_of, arguments, keywords):
    """Have `kernel(0)` and `kernel(1)` call the same form of a kernel: numba would compile one for each number."""
    return template_of(tuple(map(unliteral, arguments)), {name: unliteral(value) for name, value in keywords.items()})


@typeof_impl.register(Kernel)
def _type_of_kernel(kernel, context):
    return typeof(kernel.dispatcher)


def _kernel(is_stored: bool = False, **options: Any) -> Callable[[Any], Any]:
    """Return a decorator that makes a function a kernel; what is compiled of it is stored on disk if possible."""
    return lambda function: Kernel(function, is_stored, options)


inner_kernel = _kernel(error_model="numpy", pipeline_class=_InnerCompiler, **_KNOWN_OPTIONS)
# For small ones in the innermost loops: a call passes every field of every array.
inlined_kernel = _kernel(error_model="numpy", forceinline=True, pipeline_class=_InnerCompiler, **_KNOWN_OPTIONS)
# For kernels that Python calls and that make no arrays.
outer_kernel = _kernel(is_stored=True, error_model="numpy", **{**_KNOWN_OPTIONS, "no_cpython_wrapper": False})
# For kernels that Python calls and that make arrays.
growing_kernel = _kernel(is_stored=True)


@growing_kernel
def twice(column):
    """Return a copy of the column with twice the room. It is a loop because slices take numba seconds to compile."""
    larger = np.empty(2 * len(column), column.dtype)
    for i in range(len(column)):
        larger[i] = column[i]
    return larger
