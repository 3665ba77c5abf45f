"""Excerpts: only the parts of a document that it may share with others in a bucket are sent there.

Every passage of two documents grows from a gram that both have, over rows that are in other such grams, in hot windows, or are
next neighbours of these. All other sentences are left out; a *gap* replaces each stretch of them, with its number of words and
characters, so that distances and shares stay correct, though not the number of rows. It is a separate row that equals no other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.distinct import places_of
from ibidem.columns.parted_tables import (
    EQUAL,
    OF_SENTENCE,
    SPLIT,
    PlacedDocuments,
    in_order,
    placed_documents,
    portions,
    table_of,
)
from ibidem.columns.ragged import as_lists, flat, lengths, starts_of, take_ranges
from ibidem.config import Config, passage_limits
from ibidem.execution.flow import Flow, Inputs, PartedTable, Sent
from ibidem.execution.layout import Layout
from ibidem.matches import Cells, SortedSets
from ibidem.passages.exchange.end_words import words_around
from ibidem.passages.kernels import excerpts as kernels
from ibidem.passages.kernels.excerpts import Bounds, Counts, Listed, Stretches
from ibidem.passages.kernels.windows import HOT_WINDOW, cover_windows
from ibidem.passages.repeats import HotPlaces, list_hot_places

BYTES_A_SENTENCE, _MOST_SENT_BYTES = 28, 16 << 20
_GAPS = [("gaps", pa.list_(pa.int32())), ("gap_sizes", pa.list_(pa.int32()))]
WORDS_AROUND = ("words_after", "words_before")  # of sentences, as in `EndWords`, if the ends of passages are to be moved
# Hot places at home, as in `HotPlaces`; rows are counted within their document.
HOT = pa.schema(
    [
        ("key", pa.uint64()),
        ("document", pa.int64()),
        ("row", pa.int32()),
        ("length", pa.int32()),
        ("following", pa.uint64()),
        ("preceding", pa.uint64()),
        ("is_reported", pa.bool_()),
    ]
)


def excerpt_schema(documents: pa.Schema, to_extend: bool) -> pa.Schema:
    """Return the schema of excerpts: that of documents, plus the flags of rows and where sentences are left out."""
    words = [(name, pa.list_(pa.uint16())) for name in WORDS_AROUND] if to_extend else []
    return pa.schema([*documents, *words, ("flags", pa.list_(pa.uint8())), *_GAPS])


def place_documents(
    flow: Flow, documents: PartedTable, flags: Sequence[PartedTable], members: PartedTable, texts: PartedTable | None,
    config: Config, layout: Layout,
) -> dict[str, PartedTable]:  # fmt: skip
    """Return `placed`: excerpts of documents where they meet others, and `hot`: the places of hot grams, at home.

    With the `texts` of documents, excerpts have hashes of the words around their sentences.
    """
    is_checked = documents.schema.equals(EQUAL)
    schema = excerpt_schema(SPLIT if is_checked else documents.schema, texts is not None)
    limits = passage_limits(config)

    def place(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        table = _unchecked(tables["documents"]) if is_checked else tables["documents"]
        table = in_order(table)
        placed = placed_documents(table, config, layout)
        flags = np.zeros(len(placed.rows.classes), np.uint8)
        document, row = tables["flags"]["document"].to_numpy(), tables["flags"]["row"].to_numpy()
        at = placed.rows.document_first[places_of(document, placed.documents)] + row
        np.bitwise_or.at(flags, at, tables["flags"]["flags"].to_numpy())
        yield _sent_hot(list_hot_places(placed.rows, flags, limits), placed, layout)
        members = tables["members"]
        at = places_of(members["document"].to_numpy(), placed.documents)
        rows = placed.rows.document_first[at] + members["row"].to_numpy()
        buckets = members["bucket"].to_numpy().astype(np.int64)
        excerpts = Excerpts(table, placed, flags, limits.min_sentences, schema)
        if texts is not None:
            chosen = excerpts.sentences_around(rows)
            words = words_around(chosen, placed.documents, placed.collection, tables["texts"], config.sentences.hash_seed)
            excerpts.add(dict(zip(WORDS_AROUND, (words.after, words.before), strict=True)))
        for some, routes in excerpts.cut(buckets, rows):
            yield Sent("placed", some, routes)

    inputs: Inputs = {"documents": documents, "flags": flags, "members": members, **({"texts": texts} if texts else {})}
    return flow.reduce("places", inputs, place, {"placed": schema, "hot": HOT})


def _unchecked(documents: pa.Table) -> pa.Table:
    """Return documents in the schema SPLIT: where equal sentences match, their classes serve as digests."""
    named = ["digest" if name == "classes" else name for name in documents.column_names]
    return documents.rename_columns(named).select(SPLIT.names)


def _sent_hot(hot: HotPlaces, placed: PlacedDocuments, layout: Layout) -> Sent:
    documents = placed.documents[placed.rows.document[hot.row]]
    columns = [hot.key, documents, placed.row_of_document[hot.row], hot.length, hot.following, hot.preceding, hot.is_reported]
    return Sent("hot", table_of(columns, HOT), layout.home(documents))


def compared_sets(table: pa.Table, placed: PlacedDocuments) -> tuple[NDArray[np.int32], SortedSets]:
    """Return the number of each sentence's set, and the sets; the last set, which is empty, is for sentences without one."""
    document = np.repeat(np.arange(table.num_rows), lengths(table, "compared"))
    sentence = placed.collection.document_first[document] + flat(table, "compared")
    set_of_sentence = np.full(len(placed.collection.digest), len(sentence), np.int32)
    set_of_sentence[sentence] = np.arange(len(sentence), dtype=np.int32)
    sizes = np.append(flat(table, "set_sizes"), np.int32(0))
    return set_of_sentence, SortedSets(starts_of(sizes)[:-1], sizes, flat(table, "sets"))


