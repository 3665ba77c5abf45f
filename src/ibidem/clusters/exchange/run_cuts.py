"""What is removed of word runs, over many partitions; the rule is that of `clusters.run_cuts`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa

from ibidem.clusters.removals import SPANS
from ibidem.columns.parted_tables import table_of
from ibidem.execution.flow import Flow, PartedTable, Sent
from ibidem.sentences.ignored_text import IgnoredText
from ibidem.word_runs.core import pieces_to_cut
from ibidem.word_runs.exchange import Pieces, TextWords, located_flow, runs_at, runs_flow


def run_cuts_flow(
    flow: Flow, texts: PartedTable, ranks: PartedTable, size: int, hash_seed: int, ignored: IgnoredText | None
) -> PartedTable:
    """Return what is removed, `SPANS`, at home and in reading order."""

    def choose(here: TextWords, tables: Mapping[str, pa.Table]) -> Pieces:
        runs, rows = runs_at(tables["runs"], here)
        first = here.words.first
        document, word = (tables["protected"][name].to_numpy() for name in ("document", "word"))
        runs = replace(runs, protected=first[here.rows(document)] + word)
        start, end, run = pieces_to_cut(runs, len(here.words.hashes), size).T
        source_word = runs.source_word[run] + start - runs.start[run]
        return Pieces(rows[run], start - first[rows[run]], end - start, runs.source_document[run], source_word)

    def shape(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        table = tables["located"].sort_by([("document", "ascending"), ("start", "ascending")])
        names = ("document", "start", "next", "source_document", "source_start", "source_end")
        columns = [*(table[name] for name in names), np.zeros(table.num_rows, np.int64), table["is_all"]]
        yield Sent("spans", table_of(columns, SPANS), partition)

    found = runs_flow(flow, texts, ranks, size, hash_seed, ignored)
    located = located_flow(flow, texts, found, choose, hash_seed, ignored)
    return flow.reduce("run-cuts", {"located": located}, shape, {"spans": SPANS})["spans"]
