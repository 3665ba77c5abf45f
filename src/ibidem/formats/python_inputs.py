"""What a caller in Python may give as inputs: paths, texts, records, series, frames, datasets, Arrow data; or a clear refusal.

`settle` decides once what an object is. No library is imported for that: an object of pandas, Polars or Hugging Face is known
by its class.

A list of strings is a list of paths if all of them exist. It is a list of texts if none of them exists, none is named like a
file, and at least one contains a blank. Everything else is refused. In the shell, strings are paths.
"""

from __future__ import annotations

import glob
import math
import os
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import PurePath
from typing import Any

import pyarrow as pa

from ibidem.config.surface import given, in_shell, spoken
from ibidem.errors import InputError, UsageError
from ibidem.formats.byte_streams import STDIN
from ibidem.formats.field_paths import names_of_all
from ibidem.formats.registry import format_of
from ibidem.formats.sources import FileSource, has_arrow
from ibidem.model import Document

_MOST_PATH_CHARS = 4096
_MOST_NAME_CHARS = 255
_SHOWN_CHARS = 40
_KINDS = "paths, texts in a list, an Arrow table, a data frame, a dataset, or an iterable of dicts or Documents"
TEXTS_IN_LIST = "Pass texts in a list: [text]."
TEXT_RECORD = '{"text": text}'


class Several(list[Any]):
    """What a list of several inputs was settled to; what became of one input is a plain list."""


class PathName(str):
    """A string that is known to be a path."""


@dataclass(frozen=True)
class Texts:
    """Texts without further fields. Their ids are given, or else their positions, counted from 0, after a `prefix`."""

    texts: Sequence[str | None]
    ids: Sequence[str] | None = None
    prefix: str = ""

    def __len__(self) -> int:
        return len(self.texts)

    def id_of(self, position: int) -> str:
        """Return the id of a text."""
        return self.ids[position] if self.ids is not None else f"{self.prefix}{position}"

    def records(self, text_name: str, id_name: str) -> Iterator[dict[str, Any]]:
        """Yield the texts as records with fields of these names."""
        for position, text in enumerate(self.texts):
            yield {text_name: text, id_name: self.id_of(position)}


@dataclass(frozen=True)
class Taken:
    """An object that documents are read from: what the caller gave, and what is read instead, if anything is."""

    original: Any
    records: Any
    kind: str  # pandas, series, polars, polars-series, lazyframe, arrow, dataset, splits, stream, list


def settle(inputs: Any, on_spark: bool = False) -> list[Any]:
    """Return inputs as paths, `FileSource`s, iterators of records and `Taken` objects, in their order.

    What was settled before stays as it is. Lazy frames are collected here, once. Data frames of Spark stay, if it reads them.
    """
    if isinstance(inputs, (list, tuple)):
        return _settle_list(inputs, on_spark)
    if isinstance(inputs, str):
        return [PathName(inputs)]
    if isinstance(inputs, (Taken, FileSource, os.PathLike)) or (on_spark and _is_a(inputs, "pyspark", "DataFrame")):
        return [inputs]
    if isinstance(inputs, Document) or (isinstance(inputs, Mapping) and not _is_a(inputs, "datasets", *_SPLITS)):
        return [Taken(inputs, [inputs], "list")]
    refuse_open_file(inputs)
    taken = _take(inputs)
    if taken is not None:
        return [taken]
    if isinstance(inputs, Iterator):
        begun = _up_to_first(inputs)
        if not begun:
            return [Taken([], [], "list")]
        rest = chain(begun, inputs)
        return [rest] if _is_record(begun[-1]) else settle(list(rest), on_spark)
    if _is_a(inputs, "pyspark", "DataFrame"):
        raise InputError("only Spark can read a Spark data frame", "Add engine=ibidem.SparkEngine(spark).")
    if isinstance(inputs, (set, frozenset)):
        raise InputError("a set has no order", "Pass a list.")
    if isinstance(inputs, Iterable) and not isinstance(inputs, (bytes, bytearray, memoryview)):
        begun = _up_to_first(iter(inputs))
        is_list = bool(begun) and (isinstance(begun[-1], (str, os.PathLike)) or is_null(begun[-1]))
        return _settle_list(list(inputs), on_spark) if is_list else [Taken(inputs, inputs, "list")]
    raise refused(inputs)


