"""The ends of passages over many partitions: the homes of both documents say what is next to them.

First they answer with a hash of a few words per end, which decides for nearly all. Where both sides give the same, they send
the text next to it, and more of it as long as it is the same on both sides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ibidem.columns.distinct import distinct, places_of
from ibidem.columns.hashes import seed_of
from ibidem.columns.parted_tables import in_order, table_of
from ibidem.columns.ragged import as_lists, flat, lengths, ranges, starts_of, take_ranges
from ibidem.columns.texts import text_buffers, word_bytes
from ibidem.config import Config, passage_limits
from ibidem.execution.flow import ASKER, Flow, Inputs, PartedTable, Sent, lookup
from ibidem.execution.layout import Layout
from ibidem.model import DIRECTIONS, KINDS
from ibidem.passages.exchange.pairs import FOUND, TO_EXTEND, in_reading_order
from ibidem.passages.extension import (
    LEAST_EXTENSION_WORDS,
    ROOM,
    PlacedPassages,
    Stretches,
    extend_ends,
    of_their_pairs,
    with_ends,
)
from ibidem.passages.kernels import extension as kernels
from ibidem.passages.kernels.extension import AFTER, BEFORE, N_STRETCH_ENDS
from ibidem.sentences.code_points import load_code_points

Numbers = NDArray[np.int64]
_PLACES = ("a_start", "a_end", "b_start", "b_end")
_DOCUMENTS = ("a_document", "b_document")
_SENTENCES = ("a_sentence", "b_sentence")
_FIRST_BYTES, _TIMES_MORE = 512, 16  # each round reads all texts again, for few ends
_IS_CONTINUED = 0x80

# An end: a place in a document, in characters, and whether what is before it is wanted.
_END: list[tuple[str, Any]] = [("document", pa.int64()), ("place", pa.int64()), ("is_before", pa.bool_())]
# Questions about ends; `number` counts the different ones of an asker, in order.
_NUMBER = ("number", pa.int32())
_ASKED = pa.schema([*_END, ASKER, _NUMBER])
_WORDS = pa.schema([_NUMBER, ("words", pa.uint16())])
# The text next to an end, whether the document goes on beyond it, and where the sentences in it begin, if it is before the end.
_TEXTS = pa.schema([*_END, ("text", pa.large_binary()), ("is_cut", pa.bool_()), ("starts", pa.list_(pa.int64()))])
# Passages of pairs of documents in which ends may move (flags AFTER and BEFORE); `row` is their row among all, in order.
_OPEN = pa.schema(
    [
        ("row", pa.int64()),
        *(TO_EXTEND.field(name) for name in (*_DOCUMENTS, *_PLACES, *_SENTENCES)),
        *(TO_EXTEND.field(name) for name in ("n_sentences", "n_words", "similarity", "is_equal", "kind")),
        ("may_move", pa.uint8()),
    ]
)
# What becomes of rows of passages: whether they stay, or were joined to others; and if they stay, their new values.
_MOVED = pa.schema(
    [
        ("row", pa.int64()),
        ("stays", pa.bool_()),
        *(TO_EXTEND.field(name) for name in (*_PLACES, *_SENTENCES, "n_sentences", "similarity", "kind")),
    ]
)


def extend_in_partitions(
    flow: Flow, passages: PartedTable, names: PartedTable, documents: PartedTable, texts: PartedTable, config: Config,
    layout: Layout,
) -> PartedTable:  # fmt: skip
    """Return passages (`pairs.TO_EXTEND`), which are consumed, with their ends moved outwards: in reading order, as FOUND.

    `names` are the ids of their documents (`pairs.NAMES`).
    """
    seed, min_sentences = config.sentences.hash_seed, passage_limits(config).min_sentences

    def ask_for_words(home: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        keys = _Keys.of(tables["passages"])
        yield _asked(keys, distinct(keys.of_ends), home, layout)

    def say_words(asked: pa.Table, known: Mapping[str, pa.Table]) -> tuple[pa.Table, Numbers]:
        tables, order = zip(*((_words(part, seed), part.rows) for part in _found_in(asked, known["texts"])), strict=True)
        return pa.concat_tables(tables), np.concatenate(order)

    asked = flow.reduce("ends-asked", {"passages": passages}, ask_for_words, {"asked": _ASKED})["asked"]
    words = lookup(flow, "ends-words", asked, {"texts": texts}, say_words, _WORDS)

    def find_open(home: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        found = _may_move(tables["passages"], tables["words"])
        keys = _Keys.of(found)
        yield Sent("open", found, home)
        yield _asked(keys, keys.flagged(found["may_move"].to_numpy()), home, layout)

    def extend(home: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        ends = _Ends(tables["open"], pa.concat_tables([tables["known"], tables["texts"]]), seed)
        yield Sent("moved", ends.moved(min_sentences), home)
        yield Sent("open", ends.still_open(), home)
        yield Sent("known", ends.known_texts(), home)
        yield _asked(ends.keys, ends.missing(), home, layout)

    rounds = flow.reduce("ends-open", {"passages": passages, "words": words}, find_open, {"open": _OPEN, "asked": _ASKED})
    del asked, words
    moved: list[PartedTable] = []
    for number in count():
        if flow.count(rounds["asked"]) == 0:
            break
        n_bytes = _FIRST_BYTES * _TIMES_MORE**number

        def say_text(asked: pa.Table, known: Mapping[str, pa.Table], n_bytes: int = n_bytes) -> tuple[pa.Table, Numbers]:
            starts = _SentenceStarts.of(known["documents"])
            parts = list(_found_in(asked, known["texts"]))
            return pa.concat_tables([_texts(part, starts, n_bytes) for part in parts]), np.concatenate([p.rows for p in parts])

        known = {"texts": texts, "documents": documents}
        said = lookup(flow, f"ends-texts-{number}", rounds.pop("asked"), known, say_text, _TEXTS)
        inputs: Inputs = {"open": rounds.pop("open"), "known": rounds.pop("known", PartedTable("known", _TEXTS)), "texts": said}
        outputs = {"moved": _MOVED, "open": _OPEN, "known": _TEXTS, "asked": _ASKED}
        rounds = flow.reduce(f"ends-extended-{number}", inputs, extend, outputs)
        moved.append(rounds.pop("moved"))

    def put_back(home: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        found = _with_moved(in_reading_order([tables["passages"]]), tables.get("moved", _MOVED.empty_table()))
        yield Sent("passages", _named(found, tables["names"]), home)

    given: Inputs = {"passages": passages, "names": names, **({"moved": moved} if moved else {})}
    return flow.reduce("ends-moved", given, put_back, {"passages": FOUND})["passages"]


class _Keys(NamedTuple):
    """The ends of passages as numbers: of the document among those that occur, the place in it, and whether it is before.

    `of_ends` has four rows: before and after in a, before and after in b.
    """

    documents: Numbers
    of_ends: Numbers

    @classmethod
    def of(cls, passages: pa.Table) -> _Keys:
        """Return the keys of passages."""
        documents = distinct(np.stack([passages[f"{side}_document"].to_numpy() for side in "ab"]))
        keys = []
        for side in "ab":
            of_side = places_of(passages[f"{side}_document"].to_numpy(), documents) << 33
            for end in ("start", "end"):
                keys.append(of_side | passages[f"{side}_{end}"].to_numpy().astype(np.int64) << 1 | (end == "start"))
        return cls(documents, np.stack(keys))

    def of_rows(self, table: pa.Table) -> Numbers:
        """Return the numbers of ends that are rows of a table."""
        document, place, is_before = (table[name].to_numpy() for name, _ in _END)
        numbers: Numbers = places_of(document, self.documents) << 33 | place << 1 | is_before
        return numbers

    def flagged(self, flags: NDArray[np.uint8]) -> Numbers:
        """Return the numbers, each once, of the ends on both sides that passages have flags of."""
        before, after = (self.of_ends[k::2][:, flags & flag != 0] for k, flag in ((0, BEFORE), (1, AFTER)))
        return distinct(np.concatenate([before, after], axis=None))


def _asked(keys: _Keys, ends: Numbers, home: int, layout: Layout) -> Sent:
    """Ask the homes of the documents for what is next to these ends."""
    documents, places, is_before = keys.documents[ends >> 33], (ends >> 1) & ((1 << 32) - 1), (ends & 1).astype(np.bool_)
    columns = [documents, places, is_before, np.full(len(ends), home), np.arange(len(ends))]
    return Sent("asked", table_of(columns, _ASKED), layout.home(documents))


class _FoundEnds(NamedTuple):
    """Ends that are in one chunk of texts: their rows in the table, the bytes, and where texts begin, end, and ends are."""

    asked: pa.Table
    rows: Numbers
    data: NDArray[np.uint8]
    begins: Numbers
    ends: Numbers
    at: Numbers


def _found_in(asked: pa.Table, texts: pa.Table) -> Iterator[_FoundEnds]:
    """Yield the ends that were asked for, by chunk of the texts in which they are."""
    documents, place = asked["document"].to_numpy(), asked["place"].to_numpy()
    known = texts["document"].to_numpy()
    order = np.argsort(known, kind="stable")
    row_of = order[np.searchsorted(known[order], documents)]
    first = 0
    for chunk in texts["text"].chunks:
        here = np.flatnonzero((row_of >= first) & (row_of < first + len(chunk)))
        here = here[np.lexsort((place[here], row_of[here]))]
        data, offsets = text_buffers(chunk)
        begins, ends = (offsets[row_of[here] - first + k] for k in range(2))
        at = np.empty(len(here), np.int64)
        data = word_bytes(data)
        kernels.find_places(data, begins, ends, place[here], at)
        first += len(chunk)
        yield _FoundEnds(asked.take(pa.array(here)), here, data, begins, ends, at)


def _words(found: _FoundEnds, hash_seed: int) -> pa.Table:
    """Return what is known of the words next to ends."""
    words = np.empty(len(found.at), np.uint16)
    is_before = found.asked["is_before"].to_numpy()
    kernels.hash_places(
        found.data, found.begins, found.ends, found.at, is_before, LEAST_EXTENSION_WORDS, load_code_points(),
        seed_of(hash_seed), np.empty(ROOM, np.uint64), words,
    )  # fmt: skip
    return table_of([found.asked["number"], words], _WORDS)


def _texts(found: _FoundEnds, starts: _SentenceStarts, n_bytes: int) -> pa.Table:
    """Return the text next to ends, at most so many bytes of whole characters, and where the sentences in it begin."""
    is_before = found.asked["is_before"].to_numpy()
    low = np.where(is_before, np.maximum(found.begins, found.at - n_bytes), found.at)
    high = np.where(is_before, found.at, np.minimum(found.ends, found.at + n_bytes))
    is_cut = np.where(is_before, low > found.begins, high < found.ends)
    for _ in range(3):
        low += is_before & (low < high) & _is_continued(found.data, low)
        high -= ~is_before & (low < high) & (high < found.ends) & _is_continued(found.data, high)
    text = take_ranges(found.data, low, high - low)
    columns = text, starts_of(high - low)
    return table_of(
        [
            *(found.asked[name] for name, _ in _END),
            pa.LargeBinaryArray.from_buffers(
                pa.large_binary(), len(low), [None, pa.py_buffer(columns[1]), pa.py_buffer(columns[0])]
            ),
            is_cut,
            starts.before(found.asked, np.where(is_before, high - low, 0)),
        ],
        _TEXTS,
    )


def _is_continued(data: NDArray[np.uint8], at: Numbers) -> NDArray[np.bool_]:
    """Return which bytes do not begin a character."""
    is_continued: NDArray[np.bool_] = data[np.minimum(at, len(data) - 1)] & 0xC0 == _IS_CONTINUED
    return is_continued


class _SentenceStarts(NamedTuple):
    """Where the sentences of documents begin: `starts` has the document's place in `documents`, then the character."""

    documents: Numbers
    starts: Numbers

    @classmethod
    def of(cls, documents: pa.Table) -> _SentenceStarts:
        """Return the sentences of documents."""
        table = in_order(documents.select(["document", "start_char"]))
        counts = lengths(table, "start_char")
        starts = np.repeat(np.arange(len(counts)) << 33, counts)
        starts |= flat(table, "start_char")
        return cls(table["document"].to_numpy(), starts)

    def before(self, ends: pa.Table, n_chars: Numbers) -> pa.Array:
        """Return for each end the places, up to it, where the sentences begin that are in so many characters before it."""
        place = ends["place"].to_numpy()
        row = places_of(ends["document"].to_numpy(), self.documents) << 33
        first = np.searchsorted(self.starts, row | np.maximum(place - n_chars, 0))
        n = np.where(n_chars > 0, np.searchsorted(self.starts, row | place, side="right") - first, 0)
        return as_lists(self.starts[ranges(first, n)] & ((1 << 33) - 1), n, pa.int64())


