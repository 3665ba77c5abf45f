"""Passages of the documents whose excerpts meet in a bucket, found by the core of the stage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.components_exchange import EDGES
from ibidem.columns.distinct import order_by, places_of
from ibidem.columns.parted_tables import PlacedDocuments, collection_of, distinct_pairs, ordered, portions, table_of
from ibidem.columns.ragged import flat, lengths
from ibidem.columns.rows import Pairing, Rows
from ibidem.config import SET_SIGNATURES, Config, extends_ends, passage_limits
from ibidem.execution.flow import Flow, PartedTable, Sent
from ibidem.execution.layout import Layout
from ibidem.execution.tasks import in_turn
from ibidem.model import DIRECTIONS, KINDS, PASSAGES
from ibidem.passages import Meeting, PassageRows, find_in
from ibidem.passages.coverage import Coverage
from ibidem.passages.exchange.end_words import ASKED, ask_for_texts
from ibidem.passages.exchange.excerpts import BYTES_A_SENTENCE, WORDS_AROUND, cells_of, numbers_of_slots
from ibidem.passages.extension import EndWords, of_their_pairs
from ibidem.passages.kernels.chains import A_END, A_FIRST, B_END, B_FIRST, EQUAL, FLAGS, N_COLUMNS
from ibidem.passages.tables import codes_of, n_words_of, numbers_of_values, passages_table

# As the table of passages, without dictionaries; document numbers say where texts are, `number` is that of the passage in its
# partition.
FOUND = pa.schema(
    [
        ("number", pa.int64()),
        ("a_document", pa.int64()),
        ("b_document", pa.int64()),
        *(
            pa.field(field.name, field.type.value_type if pa.types.is_dictionary(field.type) else field.type, nullable=False)
            for field in PASSAGES
        ),
    ]
)
# The same until the last stage that changes passages. They are read several times: ids are aside (NAMES), kinds and directions
# are numbers.
NAMELESS = pa.schema(
    [
        *((name, pa.int64()) for name in ("number", "a_document", "b_document")),
        *((f"{side}_{end}", pa.uint32()) for side in "ab" for end in ("start", "end")),
        *((name, pa.int32()) for name in ("n_sentences", "a_sentence", "b_sentence")),
        ("similarity", pa.float64()),
        *((name, pa.int8()) for name in ("kind", "direction")),
    ]
)
# Passages of pairs of documents in which ends may move: also with the words of both sides, whether all sentences are equal, and
# which ends may move (flags AFTER and BEFORE).
OPEN = pa.schema([*NAMELESS, ("n_words", pa.int64()), ("is_equal", pa.bool_()), ("may_move", pa.uint8())])
# The ids of documents that have passages, where the passages are; a document may be there several times.
NAMES = pa.schema([("document", pa.int64()), ("id", pa.large_string())])
MOST_LATER_BYTES = 48 << 20  # of documents paired with the earlier ones at a time
# What is added to the coverage of a document at one of its slots (see `passages/coverage.py`).
COVERAGE = pa.schema([("document", pa.int64()), ("slot", pa.int32()), ("elsewhere", pa.int32()), ("before", pa.int32())])

# For alignment, passages by the sentences of their documents, in the bucket of the pair; `number` is their order in the pair.
SPANS = pa.schema(
    [
        ("number", pa.int64()),
        *((f"{side}_document", pa.int64()) for side in "ab"),
        *((f"{side}_{end}", pa.int32()) for side in "ab" for end in ("first", "end")),
        ("is_near", pa.bool_()),
        ("similarity", pa.float64()),
    ]
)
# The sides of passages, each once per bucket, at the homes of their documents.
SIDES = pa.schema([("bucket", pa.int64()), ("document", pa.int64()), ("first", pa.int32()), ("end", pa.int32())])
# Pairs of documents that are copies of one another as far as sentences show, at the home of the first.
COPIES = pa.schema([("a_document", pa.int64()), ("b_document", pa.int64())])


def find_pairs(
    flow: Flow, placed: PartedTable, config: Config, layout: Layout, only_spans: bool = False
) -> dict[str, PartedTable]:
    """Return `passages` (NAMELESS, in no order) and the `names` of their documents, `coverage` on their documents at home, and
    `edges` between copies.

    If ends of passages may be moved, those of the pairs concerned are aside: `open`, with what is `asked` about their ends.
    Before alignment, copies are `copies`, and there are `spans` and `sides`: nothing else with `only_spans`.
    """
    limits = passage_limits(config)
    to_align = config.alignment.align
    limit = similarity_limit(config)
    to_extend = extends_ends(config)

    def pair(bucket: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        found = [NAMELESS.empty_table()]
        for table, is_first in _portions(ordered(tables["placed"]), bucket, layout):
            placed, numbers = _placed_excerpts(table, config, layout)
            documents, collection, rows = placed.documents, placed.collection, placed.rows
            leads = layout.is_leading(bucket, documents)
            side = layout.side(documents) if is_first else (~leads).astype(np.int8)
            group_numbers = collection.group_numbers if config.passages.skip_same_group else np.empty(0, np.int32)
            pairing = Pairing(limits.same_document and is_first, side, group_numbers, leads=leads)
            words = EndWords(*(flat(table, name) for name in WORDS_AROUND)) if to_extend else None
            meeting = Meeting(collection, rows, cells_of(table, placed, limit), pairing, hot=flat(table, "flags"))
            passages = find_in(meeting, limits, in_turn).passages
            del meeting
            if only_spans:
                yield from _sent_spans(passages, placed, bucket, layout)
                continue
            coverage = Coverage(collection)
            copies = coverage.add_passages(passages, rows, a_is_first=not layout.has_reference)
            yield _sent_coverage(coverage, documents, numbers, layout)
            a, b = (documents[end] for end in copies)
            if to_align:
                yield Sent("copies", table_of([a, b], COPIES), layout.home(a))
                yield from _sent_spans(passages, placed, bucket, layout)
            else:
                yield Sent("edges", table_of([a.astype(np.uint64), b.astype(np.uint64)], EDGES), 0)
            more = _ends(passages, rows, words) if words is not None else {}
            some = _found(passages_table(passages, rows, collection, limits.min_sentences, in_turn), documents)
            yield _names(some, documents, collection.ids, layout)
            if more:
                some, opened = _without_open(some, more)
                yield Sent("open", opened, layout.home(opened["a_document"].to_numpy()))
                yield from ask_for_texts(opened, layout)
            found.append(some)
        if not only_spans:
            whole = in_reading_order(found)
            routes = layout.home(whole["a_document"].to_numpy()) if layout.is_far(bucket) else bucket // layout.n_regions
            yield Sent("passages", whole, routes)

    outputs = {} if only_spans else {"passages": NAMELESS, "names": NAMES, "coverage": COVERAGE}
    if to_align:
        outputs |= {"spans": SPANS, "sides": SIDES} if only_spans else {"copies": COPIES, "spans": SPANS, "sides": SIDES}
    else:
        outputs |= {"edges": EDGES} | ({"open": OPEN, "asked": ASKED} if to_extend else {})
    return flow.reduce("passages", {"placed": placed}, pair, outputs)


def similarity_limit(config: Config) -> tuple[int, int]:
    """Return the limit below which a cell is cut: none if equal keys match whatever their words."""
    by_sets = config.signatures.signature in SET_SIGNATURES
    return config.matches.min_similarity.as_integer_ratio() if by_sets else (0, 1)


def _portions(table: pa.Table, bucket: int, layout: Layout) -> Iterator[tuple[pa.Table, bool]]:
    """Yield the earlier documents together with as many later ones as can be processed at once, in turn.

    If much text is alike, documents from everywhere meet here. Pairs are independent, so it does not matter which others a pair
    is processed with. Once, in the bucket of their own group, documents at home are also paired with one another. If the
    earlier ones belong to several homes, they are also taken in turn.
    """
    home, region = divmod(bucket, layout.n_regions)
    documents = table["document"].to_numpy()
    sizes = BYTES_A_SENTENCE * (lengths(table, "digest") + (lengths(table, "sets") if "sets" in table.column_names else 0))
    # Documents are in order, and the earlier ones come first: no others precede them here.
    n_earlier = int(np.count_nonzero(layout.is_leading(bucket, documents)))
    is_first = layout.region(np.array([home]))[0] == region
    turns = list(portions(sizes[:n_earlier], MOST_LATER_BYTES)) if layout.is_far(bucket) else [(0, n_earlier)]
    for later in list(portions(sizes[n_earlier:], MOST_LATER_BYTES)) or [(0, 0)]:
        for first, n_leading in turns:
            begin, end = n_earlier + later[0], n_earlier + later[1]
            if not is_first and layout.has_reference:  # with two sides, only pairs of an input and a reference are left
                n_leading = first + int(np.searchsorted(documents[first:n_leading], layout.n_input))
                begin += int(np.searchsorted(documents[begin:end], layout.n_input))
            parts = [table.slice(first, n_leading - first), table.slice(begin, end - begin)]
            yield pa.concat_tables(parts).combine_chunks(), bool(is_first)
            is_first = False


def in_reading_order(found: list[pa.Table]) -> pa.Table:
    """Sort passages of several portions by their documents. Those of a pair are from one portion, sorted by number."""
    table = pa.concat_tables(found)
    order = order_by(*(table[name].to_numpy() for name in ("a_document", "b_document", "number")))
    if (order[1:] < order[:-1]).any():
        table = table.take(pa.array(order))
    return table.set_column(0, NAMELESS.field("number"), pa.array(np.arange(table.num_rows)))


def put_in_order(flow: Flow, passages: PartedTable | Sequence[PartedTable], names: PartedTable) -> PartedTable:
    """Return passages (NAMELESS) in reading order, with the ids of their documents: FOUND."""

    def put(home: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        yield Sent("passages", named(in_reading_order([tables["passages"]]), one_each(tables["names"])), home)

    given = {"passages": passages, "names": names}
    return flow.reduce("passages-ordered", given, put, {"passages": FOUND})["passages"]


def one_each(names: pa.Table) -> pa.Table:
    """Return the names of documents, each document once, in order."""
    _, first = np.unique(names["document"].to_numpy(), return_index=True)
    return names.take(pa.array(first))


def named(passages: pa.Table, names: pa.Table) -> pa.Table:
    """Return passages (NAMELESS) with the ids of their documents, given the names of these, `one_each`: FOUND."""
    known = names["document"].to_numpy()
    columns: dict[str, Any] = {
        f"{side}_id": names["id"].take(pa.array(places_of(passages[f"{side}_document"].to_numpy(), known))) for side in "ab"
    }
    for name, values in (("kind", KINDS), ("direction", DIRECTIONS)):
        columns[name] = pa.array(values).take(passages[name])
    return table_of([columns[name] if name in columns else passages[name] for name in FOUND.names], FOUND)


def _placed_excerpts(table: pa.Table, config: Config, layout: Layout) -> tuple[PlacedDocuments, NDArray[np.int64]]:
    """Return excerpts as documents, and the number that each of their slots has in the document as a whole."""
    numbers = numbers_of_slots(table)
    collection = collection_of(table, layout)
    classes = (flat(table, "classes") if "classes" in table.column_names else collection.digest).copy()
    gaps = np.repeat(collection.document_first[:-1], lengths(table, "gaps")) + flat(table, "gaps")
    classes[gaps] = np.arange(len(gaps), dtype=np.uint64) + np.uint64(3 << 62)  # a gap equals nothing
    placed = PlacedDocuments.of(table["document"].to_numpy(), collection, classes, config)
    position = numbers[placed.rows.sentence + placed.rows.document].astype(np.int32)
    return replace(placed, rows=replace(placed.rows, position=position)), numbers


def _sent_coverage(coverage: Coverage, documents: NDArray[np.int64], numbers: NDArray[np.int64], layout: Layout) -> Sent:
    at = np.flatnonzero((coverage.elsewhere != 0) | (coverage.before != 0))
    document = np.searchsorted(coverage.first, at, side="right") - 1
    columns = [documents[document], numbers[at], coverage.elsewhere[at], coverage.before[at]]
    return Sent("coverage", table_of(columns, COVERAGE), layout.home(documents[document]))


def _sent_spans(passages: list[PassageRows], placed: PlacedDocuments, bucket: int, layout: Layout) -> Iterator[Sent]:
    """Yield passages as spans of sentences, and their sides."""
    table = np.concatenate([np.empty((0, N_COLUMNS), np.int32), *(part.table for part in passages)])
    similarity = np.concatenate([np.empty(0), *(part.similarity for part in passages)])
    position = placed.rows.position
    assert position is not None
    sides = []
    for rows, ends in ((table[:, A_FIRST], table[:, A_END]), (table[:, B_FIRST], table[:, B_END])):
        documents = placed.documents[placed.rows.document[rows]]
        sides.append((documents, position[rows].astype(np.int64), position[ends - 1].astype(np.int64) + 1))
    (a, a_first, a_end), (b, b_first, b_end) = sides
    is_near = table[:, FLAGS] & EQUAL == 0
    columns = [np.arange(len(table)), a, b, a_first, a_end, b_first, b_end, is_near, similarity]
    yield Sent("spans", table_of(columns, SPANS), bucket)
    document, first, end = (np.concatenate(columns) for columns in zip(*sides, strict=True))
    different = distinct_pairs(np.searchsorted(placed.documents, document) << 32 | first, end)
    columns = [np.full(len(different), bucket), document[different], first[different], end[different]]
    yield Sent("sides", table_of(columns, SIDES), layout.home(document[different]))


def _ends(passages: list[PassageRows], rows: Rows, words: EndWords) -> dict[str, NDArray[Any]]:
    """Return what `OPEN` has besides the columns of NAMELESS."""
    of_parts = [
        (n_words_of(part, rows), part.table[:, FLAGS] & EQUAL != 0, words.may_move(part, rows))
        for part in passages
        if len(part)
    ]
    nothing = (np.empty(0, np.int64), np.empty(0, np.bool_), np.empty(0, np.uint8))
    columns = (np.concatenate(parts) for parts in zip(nothing, *of_parts, strict=True))
    return dict(zip(OPEN.names[len(NAMELESS) :], columns, strict=True))


def _without_open(passages: pa.Table, more: Mapping[str, NDArray[Any]]) -> tuple[pa.Table, pa.Table]:
    """Return passages (NAMELESS) without those of pairs in which ends may move, and these."""
    documents = np.stack([passages[f"{side}_document"].to_numpy() for side in "ab"])
    rows = of_their_pairs(more["may_move"] != 0, documents)
    opened = table_of([*passages.take(pa.array(rows)).columns, *(column[rows] for column in more.values())], OPEN)
    is_left = np.ones(passages.num_rows, np.bool_)
    is_left[rows] = False
    return passages.filter(pa.array(is_left)), opened


def _found(passages: pa.Table, documents: NDArray[np.int64]) -> pa.Table:
    columns: dict[str, Any] = {"number": np.arange(passages.num_rows)}
    columns |= {f"{side}_document": documents[codes_of(passages, side)] for side in "ab"}
    columns |= {name: numbers_of_values(passages[name]) for name in ("kind", "direction")}
    return table_of([columns[name] if name in columns else passages[name] for name in NAMELESS.names], NAMELESS)


def _names(found: pa.Table, documents: NDArray[np.int64], ids: pa.Array, layout: Layout) -> Sent:
    """Send the ids of the documents of passages to where these are sent."""
    a, b = (found[f"{side}_document"].to_numpy() for side in "ab")
    homes = layout.home(a)
    chosen = np.concatenate([distinct_pairs(homes, a), len(a) + distinct_pairs(homes, b)])
    named = np.concatenate([a, b])[chosen]
    names = ids.take(pa.array(places_of(named, documents)))
    return Sent("names", table_of([named, names], NAMES), np.concatenate([homes, homes])[chosen])