def column_names(records: Any, of_all: bool = False) -> list[str]:
    """Return the names of the columns of an object, or of the fields of its first record, or of all; none if not known."""
    if isinstance(records, (Texts, Iterator)):
        return []
    if isinstance(records, (pa.Table, pa.RecordBatch)):
        return list(records.schema.names)
    for name in ("columns", "column_names"):
        if (names := getattr(records, name, None)) is not None:
            return [str(each) for each in names]
    listed = records if isinstance(records, (list, tuple)) else []
    return names_of_all(record for record in (listed if of_all else listed[:1]) if isinstance(record, Mapping))


def refused(item: Any) -> InputError:
    """Return the error for what documents cannot be read from."""
    return InputError(f"cannot read documents from a {type(item).__name__}", f"Pass {_KINDS}.")


def refuse_open_file(item: Any) -> None:
    """Raise for an open file: its lines are neither texts nor records, whatever its format."""
    if hasattr(item, "readline"):
        name = getattr(item, "name", None)
        path = repr(name) if isinstance(name, str) and not name.startswith("<") else "path"
        raise InputError("an open file is not read, only its path tells the format", f"Pass the path: {path}.")


def check_texts(*texts: Any) -> None:
    """Raise for what is to be compared as texts, and is something else: paths, or the names of files that are there."""
    others = [f"a {type(text).__name__}" for text in texts if not isinstance(text, str)]
    named = [text for text in texts if isinstance(text, str) and len(text) <= _MOST_PATH_CHARS and os.path.isfile(text)]
    if others or len(named) == len(texts):
        what = others[0] if others else f"names of files, such as {shown(named[0])}"
        raise InputError(f"compare takes two texts, not {what}", "Pass what the file contains: Path(name).read_text().")


def _refuse(item: Any) -> Any:
    raise refused(item)


def original_of(settled: Sequence[Any]) -> Any:
    """Return settled inputs as they were given."""
    given = [item.original if isinstance(item, Taken) else item for item in settled]
    return given[0] if len(given) == 1 and not isinstance(settled, Several) else given


def repeatable(settled: Sequence[Any]) -> list[Any]:
    """Return settled inputs that can be read twice: what can be read only once is put into lists and tables."""
    kept: list[Any] = Several() if isinstance(settled, Several) else []
    for item in settled:
        if isinstance(item, Taken) and isinstance(item.records, pa.RecordBatchReader):
            item = replace(item, records=item.records.read_all())
        elif isinstance(item, Iterator):
            records = list(item)
            item = Taken(records, records, "list")
        kept.append(item)
    return kept


def with_prefix(settled: Sequence[Any], prefix: str) -> list[Any]:
    """Return settled inputs in which texts without ids get their positions after a prefix as ids."""
    return [
        replace(item, records=replace(item.records, prefix=prefix)) if isinstance(item, Taken) and _lacks_ids(item) else item
        for item in settled
    ]


def refuse_texts_without_ids(settled: Sequence[Any]) -> None:
    """Raise where texts have no ids: in an index, positions would soon mean other texts."""
    if any(isinstance(item, Taken) and _lacks_ids(item) for item in settled):
        raise UsageError(
            "the texts have no ids, which an index needs",
            'Pass records, {"id": id, "text": text}, or a Series with ids as index.',
        )


def is_null(item: Any) -> bool:
    """Say whether a value means that there is none: None, or what pandas and NumPy have instead."""
    return item is None or (isinstance(item, float) and math.isnan(item)) or type(item).__name__ in ("NAType", "NaTType")


def _up_to_first(items: Iterator[Any]) -> list[Any]:
    """Take items from an iterator up to the first that is not missing: that one says what they all are."""
    begun: list[Any] = []
    for item in items:
        begun.append(item)
        if not is_null(item):
            break
    return begun


def _lacks_ids(item: Taken) -> bool:
    return isinstance(item.records, Texts) and item.records.ids is None


def _is_record(item: Any) -> bool:
    # A dict, as most of a million are, is known at once.
    return type(item) is dict or (isinstance(item, (Document, Mapping)) and not _is_a(item, "datasets", *_SPLITS))


