"""Where compiled kernels are stored: beside the sources, in the home folder, or in a private temporary folder.

Kernels are read from every one of these places, also from those that cannot be written, as in a container with a read-only
file system whose image was built with `ibidem warmup`. Where no place can be written, a run compiles for itself alone.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from llvmlite.binding import add_symbol, parse_bitcode
from numba.core import config
from numba.core.caching import CacheImpl, CompileResultCacheImpl, FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.runtime import _nrt_python  # type: ignore[attr-defined]

from ibidem.version import __version__

_ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
_IMPORT = re.compile(rb"^from (ibidem[\w.]*) import (\([^)]*\)|[^\n]*)", re.MULTILINE)
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_caches: list[KernelCache] = []
_by_file: dict[str, Any] = {}


@lru_cache(maxsize=1)
def private_folder() -> str | None:
    """Return a temporary folder that this user alone can read and write, or None if there can be none.

    It has the name of the user and the version. One that exists must belong to the user and be closed to others: what is
    stored there is run.
    """
    if not hasattr(os, "geteuid"):
        return None
    with suppress(OSError):
        folder = os.path.join(tempfile.gettempdir(), f"ibidem-kernels-{os.geteuid()}-{__version__}")
        with suppress(FileExistsError):
            os.mkdir(folder, 0o700)
        found = os.lstat(folder)
        if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & _OTHERS:
            return folder
    return None


def _subfolder(py_file: str) -> str:
    """Return the name of the folder for the kernels of a file, as numba forms it."""
    by_user: Any = CacheImpl._locator_classes[0]
    return str(by_user.get_suitable_cache_subpath(py_file))


# Numba's own class for files in a folder; its name differs between versions.
_InFolder: Any = CacheImpl._locator_classes[1]


class _InPrivateFolder(_InFolder):  # type: ignore[misc]
    """A place in the private temporary folder."""

    def __init__(self, py_func: Any, py_file: str) -> None:
        super().__init__(py_func, py_file)
        folder = private_folder()
        if folder is None:
            raise OSError
        self._cache_path = os.path.join(folder, _subfolder(py_file))

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Any:
        """Return the place, or None if there is none."""
        with suppress(OSError):
            return super().from_function(py_func, py_file)
        return None


class _ReadOnly(_InFolder):  # type: ignore[misc]
    """The folder beside the sources, where nothing can be stored: what was stored there earlier can be read."""

    def ensure_cache_path(self) -> None:
        """Ask for nothing."""


def _places() -> list[Any]:
    """Return numba's places, then ours. Without a known home, numba would make a folder named ~ in the current one."""
    has_home = os.path.isabs(os.path.expanduser("~"))
    known = [place for place in CacheImpl._locator_classes if has_home or "UserWide" not in place.__name__]
    return [*known, _InPrivateFolder, _ReadOnly]


@cache
def _source_of(path: str) -> tuple[bytes, frozenset[str]]:
    """Return the contents of a source file, and the files of ibidem that it imports."""
    try:
        content = Path(path).read_bytes()
    except OSError:  # in an archive, say
        return b"", frozenset()
    imported = set()
    for module, names in _IMPORT.findall(content):
        place = os.path.join(_ROOT, *module.decode().split("."))
        if os.path.isfile(f"{place}.py"):
            imported.add(f"{place}.py")
            continue
        parts = [name.split()[0].decode() for name in names.strip(b"()").split(b",") if name.strip()]
        candidates = [os.path.join(place, f"{name}.py") for name in ("__init__", *parts)]
        imported |= {candidate for candidate in candidates if os.path.isfile(candidate)}
    return content, frozenset(imported)


@cache
def sources_stamp(path: str) -> str:
    """Return a digest of a source file and of everything of ibidem that it imports.

    A kernel contains the kernels that it calls and the constants that it names. Numba looks at its own file only, and would
    go on to use it after one of the others has changed.
    """
    files, open_files = {path}, [path]
    while open_files:
        new = _source_of(open_files.pop())[1] - files
        files |= new
        open_files += new
    contents = sorted(_source_of(file)[0] for file in files)
    return blake2b(b"\0".join(contents), digest_size=16).hexdigest()


class _StoredCode(JITCodeLibrary):
    """Machine code from a file. What kernels that call it are linked with is parsed when one of them is compiled."""

    _bitcode: bytes

    @classmethod
    def _unserialize(cls, codegen: Any, state: Any) -> _StoredCode:
        name, _, (machine_code, bitcode, symbols) = state
        code = cls(codegen, name)
        code._bitcode = bitcode
        code.enable_object_caching()
        code._set_compiled_object(machine_code)
        code._finalize_final_module()
        codegen._engine._defined_symbols.update(symbols)
        return code

    def _get_module_for_linking(self) -> Any:
        if self._shared_module is None:
            self._shared_module = parse_bitcode(self._bitcode)
        return self._shared_module