def _may_move(passages: pa.Table, words: pa.Table) -> pa.Table:
    """Return the passages of the pairs of documents in which ends may move, as _OPEN, given the words next to all ends."""
    passages = in_reading_order([passages])
    keys = _Keys.of(passages)
    ends, number = np.unique(keys.of_ends, return_inverse=True)
    known = np.zeros(len(ends), np.uint16)
    known[words["number"].to_numpy()] = words["words"].to_numpy()
    of_ends = known[number]
    may_move = np.zeros(passages.num_rows, np.uint8)
    kernels.match_words(of_ends[1::2], of_ends[::2], may_move)
    rows = of_their_pairs(may_move != 0, np.stack([passages[name].to_numpy() for name in _DOCUMENTS]))
    some = passages.select([name for name in _OPEN.names if name in passages.column_names]).take(pa.array(rows))
    more = {"row": rows, "may_move": may_move[rows]}
    return table_of([more[name] if name in more else some[name] for name in _OPEN.names], _OPEN)


def _with_moved(passages: pa.Table, moved: pa.Table) -> pa.Table:
    """Return passages, in order, with what became of some of them."""
    rows, is_kept = moved["row"].to_numpy(), moved["stays"].to_numpy()
    changed = rows[is_kept]
    for name in _MOVED.names[2:]:
        values = passages[name].to_numpy().copy()
        values[changed] = moved[name].to_numpy()[is_kept]
        passages = passages.set_column(passages.schema.get_field_index(name), TO_EXTEND.field(name), pa.array(values))
    return passages if is_kept.all() else passages.take(pa.array(np.delete(np.arange(passages.num_rows), rows[~is_kept])))


