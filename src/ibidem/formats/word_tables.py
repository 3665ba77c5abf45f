"""Tables of words: in how many documents each one occurs, and how often; and lists of words. From files, or from Python.

A table has the columns word, documents and, if known, occurrences. The row of the word `*` counts all documents. Files are
TSV, CSV or Parquet; a list of words is a text file with one word per line.
"""

from __future__ import annotations

import csv
import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.config import Config, SignaturesConfig, WordSource
from ibidem.config.word_source import NO_WORDS
from ibidem.errors import InputError, ResourceError, UsageError
from ibidem.execution.durable_files import replace_file
from ibidem.model import Skipped

ALL_DOCUMENTS = "*"  # no word: words have letters or digits
COLUMNS = ("word", "documents", "occurrences")
ENDINGS = (".tsv", ".csv", ".parquet", ".txt")
_HOW = "Give a table with the columns word, documents and, if known, occurrences, as `ibidem words` writes it."
_HOW_LISTED = "Give a text file with one word per line, or a table with a column word."
_SCHEMA = pa.schema([("word", pa.large_string()), ("documents", pa.int64()), ("occurrences", pa.int64())])
T = TypeVar("T")


@dataclass(frozen=True)
class WordTable:
    """In how many of `n_documents` documents words occur, and how often in all. The most frequent words come first.

    `skipped` lists the records that were not counted.
    """

    words: pa.LargeStringArray
    documents: NDArray[np.int64]
    occurrences: NDArray[np.int64]
    n_documents: int
    skipped: Sequence[Skipped] = ()

    def __len__(self) -> int:
        """Number of words."""
        return len(self.words)

    def cut(self, min_documents: int = 1, max_words: int = 0) -> WordTable:
        """Return the words of at least so many documents, and only the most frequent ones unless `max_words` is 0."""
        rows = np.flatnonzero(self.documents >= min_documents)[: max_words or None]
        chosen = self.words.take(pa.array(rows)), self.documents[rows], self.occurrences[rows]
        return replace(self, words=chosen[0], documents=chosen[1], occurrences=chosen[2])

    def to_arrow(self) -> pa.Table:
        """Return the columns word, documents and occurrences; the first row, `*`, counts all documents and all occurrences."""
        total = pa.table([[ALL_DOCUMENTS], [self.n_documents], [int(self.occurrences.sum())]], schema=_SCHEMA)
        return pa.concat_tables([total, pa.table([self.words, self.documents, self.occurrences], schema=_SCHEMA)])

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Give the rows to Arrow."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the table as TSV, CSV or Parquet, or with the ending .txt as a list of words, one per line."""
        path = Path(path)
        if path.suffix.lower() not in ENDINGS:
            raise UsageError(f"{path} must end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}")
        aside = path.with_name(path.name + ".part")
        try:
            self._write(aside, path.suffix.lower())
            replace_file(aside, path)
        except OSError as error:
            next_step = "Check disk space and permissions."
            raise ResourceError(f"cannot write {path}: {error.strerror or error}", next_step) from error
        finally:
            aside.unlink(missing_ok=True)

    def _write(self, path: Path, ending: str) -> None:
        if ending == ".parquet":
            import pyarrow.parquet

            pyarrow.parquet.write_table(self.to_arrow(), path)
            return
        with open(path, "w", encoding="utf-8", newline="") as file:
            if ending == ".txt":
                file.writelines(f"{word}\n" for word in self.words.to_pylist())
                return
            rows = csv.writer(file, delimiter="\t" if ending == ".tsv" else ",", lineterminator="\n")
            rows.writerow(COLUMNS)
            rows.writerows(zip(*(column.to_pylist() for column in self.to_arrow().columns), strict=True))


@dataclass(frozen=True)
class _Row:
    place: str  # the file and line, or what else leads to it
    word: str
    values: tuple[object, ...]  # documents, occurrences


def word_counts_of(source: WordSource) -> WordTable:
    """Return the table that a source gives; what is wrong with it is an InputError with file and line."""
    if source.content is None:
        source.content = _counted(_rows_of(source), source.name)
    table: WordTable = source.content
    return table


