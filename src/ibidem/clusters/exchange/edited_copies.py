"""Edited copies over many partitions: which words of passages are removed, as `clusters.copies` decides it.

Passages, by their words, go to the home of the copy: the document that is decided later. The homes of both documents send the
words that passages cover, whole and under the secret seed of the run, with their states (`word_states`). There, copies are
decided in rounds (`copy_rounds`). What is cut is then located at the homes of both documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.alignment.exchange.located import chosen, with_texts
from ibidem.alignment.places import locate_side, words_of
from ibidem.clusters.copies import ends_with_space, join_removals
from ibidem.clusters.exchange.copy_rounds import ASKED, COPIES, EXCERPTS, PIECES, WAITING, decide_copies, united_spans
from ibidem.clusters.exchange.word_states import WordStates, states_of_words
from ibidem.clusters.removals import READING_ORDER, SCORED_SPANS, Removals
from ibidem.columns.parted_tables import distinct_pairs, portions, table_of
from ibidem.columns.ragged import as_lists, lengths, take_ranges
from ibidem.config import Config
from ibidem.execution.flow import ASKER, Flow, Inputs, PartedTable, Sent
from ibidem.execution.layout import Layout
from ibidem.execution.tasks import in_turn

Numbers = NDArray[np.int64]

_SIDES = [f"{side}_{name}" for side in "ab" for name in ("document", "start", "end")]
_STATES = ("a_is_cut", "a_is_free")  # some of its words are cut; some have no state
_RANKED = pa.schema([*((name, pa.int64()) for name in (*_SIDES, "a_rank")), *((name, pa.bool_()) for name in _STATES)])
# Words of a document that are wanted in a partition.
_WANTED = pa.schema([("document", pa.int64()), ("start", pa.int64()), ("end", pa.int64()), ASKER])
# Where the kept side of a piece is; a piece is known by its document and first word.
_LOCATED = pa.schema([(name, pa.int64()) for name in ("document", "start", "matched_start", "matched_end")])
_BYTES_A_WORD, _MOST_SENT_BYTES = 6, 16 << 20


def with_edited_copies(
    flow: Flow, spans: PartedTable, passages: Sequence[PartedTable], home: Inputs,
    ranks: PartedTable, config: Config,
) -> PartedTable:  # fmt: skip
    """Return what is removed when edited copies are, too, `SCORED_SPANS`; `spans` are those of whole sentences.

    `passages` are `aligned_pairs.WORD_PASSAGES`. Of every home: its `documents`, `texts`, `stems`, and `states` of sentences.
    """
    layout = flow.layout
    marked = states_of_words(flow, spans, home, layout)
    sent = _turned(flow, passages, ranks, marked, layout)
    excerpts = _excerpts(flow, sent, marked, home, config, layout)
    found = {"copies": sent.pop("copies"), **excerpts}
    del sent, excerpts
    pieces, asked = decide_copies(flow, found, config, layout)
    known = {name: home[name] for name in ("documents", "texts", "stems")}
    located = _kept_sides(flow, asked, known, config, layout)
    return _joined(flow, spans, pieces, located, marked, known, config, layout)


def _turned(
    flow: Flow, passages: Sequence[PartedTable], ranks: PartedTable, marked: PartedTable, layout: Layout
) -> dict[str, PartedTable]:
    """Return passages as `copies` at the home of the later document, and which words of the earlier one are `wanted` there.

    Those of which nothing is left to cut, or whose other side is cut, are left out. With a reference, only what stays there
    counts, and only copies outside it.
    """

    def rank_a(home: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        table = tables["passages"]
        if table.num_rows == 0:
            return
        sides = [table[name].to_numpy().astype(np.int64) for name in _SIDES]
        n_cut, n_free = WordStates(tables["marked"]).counts(*sides[:3])
        rank = _ranks_of(tables["ranks"], sides[0])
        yield Sent("passages", table_of([*sides, rank, n_cut > 0, n_free > 0], _RANKED), layout.home(sides[3]))

    def turn(home: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        table = tables["passages"]
        if table.num_rows == 0:
            return
        a, a_start, a_end, b, b_start, b_end, a_rank, *a_state = (table[name].to_numpy() for name in _RANKED.names)
        b_rank = _ranks_of(tables["ranks"], b)
        n_cut, n_free = WordStates(tables["marked"]).counts(b, b_start, b_end)
        sides = np.stack([a, a_rank, a_start, a_end, *a_state]), np.stack([b, b_rank, b_start, b_end, n_cut > 0, n_free > 0])
        a_first = (a_rank < b_rank) | ((a_rank == b_rank) & (a < b))
        copy, kept = np.where(a_first, sides[1], sides[0]), np.where(a_first, sides[0], sides[1])
        wanted = (a != b) & (kept[4] == 0) & (copy[5] == 1)
        if layout.has_reference:
            wanted &= (copy[0] < layout.n_input) & (kept[0] >= layout.n_input)
        copy, kept = copy[:4, wanted], kept[:4, wanted]
        homes = layout.home(copy[0])
        yield Sent("copies", table_of([*copy, *kept, np.zeros(copy.shape[1], np.bool_)], COPIES), homes)
        asked = table_of([kept[0], kept[2], kept[3], homes], _WANTED)
        yield Sent("wanted", asked, layout.home(kept[0]))

    known = {"ranks": ranks, "marked": marked}
    ranked = flow.reduce("copies-ranked", {"passages": passages, **known}, rank_a, {"passages": _RANKED})
    return flow.reduce("copies-turned", {**ranked, **known}, turn, {"copies": COPIES, "wanted": _WANTED})


def _ranks_of(ranks: pa.Table, documents: Numbers) -> Numbers:
    known = ranks["document"].to_numpy()
    order = np.argsort(known)
    of_documents: Numbers = ranks["rank_key"].to_numpy()[order[np.searchsorted(known[order], documents)]]
    return of_documents


def _excerpts(
    flow: Flow, sent: Mapping[str, PartedTable], marked: PartedTable, home: Inputs, config: Config, layout: Layout
) -> dict[str, PartedTable]:
    """Return the words of passages as `excerpts` where they are decided, and which partitions are `waiting` for a document."""

    def cut(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        copies, asked = tables["copies"], tables["wanted"]
        columns = [
            [copies["document"], copies["start"], copies["end"], np.full(copies.num_rows, partition)],
            [asked[name] for name in ("document", "start", "end", "asker")],
        ]
        document, start, end, place = (
            np.concatenate([np.asarray(part) for part in both]) for both in zip(*columns, strict=True)
        )
        if len(document) == 0:
            return
        known, asker = asked["document"].to_numpy(), asked["asker"].to_numpy().astype(np.int64)
        first = distinct_pairs(known, asker)
        yield Sent("waiting", table_of([known[first], asker[first]], WAITING), partition)
        wanted = np.unique(document)
        collection, _ = with_texts(tables, wanted, config, layout)
        words = words_of(collection, in_turn, whole=True)
        of_word = WordStates(tables["marked"]).of_words(wanted, words.document_first)
        owner = place.astype(np.int64) * len(wanted) + np.searchsorted(wanted, document)
        owner, start, end = united_spans(owner, start.astype(np.int64), end.astype(np.int64))
        place, at = np.divmod(owner, len(wanted))
        low, sizes = words.document_first[at] + start, end - start
        for begin, stop in portions(_BYTES_A_WORD * sizes + 1, _MOST_SENT_BYTES):
            part = slice(begin, stop)
            lists = [
                as_lists(take_ranges(values, low[part], sizes[part]), sizes[part], kind)
                for values, kind in ((words.stem, pa.uint32()), (words.bounds, pa.uint8()), (of_word, pa.uint8()))
            ]
            columns_of = [wanted[at[part]], start[part], *lists]
            yield Sent("excerpts", table_of(columns_of, EXCERPTS), place[part])

    inputs: Inputs = {**sent, "marked": marked, **{name: home[name] for name in ("documents", "texts", "stems")}}
    return flow.reduce("copies-words", inputs, cut, {"excerpts": EXCERPTS, "waiting": WAITING})


def _kept_sides(
    flow: Flow, asked: Sequence[PartedTable], known: Inputs, config: Config,
    layout: Layout,
) -> PartedTable:  # fmt: skip
    """Return where the kept sides of pieces are, at the homes of what is cut."""

    def locate(home: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        asked = tables["asked"]
        if asked.num_rows == 0:
            return
        document, start, kept, kept_start, kept_end = (asked[name].to_numpy() for name in ASKED.names)
        wanted = np.unique(kept)
        collection, words = with_texts(tables, wanted, config, layout)
        begins = words.document_first[np.searchsorted(wanted, kept)]
        side = locate_side(np.stack([begins + kept_start, begins + kept_end], axis=1), words, collection)
        yield Sent("located", table_of([document, start, *side.places], _LOCATED), layout.home(document))

    return flow.reduce("copies-kept", {"asked": asked, **known}, locate, {"located": _LOCATED})["located"]


def _joined(
    flow: Flow, spans: PartedTable, pieces: Sequence[PartedTable], located: PartedTable, marked: PartedTable, known: Inputs,
    config: Config, layout: Layout,
) -> PartedTable:  # fmt: skip
    """Return spans and located pieces together, in reading order, at home."""

    def join(home: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        by_sentences = tables["spans"].sort_by(READING_ORDER)
        pieces, located = (_by_place(tables[name]) for name in ("pieces", "located"))
        removals = Removals.of_spans(by_sentences)
        documents = np.union1d(removals.document, pieces["document"].to_numpy())
        if len(documents) == 0:
            return
        n_left = _words_left(tables, documents, pieces)
        more = _removals(pieces, located, tables, config, layout)
        yield Sent("spans", join_removals(removals, more, n_left).spans(SCORED_SPANS), home)

    inputs: Inputs = {"spans": spans, "pieces": pieces, "located": located, "marked": marked, **known}
    return flow.reduce("copies-cut", inputs, join, {"spans": SCORED_SPANS})["spans"]


def _by_place(table: pa.Table) -> pa.Table:
    return table.take(pa.array(np.lexsort((table["start"].to_numpy(), table["document"].to_numpy()))))


def _words_left(tables: Mapping[str, pa.Table], documents: Numbers, pieces: pa.Table) -> Numbers:
    """Return how many words of each document are left."""
    n_words = lengths(chosen(tables["stems"].select(["document", "stems"]), documents), "stems")
    nothing = np.zeros(len(documents), np.int64)
    n_cut, _ = WordStates(tables["marked"]).counts(documents, nothing, n_words)
    sizes = pieces["end"].to_numpy() - pieces["start"].to_numpy()
    np.add.at(n_cut, np.searchsorted(documents, pieces["document"].to_numpy()), sizes)
    left: Numbers = n_words - n_cut
    return left


def _removals(pieces: pa.Table, located: pa.Table, tables: Mapping[str, pa.Table], config: Config, layout: Layout) -> Removals:
    """Return pieces as stretches of their texts."""
    document, start, end, matched, n_there, n_different = (pieces[name].to_numpy() for name in PIECES.names)
    wanted = np.unique(document)
    at = np.searchsorted(wanted, document)
    if len(wanted):
        collection, words = with_texts(tables, wanted, config, layout)
        begins = words.document_first[at]
        side = locate_side(np.stack([begins + start, begins + end], axis=1), words, collection)
        places, n_sentences = side.places, np.maximum(side.covered[1] - side.covered[0], 1)
        ends = ends_with_space(at, places[0], places[1], collection.text)
    else:
        places, n_sentences, ends = np.empty((2, 0), np.int64), document, document
    return Removals(
        document, places[0], ends, matched, located["matched_start"].to_numpy(), located["matched_end"].to_numpy(), n_sentences,
        np.zeros(len(document), np.bool_), n_there / np.maximum(n_different, 1),
    )  # fmt: skip