def _named(passages: pa.Table, names: pa.Table) -> pa.Table:
    """Return passages (TO_EXTEND), in order, as FOUND."""
    known, first = np.unique(names["document"].to_numpy(), return_index=True)
    ids = names["id"].take(pa.array(first))
    columns: dict[str, Any] = {"number": np.arange(passages.num_rows)}
    for side in "ab":
        columns[f"{side}_id"] = ids.take(pa.array(places_of(passages[f"{side}_document"].to_numpy(), known)))
    for name, values in (("kind", KINDS), ("direction", DIRECTIONS)):
        columns[name] = pa.array(values).take(passages[name])
    return table_of([columns[name] if name in columns else passages[name] for name in FOUND.names], FOUND)


class _Ends:
    """The ends that may move of passages of one home (_OPEN), with the texts that the homes of their documents sent."""

    def __init__(self, passages: pa.Table, texts: pa.Table, hash_seed: int) -> None:
        self._table = table = in_order(passages, "row")
        self.keys = _Keys.of(table)
        names = np.stack([table[name].to_numpy() for name in _DOCUMENTS])
        self._passages = PlacedPassages(
            names, np.stack([table[name].to_numpy() for name in _PLACES]).astype(np.int64),
            *(table[name].to_numpy() for name in ("n_sentences", "n_words", "similarity", "is_equal", "kind", "may_move")),
        )  # fmt: skip
        self._texts = _LongestTexts(texts, self.keys)
        self._ends = extend_ends(self._passages, self._texts.stretches(self.keys.of_ends), hash_seed)
        self._open = of_their_pairs(self._ends.undecided != 0, names)

    def missing(self) -> Numbers:
        """Return the ends next to which more text is needed than there is."""
        wanted = self.keys.flagged(self._ends.undecided)
        return wanted[self._texts.is_cut(wanted)]

    def still_open(self) -> pa.Table:
        """Return the passages of the pairs of documents that need more text."""
        return self._table.take(pa.array(self._open))

    def known_texts(self) -> pa.Table:
        """Return the texts next to the ends of these passages."""
        return self._texts.of(distinct(self.keys.of_ends[:, self._open]))

    def moved(self, min_sentences: int) -> pa.Table:
        """Return what becomes of the passages of all other pairs of documents, if anything."""
        heads, found = with_ends(self._passages, self._ends, min_sentences)
        # Those of a pair take the first of its rows, in their new order.
        rows = np.sort(heads)
        changed = (heads != rows) | (found.places != self._passages.places[:, heads]).any(axis=0)
        is_open = np.zeros(len(self._passages), np.bool_)
        is_open[self._open] = True
        changed &= ~is_open[rows]
        joined = np.ones(len(self._passages), np.bool_)
        joined[heads] = False
        rows, heads, found = rows[changed], heads[changed], found.chosen(changed.nonzero()[0])
        after = self._texts.sentences_after(self.keys.of_ends[::2, heads], found.places[::2])
        sentences = [self._table[f"{side}_sentence"].to_numpy()[heads] - after[k] for k, side in enumerate("ab")]
        number = self._table["row"].to_numpy()
        columns = [number[rows], np.ones(len(rows), np.bool_), *found.places, *sentences]
        columns += [found.n_sentences, found.similarity, found.kinds]
        left_out = number[joined & ~is_open]
        nothing = [np.zeros(len(left_out), np.int8)] * (len(_MOVED) - 1)
        return pa.concat_tables([table_of(columns, _MOVED), table_of([left_out, *nothing], _MOVED)])


