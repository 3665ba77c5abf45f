"""From a results folder to its views: `view.sqlite` is made at first use and kept."""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import shutil
import sqlite3
import tempfile
import uuid
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from ibidem.config.addresses import is_remote
from ibidem.errors import ResourceError
from ibidem.execution.durable_files import replace_file
from ibidem.execution.output_folder import VERDICTS_FILE, VIEW_FILES
from ibidem.execution.progress import Progress
from ibidem.formats import resolve_inputs
from ibidem.formats.sources import FileSource
from ibidem.viewer.database import MOST_SECONDS, SCHEMA
from ibidem.viewer.material import Material, material_of_folder, read_run, table_paths
from ibidem.viewer.store import ViewStore
from ibidem.viewer.store_build import build_views


def open_views(
    folder: Path, documents: Sequence[str] = (), may_judge: bool = True, progress: Progress | None = None
) -> ViewStore:
    """Return the views of a results folder; they are made if they do not exist or if the results have changed.

    `documents` names the documents if `run.json` does not, or if they have moved. Raises InputError if this is not a results
    folder. If the folder is read-only, the views go to a temporary place and verdicts cannot be saved; nor can they without
    `may_judge`. `progress` shows how far they are.
    """
    path, key = folder / VIEW_FILES[0], _key(folder, documents)
    if not _is_fresh(path, key):
        try:
            _build(material_of_folder(folder, documents), path, key, progress=progress)
        except PermissionError:
            path = Path(tempfile.mkdtemp(prefix="ibidem-")) / path.name
            atexit.register(shutil.rmtree, path.parent, ignore_errors=True)
            _build(material_of_folder(folder, documents), path, key, progress=progress)
    verdicts = folder / VERDICTS_FILE
    may_judge = may_judge and os.access(folder, os.W_OK) and (not verdicts.exists() or os.access(verdicts, os.W_OK))
    return ViewStore(path, verdicts, may_judge, MOST_SECONDS)


@contextmanager
def views_at_hand(folder: Path, documents: Sequence[str] = ()) -> Iterator[ViewStore]:
    """Yield the views of a results folder without changing it: those it has, or temporary ones if they are not up to date."""
    path, verdicts = folder / VIEW_FILES[0], folder / VERDICTS_FILE
    if not _is_fresh(path, _key(folder, documents)):
        with passing_views(material_of_folder(folder, documents), verdicts) as store:
            yield store
        return
    store = ViewStore(path, verdicts)
    try:
        yield store
    finally:
        store.close()


@contextmanager
def passing_views(material: Material, verdicts: Path | None = None) -> Iterator[ViewStore]:
    """Yield temporary views for a report, without a word index."""
    with tempfile.TemporaryDirectory(prefix="ibidem-") as folder:
        path = Path(folder) / VIEW_FILES[0]
        _build(material, path, {}, is_searched=False)
        store = ViewStore(path, verdicts)
        try:
            yield store
        finally:
            store.close()


def _build(
    material: Material, path: Path, key: dict[str, Any], is_searched: bool = True, progress: Progress | None = None
) -> None:
    """Build under a temporary name and rename, so that a partial file is never visible."""
    # A unique name: several processes may open a folder at once, and any of their files will do.
    aside = path.with_name(f"{path.name}.{uuid.uuid4().hex}.part")
    try:
        build_views(material, aside, is_searched, progress)
        with closing(sqlite3.connect(aside, isolation_level=None)) as connection:
            connection.execute("INSERT INTO meta VALUES ('key', ?)", (json.dumps(key),))
        replace_file(aside, path)
    except (sqlite3.Error, OSError) as error:
        if isinstance(error, PermissionError) or not os.access(path.parent, os.W_OK):
            raise PermissionError from error
        raise ResourceError(f"cannot write {path}: {error}", "Check disk space.") from error
    finally:
        with suppress(OSError):
            aside.unlink(missing_ok=True)


def _key(folder: Path, documents: Sequence[str]) -> dict[str, Any]:
    """Return what the views depend on: the results, and the state of every file with texts."""
    run = read_run(folder)
    entries = [entry for entry in run.get("inputs", ()) if "path" in entry]
    inputs = [os.path.join(str(run.get("folder", "")), str(entry["path"])) for entry in entries]
    tables = [[path.name, *_state(path)] for path in table_paths(folder)]
    files = [source.path for source in resolve_inputs(list(documents)) if isinstance(source, FileSource)]
    named = [path if is_remote(path) else os.path.abspath(path) for path in files]
    results = hashlib.sha256(json.dumps([SCHEMA, run, tables, named]).encode()).hexdigest()
    return {"results": results, "texts": [_state(path) for path in (named or inputs)]}


def _is_fresh(path: Path, key: dict[str, Any]) -> bool:
    """Return whether views match the results. Missing text files do not make them stale: the views still have those texts."""
    stored = _key_of(path)
    if stored is None or stored["results"] != key["results"]:
        return False
    return all(now in (_GONE, tuple(then)) for now, then in zip(key["texts"], stored["texts"], strict=True))


_GONE = (0, 0)


def _state(path: str | Path) -> tuple[int, int]:
    """Return the size and modification time of a file."""
    try:
        state = os.stat(path)
    except OSError:
        return _GONE
    return state.st_size, state.st_mtime_ns


def _key_of(path: Path) -> dict[str, Any] | None:
    """Return the key that views were made with; None if there are none, or if they are incomplete."""
    if not path.exists():
        return None
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            row = connection.execute("SELECT value FROM meta WHERE name = 'key'").fetchone()
            (n_bytes,) = connection.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").fetchone()
    except sqlite3.Error:
        return None
    if row is None or n_bytes != path.stat().st_size:
        return None
    key = json.loads(row[0])
    return key if isinstance(key, dict) and key.keys() == {"results", "texts"} else None
