"""Which formats there are, and how one is written: under a temporary name, and renamed when it is complete."""

from __future__ import annotations

import io
import os
import shutil
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from ibidem.config.surface import given, in_shell, named
from ibidem.errors import OutputExistsError, ResourceError, UsageError
from ibidem.execution.durable_files import replace_file, sync_files, sync_folder
from ibidem.results.reuse_baseline import Baseline
from ibidem.viewer.exports.csv_text import csv_chunks
from ibidem.viewer.exports.flat_tables import COLUMNS, FlatTables
from ibidem.viewer.exports.graph_files import write_gexf, write_graphml
from ibidem.viewer.exports.html_table import write_html_table
from ibidem.viewer.exports.networks import NETWORKS, Network, network_of
from ibidem.viewer.exports.pan_files import write_pan
from ibidem.viewer.exports.sarif_log import write_sarif
from ibidem.viewer.exports.tei_standoff import write_tei
from ibidem.viewer.exports.web_annotations import write_annotations
from ibidem.viewer.exports.workbook import write_xlsx
from ibidem.viewer.material import material_of_result
from ibidem.viewer.store import ViewStore
from ibidem.viewer.store_cache import passing_views

STANDARD_OUTPUT = Path("-")
_BYTE_ORDER_MARK = "\ufeff"  # without it, Excel takes UTF-8 for an older encoding


@dataclass(frozen=True)
class ExportOptions:
    """What some formats need to know: which table, which network, what addresses of documents begin with, and what is known."""

    table: str | None = None
    network: str | None = None
    base: str = ""
    baseline: Path | None = None


@dataclass(frozen=True)
class _Format:
    """A format: what the name of its file ends with, and what writes it to an open file or, by path, a file or folder."""

    suffix: str
    to_file: Callable[[FlatTables, TextIO, ExportOptions], None] | None = None
    to_path: Callable[[FlatTables, Path], list[str]] | None = None
    is_folder: bool = False
    options: tuple[str, ...] = ()  # those of `ExportOptions` that it knows


_HEAD_BYTES = 4096


def _csv(tables: FlatTables, file: TextIO, options: ExportOptions) -> None:
    table = table_of(tables, options)
    file.write(_BYTE_ORDER_MARK)
    file.writelines(csv_chunks(tables.rows(table), COLUMNS[table]))


def _network_in(write: Callable[[Network, TextIO], None]) -> Callable[[FlatTables, TextIO, ExportOptions], None]:
    return lambda tables, file, options: write(network_of(tables, options.network or NETWORKS[0]), file)


EXPORT_FORMATS = {
    "xlsx": _Format(".xlsx", to_path=write_xlsx),
    "csv": _Format(".csv", _csv, options=("table",)),
    "gexf": _Format(".gexf", _network_in(write_gexf), options=("network",)),
    "graphml": _Format(".graphml", _network_in(write_graphml), options=("network",)),
    "pan": _Format("-pan", to_path=write_pan, is_folder=True),
    "tei": _Format(".tei.xml", lambda tables, file, options: write_tei(tables, file, options.base), options=("base",)),
    "annotations": _Format(
        ".annotations.jsonld", lambda tables, file, options: write_annotations(tables, file, options.base), options=("base",)
    ),
    "sarif": _Format(
        ".sarif", lambda tables, file, options: write_sarif(tables, file, options.base, options.baseline),
        options=("base", "baseline"),
    ),
    "html-table": _Format(
        ".html", lambda tables, file, options: write_html_table(tables, file, table_of(tables, options)), options=("table",)
    ),
}  # fmt: skip


def table_of(tables: FlatTables, options: ExportOptions) -> str:
    """Return which table is meant: unless one is named, passages or, if the run has none, pairs."""
    table = options.table or ("passages" if tables.has_passages else "pairs")
    if table not in COLUMNS:
        raise UsageError(f"{named('table')} must be one of {', '.join(COLUMNS)}, not {table!r}")
    return table


def format_named(name: str) -> _Format:
    """Return a format by name."""
    if name not in EXPORT_FORMATS:
        raise UsageError(f"{named('to')} must be one of {', '.join(EXPORT_FORMATS)}, not {name!r}")
    return EXPORT_FORMATS[name]


