"""Items in texts over many partitions: texts are judged where they are read, and what was found is sent home."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ibidem.columns.parted_tables import table_of
from ibidem.columns.text_checks import text_key
from ibidem.config import Config
from ibidem.contamination.core import HIT_ORDER, HITS, find_hits
from ibidem.contamination.decisions import (
    FIELD_COUNTS,
    PAGES,
    REMOVED_ITEMS,
    TALLIES,
    count_fields,
    page_counts,
    place_table,
    removed_items,
    tally,
    with_one_cause,
)
from ibidem.contamination.items import Items
from ibidem.execution.flow import Flow, PartedTable, Sent, Source, record_batches
from ibidem.model import ITEM_PLACES
from ibidem.sentences.ignored_text import load_ignored

COUNTS = pa.schema([("n_documents", pa.int64()), ("n_chars", pa.int64())])


def find_in_partitions(flow: Flow, source: Source, items: Items, config: Config) -> dict[str, PartedTable]:
    """Return the `hits` at the homes of their documents, and `field_counts` and `counts`, which are small."""
    layout, key = flow.layout, text_key(config.sentences.hash_seed)
    ignored = load_ignored(config.sentences.ignore)

    def search(batches: Iterator[Any]) -> Iterator[Sent]:
        for batch in record_batches(batches):
            if batch.num_rows == 0:
                continue
            documents = batch.column("document").to_numpy()
            n_chars = pc.sum(pc.utf8_length(batch.column("text"))).as_py() or 0
            yield Sent("counts", table_of([[batch.num_rows], [n_chars]], COUNTS), 0)
            hits = find_hits(batch, documents, items, config.contamination, ignored, key)
            if hits.num_rows:
                yield Sent("hits", hits, layout.home(hits["document"].to_numpy()))
                yield Sent("field_counts", count_fields(hits), 0)

    return flow.map("items", source, search, {"hits": HITS, "field_counts": FIELD_COUNTS, "counts": COUNTS})


def decide_in_partitions(
    flow: Flow, hits: PartedTable, items: Items, common: NDArray[np.int64], config: Config
) -> dict[str, PartedTable]:
    """Return what is `removed`, the `places` of items, `tallies`, and `pages`, in how many documents each benchmark is."""

    def decide(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        here = with_one_cause(tables["hits"].sort_by(HIT_ORDER), common)
        yield Sent("removed", removed_items(here, items, common, config), partition)
        yield Sent("places", place_table(here, items, common), partition)
        yield Sent("tallies", tally(here, common), 0)
        yield Sent("pages", page_counts(here, items, common), 0)

    outputs = {"removed": REMOVED_ITEMS, "places": ITEM_PLACES, "tallies": TALLIES, "pages": PAGES}
    return flow.reduce("items-removed", {"hits": hits}, decide, outputs)
