"""What the caller calls inputs, resolved to a list of sources in reading order."""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from itertools import chain
from pathlib import Path, PurePath
from typing import Any

from ibidem.documents.streams import COMPRESSIONS, STDIN
from ibidem.errors import InputError
from ibidem.model import Document

TEXT, HTML, JSONL, JSON, CSV, TSV, PARQUET, WARC = "text", "html", "jsonl", "json", "csv", "tsv", "parquet", "warc"
EXTENSIONS = {
    ".txt": TEXT,
    ".md": TEXT,
    ".text": TEXT,
    ".html": HTML,
    ".htm": HTML,
    ".xhtml": HTML,
    ".jsonl": JSONL,
    ".ndjson": JSONL,
    ".json": JSON,
    ".csv": CSV,
    ".tsv": TSV,
    ".parquet": PARQUET,
    ".warc": WARC,
}
ARROW_METHODS = ("__arrow_c_stream__", "__arrow_c_array__", "with_format")


@dataclass(frozen=True)
class FileSource:
    """A file, or stdin. `name` is the path as given; `doc_id` is the id if the file is one document as a whole.

    `stored` is where a stream was put, to be read more than once.
    """

    name: str
    doc_id: str
    format: str | None
    stored: str | None = None

    @property
    def path(self) -> str:
        """Where it is read from."""
        return self.stored or self.name

    @property
    def n_bytes(self) -> int | None:
        """Size of the file, or None for a stream."""
        return os.path.getsize(self.path) if self.path != STDIN and os.path.isfile(self.path) else None


@dataclass(frozen=True)
class ObjectSource:
    """A Python object that holds records: an Arrow stream, a data frame, or an iterable of dicts and documents."""

    name: str
    records: Any


Source = FileSource | ObjectSource


def format_of(path: str) -> str | None:
    """Return the format that a file name stands for, or None if it says nothing."""
    name = PurePath(path)
    if name.suffix.lower() in COMPRESSIONS:
        name = name.with_suffix("")
    return EXTENSIONS.get(name.suffix.lower())


def resolve_inputs(inputs: Any) -> list[Source]:
    """Return the sources that inputs stand for; a path or pattern without any file is an InputError."""
    given = _flatten(inputs)
    # With several inputs, paths below two folders may be the same: only the path as given tells them apart then.
    alone = len(given) == 1
    sources: list[Source] = []
    n_objects = 0
    for item in given:
        if isinstance(item, FileSource):
            sources.append(item)
        elif _is_path(item):
            sources.extend(_resolve_path(os.fspath(item), alone))
        else:
            n_objects += 1
            sources.append(ObjectSource("records" if n_objects == 1 else f"records{n_objects}", item))
    return sources


def input_size(inputs: Any) -> int | None:
    """Return the bytes of all input files together, or None if that cannot be known in advance."""
    total = 0
    for source in resolve_inputs(without_iterators(inputs)):
        size = source.n_bytes if isinstance(source, FileSource) else None
        if size is None:
            return None
        total += size
    return total


def describe_inputs(inputs: Any, is_reference: bool = False) -> list[dict[str, Any]]:
    """Return what `run.json` says of the inputs: path, bytes and time of change of each file, and on which side it is.

    A file that is one document as a whole has its id told too, where that is not its path.
    """
    described: list[dict[str, Any]] = []
    for source in resolve_inputs(without_iterators(inputs)):
        if isinstance(source, ObjectSource):
            described.append({"kind": "python object"})
        elif source.n_bytes is None or source.stored:
            described.append({"kind": "stream", "path": source.name})
        else:
            told = {"path": source.name, "bytes": source.n_bytes, "modified": _time_of_change(source.name)}
            described.append(told if source.doc_id == PurePath(source.name).as_posix() else told | {"id": source.doc_id})
    return [told | {"reference": True} for told in described] if is_reference else described


def is_changed(path: str, told: Mapping[str, Any]) -> bool:
    """Say whether a file that is there is not as `describe_inputs` told of it."""
    return os.path.isfile(path) and (os.path.getsize(path), _time_of_change(path)) != (told.get("bytes"), told.get("modified"))


def _time_of_change(path: str) -> str:
    return datetime.fromtimestamp(os.path.getmtime(path), timezone.utc).isoformat(timespec="seconds")


