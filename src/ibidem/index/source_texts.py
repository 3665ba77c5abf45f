"""The texts behind a table of answers: those of arrivals, and those that segments keep."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.collection import Collection
from ibidem.columns.page_columns import PageMarks, rows_with_pages
from ibidem.columns.ragged import starts_of
from ibidem.columns.texts import text_buffers, word_bytes
from ibidem.index.segment import Segment
from ibidem.passages.kernels.extension import find_places

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class SourceTexts:
    """The texts of the documents that a column names, by their numbers in its dictionary.

    First come arrivals, given by their numbers, then known documents, segment by segment. An index that keeps no texts shows
    none, not even those of documents that arrived together.
    """

    collection: Collection
    arrivals: Numbers
    known: Sequence[tuple[Segment, Numbers]] = field(default_factory=tuple)
    are_shown: bool = True

    @classmethod
    def of(cls, collection: Collection) -> SourceTexts:
        """Return the texts of arrivals alone."""
        return cls(collection, np.arange(collection.n_documents))

    def without_any(self) -> SourceTexts:
        """Return the same documents without their texts."""
        return replace(self, are_shown=False)

    def ids(self) -> pa.LargeStringArray:
        """Return the ids of the documents."""
        known = (segment.ids(rows) for segment, rows in self.known)
        return pa.concat_arrays([self.collection.ids.take(pa.array(self.arrivals)), *known])

    def has(self) -> NDArray[np.bool_]:
        """Return for every document whether its text is there."""
        kept = [np.zeros(len(rows), np.bool_) if s.texts is None else s.texts.has(rows) for s, rows in self.known]
        return np.concatenate([np.ones(len(self.arrivals), np.bool_), *kept]) & self.are_shown

    def may_have_pages(self, numbers: Numbers) -> NDArray[np.bool_]:
        """Return which of these documents, given by rising number, may have pages."""
        found = [np.isin(self.arrivals[numbers[numbers < len(self.arrivals)]], self._paged_arrivals())]
        for segment, chosen in self.of_segments(numbers):
            found.append(np.zeros(len(chosen), np.bool_) if segment.texts is None else segment.texts.may_have_pages(chosen))
        return np.concatenate(found)

    def _paged_arrivals(self) -> Numbers:
        """Return which arrivals have pages."""
        batches = zip(self.collection.batches, self.collection.batch_first.tolist(), strict=False)
        paged = (rows_with_pages(*text_buffers(batch.column("text"))) + first for batch, first in batches)
        return np.concatenate([np.empty(0, np.int64), *paged])

    def may_any_have_pages(self) -> bool:
        """Return whether any of the documents may have pages: of most collections, none has."""
        kept = (segment.texts for segment, _ in self.known)
        of_known = any(texts is not None and (texts.paged_texts is None or len(texts.paged_texts)) for texts in kept)
        return of_known or len(self._paged_arrivals()) > 0

    def of_segments(self, numbers: Numbers) -> Iterator[tuple[Segment, Numbers]]:
        """Yield the segments, each with its rows of those of these documents, given by rising number, that it has."""
        first = len(self.arrivals)
        for segment, rows in self.known:
            begin, end = np.searchsorted(numbers, (first, first + len(rows)))
            yield segment, rows[numbers[begin:end] - first]
            first += len(rows)

    def read(self, numbers: Numbers) -> list[bytes]:
        """Return the texts of documents in UTF-8, by rising number; empty if there is none."""
        texts = [self._of_arrival(number) for number in self.arrivals[numbers[numbers < len(self.arrivals)]].tolist()]
        for segment, chosen in self.of_segments(numbers):
            texts += [b""] * len(chosen) if segment.texts is None else segment.texts.read(chosen)
        return texts

    def _of_arrival(self, document: int) -> bytes:
        batch = int(np.searchsorted(self.collection.batch_first, document, side="right")) - 1
        data, offsets = text_buffers(self.collection.batches[batch].column("text"))
        row = document - int(self.collection.batch_first[batch])
        return data[offsets[row] : offsets[row + 1]].tobytes()

    def cut(self, numbers: Numbers, starts: Numbers, ends: Numbers) -> list[str | None]:
        """Return stretches of documents, given by characters; None where a text is not there."""
        distinct, which = np.unique(numbers, return_inverse=True)
        texts = [text.decode() for text in self.read(distinct)]
        is_there = self.has()[distinct].tolist()
        places = zip(which.tolist(), starts.tolist(), ends.tolist(), strict=True)
        return [texts[at][start:end] if is_there[at] else None for at, start, end in places]

    def sides(self, passages: pa.Table) -> Iterator[tuple[str, str]]:
        """Yield both sides of passages; as equal where the text of one is not there."""
        for a, b in zip(*(_stretches(passages, side, self) for side in "ab"), strict=True):
            yield ("", "") if a is None or b is None else (a, b)


def with_texts(table: pa.Table, a: SourceTexts, b: SourceTexts) -> pa.Table:
    """Return a table of hits or passages with the columns `a_text` and `b_text`."""
    for side, texts in (("a", a), ("b", b)):
        table = table.append_column(f"{side}_text", pa.array(_stretches(table, side, texts), pa.large_string()))
    return table


def _stretches(table: pa.Table, side: str, texts: SourceTexts) -> list[str | None]:
    return texts.cut(_numbers(table, side), *(table[f"{side}_{place}"].to_numpy() for place in ("start", "end")))


def with_pages(table: pa.Table, texts: SourceTexts) -> pa.Table:
    """Return a table of passages with their pages, if any text of them has pages."""
    if not texts.may_any_have_pages():
        return table
    numbers = {side: _numbers(table, side) for side in "ab"}
    distinct = np.unique(np.concatenate(list(numbers.values())))
    distinct = distinct[texts.may_have_pages(distinct)]
    found = [text.decode() for text in texts.read(distinct)]
    marks = PageMarks.of(pa.array(found, pa.large_string())) if found else PageMarks()
    if not marks.has_pages:
        return table
    by_number = dict(zip(distinct.tolist(), found, strict=True))
    sides = [zip(numbers[side].tolist(), table[f"{side}_start"].to_pylist(), strict=True) for side in "ab"]
    for name, column in zip(marks.fields, marks.columns(sides, lambda number: by_number.get(number, "")), strict=True):
        table = table.append_column(name, column)
    return table


def _numbers(table: pa.Table, side: str) -> Numbers:
    """Return the numbers of the documents of one side: the codes of the id column."""
    chunks = [chunk.indices.to_numpy() for chunk in table[f"{side}_id"].chunks]
    numbers: Numbers = np.concatenate([np.empty(0, np.int64), *chunks]).astype(np.int64)
    return numbers


def bytes_of_chars(data: NDArray[np.uint8], first: Numbers, counts: Numbers, chars: Numbers) -> NDArray[np.uint32]:
    """Return at which bytes of their texts characters begin: `counts[k]` of text k, `data[first[k]:first[k + 1]]`, in order.

    The character after the last one begins at the end.
    """
    begins, ends = (np.repeat(column, counts) for column in (first[:-1], first[1:]))
    found = np.empty(len(chars), np.int64)
    find_places(word_bytes(data), begins, ends, chars, found)
    return (found - begins).astype(np.uint32)


def joined_texts(texts: Sequence[bytes]) -> tuple[Numbers, NDArray[np.uint8]]:
    """Return where texts begin, put one after the other, and their bytes."""
    return starts_of([len(text) for text in texts]), np.frombuffer(b"".join(texts), np.uint8)
