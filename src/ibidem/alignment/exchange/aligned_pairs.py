"""Pairs of documents in their bucket: those worth aligning are chosen, their words are fetched, and the core aligns them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ibidem.alignment.candidates import LEAST_BONDS, Meetings, by_place, rectangles_of_bonds, rectangles_of_runs
from ibidem.alignment.exchange.marks import BOND, OCTET, QUOTATION
from ibidem.alignment.exchange.words import words_in
from ibidem.alignment.found_spans import FoundSpans, documents_of, pair_numbers
from ibidem.alignment.quotations import quotations_around
from ibidem.alignment.refinement import align_places, extend_spans
from ibidem.columns.distinct import distinct, find, firsts, packed, places_of
from ibidem.columns.hashes import GOLDEN
from ibidem.columns.parted_tables import distinct_pairs, in_order, portions, table_of
from ibidem.columns.ragged import lengths, starts_of
from ibidem.config import Config
from ibidem.execution.flow import ASKER, Flow, Inputs, PartedTable, Sent
from ibidem.execution.layout import Layout
from ibidem.passages.exchange.pairs import SPANS

Numbers = NDArray[np.int64]

# Passages found by sentences, by their words too.
WORD_SPANS = pa.schema([*SPANS, *((f"{side}_{end}_word", pa.int32()) for side in "ab" for end in ("start", "end"))])
WANTED = pa.schema([("document", pa.int64()), ("bucket", pa.int64())])
BUCKET_WORDS = pa.schema([("document", pa.int64()), ("stems", pa.list_(pa.uint32())), ("bounds", pa.list_(pa.uint8()))])
# What became of passages, at the home of a: aligned ones by their words, and the others of their pairs, found by sentences, by
# these. `key` is one number per passage.
OUTCOMES = pa.schema(
    [
        ("key", pa.int64()),
        ("outcome", pa.uint8()),
        *((f"{side}_document", pa.int64()) for side in "ab"),
        *((f"{side}_{end}", pa.int32()) for side in "ab" for end in ("start", "end")),
        ("n_common", pa.int64()),
    ]
)
ALIGNED, KEPT, DROPPED = 0, 1, 2
# A side of a passage that is to be located, at the home of its document; by words if it was aligned, otherwise by sentences.
ASKED = pa.schema(
    [
        ("key", pa.int64()),
        ("is_b", pa.bool_()),
        ("is_aligned", pa.bool_()),
        ("document", pa.int64()),
        ("start", pa.int32()),
        ("end", pa.int32()),
        ASKER,
    ]
)
COUNTS = pa.schema([("n_places", pa.int64())])
# Passages by their words, within their documents, at the home of a.
WORD_PASSAGES = pa.schema(
    [
        *((f"{side}_document", pa.int64()) for side in "ab"),
        *((f"{side}_{end}", pa.int32()) for side in "ab" for end in ("start", "end")),
    ]
)
_WORD_COLUMNS = ["a_document", "b_document", *(f"{side}_{end}_word" for side in "ab" for end in ("start", "end"))]
_KEY_BITS = 32
_MOST_SENT_BYTES = 16 << 20


def choose_pairs(
    flow: Flow, meetings: PartedTable, spans: PartedTable, places: PartedTable, layout: Layout, to_cut: bool = False
) -> dict[str, PartedTable]:
    """Return what is known of pairs worth aligning (`meetings` and `spans`), and where the words of documents are `wanted`.

    These are pairs in which enough bonds meet close together, or another mark, or the words next to a passage are equal. With
    `to_cut`, there are also the `passages` of all other pairs.
    """

    def choose(bucket: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        met, spans = tables["meetings"], _with_words(tables["spans"], tables["places"])
        low = min((int(pc.min(table["a_document"]).as_py()) for table in (met, spans) if table.num_rows), default=0)
        met_pairs, span_pairs = (_pair_keys(table, low) for table in (met, spans))
        is_bond = met["kind"].to_numpy() == BOND
        near = _pairs_of_bonds(met, met_pairs, np.flatnonzero(is_bond))
        pairs = distinct(np.concatenate([met_pairs[~is_bond], span_pairs[_may_extend(tables["places"], spans)], near]))
        is_chosen = _are_among(span_pairs, pairs)
        if to_cut:
            rest = spans.filter(pa.array(~is_chosen))
            yield _sent_passages([rest[name] for name in _WORD_COLUMNS], layout)
        if len(pairs) == 0:
            return
        yield Sent("meetings", met.filter(pa.array(_are_among(met_pairs, pairs))), bucket)
        spans = spans.filter(pa.array(is_chosen))
        yield Sent("spans", spans.select(WORD_SPANS.names), bucket)
        wanted = distinct(np.concatenate([side.astype(np.int64) + low for side in _sides_of(pairs)]))
        yield Sent("wanted", table_of([wanted, np.full(len(wanted), bucket)], WANTED), layout.home(wanted))

    outputs = {"meetings": meetings.schema, "spans": WORD_SPANS, "wanted": WANTED}
    outputs |= {"passages": WORD_PASSAGES} if to_cut else {}
    return flow.reduce("pairs-chosen", {"meetings": meetings, "spans": spans, "places": places}, choose, outputs)


def fetch_words(flow: Flow, stems: PartedTable, wanted: PartedTable) -> PartedTable:
    """Return the words of documents in the buckets where they are wanted."""

    def send(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        wanted = tables["wanted"]
        if wanted.num_rows == 0:
            return
        known = in_order(tables["stems"].select(BUCKET_WORDS.names))
        documents, buckets = wanted["document"].to_numpy(), wanted["bucket"].to_numpy()
        chosen = distinct_pairs(buckets, documents)
        at, buckets = np.searchsorted(known["document"].to_numpy(), documents[chosen]), buckets[chosen]
        for begin, end in portions(5 * lengths(known, "stems")[at] + 1, _MOST_SENT_BYTES):
            yield Sent("words", known.take(pa.array(at[begin:end])), buckets[begin:end])

    return flow.reduce("words-wanted", {"stems": stems, "wanted": wanted}, send, {"words": BUCKET_WORDS})["words"]


def align_pairs(
    flow: Flow, chosen: Mapping[str, PartedTable], words: PartedTable, config: Config, layout: Layout, to_cut: bool = False
) -> dict[str, PartedTable]:
    """Return the `outcomes` of alignment, what is `asked` to locate them, and `counts` of the places that were aligned.

    With `to_cut`, all `passages` of these pairs by their words, instead of `outcomes` and what is `asked`.
    """
    min_words = config.alignment.min_aligned_words

    def align(bucket: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        if tables["words"].num_rows == 0:
            return
        table = in_order(tables["words"])
        documents, words = table["document"].to_numpy(), words_in(table)
        first = words.document_first
        met = tables["meetings"]
        met_pairs, kinds = pairs_in(met, documents), met["kind"].to_numpy()
        bonds, octets, quoted = (
            _meetings(met.filter(pa.array(kinds == kind)), met_pairs[kinds == kind], first) for kind in (BOND, OCTET, QUOTATION)
        )
        rectangles = by_place(rectangles_of_bonds(bonds), rectangles_of_runs(octets, words, min_words))
        quotations = quotations_around(quoted, words, min_words)
        spans = tables["spans"]
        pairs = pairs_in(spans, documents)
        order = np.lexsort((spans["number"].to_numpy(), pairs))
        spans, pairs = spans.take(pa.array(order)), pairs[order]
        found = _found(spans, pairs, first)
        found.added[:] = extend_spans(found.spans, found.documents, words)
        outcome = align_places(words, found, rectangles, quotations, config)
        yield Sent("counts", table_of([[outcome.n_places]], COUNTS), 0)
        aligned = outcome.aligned
        of_aligned = documents_of(aligned.spans, first)
        in_document = aligned.spans - np.repeat(first[of_aligned], 2, axis=1)
        if to_cut:
            stays = spans.filter(pa.array(outcome.stays))
            remaining = np.stack([stays[name].to_numpy() for name in _WORD_COLUMNS], axis=1)
            by_words = np.concatenate([documents[of_aligned], in_document], axis=1)
            yield _sent_passages(list(np.concatenate([by_words, remaining]).T), layout)
            return
        changed = np.union1d(pair_numbers(of_aligned), pairs[~outcome.stays])
        concerned = np.flatnonzero(np.isin(pairs, changed))
        names = [f"{side}_{end}" for side in "ab" for end in ("first", "end")]
        sentences = np.stack([spans[name].to_numpy() for name in names], axis=1)[concerned].astype(np.int64)
        decided = np.concatenate([np.full(len(aligned), ALIGNED), np.where(outcome.stays[concerned], KEPT, DROPPED)])
        columns = [
            bucket << _KEY_BITS | np.arange(len(decided)),
            decided,
            *documents[np.concatenate([of_aligned, found.documents[concerned]])].T,
            *np.concatenate([in_document, sentences]).T,
            np.concatenate([aligned.n_common, np.zeros(len(concerned), np.int64)]),
        ]
        outcomes = table_of(columns, OUTCOMES)
        homes = layout.home(outcomes["a_document"].to_numpy())
        yield Sent("outcomes", outcomes, homes)
        yield from _sent_asked(outcomes, homes, layout)

    inputs: Inputs = {"meetings": chosen["meetings"], "spans": chosen["spans"], "words": words}
    outputs = {"passages": WORD_PASSAGES} if to_cut else {"outcomes": OUTCOMES, "asked": ASKED}
    return flow.reduce("aligned", inputs, align, {**outputs, "counts": COUNTS})


def _sent_passages(columns: Sequence[Any], layout: Layout) -> Sent:
    table = table_of(columns, WORD_PASSAGES)
    return Sent("passages", table, layout.home(table["a_document"].to_numpy()))


def _sent_asked(outcomes: pa.Table, homes: Numbers, layout: Layout) -> Iterator[Sent]:
    """Yield the sides of all passages but those that are dropped."""
    kinds = outcomes["outcome"].to_numpy()
    chosen = np.flatnonzero(kinds != DROPPED)
    outcomes = outcomes.take(pa.array(chosen))
    for side in "ab":
        columns = [
            outcomes["key"],
            np.full(len(chosen), side == "b"),
            kinds[chosen] == ALIGNED,
            *(outcomes[f"{side}_{name}"] for name in ("document", "start", "end")),
            homes[chosen],
        ]
        yield Sent("asked", table_of(columns, ASKED), layout.home(outcomes[f"{side}_document"].to_numpy()))


def pairs_in(table: pa.Table, documents: Numbers) -> Numbers:
    """Return a number for the pair of documents of each row."""
    sides = [np.searchsorted(documents, table[f"{side}_document"].to_numpy()) for side in "ab"]
    return pair_numbers(np.stack(sides, axis=1).astype(np.int64))


def _sides_of(pairs: NDArray[Any]) -> tuple[Numbers, Numbers]:
    low = (1 << _KEY_BITS) - 1
    return (pairs >> pairs.dtype.type(_KEY_BITS)).astype(np.int64), (pairs & pairs.dtype.type(low)).astype(np.int64)


def _meetings(table: pa.Table, pairs: Numbers, first: Numbers) -> Meetings:
    """Return meetings by pair; words of document d count from `first[d]` on."""
    order = np.argsort(pairs, kind="stable")
    sides = _sides_of(pairs[order])
    words = [first[side] + table[f"{name}_word"].to_numpy()[order] for side, name in zip(sides, "ab", strict=True)]
    n = len(order)
    marks = np.arange(2 * n, dtype=np.uint32).reshape(2, n).T.reshape(-1)
    of_document = starts_of(np.bincount(sides[0], minlength=len(first) - 1))
    return Meetings(np.concatenate(words).astype(np.uint32), np.concatenate(sides).astype(np.int32), marks, of_document)


def _pair_keys(table: pa.Table, low: int) -> NDArray[np.uint64]:
    """Return a key for the pair of documents of each row, none of which is below `low`."""
    a, b = (table[f"{side}_document"].to_numpy().astype(np.uint64) - np.uint64(low) for side in "ab")
    return _keys_of(a, b)


def _keys_of(a: NDArray[np.uint64], b: NDArray[np.uint64]) -> NDArray[np.uint64]:
    keys: NDArray[np.uint64] = a << np.uint64(_KEY_BITS) | b
    return keys


def _slots(pairs: NDArray[np.uint64], n: int) -> tuple[NDArray[np.uint64], int]:
    """Return a slot for each pair, and how many slots there are: some for each of `n` pairs."""
    bits = max(10, n.bit_length() + 2)
    return (pairs * GOLDEN) >> np.uint64(64 - bits), 1 << bits


def _are_among(pairs: NDArray[np.uint64], known: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return which pairs are among known ones, which are in order."""
    slots, n_slots = _slots(known, len(known))
    has_known = np.zeros(n_slots, np.bool_)
    has_known[slots] = True
    among: NDArray[np.bool_] = has_known[_slots(pairs, len(known))[0]]
    likely = np.flatnonzero(among)
    among[likely] = find(pairs[likely], known)[1]
    return among


