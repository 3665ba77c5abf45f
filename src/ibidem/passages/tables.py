"""The tables of passages and repeats, built from rows and sentence numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.collection import Collection
from ibidem.columns.ragged import ranges, starts_of
from ibidem.columns.rows import Rows
from ibidem.execution.tasks import RunTasks, in_turn
from ibidem.model import DIRECTIONS, KINDS, PASSAGES, REPEATS
from ibidem.passages import PassageRows, Repeats
from ibidem.passages.extension import EndWords, PlacedPassages, extend_in, of_their_pairs, with_ends
from ibidem.passages.kernels import coverage as kernels
from ibidem.passages.kernels.chains import A_END, A_FIRST, B_END, B_FIRST, EQUAL, FLAGS, N_SENTENCES

Numbers = NDArray[np.int64]
_KIND_WORDS, _DIRECTION_WORDS = pa.array(KINDS), pa.array(DIRECTIONS)


class LocatedPassages(NamedTuple):
    """Passages by the columns of the schema PASSAGES.

    `names` are numbers of documents, a and b; `places` has four rows; `sentences` are the first ones, a and b, each counted
    in its document. `kinds` and `directions` are numbers in KINDS and DIRECTIONS.
    """

    names: NDArray[np.int32]
    places: Numbers
    n_sentences: NDArray[np.int32]
    similarity: NDArray[np.float64]
    kinds: NDArray[np.int8]
    directions: NDArray[np.int8]
    sentences: NDArray[Any]

    @classmethod
    def joined(cls, parts: Sequence[LocatedPassages]) -> LocatedPassages:
        """Return the passages of all parts in order."""
        if len(parts) == 1:
            return parts[0]
        columns: Any = zip(*parts, strict=True)
        return cls(*(np.concatenate(column, axis=-1) for column in columns))

    def by_pair(self) -> LocatedPassages:
        """Return them by documents, those of two documents as they are."""
        return self._in_order(np.argsort(self.names[0].astype(np.int64) << 32 | self.names[1], kind="stable"))

    def in_reading_order(self) -> LocatedPassages:
        """Return them by document a, place in a, document b, place in b."""
        return self._in_order(np.lexsort((self.places[2], self.names[1], self.places[0], self.names[0])))

    def _in_order(self, order: Numbers) -> LocatedPassages:
        columns: Any = self
        return LocatedPassages(*(np.take(column, order, axis=-1) for column in columns))

    def table(self, ids: pa.Array) -> pa.Table:
        """Return them in the schema PASSAGES, given the ids of the documents."""
        a, b = (pa.DictionaryArray.from_arrays(pa.array(side), ids) for side in self.names)
        a_start, a_end, b_start, b_end = (pa.array(column) for column in self.places)
        columns = [a, a_start, a_end, b, b_start, b_end, pa.array(self.n_sentences), pa.array(self.similarity)]
        for codes, words in ((self.kinds, _KIND_WORDS), (self.directions, _DIRECTION_WORDS)):
            columns.append(pa.DictionaryArray.from_arrays(pa.array(codes), words))
        # Arrow converts numbers of other types one by one.
        columns += [pa.array(column.astype(np.int32, copy=False)) for column in self.sentences]
        return pa.Table.from_arrays(columns, schema=PASSAGES)


def passages_table(
    passages: list[PassageRows], rows: Rows, collection: Collection, min_sentences: int, run_tasks: RunTasks = in_turn,
    extend: bool = False,
) -> pa.Table:  # fmt: skip
    """Return the passages in the schema PASSAGES. The list is consumed, so that passages are not in memory twice.

    With `extend`, their ends are moved outwards while the texts say the same: the texts must be there.
    """
    ids = collection.ids
    tables = [some.table(ids) for some in located_passages(passages, rows, collection, min_sentences, run_tasks, extend)]
    return pa.concat_tables(tables) if tables else PASSAGES.empty_table()


def located_passages(
    passages: list[PassageRows], rows: Rows, collection: Collection, min_sentences: int, run_tasks: RunTasks = in_turn,
    extend: bool = False,
) -> Iterator[LocatedPassages]:  # fmt: skip
    """Yield the passages of each part of the list that has any, located; see `passages_table`."""
    # Computed once, before several threads need them.
    times, _ = collection.times, collection.text_bounds if extend else None
    words = EndWords.of(passages, rows, collection, run_tasks) if extend else None

    def locate(some: PassageRows) -> LocatedPassages:
        return _located(some, rows, collection, times, min_sentences, words)

    taken = (passages.pop(0) for _ in range(len(passages)))
    return run_tasks(locate, filter(len, taken))


def _located(
    passages: PassageRows, rows: Rows, collection: Collection, times: Numbers, min_sentences: int, words: EndWords | None
) -> LocatedPassages:
    n = len(passages)
    names = np.empty((2, n), np.int32)
    places = np.empty((4, n), np.int64)
    kinds, directions, sentences = np.empty(n, np.int8), np.empty(n, np.int8), np.empty((2, n), np.int32)
    kernels.locate(
        passages.table, min_sentences, rows.document, rows.sentence, collection.start_char, collection.end_char,
        collection.document_first, times, names, places, kinds, directions, sentences,
    )  # fmt: skip
    if rows.position is not None:
        sentences = rows.position[passages.table[:, [A_FIRST, B_FIRST]].T]
    n_sentences, similarity = passages.table[:, N_SENTENCES], passages.similarity
    if words is not None:
        may_move = words.may_move(passages, rows)
        moved = of_their_pairs(may_move != 0, names)
        some = PassageRows(passages.table[moved], similarity[moved])
        is_equal = some.table[:, FLAGS] & EQUAL != 0
        found = PlacedPassages(
            names[:, moved], places[:, moved], n_sentences[moved], n_words_of(some, rows), some.similarity, is_equal,
            kinds[moved], may_move[moved],
        )  # fmt: skip
        which = rows.sentence[some.table[:, A_FIRST : B_END + 1].T - np.array([[0], [1], [0], [1]])].astype(np.int64)
        chosen, found = with_ends(found, extend_in(found, which, collection), min_sentences)
        stays = np.ones(n, np.bool_)
        stays[np.delete(moved, chosen)] = False
        heads, moved = moved[chosen], np.sort(moved[chosen])
        n_sentences, similarity, sentences = n_sentences.copy(), similarity.copy(), sentences.copy()
        sentences[:, moved] = sentences[:, heads] - _sentences_before(which[::2, chosen], found, collection)
        places[:, moved], n_sentences[moved] = found.places, found.n_sentences
        similarity[moved], kinds[moved] = found.similarity, found.kinds
        if not stays.all():
            names, places, sentences = names[:, stays], places[:, stays], sentences[:, stays]
            n_sentences, similarity, kinds, directions = n_sentences[stays], similarity[stays], kinds[stays], directions[stays]
    return LocatedPassages(names, places, n_sentences, similarity, kinds, directions, sentences)


def n_words_of(passages: PassageRows, rows: Rows) -> Numbers:
    """Return how many words passages have on both sides, with those of the sentences between their rows."""
    first, end = passages.table[:, [A_FIRST, B_FIRST]], passages.table[:, [A_END, B_END]] - 1
    n_words: Numbers = (rows.words_before[end] + rows.n_words[end] - rows.words_before[first]).sum(axis=1)
    return n_words


def _sentences_before(sentences: Numbers, passages: PlacedPassages, collection: Collection) -> Numbers:
    """Return how many sentences before the given ones passages begin, in a and in b."""
    before = np.zeros(sentences.shape, np.int64)
    least, starts = collection.document_first[passages.documents], passages.places[::2]
    moved = (collection.start_char[sentences] > starts).nonzero()
    while len(moved[0]):
        at = sentences[moved] - before[moved]
        is_later = (collection.start_char[at] > starts[moved]) & (at > least[moved])
        moved = moved[0][is_later], moved[1][is_later]
        before[moved] += 1
    return before


def codes_of(passages: pa.Table, side: str) -> NDArray[np.int32]:
    """Return the numbers of the documents on one side of passages."""
    return numbers_of_values(passages[f"{side}_id"]).astype(np.int32, copy=False)


def numbers_of_values(column: pa.ChunkedArray) -> NDArray[Any]:
    """Return the numbers by which a column has its values, the same ones in all its pieces."""
    return np.concatenate([np.empty(0, np.int8), *(chunk.indices.to_numpy() for chunk in column.chunks)])


def in_reading_order(tables: Sequence[pa.Table]) -> pa.Table:
    """Return tables of passages of one collection as one: by document a, place in a, document b, place in b."""
    tables = [table for table in tables if table.num_rows] or list(tables[:1])
    table = pa.concat_tables(tables)
    a, b = (codes_of(table, side) for side in "ab")
    # Two stable sorts by packed places: the tables are nearly sorted, so there is little to do.
    by_b = np.argsort(b.astype(np.int64) << 32 | table["b_start"].to_numpy(), kind="stable")
    order = by_b[np.argsort((a.astype(np.int64) << 32 | table["a_start"].to_numpy())[by_b], kind="stable")]
    codes = {"a_id": a, "b_id": b}
    columns = []
    for field in table.schema:
        if field.name in codes:
            # The ids are the dictionary of every chunk: `take` would merge them again.
            ids = tables[0][field.name].type
            dictionary = next((c.dictionary for t in tables for c in t[field.name].chunks), pa.array([], ids.value_type))
            columns.append(pa.DictionaryArray.from_arrays(pa.array(codes[field.name][order].astype(np.int32)), dictionary))
        else:
            columns.append(table[field.name].combine_chunks().take(pa.array(order)))
    return pa.Table.from_arrays(columns, schema=table.schema)


def repeats_table(repeats: Repeats, rows: Rows, collection: Collection) -> pa.Table:
    """Return the repeats in the schema REPEATS: those in most documents first, then the longest, then by text and place."""
    document = rows.document[repeats.start].astype(np.int64)
    start = collection.start_char[rows.sentence[repeats.start]].astype(np.int64)
    end = collection.end_char[rows.sentence[repeats.end - 1]].astype(np.int64)
    at = repeats.first[:-1]
    firsts = list(zip(document[at].tolist(), start[at].tolist(), end[at].tolist(), strict=True))
    texts = [collection.text(number)[begin:stop] for number, begin, stop in firsts]
    counts = count_documents(repeats.first, document)
    sizes = np.diff(repeats.first)
    order = sorted(range(len(texts)), key=lambda r: (-counts[r], -len(texts[r]), texts[r], firsts[r][:2], sizes[r]))
    sizes, places = sizes[order], ranges(at[order], sizes[order])
    lists = list_places(starts_of(sizes), collection.ids.take(pa.array(document[places])), start[places], end[places])
    columns = [pa.array([texts[r] for r in order], pa.large_string()), pa.array(counts[order]), lists]
    return pa.Table.from_arrays([c.cast(f.type) for c, f in zip(columns, REPEATS, strict=True)], schema=REPEATS)


def count_documents(first: Numbers, document: Numbers) -> Numbers:
    """Return in how many documents each repeat is; those of repeat r, `document[first[r]:first[r + 1]]`, rise."""
    is_new = np.ones(len(document), np.int64)
    is_new[1:] = document[1:] != document[:-1]
    is_new[first[:-1]] = 1
    counts: Numbers = np.add.reduceat(is_new, first[:-1]) if len(document) else np.empty(0, np.int64)
    return counts


def list_places(first: Numbers, ids: pa.Array, start: Numbers, end: Numbers) -> pa.Array:
    """Return the places of repeats as the lists of the schema REPEATS."""
    structs = pa.StructArray.from_arrays([ids, pa.array(start), pa.array(end)], names=["id", "start", "end"])
    return pa.LargeListArray.from_arrays(pa.array(first), structs).cast(REPEATS.field("places").type)