class _Storage(CompileResultCacheImpl):
    _locator_classes = _places()

    def __init__(self, py_func: Any) -> None:
        super().__init__(py_func)
        self._locator.get_source_stamp = lambda: sources_stamp(py_func.__code__.co_filename)

    def reduce(self, result: Any) -> Any:
        """Return what is stored: not the environments without an object, which no code looks at.

        Numba would import the modules of all of them before the kernel is loaded, also large ones of its own.
        """
        (name, kind, (machine_code, bitcode)), *others, environments = super().reduce(result)
        module = result.library._get_module_for_linking()
        symbols = [each.name for each in (*module.functions, *module.global_variables) if not each.is_declaration]
        code = name, kind, (machine_code, bitcode, symbols)
        return (code, *others, tuple(environment for environment in environments if environment.consts))

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """Return a kernel from what is stored. Numba calls this under its lock for compiling."""
        codegen = target_context.codegen()
        codegen._library_class = _StoredCode
        try:
            return super().rebuild(target_context, payload)
        finally:
            del codegen._library_class  # that of its class is for what is compiled


@cache
def _name_helpers() -> None:
    """Make known what stored kernels call in numba's run-time library."""
    for name, address in _nrt_python.c_helpers.items():
        add_symbol(name if name.startswith("_") else f"NRT_{name}", address)


class KernelCache(FunctionCache):
    """The stored forms of one kernel. What cannot be read or stored is compiled."""

    _impl_class = _Storage

    def __init__(self, py_func: Any) -> None:
        super().__init__(py_func)
        locator, files = self._impl.locator, type(self._cache_file)
        self.is_writable = not isinstance(locator, _ReadOnly)
        source = py_func.__code__.co_filename
        readable = [os.path.join(os.path.dirname(source), "__pycache__")]
        if chosen := getattr(config, "CACHE_DIR", ""):  # NUMBA_CACHE_DIR
            readable.insert(0, os.path.join(chosen, _subfolder(source)))
        self._read_only = [
            files(place, self._impl.filename_base, locator.get_source_stamp())
            for place in readable
            if place != self._cache_path
        ]
        self.n_compiled = 0
        _caches.append(self)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return a stored form, or None.

        Numba would first import and compile what it needs for compiling: an eighth of a second. It does so where it compiles.
        """
        _name_helpers()
        return self._load_overload(sig, target_context)

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            found = super()._load_overload(sig, target_context)
        except Exception:  # of whatever kind: the files are damaged, as after a power cut, and are written again
            found = None
            with suppress(OSError):
                self._cache_file.flush()
        for file in self._read_only if found is None else ():
            with suppress(Exception):
                data = file.load(self._index_key(sig, target_context.codegen()))
                if data is not None:
                    return self._impl.rebuild(target_context, data)
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store what was just compiled."""
        self.n_compiled += 1
        super().save_overload(sig, data)

    @contextmanager
    def _guard_against_spurious_io_errors(self) -> Iterator[None]:
        with suppress(OSError):
            yield

    def is_filled(self, codegen: Any) -> bool:
        """Tell whether any form of the kernel is stored for this processor and these sources."""
        processor = codegen.magic_tuple()
        for file in (self._cache_file, *self._read_only):
            with suppress(Exception):
                if any(processor in key for key in file._load_index()):
                    return True
        return False


def will_be_stored(function: Any) -> None:
    """Remember where the source of a kernel is, which may never be compiled in this process."""
    _by_file.setdefault(function.__code__.co_filename, function)


def storage_folder() -> Path | None:
    """Return the folder below which this process stores kernels, or None if it has none."""
    paths = []
    for function in _by_file.values():
        with suppress(RuntimeError):  # the sources are in no file, or no folder can be used
            cache = KernelCache(function)
            paths += [cache.cache_path] if cache.is_writable else []
    return Path(os.path.commonpath(paths)) if paths else None


def n_compiled() -> int:
    """Return how many forms of kernels this process has compiled so far, as none was stored."""
    return sum(cache.n_compiled for cache in _caches)


def stored_size() -> tuple[int, int]:
    """Return how many files the kernels loaded so far have in their folders, and how many bytes."""
    folders = {cache.cache_path for cache in _caches}
    files = [file for folder in folders for file in Path(folder).glob("*.nb[ci]")]
    return len(files), sum(file.stat().st_size for file in files)
