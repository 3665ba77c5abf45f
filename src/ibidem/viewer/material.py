"""The material for views: the tables of a run and their texts, from a results folder or from memory."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset

from ibidem.columns.collection import Collection, Documents
from ibidem.config import FORMATS
from ibidem.config.addresses import HIDDEN, is_remote
from ibidem.config.document_settings import own_fields
from ibidem.errors import InputError
from ibidem.formats import is_changed, read, resolve_inputs, sources_described, under_described_names
from ibidem.model import CLUSTERS, DOCUMENTS, DUPLICATES, HITS, MIRRORS, PASSAGES, REMOVED, REPEATS
from ibidem.results.cleaned_objects import are_objects
from ibidem.results.cleaning_result import CleaningResult

if TYPE_CHECKING:
    from ibidem.results.result import RunResult

# Fields with the title of a document; the first one present counts.
_TITLE_FIELDS = ("title", "headline", "subject", "name")
_MOST_TITLE_CHARS = 300
_MOST_ABOVE = 4
_TEXTS = pa.schema([pa.field("id", pa.large_string()), pa.field("text", pa.large_string())])
# Pages show no numbers of sentences, and older folders have none.
_SHOWN = pa.schema([field for field in PASSAGES if field.name not in ("a_sentence", "b_sentence")])
_KEPT_TEXTS = [pa.field("a_text", pa.large_string()), pa.field("b_text", pa.large_string())]


class ReadDocument(NamedTuple):
    """A document as read; `is_reference` is its side, None if not known."""

    id: str
    text: str
    time: datetime | None
    group: str | None
    title: str | None
    is_reference: bool | None


@dataclass(frozen=True)
class Material:
    """The tables of a run and their documents. A run has either passages or duplicates."""

    title: str
    run: Mapping[str, Any]
    skipped: Sequence[Mapping[str, Any]]
    passages: pa.Table | None = None
    documents: pa.Table | None = None
    repeats: pa.Table | None = None
    duplicates: pa.Table | None = None
    clusters: pa.Table | None = None
    mirrors: pa.Table | None = None
    texts: pa.Table | None = None
    hits: pa.Table | None = None
    collection: Documents | None = None
    named: Sequence[str] = field(default_factory=tuple)
    above: Sequence[Path] = field(default_factory=tuple)  # folders that the results are in: they may have moved with the inputs
    objects: Sequence[Any] = field(default_factory=tuple)  # inputs that are Python objects, to be read again

    @property
    def verb(self) -> str:
        """The verb of the run."""
        if self.hits is not None:
            return "query"
        return "cluster" if self.duplicates is not None else "compare" if self.documents is None else "find"

    @property
    def is_against(self) -> bool:
        """Whether the documents of one side were compared with those of another."""
        if self.collection is not None:
            return self.collection.has_reference
        if self.hits is not None:  # the other side is in the index
            return True
        return any(entry.get("reference") for entry in self.run.get("inputs", ()))

    def read_documents(self) -> Iterator[ReadDocument]:
        """Yield the documents in reading order as far as they can be read; an IbidemError says why reading stopped."""
        if self.collection is not None:
            yield from _in_memory(self.collection)
        elif self.named:
            sources = under_described_names(resolve_inputs(list(self.named)), self.run.get("inputs", ()))
            yield from _read(sources, self._config, None)
        elif self.objects:
            yield from _read(list(self.objects), self._config, False)
        else:
            for is_reference in (False, True):
                sources, _ = self._sources(is_reference)
                settings = self._config | (self._reference_fields if is_reference else {})
                yield from _read(sources, settings, is_reference) if sources else ()

    def missing_inputs(self) -> list[str]:
        """Return which inputs cannot be read again, in words."""
        if self.collection is not None or self.named or self.objects:
            return []
        missing = (name for side in (False, True) for name in self._sources(side)[1])
        return ["standard input cannot be read again" if name == "-" else f"{name} cannot be found" for name in missing]

    def changed_inputs(self) -> list[str]:
        """Return which inputs are not as they were, as far as size and time of change tell."""
        if self.collection is not None or self.named or self.objects:
            return []
        folder, described = str(self.run.get("folder", "")), self.run.get("inputs", ())
        known = [entry for entry in described if "path" in entry and entry.keys() & {"modified", "version"}]
        return [str(entry["path"]) for entry in known if is_changed(os.path.join(folder, str(entry["path"])), entry)]

    def _sources(self, is_reference: bool) -> tuple[list[Any], list[str]]:
        entries = [entry for entry in self.run.get("inputs", ()) if bool(entry.get("reference")) == is_reference]
        return sources_described(entries, str(self.run.get("folder", "")), [str(folder) for folder in self.above])

    @property
    def _config(self) -> dict[str, Any]:
        settings = self.run.get("settings", {})
        documents = dict(settings.get("documents", {})) if isinstance(settings, Mapping) else {}
        # Beside the inputs, or gone: then there are no times and titles from there, and nothing else is missing.
        given = str(documents.pop("metadata", ""))
        if is_remote(given):
            return documents | ({} if HIDDEN in given else {"metadata": given})
        path = os.path.join(str(self.run.get("folder", "")), given)
        return documents | ({"metadata": path} if os.path.isfile(path) else {})

    @property
    def _reference_fields(self) -> dict[str, Any]:
        settings = self.run.get("settings", {})
        names = settings.get("reference", {}) if isinstance(settings, Mapping) else {}
        return own_fields(names)


def _in_memory(documents: Documents) -> Iterator[ReadDocument]:
    n_read = 0
    for batch in documents.batches:
        columns = (batch.column(name).to_pylist() for name in ("id", "text", "time", "group"))
        for doc_id, text, time, group in zip(*columns, strict=True):
            yield ReadDocument(doc_id, text, time, group, None, n_read >= documents.n_input)
            n_read += 1


def _read(inputs: Any, settings: Mapping[str, Any], is_reference: bool | None) -> Iterator[ReadDocument]:
    for document in read(inputs, on_skip=lambda record: None, **settings):
        titles = (document.fields.get(name) for name in _TITLE_FIELDS)
        title = next((t.strip()[:_MOST_TITLE_CHARS] for t in titles if isinstance(t, str) and t.strip()), None)
        if title is not None:  # unlike texts, other fields may contain what UTF-8 cannot encode
            title = title.encode("utf-8", "replace").decode("utf-8")
        time = document.time if isinstance(document.time, datetime) else None
        yield ReadDocument(document.id, document.text, time, document.group, title, is_reference)


def material_of_result(result: RunResult[Any]) -> Material:
    """Return the material of a result in memory; texts come from the result, or are read again from its inputs."""
    names = ("passages", "documents", "repeats", "duplicates", "clusters", "mirrors")
    tables = {name: result.backing.table(name).read() for name in names if result.backing.has(name)}
    collection = result.backing.documents
    # Inputs on disk also have titles, which are not kept in memory.
    is_held = isinstance(collection, Collection) and any(entry.get("kind") for entry in result.inputs)
    skipped = [asdict(record) for record in result.skipped]
    title, objects = "Text reuse", cast("Sequence[Any]", ())
    if isinstance(result, CleaningResult):
        title, objects = "Text that dedup removes", result.copies.original if are_objects(result.copies.original) else ()
        tables = removed_pairs(result.backing.table("removed").read(), result.config.cleaning.level)
    return Material(title, result.run(), skipped, **tables, collection=collection if is_held else None, objects=objects)


def removed_pairs(removed: pa.Table, level: str) -> dict[str, pa.Table]:
    """Return what is removed as pairs of documents, or as passages: what is removed, and what stays for it.

    How much of a document is in the other is estimated: by their lengths and by how similar they are.
    """
    similarity = removed["similarity"].fill_null(1.0)
    if level == "document":
        share, a, b = (np.asarray(column, np.float64) for column in (similarity, removed["end"], removed["matched_end"]))
        common = share / (1 + share) * (a + b)
        contained = (np.minimum(1.0, common / np.maximum(1, length)) for length in (a, b))
        columns = [removed["id"], removed["matched_id"], share, *contained]
        return {"duplicates": pa.table(columns, names=DUPLICATES.names)}
    kind = pa.array(np.where(np.asarray(similarity) == 1.0, "exact", "near"))
    columns = [
        *(removed[name] for name in ("id", "start", "end", "matched_id", "matched_start", "matched_end")),
        removed["n_sentences"].fill_null(1), similarity, kind, pa.array(["unknown"] * removed.num_rows, pa.string()),
    ]  # fmt: skip
    return {"passages": pa.table(columns, names=_SHOWN.names).cast(_SHOWN)}


def material_of_folder(folder: Path, named: Sequence[str] = ()) -> Material:
    """Return the material of a results folder; `named` are the documents, if not those in `run.json`."""
    run = read_run(folder)
    place = folder.resolve()
    above = place.parents[:-1][:_MOST_ABOVE]
    if "removals" in run.get("counts", {}):
        removed = _table(folder, "removed", REMOVED)
        if removed is None:
            raise InputError(f"{folder} contains no removed.jsonl", "Run `ibidem dedup` again with --overwrite.")
        if removed.num_rows == 0:
            advice = "Other settings may find repeats: see `ibidem dedup --help`."
            raise InputError(f"nothing was removed in {folder}, so there is nothing to show", advice)
        cleaning = run.get("settings", {}).get("cleaning", {})
        level = cleaning.get("level", "document") if isinstance(cleaning, dict) else "document"
        pairs = removed_pairs(removed, level)
        return Material(f"Text removed in {place.name}", run, _skipped(folder), **pairs, named=tuple(named), above=above)
    tables: dict[str, Any] = {
        "passages": _table(folder, "passages", _SHOWN, _KEPT_TEXTS),
        "documents": _table(folder, "documents", DOCUMENTS),
        "repeats": _table(folder, "repeats", REPEATS),
        "duplicates": _table(folder, "duplicates", DUPLICATES),
        "clusters": _table(folder, "clusters", CLUSTERS),
        "mirrors": _table(folder, "mirrors", MIRRORS),
        "texts": _table(folder, "texts", _TEXTS),
        "hits": _table(folder, "hits", HITS),
    }
    if tables["passages"] is None and tables["duplicates"] is None:
        raise InputError(
            f"{folder} contains neither passages nor duplicates", "Give a folder that find, compare or cluster wrote."
        )
    return Material(place.name, run, _skipped(folder), **tables, named=tuple(named), above=above)


def read_run(folder: Path) -> dict[str, Any]:
    """Return the content of `run.json` in a results folder; raise InputError if there is none."""
    if not folder.is_dir():
        if folder.exists():
            raise InputError(f"{folder} is a file", "Give the folder that `ibidem find`, `compare --pairs` or `cluster` wrote.")
        raise InputError(f"there is no folder {folder}", f"Check the spelling; the current folder is {Path.cwd()}.")
    if (folder / "catalog.sqlite").is_file() and not (folder / "run.json").exists():
        raise InputError(f"{folder} is an index, not a folder of results", f"To look at it: ibidem serve {folder}")
    try:
        run = json.loads((folder / "run.json").read_text("utf-8"))
    except FileNotFoundError as error:
        next_step = "Give a folder that `ibidem find`, `compare --pairs` or `cluster` wrote."
        raise InputError(f"{folder} contains no results: it has no run.json", next_step) from error
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{folder / 'run.json'} cannot be read: {error}", "Run the command again with --overwrite.") from error
    inputs = run.get("inputs", []) if isinstance(run, dict) else None
    is_run = isinstance(inputs, list) and all(isinstance(entry, dict) for entry in inputs)
    if not is_run or not all(isinstance(run.get(name, {}), dict) for name in ("settings", "counts")):
        raise InputError(f"{folder / 'run.json'} does not describe a run", "Run the command again with --overwrite.")
    found: dict[str, Any] = run
    return found


def table_paths(folder: Path) -> list[Path]:
    """Return the paths of the tables in a results folder, in any format."""
    return sorted(path for path in folder.iterdir() if path.suffix.removeprefix(".") in FORMATS)


def _table(folder: Path, name: str, schema: pa.Schema, optional: Sequence[pa.Field] = ()) -> pa.Table | None:
    """Return a table of a folder in the given schema, from any format; None if there is none."""
    for suffix in FORMATS:
        path = folder / f"{name}.{suffix}"
        if path.exists():
            try:
                return _read_table(path, suffix, schema, optional)
            except (OSError, pa.ArrowException, ValueError, KeyError, OverflowError, RecursionError) as error:
                raise InputError(f"{path} cannot be read: {error}", "Run the command again with --overwrite.") from error
    return None


def _read_table(path: Path, suffix: str, schema: pa.Schema, optional: Sequence[pa.Field]) -> pa.Table:
    flat = {f.name: pa.large_string() if pa.types.is_nested(f.type) else _plain(f.type) for f in (*schema, *optional)}
    file_format: Any = "parquet"
    if suffix == "csv":
        # Types are given explicitly: an id that looks like a number stays text.
        convert = pyarrow.csv.ConvertOptions(column_types=flat, strings_can_be_null=True, quoted_strings_can_be_null=False)
        parse, block = pyarrow.csv.ParseOptions(newlines_in_values=True), pyarrow.csv.ReadOptions(block_size=16 << 20)
        file_format = pyarrow.dataset.CsvFileFormat(convert_options=convert, parse_options=parse, read_options=block)
    if suffix == "jsonl":  # not by Arrow, which parses some ids as dates
        table = pa.Table.from_pylist(records) if (records := list(_records(path))) else schema.empty_table()
    else:
        table = pyarrow.dataset.dataset(path, format=file_format).to_table()
    columns = {}
    for wanted in (*schema, *(f for f in optional if f.name in table.column_names)):
        column = table[wanted.name]
        if pa.types.is_nested(wanted.type) and not pa.types.is_nested(column.type):  # CSV stores nested values as JSON
            column = pa.chunked_array([[json.loads(value) for value in column.to_pylist()]], wanted.type)
        if column.null_count and not wanted.nullable:
            raise ValueError(f"the column {wanted.name} has rows without a value")
        columns[wanted.name] = column.cast(wanted.type if pa.types.is_nested(wanted.type) else flat[wanted.name])
    return pa.table(columns)


def _records(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of a table in JSON lines, one file or, as Spark writes it, a folder of files."""
    files = [path] if path.is_file() else sorted(file for file in path.iterdir() if file.name[0] not in "._")
    for file in files:
        with file.open(encoding="utf-8") as lines:
            for record in (json.loads(line) for line in lines if line.strip()):
                if not isinstance(record, dict):
                    raise ValueError("one of its lines is not a record")
                yield record


def _plain(kind: pa.DataType) -> pa.DataType:
    """Return a type; for a dictionary, the type of its values."""
    return pa.large_string() if pa.types.is_dictionary(kind) else kind


def _skipped(folder: Path) -> list[dict[str, Any]]:
    path = folder / "skipped.jsonl"
    try:
        lines = path.read_text("utf-8").split("\n") if path.is_file() else []
        records = [json.loads(line) for line in lines if line.strip()]
        names = ("source", "position", "reason", "id")
        return [{name: _scalar(record.get(name)) for name in names} for record in records if isinstance(record, dict)]
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read: {error}", "Run the command again with --overwrite.") from error


def _scalar(value: Any) -> Any:
    return value if isinstance(value, (str, int, float, type(None))) else json.dumps(value)
