"""The ends of passages over many partitions: the homes of both documents send the text next to them.

Only that of ends with the same few words next to them in both documents (see `end_words.py`), and more of it as long as it is
the same on both sides.
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
from ibidem.columns.parted_tables import in_order, table_of
from ibidem.columns.ragged import as_lists, flat, lengths, ranges, starts_of, take_ranges
from ibidem.columns.texts import text_buffers
from ibidem.config import Config, passage_limits
from ibidem.execution.flow import Flow, Inputs, PartedTable, Sent, lookup
from ibidem.passages.exchange.end_words import ASKED, END, Ends, FoundPlaces, find_places
from ibidem.passages.exchange.pairs import NAMELESS, OPEN, in_reading_order, put_in_order
from ibidem.passages.extension import PlacedPassages, Stretches, extend_ends, of_their_pairs, with_ends
from ibidem.passages.kernels.extension import N_STRETCH_ENDS

Numbers = NDArray[np.int64]
_PLACES = ("a_start", "a_end", "b_start", "b_end")
_DOCUMENTS = ("a_document", "b_document")
_SENTENCES = ("a_sentence", "b_sentence")
_FIRST_BYTES, _TIMES_MORE = 256, 16  # each round reads all texts again, for few ends
_IS_CONTINUED = 0x80

# The text next to an end, whether the document goes on beyond it, and where the sentences in it begin, if it is before the end.
_TEXTS = pa.schema([*END, ("text", pa.large_binary()), ("is_cut", pa.bool_()), ("starts", pa.list_(pa.int64()))])


def extend_in_partitions(
    flow: Flow, found: dict[str, PartedTable], documents: PartedTable, texts: PartedTable, config: Config,
) -> PartedTable:  # fmt: skip
    """Return passages with their ends moved outwards: in reading order, as FOUND.

    `found` is what `find_pairs` found, and is consumed: `passages` that stay as they are, `open` ones, what is `asked` about
    the ends of these, and `names`.
    """
    layout, seed, min_sentences = flow.layout, config.sentences.hash_seed, passage_limits(config).min_sentences

    def extend(home: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        ends = _OpenEnds(tables["open"], pa.concat_tables([tables["known"], tables["texts"]]), seed)
        yield Sent("passages", ends.moved(min_sentences), home)
        yield Sent("open", ends.still_open(), home)
        yield Sent("known", ends.known_texts(), home)
        yield ends.ends.asked(ends.missing(), home, layout)

    passages = [found.pop("passages")]
    rounds = {name: found.pop(name) for name in ("open", "asked")}
    for number in count():
        if flow.count(rounds["asked"]) == 0:
            break
        n_bytes = _FIRST_BYTES * _TIMES_MORE**number

        def say_text(asked: pa.Table, known: Mapping[str, pa.Table], n_bytes: int = n_bytes) -> tuple[pa.Table, Numbers]:
            starts, tables, rows = _SentenceStarts.of(known["documents"]), [], []
            for places in find_places(asked["document"].to_numpy(), asked["place"].to_numpy(), known["texts"]):
                tables.append(_texts(asked.take(pa.array(places.rows)), places, starts, n_bytes))
                rows.append(places.rows)
            return pa.concat_tables(tables), np.concatenate(rows)

        known = {"texts": texts, "documents": documents}
        said = lookup(flow, f"ends-texts-{number}", rounds.pop("asked"), known, say_text, _TEXTS)
        inputs: Inputs = {"open": rounds.pop("open"), "known": rounds.pop("known", PartedTable("known", _TEXTS)), "texts": said}
        outputs = {"passages": NAMELESS, "open": OPEN, "known": _TEXTS, "asked": ASKED}
        rounds = flow.reduce(f"ends-extended-{number}", inputs, extend, outputs)
        passages.append(rounds.pop("passages"))
    return put_in_order(flow, passages, found.pop("names"))


def _texts(asked: pa.Table, found: FoundPlaces, starts: _SentenceStarts, n_bytes: int) -> pa.Table:
    """Return the text next to ends, at most so many bytes of whole characters, and where the sentences in it begin."""
    is_before = asked["is_before"].to_numpy()
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
            *(asked[name] for name, _ in END),
            pa.LargeBinaryArray.from_buffers(
                pa.large_binary(), len(low), [None, pa.py_buffer(columns[1]), pa.py_buffer(columns[0])]
            ),
            is_cut,
            starts.before(asked, np.where(is_before, high - low, 0)),
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


class _OpenEnds:
    """The ends that may move of passages of one home (OPEN), with the texts that the homes of their documents sent."""

    def __init__(self, passages: pa.Table, texts: pa.Table, hash_seed: int) -> None:
        self._table = table = in_reading_order([passages])
        self.ends = Ends.of(table)
        names = np.stack([table[name].to_numpy() for name in _DOCUMENTS])
        self._passages = PlacedPassages(
            names, np.stack([table[name].to_numpy() for name in _PLACES]).astype(np.int64),
            *(table[name].to_numpy() for name in ("n_sentences", "n_words", "similarity", "is_equal", "kind", "may_move")),
        )  # fmt: skip
        self._texts = _LongestTexts(texts, self.ends)
        self._extended = extend_ends(self._passages, self._texts.stretches(self.ends.of_passages), hash_seed)
        self._open = of_their_pairs(self._extended.undecided != 0, names)

    def missing(self) -> Numbers:
        """Return the ends next to which more text is needed than there is."""
        wanted = self.ends.flagged(self._extended.undecided)
        return wanted[self._texts.is_cut(wanted)]

    def still_open(self) -> pa.Table:
        """Return the passages of the pairs of documents that need more text."""
        return self._table.take(pa.array(self._open))

    def known_texts(self) -> pa.Table:
        """Return the texts next to the ends of these passages."""
        return self._texts.of(distinct(self.ends.of_passages[:, self._open]))

    def moved(self, min_sentences: int) -> pa.Table:
        """Return the passages of all other pairs of documents with their new ends; some were joined to others."""
        is_open = np.zeros(len(self._passages), np.bool_)
        is_open[self._open] = True
        heads, found = with_ends(self._passages, self._extended, min_sentences)
        decided = np.flatnonzero(~is_open[heads])
        heads, found = heads[decided], found.chosen(decided)
        after = self._texts.sentences_after(self.ends.of_passages[::2, heads], found.places[::2])
        columns: dict[str, Any] = {"number": np.arange(len(heads)), "n_sentences": found.n_sentences, "kind": found.kinds}
        columns |= {"similarity": found.similarity, **dict(zip(_PLACES, found.places, strict=True))}
        columns |= {name: self._table[name].to_numpy()[heads] - after[k] for k, name in enumerate(_SENTENCES)}
        unchanged = self._table.select([name for name in NAMELESS.names if name not in columns]).take(pa.array(heads))
        return table_of([columns[name] if name in columns else unchanged[name] for name in NAMELESS.names], NAMELESS)


class _LongestTexts:
    """The longest text that was sent for each end."""

    def __init__(self, texts: pa.Table, all_ends: Ends) -> None:
        self._table = table = texts.combine_chunks()
        ends = all_ends.of_rows(table)
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