def _settle_list(inputs: Sequence[Any], on_spark: bool) -> list[Any]:
    """Settle the items of a list; neighbouring records become one object, strings are taken together as paths or as texts."""
    if any(isinstance(item, str) for item in inputs) and all(isinstance(item, str) or is_null(item) for item in inputs):
        texts = [item if isinstance(item, str) else None for item in inputs]
        if not _are_paths(texts):
            return [Taken(inputs, Texts(texts), "list")]
        return [PathName(item) if item is not None else _refuse(item) for item in texts]
    if all(map(_is_record, inputs)) or (any(map(_is_record, inputs)) and all(_is_record(i) or is_null(i) for i in inputs)):
        return [Taken(inputs, inputs, "list")]
    settled = Several()
    open_list: list[Any] | None = None
    for item in inputs:
        if _is_record(item):
            if open_list is None:
                open_list = []
                settled.append(Taken(open_list, open_list, "list"))
            open_list.append(item)
        else:
            open_list = None
            settled.extend(settle(item, on_spark))
    return settled


_SPLITS = ("DatasetDict", "IterableDatasetDict")


def _is_a(item: Any, library: str, *names: str) -> bool:
    """Say whether an object is of a class of a library, without importing it."""
    return any(kind.__name__ in names and kind.__module__.partition(".")[0] == library for kind in type(item).__mro__)


def _take(item: Any) -> Taken | None:
    """Return an object that contains texts or records as a whole, if it is one of the kinds that are known."""
    if _is_a(item, "pandas", "Series", "Index"):
        return Taken(item, _texts_of_series(item), "series")
    if _is_a(item, "pandas", "DataFrame"):
        if not item.columns.is_unique:
            twice = item.columns[item.columns.duplicated()][0]
            raise InputError(f"the frame has several columns '{twice}'", "Rename or drop all but one of them.")
        return Taken(item, item, "pandas")
    if _is_a(item, "polars", "LazyFrame"):
        return Taken(item, item.collect(), "lazyframe")
    if _is_a(item, "polars", "DataFrame"):
        return Taken(item, item, "polars")
    if _is_a(item, "polars", "Series"):
        return Taken(item, Texts(_checked(item.to_list(), "Series", item.dtype)), "polars-series")
    if _is_a(item, "datasets", *_SPLITS):
        return _only_split(item)
    if _is_a(item, "datasets", "Dataset", "IterableDataset"):
        return Taken(item, item, "dataset")
    if isinstance(item, (pa.Array, pa.ChunkedArray)):
        return _taken_array(item)
    if isinstance(item, (pa.Table, pa.RecordBatch)):
        return Taken(item, item, "arrow")
    if hasattr(item, "scanner") and hasattr(item, "to_table"):  # a dataset of Arrow
        return Taken(item, item.scanner().to_reader(), "stream")
    return Taken(item, item, "stream") if has_arrow(item) else None


def _texts_of_series(series: Any) -> Texts:
    """Return the texts of a pandas Series. Its index names them if it is unique and more than a plain range of numbers."""
    texts = [None if is_null(text) else text for text in series.tolist()]
    index: Any = getattr(series, "index", None)
    is_plain = index is None or _is_a(index, "pandas", "RangeIndex", "MultiIndex") or index.hasnans or not index.is_unique
    return Texts(_checked(texts, type(series).__name__, series.dtype), None if is_plain else list(map(str, index)))


def _checked(values: list[Any], what: str, kind: Any) -> list[str | None]:
    """Return values that are texts or missing; otherwise raise."""
    if not any(isinstance(value, str) for value in values) and any(value is not None for value in values):
        raise InputError(
            f"the {what} contains {kind}, not texts",
            f"Pass the column with the texts, or a frame with {given('text_field', 'NAME')}.",
        )
    return values


def _taken_array(array: Any) -> Taken:
    """Return an Arrow array: one of structs has records, one of strings has texts."""
    if pa.types.is_struct(array.type):
        chunks = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
        batches = [pa.RecordBatch.from_struct_array(chunk) for chunk in chunks]
        return Taken(array, pa.Table.from_batches(batches, None if batches else pa.schema(list(array.type))), "stream")
    return Taken(array, Texts(_checked(array.to_pylist(), "array", array.type)), "array")


def _only_split(splits: Any) -> Taken:
    """Return the one split of a dataset; of several, one has to be chosen."""
    names = list(splits)
    if len(names) == 1:
        return Taken(splits, splits[names[0]], "splits")
    if not names:
        raise InputError("the dataset has no splits", "Load one that has.")
    last = f'find(dataset["{names[-1]}"], against=dataset["{names[0]}"])'
    raise InputError(
        f"the dataset has several splits: {', '.join(names)}",
        f'Choose one, such as dataset["{names[0]}"]. To see what two of them share: {last}.',
    )


