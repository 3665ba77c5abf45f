"""The one name by which each file is known, and names of copies, which never replace an input."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path, PurePath

from ibidem.config.addresses import file_part, is_remote
from ibidem.config.surface import in_shell
from ibidem.errors import InputError, UsageError
from ibidem.formats.byte_streams import STDIN
from ibidem.formats.registry import FORMATS
from ibidem.formats.sources import FileSource, ObjectSource, Source, place_of

# What ibidem writes beside the copies.
MARKS_FILE = "marks.jsonl"
UNFINISHED_FILE = "unfinished.json"  # lists what is in a folder while results are replaced there
STAGED_FOLDER = ".cleaned"  # where copies are written before they take their places
_TABLES = ("removed", "skipped", "benchmarks", "found_items", "item_places")
OUR_FILES = (*(f"{name}.jsonl" for name in _TABLES), "run.json", MARKS_FILE, UNFINISHED_FILE)


class CurrentFolder:
    """The folder in which the program runs, and the one path by which each file is known there.

    `known_as` gives the path relative to the current folder for what is below it, and the absolute path for everything else.
    So a file has the same name, and so the same id, whether it was named by a folder, a pattern or a path; and two files
    never have the same.
    """

    @cached_property
    def _beginnings(self) -> tuple[str, ...]:
        """How the full paths of what is below the folder begin; found when the first path is to be known."""
        try:
            folder = os.getcwd()
        except OSError:  # deleted meanwhile; absolute paths still lead somewhere
            folder = ""
        shown = os.environ.get("PWD", "")  # where the shell says it is: links on the way there are not resolved
        folders = [folder, shown] if os.path.isabs(shown) and _is_same(shown, folder) else [folder]
        # Not the root: paths below it look like paths, and everything is below it.
        return tuple(os.path.join(path, "") for path in folders if path and os.path.dirname(path) != path)

    def known_as(self, path: str) -> str:
        """Return the path by which a file or folder is known; it may be "" for the current folder itself."""
        if path == STDIN:
            return path
        parts = PurePath(path).parts
        if parts[-1:] == ("..",):
            full = os.path.realpath(path)
        elif ".." in parts:  # behind a link, it does not lead back
            full = os.path.join(os.path.realpath(os.path.dirname(path)), parts[-1])
        else:
            full = os.path.abspath(path)
        for beginning in self._beginnings:
            if full.startswith(beginning) or os.path.join(full, "") == beginning:
                name = full[len(beginning) :]
                return name if name != STDIN else os.path.join(os.curdir, name)
        return full


def _is_same(path: str, other: str) -> bool:
    try:
        return os.path.samefile(path, other)
    except OSError:
        return False


def output_paths(sources: Sequence[Source], folder: Path) -> list[Path]:
    """Return the path of the copy of each source, in their order; nothing is written.

    If the sources are the files of one folder, the copies keep their paths in it. Otherwise they keep their file names; if
    two have the same, all get their paths relative to the folder that contains all of them.
    An InputError says that a source cannot be copied, a UsageError that a copy would replace an input.
    """
    files = [_checked(source) for source in sources]
    paths = [folder / name for name in _names(files)]
    for file, path in zip(files, paths, strict=True):
        if path.parent == folder and path.name.casefold().removesuffix(".part") in OUR_FILES:
            raise InputError(f"{file.name}: ibidem itself writes a file {path.name} there", "Rename the input.")
    inputs = {place_of(file) for file in files}
    outputs: set[str] = set()
    for path in paths:
        real = os.path.realpath(path)
        if {real, real + ".part"} & inputs:
            raise UsageError(f"{path} would overwrite an input", f"Give another folder{in_shell(' with -o')}.")
        outputs.add(real)
    for path in paths:
        if os.path.realpath(path) + ".part" in outputs:
            raise InputError(f"{path}.part is needed while {path.name} is written", "Rename the input that ends in .part.")
    return paths


def _checked(source: Source) -> FileSource:
    if isinstance(source, ObjectSource):
        raise InputError(
            f"{source.name}: Python objects are not files and cannot be copied",
            in_shell("Give file paths.", "Use cleaned() instead of write(), or give file paths."),
        )
    if source.format is not None and FORMATS[source.format].is_database:
        message = f"{source.name}: cannot make a cleaned copy of a database"
        raise InputError(message, "Write its rows to a Parquet or JSON lines file first.")
    if source.path == STDIN:
        raise InputError("standard input can be read only once", "Save it with spool_stdin, and give its path.")
    if not is_remote(source.path) and os.path.exists(source.path) and not stat.S_ISREG(os.stat(source.path).st_mode):
        raise InputError(f"{source.name} is not a regular file and can be read only once", "Save it to a file first.")
    return source


def _names(files: Sequence[FileSource]) -> list[str]:
    below = [file.below for file in files if file.below is not None]
    if len(below) == len(files):
        return below
    names = [PurePath(_printable_path(file)).name for file in files]
    if len(set(names)) == len(names):
        return names
    absolute = [_absolute(_printable_path(file)) for file in files]
    if len(set(absolute)) < len(absolute):
        twice = next(path for path in absolute if absolute.count(path) > 1)
        raise InputError(f"{twice} is given twice", "Give each file once.")
    try:
        parent = os.path.commonpath([os.path.dirname(path) for path in absolute])
    except ValueError:  # drives of Windows have no folder in common
        raise InputError("files of the same name on several drives", "Process each drive separately.") from None
    return [os.path.relpath(path, parent) for path in absolute]


def _printable_path(file: FileSource) -> str:
    """Return a path whose last part is the name of the copy; `run.json`, which lists the copies, has printable names only."""
    return file.path if file.name == STDIN else file_part(file.name)


def _absolute(path: str) -> str:
    """Return an absolute path; that of an address begins with what is before its colon."""
    return os.path.join(os.sep, *path.replace("://", "/").split("/")) if is_remote(path) else os.path.abspath(path)