def default_path(folder: Path, name: str, options: ExportOptions) -> Path:
    """Return where an export goes unless the user says: beside the folder of results, under its name."""
    place = folder.absolute() if folder.name in ("", "..") else folder
    stem = f"{place.name}-{options.table}" if options.table else place.name
    return place.with_name(stem + format_named(name).suffix)


def check_export(path: Path, name: str, overwrite: bool, options: ExportOptions) -> None:
    """Raise unless an export can be written there, with these options."""
    found = format_named(name)
    for option in fields(options):
        if getattr(options, option.name) and option.name not in found.options:
            known = ", ".join(each for each, form in EXPORT_FORMATS.items() if option.name in form.options)
            raise UsageError(f"{named(option.name)} has no effect on {name}", f"It applies to {known}.")
    if options.baseline is not None:
        Baseline.read(options.baseline)
    if path == STANDARD_OUTPUT:
        if found.to_file is None:
            raise UsageError(f"{name} cannot be written to standard output", "Give a file name with -o.")
        return
    if not path.parent.is_dir():
        raise OutputExistsError(
            f"there is no folder {path.parent}", f"Create it, or choose another place{in_shell(' with -o')}."
        )
    if path.is_dir() and not found.is_folder:
        raise OutputExistsError(f"{path} is a folder", f"Give the name of a file, such as results{found.suffix}.")
    if path.is_dir() and (others := sorted(each.name for each in path.iterdir() if not _is_exported(each))):
        raise OutputExistsError(f"{path} contains other files, such as {others[0]}", "Give another folder.")
    if os.path.lexists(path) and not overwrite:
        raise OutputExistsError(f"{path} already exists", f"Give another name, or {given('overwrite', True)} to replace it.")


def _is_exported(path: Path) -> bool:
    """Return whether an export to PAN's XML has written a file: only such files are replaced with their folder."""
    try:
        with path.open("rb") as file:
            return b"<document reference=" in file.read(_HEAD_BYTES)
    except OSError:
        return False


def write_export(store: ViewStore, path: Path, name: str, options: ExportOptions) -> list[str]:
    """Write results in a format; return lines about what could not be written."""
    found, tables = format_named(name), FlatTables(store)
    missing = [entry for entry in tables.summary["left_out"] if entry["what"] in ("texts", "changed texts")]
    remarks = [f"{entry['what']}: {entry['why']}" for entry in missing]
    if path == STANDARD_OUTPUT:
        assert found.to_file is not None
        if isinstance(sys.stdout, io.TextIOWrapper):  # what is exported is UTF-8 everywhere, and its line ends are its own
            sys.stdout.reconfigure(encoding="utf-8", newline="")
        found.to_file(tables, sys.stdout, options)
        return remarks
    try:
        with _aside(path, found.is_folder) as aside:
            if found.to_path is not None:
                return [*remarks, *found.to_path(tables, aside)]
            assert found.to_file is not None
            with open(aside, "w", encoding="utf-8", errors="replace", newline="") as file:
                found.to_file(tables, file, options)
    except OSError as error:
        message = f"cannot write {path}: {error.strerror or error}"
        raise ResourceError(message, "Check disk space and permissions.") from error
    return remarks


def export_result(result: Any, path: Path, name: str, options: ExportOptions, overwrite: bool) -> Path:
    """Write a result in memory in a format; return its path."""
    check_export(path, name, overwrite, options)
    with passing_views(material_of_result(result)) as store:
        write_export(store, path, name, options)
    return path


@contextmanager
def _aside(path: Path, is_folder: bool) -> Iterator[Path]:
    """Yield a temporary name beside a path. If the block succeeds, it takes the name of the path."""
    aside = path.with_name(f"{path.name}.{uuid.uuid4().hex[:8]}.part")
    remove = partial(shutil.rmtree, ignore_errors=True) if is_folder else os.unlink
    try:
        if is_folder:
            aside.mkdir()
        yield aside
        if is_folder:
            sync_files(sorted(aside.iterdir()))
            sync_folder(aside)
            old = path.with_name(f"{aside.name}.old")
            if path.is_dir():
                os.replace(path, old)
            os.replace(aside, path)
            sync_folder(path.parent)
            shutil.rmtree(old, ignore_errors=True)
        else:
            replace_file(aside, path)
    finally:
        with suppress(OSError):
            remove(aside)