class _LongestTexts:
    """The longest text that was sent for each end."""

    def __init__(self, texts: pa.Table, keys: _Keys) -> None:
        self._table = table = texts.combine_chunks()
        ends = keys.of_rows(table)
        size = pc.binary_length(table["text"]).to_numpy()
        longest_first = np.lexsort((-size, ends))
        self._ends, at = np.unique(ends[longest_first], return_index=True)
        self._row = longest_first[at]
        self._is_cut = table["is_cut"].to_numpy()
        column = table["text"].combine_chunks() if table.num_rows else pa.array([], pa.large_binary())
        self._data, offsets = text_buffers(column) if table.num_rows else (np.empty(0, np.uint8), np.zeros(1, np.int64))
        self._offsets = offsets
        self._starts = flat(table, "starts") if table.num_rows else np.empty(0, np.int64)
        self._starts_first = starts_of(lengths(table, "starts") if table.num_rows else [])

    def _rows(self, ends: Numbers) -> tuple[Numbers, NDArray[np.bool_]]:
        """Return which text each end has, and which have one."""
        if len(self._ends) == 0:
            return np.zeros(ends.shape, np.int64), np.zeros(ends.shape, np.bool_)
        at = np.minimum(np.searchsorted(self._ends, ends), len(self._ends) - 1)
        return self._row[at], self._ends[at] == ends

    def is_cut(self, ends: Numbers) -> NDArray[np.bool_]:
        """Return which ends have more text next to them than was sent."""
        rows, is_there = self._rows(ends)
        is_cut = np.ones(ends.shape, np.bool_)
        is_cut[is_there] = self._is_cut[rows[is_there]]
        return is_cut

    def stretches(self, ends: Numbers) -> Stretches:
        """Return what is around passages, given the numbers of their ends in four rows."""
        rows, is_there = self._rows(ends)
        bounds = np.zeros((ends.shape[1], N_STRETCH_ENDS), np.int64)
        for k in range(4):
            for j in range(2):
                bounds[is_there[k], 2 * k + j] = self._offsets[rows[k, is_there[k]] + j]
        return Stretches(self._data, self._data, bounds, np.ascontiguousarray(self.is_cut(ends).T))

    def sentences_after(self, ends: Numbers, places: Numbers) -> Numbers:
        """Return how many sentences begin after places (of any shape), up to the ends that were there before."""
        rows, is_there = self._rows(ends)
        counts = np.zeros(ends.shape, np.int64)
        moved = is_there & (places < ((ends >> 1) & ((1 << 32) - 1)))
        at, n_texts = rows[moved], len(self._starts_first) - 1
        starts = np.repeat(np.arange(n_texts), np.diff(self._starts_first)) << 33 | self._starts
        counts[moved] = self._starts_first[at + 1] - np.searchsorted(starts, at << 33 | places[moved], side="right")
        return counts

    def of(self, ends: Numbers) -> pa.Table:
        """Return the texts of ends, if they have any."""
        rows, is_there = self._rows(ends)
        return self._table.take(pa.array(rows[is_there]))