def _pairs_of_bonds(met: pa.Table, pairs: NDArray[np.uint64], bonds: Numbers) -> NDArray[np.uint64]:
    """Return the pairs in which enough bonds meet close together."""
    # Nearly all pairs share a bond or two by chance: with few slots to count, little is left to sort.
    slots, n_slots = _slots(pairs[bonds], len(bonds))
    bonds = bonds[np.bincount(slots.astype(np.int64), minlength=n_slots)[slots] >= LEAST_BONDS]
    bonds = bonds[np.argsort(pairs[bonds])]
    first = firsts(pairs[bonds])
    counts = np.diff(first, append=len(bonds))
    bonds = bonds[np.repeat(counts >= LEAST_BONDS, counts)]
    if len(bonds) == 0:
        return np.empty(0, np.uint64)
    met, chosen = met.take(pa.array(bonds)), pairs[bonds]
    documents = distinct(np.concatenate(_sides_of(chosen)))
    sides = [places_of(side, documents) for side in _sides_of(chosen)]
    # How long documents are is not known here: it is enough that their words do not overlap.
    ends = np.zeros(len(documents), np.int64)
    for side, name in zip(sides, "ab", strict=True):
        np.maximum.at(ends, side, met[f"{name}_word"].to_numpy().astype(np.int64) + 1)
    words_first = starts_of(ends)
    rectangles = rectangles_of_bonds(_meetings(met, pair_numbers(np.stack(sides, axis=1)), words_first))
    a, b = documents[documents_of(rectangles, words_first)].astype(np.uint64).T
    return _keys_of(a, b)


