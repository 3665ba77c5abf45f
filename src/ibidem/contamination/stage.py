"""Items of benchmarks in documents: where they are, and what is removed because of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ibidem.columns.collection import Documents
from ibidem.columns.text_checks import text_key
from ibidem.config import Config
from ibidem.contamination.core import find_hits, joined
from ibidem.contamination.decisions import (
    PAGES,
    TALLIES,
    benchmark_table,
    common_fields,
    count_fields,
    item_table,
    page_counts,
    place_table,
    removed_items,
    sum_tallies,
    tally,
    with_one_cause,
)
from ibidem.contamination.exchange import decide_in_partitions, find_in_partitions
from ibidem.contamination.items import Items
from ibidem.execution.flow import AnyFlow, InMemory, Parts, Source
from ibidem.execution.progress import Progress
from ibidem.sentences.ignored_text import load_ignored

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class FoundItems:
    """The places of items: `hits` in documents, and in how many of these each field is (`FIELD_COUNTS`)."""

    hits: Parts[pa.Table]
    field_counts: pa.Table
    documents: Parts[Documents] = field(default_factory=Parts)  # in memory; their texts are not kept


@dataclass(frozen=True)
class Contamination:
    """What follows: tables about benchmarks and items, which are small, all places, and what is removed."""

    benchmarks: pa.Table
    items: pa.Table
    places: Parts[pa.Table]
    removed: Parts[pa.Table]


def find_items(flow: AnyFlow, documents: Source, items: Items, config: Config, progress: Progress) -> FoundItems:
    """Find the items of benchmarks in all documents."""
    if not isinstance(flow, InMemory):
        found = find_in_partitions(flow, documents, items, config)
        counts = flow.collect(found["counts"])
        progress.add_documents(int(counts["n_documents"].to_numpy().sum()))
        progress.count(characters=int(counts["n_chars"].to_numpy().sum()))
        return FoundItems(Parts(tables={"hits": found["hits"]}), flow.collect(found["field_counts"]))
    ignored, key = load_ignored(config.sentences.ignore), text_key(config.sentences.hash_seed)
    items.grams  # noqa: B018 (made once, before several threads need it)

    def search(batch: pa.RecordBatch) -> tuple[pa.Table, NDArray[np.int64]]:
        hits = find_hits(batch, np.arange(batch.num_rows), items, config.contamination, ignored, key)
        return hits, pc.utf8_length(batch.column("text")).to_numpy(zero_copy_only=False).astype(np.int64)

    tables: list[pa.Table] = []
    lengths: list[Numbers] = [np.empty(0, np.int64)]
    n_documents = 0
    for hits, n_chars in flow.run_tasks(search, documents.batches):
        if hits.num_rows:
            number = pa.array(hits["document"].to_numpy() + n_documents)
            tables.append(hits.set_column(0, hits.schema.field("document"), number))
        lengths.append(n_chars)
        n_documents += len(n_chars)
        progress.add_documents(len(n_chars))
    whole, all_lengths = joined(tables), np.concatenate(lengths)
    progress.count(characters=int(all_lengths.sum()))
    known: Documents = Documents([], all_lengths, n_documents)
    return FoundItems(Parts(whole), count_fields(whole), Parts(known))


def decide_items(flow: AnyFlow, found: FoundItems, items: Items, config: Config) -> Contamination:
    """Decide which items are common text and what is removed, and make all tables."""
    common = common_fields(found.field_counts, config)
    places: Parts[pa.Table]
    removed: Parts[pa.Table]
    if isinstance(flow, InMemory):
        hits = with_one_cause(found.hits.take(), common)
        places, removed = Parts(place_table(hits, items, common)), Parts(removed_items(hits, items, common, config))
        tallies, pages = tally(hits, common), page_counts(hits, items, common)
    else:
        made = decide_in_partitions(flow, found.hits.take_table("hits"), items, common, config)
        tallies, pages = (
            pa.concat_tables([schema.empty_table(), flow.collect(made[name])])
            for name, schema in (("tallies", TALLIES), ("pages", PAGES))
        )
        places, removed = (
            Parts(tables={name: made[table]}) for name, table in (("item_places", "places"), ("removed", "removed"))
        )
    tallies = sum_tallies(tallies)
    return Contamination(benchmark_table(tallies, pages, items), item_table(tallies, items), places, removed)


def described_skips(items: Items) -> Sequence[str]:
    """Return a line for each benchmark with records that could not be used."""
    lines: list[str] = []
    by_name: dict[str, list[Any]] = {}
    for name, record in items.skipped:
        by_name.setdefault(name, []).append(record)
    for name, records in by_name.items():
        first = min(records, key=lambda record: (record.source, record.position))
        line = f":{first.position}" if first.position else ""
        counted = f"{len(records):,} record" + ("s" if len(records) > 1 else "")
        lines.append(f"{counted} of the benchmark {name} not used, such as {first.source}{line}: {first.reason}")
    return lines
