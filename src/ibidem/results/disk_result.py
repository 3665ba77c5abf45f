"""What the verbs give back of a run that outgrew its memory: the same tables, on disk until they are asked for.

A result holds its work folder until it is closed, or forgotten; use it in a with block. `write` streams its tables.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ibidem.columns.collection import text_key
from ibidem.columns.parted_tables import CHECK_NAMES
from ibidem.config import Config
from ibidem.errors import UsageError
from ibidem.execution.disk.run import StoredRun
from ibidem.execution.flow import PartedTable
from ibidem.formats.decisions import Decisions
from ibidem.model import CLUSTERS, CUT_MARKS, DOCUMENTS, DUPLICATE_MARKS, DUPLICATES, PASSAGES, REMOVED, REPEATS, Passage, Span
from ibidem.resemblance import SamplingPlan
from ibidem.results.cleaning_result import AnyCleaningResult
from ibidem.results.decisions import StoredDecisions
from ibidem.results.disk_tables import StoredTable, StoredTexts
from ibidem.results.overview import (
    CleaningOverview,
    ClusterOverview,
    PassageOverview,
    kinds_of,
    largest_clusters,
    longest_of,
    removed_of,
    reused_of,
)
from ibidem.results.result import RunResult, write_clusters
from ibidem.results.table_files import check_output, write_result
from ibidem.results.texts import with_texts

_CLEANED_TEXTS = pa.schema([("id", pa.large_string()), ("text", pa.large_string())])
_TEXT_FIELDS = [pa.field("a_text", pa.large_string()), pa.field("b_text", pa.large_string())]


class Stored:
    """Tables by name, the run that they lie in, and its work folder, which goes with this."""

    def __init__(self, run: StoredRun, tables: Mapping[str, StoredTable]) -> None:
        self.run = run
        self.tables = tables
        self.is_closed = False
        self._closing = weakref.finalize(self, run.live_on().close)

    def table(self, name: str) -> StoredTable:
        """Return a table; UsageError if what it lies in is gone."""
        if self.is_closed:
            raise UsageError("the result was closed, and what it held is gone", "Read what you need before that.")
        return self.tables[name]

    def close(self, failed: bool) -> None:
        """Remove the work folder, unless the run is to be resumed."""
        self.is_closed = True
        if failed:
            self._closing.detach()
            self.run.work.close(failed=True)
        else:
            self._closing()


@dataclass(frozen=True, repr=False)
class StoredResultBase(RunResult):
    """What results on disk have in common."""

    stored: Stored

    def close(self, failed: bool = False) -> None:
        """Remove what the run has stored; nothing of the result can be read any more."""
        self.stored.close(failed)

    def _table(self, name: str) -> StoredTable:
        return self.stored.table(name)


@dataclass(frozen=True, repr=False)
class StoredResult(StoredResultBase):
    """Passages, documents and repeats, as a `Result` has them. Tables are read from disk when they are asked for."""

    def __len__(self) -> int:
        return self._table("passages").num_rows

    def __repr__(self) -> str:
        sizes = (f"{self._table(name).num_rows} {name}" for name in ("passages", "repeats", "documents"))
        return f"<StoredResult: {', '.join(sizes)}>"

    def __iter__(self) -> Iterator[Passage]:
        for batch in self._with_texts.raw_batches():
            yield from _passages(batch, batch["a_text"].to_pylist(), batch["b_text"].to_pylist())

    @property
    def passages(self) -> pa.Table:
        """All passages, in memory."""
        return self._table("passages").read()

    @property
    def documents(self) -> pa.Table:
        """The documents of the inputs, and how much of each stands elsewhere, in memory."""
        return self._table("documents").read()

    @property
    def repeats(self) -> pa.Table:
        """Texts that stand in very many places, in memory."""
        return self._table("repeats").read()

    def with_texts(self) -> pa.Table:
        """Return the passages with the columns `a_text` and `b_text`, in memory."""
        return self._with_texts.read()

    def longest(self, count: int) -> list[Passage]:
        """Return the longest passages, by characters of both sides together."""
        texts = StoredTexts(self.stored.run.documents, self.stored.run.layout)
        found: list[Passage] = []
        for row in longest_of(self._table("passages").raw_batches(), count):
            told = row.to_pylist()[0]
            cuts = [[texts.text(told[f"{side}_document"])[told[f"{side}_start"] : told[f"{side}_end"]]] for side in "ab"]
            found.extend(_passages(row, *cuts))
        return found

    def overview(self) -> PassageOverview:
        """Return what a summary tells, but for the longest passages."""
        documents = self._table("documents")
        return PassageOverview(
            kinds_of(self._table("passages").to_batches(["kind"])),
            n_repeats=self._table("repeats").num_rows,
            n_documents=documents.num_rows,
            n_reused=reused_of(documents.to_batches(["reused_share"])),
        )

    def write(self, folder: str | os.PathLike[str], **settings: Any) -> list[Path]:
        """Write all tables, `skipped.jsonl` and `run.json` into a folder; settings: `format`, `keep_text`, `overwrite`."""
        output = Config.of(self.config, **settings).output
        path = Path(folder)
        check_output(path, output.overwrite)
        tables = {name: table.reader() for name, table in self.stored.tables.items()}
        if output.keep_text:
            tables["passages"] = self._with_texts.reader()
        if self.stored.run.has_cleaned_texts:
            tables["texts"] = pa.RecordBatchReader.from_batches(_CLEANED_TEXTS, self._cleaned_texts())
        return write_result(path, tables, self.skipped, self.run(), output.format)

    @cached_property
    def _with_texts(self) -> StoredTable:
        run = self.stored.run
        blocks = with_texts(run.flow, self._table("passages").blocks, run.documents, run.layout)
        return StoredTable(blocks, pa.schema([*PASSAGES, *_TEXT_FIELDS]))

    def _cleaned_texts(self) -> Iterator[pa.RecordBatch]:
        for batch in StoredTable(self.stored.run.documents, _CLEANED_TEXTS).raw_batches():
            yield batch.filter(batch["cleaned"]).select(_CLEANED_TEXTS.names).cast(_CLEANED_TEXTS)

    def _result_counts(self) -> dict[str, int]:
        return {"passages": len(self), "repeats": self._table("repeats").num_rows}


def found_tables(passages: PartedTable, documents: PartedTable, repeats: PartedTable) -> dict[str, StoredTable]:
    """Return the tables of `find`."""
    return {
        "passages": StoredTable(passages, PASSAGES),
        "documents": StoredTable(documents, DOCUMENTS),
        "repeats": StoredTable(repeats, REPEATS, sort_by="rank"),
    }


def _passages(batch: pa.RecordBatch, a_texts: Sequence[str], b_texts: Sequence[str]) -> Iterator[Passage]:
    rows = batch.select([name for name in batch.schema.names if not name.endswith("_text")]).to_pylist()
    for row, a_text, b_text in zip(rows, a_texts, b_texts, strict=True):
        a, b = Span(row["a_id"], row["a_start"], row["a_end"], a_text), Span(row["b_id"], row["b_start"], row["b_end"], b_text)
        yield Passage(a, b, row["n_sentences"], row["similarity"], row["kind"], row["direction"])


@dataclass(frozen=True, repr=False)
class StoredClusterResult(StoredResultBase):
    """Pairs of duplicates and the clusters they form, as a `ClusterResult` has them, read from disk when asked for."""

    plan: SamplingPlan | None

    def __len__(self) -> int:
        return self._table("duplicates").num_rows

    def __repr__(self) -> str:
        counts = self._result_counts()
        return (
            f"<StoredClusterResult: {len(self)} pairs, {counts['clusters']} clusters of {counts['clustered']} documents>"
        )

    @property
    def duplicates(self) -> pa.Table:
        """The pairs of duplicates, in memory."""
        return self._table("duplicates").read()

    @property
    def clusters(self) -> pa.Table:
        """The members of all clusters, in memory."""
        return self._table("clusters").read()

    def overview(self) -> ClusterOverview:
        """Return what a summary tells."""
        table = self._table("clusters")
        n_clusters, largest = largest_clusters(table.to_batches)
        return ClusterOverview(len(self), n_clusters, table.num_rows, self.stored.run.layout.n_records, largest)

    def write(self, folder: str | os.PathLike[str], **settings: Any) -> list[Path]:
        """Write both tables, `skipped.jsonl` and `run.json` into a folder; settings: `format`, `overwrite`."""
        return write_clusters(self, folder, {name: table.reader() for name, table in self.stored.tables.items()}, **settings)

    @cached_property
    def _n_clusters(self) -> int:
        batches = self._table("clusters").to_batches(["canonical"])
        return sum(int(np.count_nonzero(batch["canonical"].to_numpy(zero_copy_only=False))) for batch in batches)

    def _result_counts(self) -> dict[str, int]:
        return {"duplicates": len(self), "clusters": self._n_clusters, "clustered": self._table("clusters").num_rows}


def cluster_tables(duplicates: PartedTable, clusters: PartedTable) -> dict[str, StoredTable]:
    """Return the tables of `cluster`."""
    return {"duplicates": StoredTable(duplicates, DUPLICATES), "clusters": StoredTable(clusters, CLUSTERS)}


@dataclass(frozen=True, repr=False)
class StoredCleaningResult(AnyCleaningResult, StoredResultBase):
    """What was decided about a collection, as a `CleaningResult` has it, read from disk when asked for."""

    @property
    def removed(self) -> pa.Table:
        """What goes, one row each: where it stands, and what it matches. In memory."""
        return self._table("removed").read()

    def removed_rows(self) -> pa.RecordBatchReader:
        """Return what goes, for one reading."""
        return self._table("removed").reader()

    def overview(self) -> CleaningOverview:
        """Return what a summary tells."""
        return self._overview

    def changes(self) -> Iterator[tuple[int, tuple[tuple[int, int], ...] | None]]:
        """Yield the documents that change, by number, in order, and what is cut out of each; None: all of it goes."""
        number, is_whole = -1, False
        spans: list[tuple[int, int]] = []
        for batch in self._table("removed").raw_batches():
            columns = (batch[name].to_pylist() for name in ("document", "start", "end", "removed"))
            for document, start, end, removed in zip(*columns, strict=True):
                if document != number and number >= 0:
                    yield number, None if is_whole else tuple(spans)
                    spans = []
                number, is_whole = document, removed == "document"
                spans.append((start, end))
        if number >= 0:
            yield number, None if is_whole else tuple(spans)

    def first_removed(self, count: int) -> list[dict[str, Any]]:
        """Return the first rows of what goes, each with the number of its document."""
        rows: list[dict[str, Any]] = []
        for batch in self._table("removed").raw_batches():
            told = batch.select([name for name in batch.schema.names if name not in CHECK_NAMES])
            rows.extend(told.slice(0, count - len(rows)).to_pylist())
            if len(rows) >= count:
                break
        return rows

    def decisions(self, mark_only: bool) -> Decisions:
        """Return what happens to the records of the input files."""
        key = text_key(self.config.sentences.hash_seed)
        return StoredDecisions(self._table("removed"), self.stored.tables.get("members"), mark_only, key)

    def known_texts(self) -> Iterator[tuple[int, tuple[int, int]]]:
        """Yield the documents that change, by number, in order, and the checks of their texts."""
        last = -1
        for batch in self._table("removed").raw_batches():
            columns = (batch[name].to_pylist() for name in ("document", *CHECK_NAMES))
            for document, *check in zip(*columns, strict=True):
                if document != last:
                    yield document, tuple(check)
                    last = document

    @property
    def mark_columns(self) -> pa.Schema:
        """The columns that records get where nothing is removed."""
        return DUPLICATE_MARKS if "members" in self.stored.tables else CUT_MARKS

    @cached_property
    def _overview(self) -> CleaningOverview:
        run = self.stored.run
        return CleaningOverview(run.layout.n_input, run.n_input_chars, *removed_of(self._table("removed").raw_batches()))


def cleaning_tables(gone: PartedTable, members: PartedTable | None) -> dict[str, StoredTable]:
    """Return the tables of `dedup`; members of clusters are not written, but marked."""
    tables = {"removed": StoredTable(gone, REMOVED)}
    return tables if members is None else tables | {"members": StoredTable(members, members.schema)}