def words_of(source: WordSource) -> list[str]:
    """Return the words that a source lists."""
    if source.content is None:
        if isinstance(source.given, str) and not source.is_file:
            words = [] if source.is_none else source.given.replace(",", " ").split()
            for word in words:
                _check_text(word, "the list of words", _HOW_LISTED)
        else:
            words = [row.word for row in _rows_of(source, listed=True) if row.word != ALL_DOCUMENTS]
        source.content = words
    found: list[str] = source.content
    return found


def own_stop_words(settings: SignaturesConfig) -> WordSource:
    """Return the words that the chains of spotsigs skip by a list of their own."""
    own = settings.spot_stop_words
    return WordSource(NO_WORDS if own == "auto" or own.isdecimal() else own)


def describe_words(config: Config) -> dict[str, dict[str, str | int]]:
    """Return what `run.json` says of words that a user brings along: name, number and checksum. They are read for it.

    What is wrong with them is said here, before documents are read.
    """
    settings = config.signatures
    described: dict[str, dict[str, str | int]] = {}
    if not settings.word_counts.is_none:
        table = word_counts_of(settings.word_counts)
        described["word_counts"] = {"name": settings.word_counts.name, "words": len(table), "documents": table.n_documents}
        described["word_counts"]["sha256"] = digest_of(table)
    for name, source in (("stop_words", settings.stop_words), ("spot_stop_words", own_stop_words(settings))):
        if not source.is_none:
            words = words_of(source)
            described[name] = {"name": source.name, "words": len(words), "sha256": digest_of(words)}
    return described


def digest_of(content: WordTable | list[str]) -> str:
    """Return a checksum of what was read, whatever the file is called."""
    digest = hashlib.sha256()
    if isinstance(content, WordTable):
        digest.update(f"{content.n_documents}\n".encode())
        rows = zip(content.words.to_pylist(), content.documents.tolist(), content.occurrences.tolist(), strict=True)
        for word, documents, occurrences in rows:
            digest.update(f"{word}\t{documents}\t{occurrences}\n".encode())
    else:
        for word in content:
            digest.update(f"{word}\n".encode())
    return digest.hexdigest()


def _counted(rows: Iterable[_Row], name: str) -> WordTable:
    words: list[str] = []
    numbers: list[tuple[int, int]] = []
    places: list[str] = []
    n_documents = 0
    for row in rows:
        documents = _number(row, 0, "documents")
        occurrences = _number(row, 1, "occurrences") if len(row.values) > 1 and row.values[1] not in (None, "") else documents
        if row.word == ALL_DOCUMENTS:
            n_documents = documents
            continue
        if occurrences < documents:
            raise InputError(
                f"{row.place}: {row.word!r} occurs in {documents:,} documents but only {occurrences:,} times", _HOW
            )
        words.append(row.word)
        numbers.append((documents, occurrences))
        places.append(row.place)
    if n_documents < 1:
        raise InputError(
            f"{name} does not say how many documents were counted",
            f"Add a row for the word {ALL_DOCUMENTS} with the number of all documents.",
        )
    columns = np.array(numbers, np.int64).reshape(-1, 2)
    for wrong in np.flatnonzero(columns[:, 0] > n_documents)[:1].tolist():
        there = f"{words[wrong]!r} occurs in {columns[wrong, 0]:,} documents of {n_documents:,}"
        raise InputError(f"{places[wrong]}: {there}", _HOW)
    return WordTable(pa.array(words, pa.large_string()), columns[:, 0].copy(), columns[:, 1].copy(), n_documents)


def _number(row: _Row, place: int, name: str) -> int:
    value = row.values[place] if place < len(row.values) else None
    if isinstance(value, float) and value.is_integer():  # as data frames have whole numbers in columns with gaps
        value = int(value)
    try:
        number = int(str(value))
    except ValueError:
        raise InputError(f"{row.place}: {name} must be a whole number, not {value!r}", _HOW) from None
    if not 1 <= number < 1 << 62:
        raise InputError(f"{row.place}: {name} must be at least 1, not {number}", _HOW)
    return number


