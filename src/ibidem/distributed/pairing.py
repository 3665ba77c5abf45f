"""Passages of the documents that meet in a partition, by the functions of the local pipeline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.blocks import Blocks, Emitted, Flow
from ibidem.config import SET_SIGNATURES, Config, passage_limits
from ibidem.distributed.components import EDGES
from ibidem.distributed.layout import Layout
from ibidem.distributed.placing import BYTES_A_SENTENCE, cells_of
from ibidem.distributed.tables import flat, in_order, lengths, placed_documents, table_of
from ibidem.model import PASSAGES
from ibidem.parts import in_turn
from ibidem.passages import Pairing, assemble_passages, find_diagonals
from ibidem.reports import passages_table
from ibidem.reports.marks import Marks

# As the table of passages, ids and words as they are; the documents' numbers say where texts are found, `number` is the
# passage's own in its partition.
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
MOST_LATER_BYTES = 48 << 20  # of documents that are paired with those at home at a time
# What is added to the marks of a document at one of its slots (see `reports.marks`).
MARKS = pa.schema([("document", pa.int64()), ("slot", pa.int32()), ("elsewhere", pa.int32()), ("before", pa.int32())])


def find_pairs(flow: Flow, placed: Blocks, config: Config, layout: Layout) -> dict[str, Blocks]:
    """Return `passages` in reading order, `marks` on their documents at home, and `edges` between copies."""
    limits = passage_limits(config)
    limit = similarity_limit(config)

    def pair(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Emitted]:
        found = [FOUND.empty_table()]
        for table, is_first in _portions(in_order(tables["placed"]), partition, layout):
            placed = placed_documents(table, config, layout)
            documents, collection, rows = placed.documents, placed.collection, placed.rows
            cells = cells_of(table, placed, limit)
            at_home = layout.home(documents) == partition
            side = layout.side(documents) if is_first else (~at_home).astype(np.int8)
            kin = collection.kin if config.passages.skip_same_group else np.empty(0, np.int32)
            pairing = Pairing(limits.same_document and is_first, side, kin, leads=at_home)
            diagonals, _ = find_diagonals(rows, limits, pairing, in_turn, flat(table, "flags"))
            parts = assemble_passages(diagonals, rows, collection.id_hashes, limits, cells, in_turn)
            del diagonals, cells
            marks = Marks(collection)
            copies = marks.add_passages(parts, rows, a_is_first=not layout.has_reference)
            yield _emit_marks(marks, documents, layout)
            yield Emitted("edges", table_of([documents[end].astype(np.uint64) for end in copies], EDGES), 0)
            found.append(_found(passages_table(parts, rows, collection, limits.min_sentences, in_turn), documents))
        yield Emitted("passages", _in_reading_order(found), partition)

    return flow.reduce("passages", {"placed": placed}, pair, {"passages": FOUND, "marks": MARKS, "edges": EDGES})


def similarity_limit(config: Config) -> tuple[int, int]:
    """Return the limit below which a cell is cut: none where equal keys match whatever their words."""
    by_sets = config.signatures.signature in SET_SIGNATURES
    return config.matches.min_similarity.as_integer_ratio() if by_sets else (0, 1)


def _portions(table: pa.Table, partition: int, layout: Layout) -> Iterator[tuple[pa.Table, bool]]:
    """Yield the documents at home together with as many of the later ones as may be looked at together, in turn.

    Where much is alike, documents of everywhere meet here. Pairs are told by themselves, so it does not matter with which
    others a pair is looked at. The first time, documents at home are paired with one another too.
    """
    documents = table["document"].to_numpy()
    sizes = BYTES_A_SENTENCE * (lengths(table, "digest") + (lengths(table, "sets") if "sets" in table.column_names else 0))
    later = np.flatnonzero(layout.home(documents) != partition)
    if len(later) == 0 or sizes[later].sum() <= MOST_LATER_BYTES:
        yield table, True
        return
    at_home = np.setdiff1d(np.arange(len(documents)), later)
    turns = np.cumsum(sizes[later]) // MOST_LATER_BYTES
    for turn in np.unique(turns):
        chosen = later[turns == turn]
        if turn > turns[0] and layout.has_reference:  # of two sides, only pairs of an input and a reference are left
            chosen, at_home = chosen[documents[chosen] >= layout.n_input], at_home[documents[at_home] < layout.n_input]
        yield table.take(pa.array(np.concatenate([at_home, chosen]))).combine_chunks(), bool(turn == turns[0])


def _in_reading_order(found: list[pa.Table]) -> pa.Table:
    """Put passages of several portions in order: by their documents. Those of a pair are of one portion, in order."""
    table = pa.concat_tables(found)
    if len(found) > 2:
        pairs = table["a_document"].to_numpy() << 32 | table["b_document"].to_numpy()
        table = table.take(pa.array(np.argsort(pairs, kind="stable")))
    return table.set_column(0, FOUND.field("number"), pa.array(np.arange(table.num_rows)))


def _emit_marks(marks: Marks, documents: NDArray[np.int64], layout: Layout) -> Emitted:
    at = np.flatnonzero((marks.elsewhere != 0) | (marks.before != 0))
    document = np.searchsorted(marks.first, at, side="right") - 1
    columns = [documents[document], at - marks.first[document], marks.elsewhere[at], marks.before[at]]
    return Emitted("marks", table_of(columns, MARKS), layout.home(documents[document]))


def _found(passages: pa.Table, documents: NDArray[np.int64]) -> pa.Table:
    numbers = []
    for side in ("a_id", "b_id"):
        codes = np.concatenate([np.empty(0, np.int32), *(chunk.indices.to_numpy() for chunk in passages[side].chunks)])
        numbers.append(documents[codes])
    return table_of([np.arange(passages.num_rows), *numbers, *passages.columns], FOUND)
