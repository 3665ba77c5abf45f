"""Documents sent to where they meet others; the places of text that stands too often to be paired."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.parted_tables import PlacedDocuments, in_order, placed_documents, table_of
from ibidem.config import Config, PassagesConfig, passage_limits
from ibidem.execution.flow import Flow, Inputs, PartedTable, Sent
from ibidem.execution.layout import Layout
from ibidem.matches import Cells
from ibidem.passages.exchange.excerpts import Excerpts, compared_sets, excerpt_schema
from ibidem.passages.exchange.grams import keys_of
from ibidem.passages.flags import HOT_SENTENCE, HOT_TEXT, HOT_WINDOW, REPEATED_WINDOW
from ibidem.passages.kernels.windows import cover_windows

# Hot places: `following` and `preceding` are the keys of the hot windows beside (0: none). `is_kept` says that the place alone
# is reason enough to report its group.
HOT = pa.schema(
    [
        ("bit", pa.uint8()),
        ("key", pa.uint64()),
        ("document", pa.int64()),
        ("row", pa.int32()),
        ("following", pa.uint64()),
        ("preceding", pa.uint64()),
        ("is_kept", pa.bool_()),
    ]
)


def cells_of(table: pa.Table, placed: PlacedDocuments, limit: tuple[int, int]) -> Cells | None:
    """Return how the rows of documents are compared; None where equal classes are equal sentences."""
    if "classes" not in table.column_names:
        return None
    set_of_sentence, sets = compared_sets(table, placed)
    sentence = placed.rows.sentence
    return Cells(placed.collection.digest[sentence], sets, limit, set_of_sentence[sentence])


def place_documents(
    flow: Flow, documents: PartedTable, flags: Sequence[PartedTable], members: PartedTable, config: Config, layout: Layout
) -> dict[str, PartedTable]:
    """Return `placed`: excerpts of documents where they meet others, and `hot`: the places of hot grams, at home."""
    schema = excerpt_schema(documents.schema)
    limits = passage_limits(config)

    def place(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        table = in_order(tables["documents"])
        placed = placed_documents(table, config, layout)
        flags = np.zeros(len(placed.rows.classes), np.uint8)
        document, row = tables["flags"]["document"].to_numpy(), tables["flags"]["row"].to_numpy()
        at = placed.rows.document_first[np.searchsorted(placed.documents, document)] + row
        np.bitwise_or.at(flags, at, tables["flags"]["flags"].to_numpy())
        yield from _emit_hot(placed, flags, limits, layout)
        members = tables["members"]
        at = np.searchsorted(placed.documents, members["document"].to_numpy())
        rows = placed.rows.document_first[at] + members["row"].to_numpy()
        buckets = members["bucket"].to_numpy().astype(np.int64)
        for excerpts, routes in Excerpts(table, placed, flags, limits.min_sentences).cut(buckets, rows):
            yield Sent("placed", excerpts, routes)

    inputs: Inputs = {"documents": documents, "flags": flags, "members": members}
    return flow.reduce("places", inputs, place, {"placed": schema, "hot": HOT})


def _emit_hot(placed: PlacedDocuments, flags: NDArray[np.uint8], limits: PassagesConfig, layout: Layout) -> Iterator[Sent]:
    """Yield the places of hot grams, given the flags of all rows."""
    if not (flags & (HOT_WINDOW | HOT_SENTENCE | HOT_TEXT)).any():
        return
    covered = np.empty(len(flags), np.bool_)
    cover_windows(flags, limits.min_sentences, REPEATED_WINDOW, covered)
    kept = {HOT_WINDOW: np.ones(len(flags), np.bool_), HOT_SENTENCE: ~covered, HOT_TEXT: (flags & HOT_SENTENCE) == 0}
    for bit, keys in keys_of(placed, limits).items():
        hot = np.flatnonzero(flags & bit)
        hot_keys = np.where(flags & bit != 0, keys, np.uint64(0))
        beside = np.concatenate([[np.uint64(0)], hot_keys, [np.uint64(0)]])
        document = np.concatenate([[-1], placed.rows.document, [-1]])
        following = np.where(document[hot + 2] == document[hot + 1], beside[hot + 2], np.uint64(0))
        preceding = np.where(document[hot] == document[hot + 1], beside[hot], np.uint64(0))
        numbers = placed.documents[placed.rows.document[hot]]
        columns = [np.full(len(hot), bit), keys[hot], numbers, placed.row_of_document[hot], following, preceding]
        yield Sent("hot", table_of([*columns, kept[bit][hot]], HOT), layout.home(numbers))