def cells_of(table: pa.Table, placed: PlacedDocuments, limit: tuple[int, int]) -> Cells | None:
    """Return how the rows of documents are compared; None if equal classes are equal sentences."""
    if "classes" not in table.column_names:
        return None
    set_of_sentence, sets = compared_sets(table, placed)
    sentence = placed.rows.sentence
    return Cells(placed.collection.digest[sentence], sets, limit, set_of_sentence[sentence])


class Excerpts:
    """Cuts excerpts of the documents of one home, in order: per bucket and document, around the wanted rows."""

    def __init__(
        self, table: pa.Table, placed: PlacedDocuments, flags: NDArray[np.uint8], window: int, schema: pa.Schema
    ) -> None:
        self._table, self._placed, self._flags, self._schema = table, placed, flags, schema
        is_hot = np.empty(len(flags), np.bool_)
        cover_windows(flags, window, HOT_WINDOW, is_hot)
        rows = placed.rows
        self._low, self._high = np.empty(len(flags), np.int64), np.empty(len(flags), np.int64)
        kernels.bound_stretches(is_hot, placed.is_known, rows.document, rows.document_first, window - 1, self._low, self._high)
        collection = placed.collection
        self._words_before = starts_of(collection.n_words)
        self._chars_before = starts_of(collection.end_char.astype(np.int64) - collection.start_char)
        n_sentences = np.maximum(1, lengths(table, "digest"))
        n_set_bytes = 8 * lengths(table, "sets") if "sets" in table.column_names else 0
        self._bytes_a_sentence = BYTES_A_SENTENCE + n_set_bytes / n_sentences
        self._sets = compared_sets(table, placed) if "sets" in table.column_names else None
        self._of_sentence: dict[str, NDArray[Any]] = {
            name: flat(table, name) for name in (*OF_SENTENCE, *(["classes"] if self._sets else []))
        }

    def sentences_around(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which sentences are in excerpts around these rows, as far as they are rows."""
        n_rows = len(self._flags)
        changes = np.bincount(self._low[rows], minlength=n_rows + 1) - np.bincount(self._high[rows], minlength=n_rows + 1)
        is_chosen = np.zeros(len(self._placed.collection.document), np.bool_)
        is_chosen[self._placed.rows.sentence[np.cumsum(changes[:n_rows]) > 0]] = True
        return is_chosen

    def add(self, columns: Mapping[str, NDArray[np.uint16]]) -> None:
        """Add columns of sentences."""
        self._of_sentence |= columns

    def cut(self, buckets: NDArray[np.int64], rows: NDArray[np.int64]) -> Iterator[tuple[pa.Table, NDArray[np.int64]]]:
        """Yield excerpts and their buckets, a few at a time; each row is wanted in the bucket at the same index."""
        n_rows = max(1, len(self._flags))
        wanted = np.sort(buckets * n_rows + rows)
        wanted = wanted[np.diff(wanted, prepend=-1) != 0]
        buckets, rows = np.divmod(wanted, n_rows)
        documents = self._placed.rows.document[rows]
        is_new = np.ones(len(rows), np.bool_)
        is_new[1:] = (buckets[1:] != buckets[:-1]) | (documents[1:] != documents[:-1])
        excerpt = np.cumsum(is_new) - 1
        buckets, documents = buckets[is_new], documents[is_new]
        first = np.empty(len(documents) + 1, np.int64)
        low, high = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
        kernels.join_stretches(excerpt, rows, self._low, self._high, first, low, high)
        stretches = Stretches(first, low, high)
        counts = Counts(*(np.empty(len(documents), np.int64) for _ in Counts._fields))
        self._list((0, len(documents)), documents, stretches, counts, Listed.of(0, 0, 0))
        # Not all at once: if much text is alike, there are very many.
        for begin, end in portions(counts.n_sentences * self._bytes_a_sentence[documents], _MOST_SENT_BYTES):
            some = Counts(*(count[begin:end] for count in counts))
            listed = Listed.of(*(int(count.sum()) for count in some))
            self._list((begin, end), documents, stretches, Counts(*(count[:0] for count in counts)), listed)
            yield self._excerpts(documents[begin:end], some, listed), buckets[begin:end]

    def _list(
        self, task: tuple[int, int], documents: NDArray[np.int32], stretches: Stretches, counts: Counts, listed: Listed
    ) -> None:
        """Count the sentences, rows and gaps of excerpts if there is room for counts, or list them."""
        rows = self._placed.rows
        bounds = Bounds(rows.sentence, rows.document_first, self._placed.collection.document_first)
        kernels.list_excerpts(*task, documents, stretches, bounds, len(counts.n_sentences) > 0, counts, listed)

    def _excerpts(self, documents: NDArray[np.int32], counts: Counts, listed: Listed) -> pa.Table:
        """Return excerpts as a table."""
        n_sentences, n_rows, n_gaps = counts
        sources, rows = listed.sources, listed.rows
        gap = sources < 0
        gap_end = listed.gap_first + listed.gap_size
        instead = {
            "n_words": self._words_before[gap_end] - self._words_before[listed.gap_first],
            "end_char": self._chars_before[gap_end] - self._chars_before[listed.gap_first],
        }
        of_document = [field.name for field in self._table.schema if not pa.types.is_list(field.type)]
        columns = dict(zip(of_document, self._table.select(of_document).take(pa.array(documents)).columns, strict=True))
        for name, whole in self._of_sentence.items():
            values = whole[sources]
            values[gap] = instead.get(name, 0)
            columns[name] = as_lists(values, n_sentences, self._schema.field(name).type.value_type)
        excerpt = np.repeat(np.arange(len(documents)), n_sentences)
        if self._sets is not None:
            set_of_sentence, sets = self._sets
            chosen = np.where(gap, len(sets.size) - 1, set_of_sentence[sources])
            at = np.flatnonzero(chosen < len(sets.size) - 1)
            sizes = sets.size[chosen[at]].astype(np.int64)
            of_excerpt = np.bincount(excerpt[at], minlength=len(documents))
            of_sets = np.bincount(excerpt[at], sizes, len(documents)).astype(np.int64)
            columns["compared"] = as_lists(at - starts_of(n_sentences)[excerpt[at]], of_excerpt, pa.int32())
            columns["set_sizes"] = as_lists(sizes, of_excerpt, pa.int32())
            columns["sets"] = as_lists(take_ranges(sets.values, sets.start[chosen[at]], sizes), of_sets, pa.uint64())
        columns["flags"] = as_lists(np.where(rows < 0, 0, self._flags[rows]), n_rows, pa.uint8())
        columns["gaps"] = as_lists(listed.gap_at, n_gaps, pa.int32())
        columns["gap_sizes"] = as_lists(listed.gap_size, n_gaps, pa.int32())
        return table_of([columns[name] for name in self._schema.names], self._schema)


def numbers_of_slots(table: pa.Table) -> NDArray[np.int64]:
    """Return the number of each sentence of an excerpt in its document; each document has one more at its end."""
    n_slots = lengths(table, "digest") + 1
    first = starts_of(n_slots)
    more = np.zeros(int(first[-1]) + 1, np.int64)
    at = np.repeat(first[:-1], lengths(table, "gaps")) + flat(table, "gaps") + 1
    more[at] = flat(table, "gap_sizes").astype(np.int64) - 1
    before = np.cumsum(more[:-1])
    document = np.repeat(np.arange(table.num_rows), n_slots)
    numbers: NDArray[np.int64] = np.arange(len(document)) - first[document] + before - before[first[document]]
    return numbers