def _with_words(spans: pa.Table, places: pa.Table) -> pa.Table:
    """Return spans with the words they begin and end at, and the rows of their sides in `places`."""
    names = ("document", "first", "end")
    columns = [[places[name], *(spans[f"{side}_{name}"] for side in "ab")] for name in names]
    keys = packed(*(np.concatenate([part.to_numpy().astype(np.int64) for part in parts]) for parts in columns))
    known, *of_sides = np.split(keys, [places.num_rows, places.num_rows + spans.num_rows])
    order = np.argsort(known)
    known = known[order]
    for side, wanted in zip("ab", of_sides, strict=True):
        at = order[np.searchsorted(known, wanted)]
        for name in ("start_word", "end_word"):
            spans = spans.append_column(f"{side}_{name}", places[name].take(pa.array(at)))
        spans = spans.append_column(f"{side}_at", pa.array(at))
    return spans


def _may_extend(places: pa.Table, spans: pa.Table) -> NDArray[np.bool_]:
    """Return which passages have the same few words before them, or after them, on both sides."""
    a, b = (spans[f"{side}_at"].to_numpy() for side in "ab")
    may = np.zeros(spans.num_rows, np.bool_)
    for name in ("before", "after"):
        hashes = places[name].to_numpy()
        may |= (hashes[a] == hashes[b]) & (hashes[a] != 0)
    return may


def _found(spans: pa.Table, pairs: Numbers, first: Numbers) -> FoundSpans:
    """Return passages found by sentences as spans of words, not yet extended."""
    documents = np.stack(_sides_of(pairs), axis=1)
    places = np.stack([spans[f"{side}_{end}_word"].to_numpy() for side in "ab" for end in ("start", "end")], axis=1)
    in_words = places.astype(np.int64) + np.repeat(first[documents], 2, axis=1)
    return FoundSpans(
        in_words, np.zeros(len(pairs), np.int64), documents, spans["is_near"].to_numpy(), spans["similarity"].to_numpy()
    )