def sources_described(described: Iterable[Mapping[str, Any]], folder: str) -> tuple[list[FileSource], list[str]]:
    """Return the files that `run.json` tells of, as they were read from that folder, and what of it is not there any more."""
    sources, missing = [], []
    for told in described:
        name = str(told.get("path", ""))
        path = os.path.join(folder, name)
        if told.get("kind") or not os.path.isfile(path):
            missing.append(name or str(told.get("kind", "an input")))
        else:
            sources.append(FileSource(name, str(told.get("id", PurePath(name).as_posix())), format_of(name), path))
    return sources, missing


def has_arrow(item: Any) -> bool:
    """Say whether an object hands out Arrow data, by itself or after `with_format("arrow")`."""
    return _is_frame(item) or any(hasattr(item, name) for name in ARROW_METHODS)


def _is_frame(item: Any) -> bool:
    return hasattr(item, "columns") and hasattr(item, "itertuples")


def _is_path(item: Any) -> bool:
    return isinstance(item, (str, os.PathLike))


def _is_record(item: Any) -> bool:
    return isinstance(item, (Document, Mapping))


def without_iterators(inputs: Any) -> Any:
    """Return inputs with a stand-in for what can be read only once and must not be touched before."""
    if isinstance(inputs, (list, tuple)):
        return [without_iterators(item) for item in inputs]
    return {} if isinstance(inputs, Iterator) else inputs


def _flatten(inputs: Any) -> list[Any]:
    """Return paths and record-holding objects; neighbouring single records become one object."""
    if _is_path(inputs) or isinstance(inputs, FileSource) or has_arrow(inputs):
        return [inputs]
    if _is_record(inputs):
        return [[inputs]]
    if isinstance(inputs, (list, tuple)):
        flat: list[Any] = []
        open_list: list[Any] | None = None
        for item in inputs:
            if _is_record(item):
                if open_list is None:
                    open_list = []
                    flat.append(open_list)
                open_list.append(item)
            else:
                open_list = None
                flat.extend(_flatten(item))
        return flat
    if isinstance(inputs, Iterable):
        if not isinstance(inputs, Iterator):
            return [inputs]
        first = next(inputs, None)
        if first is None:
            return [[]]
        rest = chain([first], inputs)
        return _flatten(list(rest)) if _is_path(first) or has_arrow(first) else [rest]
    raise InputError(
        f"cannot read documents from a {type(inputs).__name__}",
        "Give paths, an Arrow table, a data frame, or an iterable of dicts or Documents.",
    )


def _resolve_path(path: str, alone: bool) -> Iterator[FileSource]:
    if path == STDIN:
        yield FileSource(STDIN, STDIN, None)
    elif os.path.isdir(path):
        for relative in _walk(path):
            name = os.path.join(path, relative)
            yield FileSource(name, PurePath(relative if alone else name).as_posix(), format_of(name))
    elif os.path.lexists(path):
        yield _file_source(path)
    else:
        # A path without wildcards matches itself only, and it is not there.
        hits = sorted(hit for hit in glob.glob(path, recursive=True) if not os.path.isdir(hit))
        if not hits:
            what = "no file matches" if glob.has_magic(path) else "there is no file or folder"
            raise InputError(f"{what} {path}", f"Check the spelling; the current folder is {Path.cwd()}.")
        yield from map(_file_source, hits)


def _file_source(path: str) -> FileSource:
    return FileSource(path, PurePath(path).as_posix(), format_of(path))


def read_written(path: Path) -> list[str] | None:
    """Return the files that a cleaning says it has written, or None if the file says nothing of that."""
    try:
        written = json.loads(path.read_text("utf-8"))["written"]
        return [str(name) for name in written]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _walk(folder: str) -> list[str]:
    """Return the readable files below a folder, relative to it, in an order that no file system decides."""

    def refuse(error: OSError) -> None:
        raise InputError(
            f"cannot read the folder {error.filename}: {error.strerror}", "Give folders that you may read."
        )

    written = read_written(Path(folder) / "run.json")
    if written is not None:  # a cleaned collection: its files, and not what is told about them
        return sorted((name for name in written if format_of(name)), key=lambda path: PurePath(path).parts)
    found: list[str] = []
    for place, folders, files in os.walk(folder, onerror=refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        if place != folder and {"run.json", "skipped.jsonl"} <= set(files):
            folders.clear()  # results of an earlier run are no input
            continue
        relative = os.path.relpath(place, folder)
        found.extend(
            name if relative == os.curdir else os.path.join(relative, name)
            for name in files
            if not name.startswith(".") and format_of(name)
        )
    return sorted(found, key=lambda path: PurePath(path).parts)