def _are_paths(strings: Sequence[str | None]) -> bool:
    """Say whether strings are paths, or texts; if neither can be said for sure, raise InputError."""
    if spoken() == "shell" or all(isinstance(string, PathName) for string in strings):
        return True
    texts: list[str] = []  # strings that can only be texts
    missing: list[str] = []  # names of files that are not there, and single words
    there: str | None = None
    names: dict[str, list[str]] = {}
    for string in strings:
        if string is None or not string.strip():
            continue
        if _is_path(string, names):
            there = string
        else:
            (texts if is_text(string) else missing).append(string)
    looks_like_file = next((string for string in missing if _is_named_like_file(string) or _is_pattern(string)), None)
    if not texts:
        return True  # the first that is not there is named when it is read
    if there is None and looks_like_file is None:
        return False
    path, why = (there, "is a path") if there is not None else (looks_like_file, "is named like a file, which does not exist")
    raise InputError(
        f"the list mixes paths and texts: {shown(str(path))} {why}, and {shown(texts[0])} is a text",
        f"Pass either paths or texts. A record, {TEXT_RECORD}, is always a text.",
    )


def is_text(string: str) -> bool:
    """Say whether a string that is no path can only be a text: it has a blank, and neither extension nor folder of files."""
    return len(string.split(None, 1)) > 1 and not _is_named_like_file(string) and not _is_pattern(string)


def _is_named_like_file(string: str) -> bool:
    if len(string) > _MOST_NAME_CHARS or "\n" in string or "." not in string[-12:]:
        return False
    return format_of(string) is not None


def _is_pattern(string: str) -> bool:
    """Say whether a string is a pattern for files in folders, even if none is there, and no sentence with a question mark.

    It begins with a folder that exists, or a part of it is a star alone or a star with an extension.
    """
    if len(string) > _MOST_NAME_CHARS or "\n" in string or not glob.has_magic(string) or os.path.basename(string) == string:
        return False
    path = PurePath(string)
    begin = os.path.join(*path.parts[: 2 if path.anchor else 1])
    has_folder = begin != path.anchor and os.path.isdir(begin)
    return has_folder or any(part in ("*", "**") or part.startswith("*.") for part in path.parts)


def _is_path(string: str, names: dict[str, list[str]]) -> bool:
    """Say whether a string names files or folders that exist, standard input, or something that only Spark can look at.

    `names` are those in folders that were looked at for the same list.
    """
    if len(string) > _MOST_PATH_CHARS or "\n" in string:
        return False
    if string == STDIN or os.path.lexists(string) or ("://" in string and not any(map(str.isspace, string))):
        return True
    return glob.has_magic(string) and _may_match(string, names) and next(glob.iglob(string, recursive=True), None) is not None


def _may_match(pattern: str, names: dict[str, list[str]]) -> bool:
    """Say whether a pattern can match: its beginning is that of a name. Sentences with a question mark mostly cannot."""
    literal = pattern[: min(place for sign in "*?[" if (place := pattern.find(sign)) >= 0)]
    folder, beginning = os.path.split(literal)
    if folder not in names:
        try:
            names[folder] = sorted(os.listdir(folder or os.curdir))
        except OSError:
            names[folder] = []
    place = bisect_left(names[folder], beginning)
    return place < len(names[folder]) and names[folder][place].startswith(beginning)


def missing_path(path: str, name: str) -> InputError:
    """Return the error for a string that names no file; `name` is how it is shown."""
    if spoken() == "python" and is_text(path):
        return InputError(f"{shown(path)} is a text, not the name of a file or folder", TEXTS_IN_LIST)
    what = "no file matches" if glob.has_magic(path) else "there is no file or folder"
    spelling = f"Check the spelling; the current folder is {os.getcwd()}."
    if any(map(str.isspace, path)):
        spelling += in_shell("", f" If it is a text, pass it as a record: {TEXT_RECORD}.")
    return InputError(f"{what} {name}", spelling)


def shown(string: str) -> str:
    """Return a string as it is quoted in messages."""
    return repr(string if len(string) <= _SHOWN_CHARS else string[:_SHOWN_CHARS].rstrip() + "…")