def _rows_of(source: WordSource, listed: bool = False) -> Iterator[_Row]:
    """Yield the rows of a source. Where words are only `listed`, they need no counts."""
    given, how = source.given, _HOW_LISTED if listed else _HOW
    if isinstance(given, Mapping):
        for word, value in given.items():
            _check_text(word, "the mapping", how)
            values = tuple(value) if isinstance(value, (list, tuple)) else (value,)
            yield _Row(f"the mapping, {word!r}", word, values)
    elif not isinstance(given, str):
        yield from _rows_of_table(pa.table(given), "the table", listed)
    else:
        try:
            if given.lower().endswith(".parquet"):
                import pyarrow.parquet

                with pyarrow.parquet.ParquetFile(given) as file:
                    table = file.read()
                yield from _rows_of_table(table, given, listed)
            else:
                with open(given, encoding="utf-8-sig", newline="") as file:
                    yield from _rows_of_text(file, given, listed)
        except FileNotFoundError:
            raise InputError(f"there is no file {given}", f"Check the spelling; the current folder is {Path.cwd()}.") from None
        except UnicodeDecodeError as error:
            raise InputError(f"{given} is not UTF-8: {error.reason}", how) from error
        except (OSError, csv.Error, pa.ArrowException) as error:
            raise InputError(f"{given} cannot be read: {getattr(error, 'strerror', None) or error}", how) from error


def _check_text(word: object, place: str, how: str) -> None:
    """Raise for what cannot be a word: bytes of a command line that are not UTF-8 are one reason."""
    try:
        if isinstance(word, str):
            word.encode()
            return
    except UnicodeEncodeError:
        pass
    raise InputError(f"{place}: {word!r} is not text", how)


def _rows_of_table(table: pa.Table, name: str, listed: bool) -> Iterator[_Row]:
    how = _HOW_LISTED if listed else _HOW
    wanted = COLUMNS[:1] if listed else COLUMNS[:2]
    missing = [column for column in wanted if column not in table.column_names]
    if missing:
        raise InputError(f"{name} has no column {missing[0]} (it has {', '.join(table.column_names) or 'none'})", how)
    columns = [
        table[column].to_pylist() for column in COLUMNS if column in table.column_names and (not listed or column == "word")
    ]
    for number, (word, *values) in enumerate(zip(*columns, strict=True), 1):
        if not isinstance(word, str):
            raise InputError(f"{name}, row {number}: word must be text, not {word!r}", how)
        yield _Row(f"{name}, row {number}", word, tuple(values))


def _rows_of_text(file: Iterable[str], name: str, listed: bool) -> Iterator[_Row]:
    lines = iter(file)
    first = next(lines, "")
    mark = "\t" if "\t" in first else ","
    order: list[int] | None = None
    reader = csv.reader(_again(first, lines), delimiter=mark)
    for cells in reader:
        place = f"{name}, line {reader.line_num}"
        if not any(cells) or cells[0].startswith("#"):
            continue
        if order is None:
            header = [cell.strip().lower() for cell in cells]
            if "word" in header:
                wanted = COLUMNS[:1] if listed else COLUMNS[:2]
                missing = [column for column in wanted if column not in header]
                if missing:
                    raise InputError(f"{place}: no column {missing[0]}", _HOW)
                order = [header.index(column) for column in COLUMNS if column in header]
                continue
            order = list(range(1 if listed else min(len(cells), len(COLUMNS))))
            if not listed and len(order) < 2:
                raise InputError(f"{place}: no column documents", _HOW)
        if max(order) >= len(cells):
            raise InputError(f"{place}: {len(cells)} columns instead of {max(order) + 1}", _HOW)
        word, *values = (cells[column].strip() for column in order)
        yield _Row(place, word, tuple(values))


def _again(first: T, rest: Iterator[T]) -> Iterator[T]:
    yield first
    yield from rest
