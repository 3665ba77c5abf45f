"""What the verbs give back: tables, the texts behind them, and ways to look at them and to keep them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ibidem.columns.collection import Collection, Documents
from ibidem.config import Config
from ibidem.model import Passage, Skipped, Span
from ibidem.resemblance import SamplingPlan, SizeGroup
from ibidem.results.overview import (
    ClusterOverview,
    PassageOverview,
    in_batches,
    kinds_of,
    largest_clusters,
    longest_of,
    reused_of,
)
from ibidem.results.table_files import check_output, describe_run, write_result


@dataclass(frozen=True, repr=False)
class RunResult:
    """What every run keeps besides its tables."""

    skipped: Sequence[Skipped]
    config: Config
    inputs: Sequence[Mapping[str, Any]]
    counts: Mapping[str, int]
    timings: Mapping[str, float]
    notices: Sequence[str] = field(default=(), kw_only=True)
    resources: Mapping[str, int] = field(default_factory=dict, kw_only=True)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close(failed=problem[0] is not None)

    def close(self, failed: bool = False) -> None:
        """Give back what the result holds on disk, if its run was larger than memory; nothing of it can be read any more."""

    def run(self) -> dict[str, Any]:
        """Return what `run.json` holds: version, settings, inputs, counts and timings of the run."""
        counts = {**self.counts, **self._result_counts(), "skipped": len(self.skipped)}
        told = describe_run(self.config, self.inputs, counts, self.timings, self.resources)
        return told | ({"notices": list(self.notices)} if self.notices else {})

    def to_html(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        max_pairs: int | None = None,
        overwrite: bool = False,
    ) -> Path:
        """Write a report: one page that shows the results and needs nothing else; return its path.

        `max_pairs` bounds how many pairs of documents it shows (2,500). The page holds the texts of the documents it shows. A
        file that is there and is no report is not touched unless `overwrite` says so.
        """
        from ibidem.viewer.report import report_result

        return report_result(self, Path(path), title, max_pairs, overwrite)

    def _result_counts(self) -> dict[str, int]:
        return {}


@dataclass(frozen=True, repr=False)
class PassageResult(RunResult):
    """Passages as an Arrow table. Iterating yields every `Passage` with its texts."""

    passages: pa.Table
    collection: Collection

    def __len__(self) -> int:
        return self.passages.num_rows  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[Passage]:
        for batch in self.passages.to_batches(max_chunksize=10_000):
            yield from self._passages_of(batch)

    def longest(self, count: int) -> list[Passage]:
        """Return the longest passages, by characters of both sides together."""
        longest = longest_of(self.passages.to_batches(), count)
        return [passage for row in longest for passage in self._passages_of(row)]

    def with_texts(self) -> pa.Table:
        """Return the passages with the columns `a_text` and `b_text`."""
        table = self.passages
        for side in ("a", "b"):
            table = table.append_column(f"{side}_text", pa.array(list(self._texts(table, side)), pa.large_string()))
        return table

    def write(self, folder: str | os.PathLike[str], **settings: Any) -> list[Path]:
        """Write all tables, `skipped.jsonl` and `run.json` into a folder; settings: `format`, `keep_text`, `overwrite`."""
        output = Config.of(self.config, **settings).output
        path = Path(folder)
        check_output(path, output.overwrite)
        tables = {"passages": self.with_texts() if output.keep_text else self.passages, **self._further_tables()}
        cleaned = self._cleaned_texts()
        if cleaned.num_rows:
            tables["texts"] = cleaned
        return write_result(path, tables, self.skipped, self.run(), output.format)

    def _further_tables(self) -> dict[str, pa.Table]:
        return {}

    def _result_counts(self) -> dict[str, int]:
        return {"passages": len(self)}

    def _passages_of(self, batch: pa.RecordBatch) -> Iterator[Passage]:
        sides = [
            [
                Span(*columns)
                for columns in zip(
                    batch[f"{side}_id"].to_pylist(), batch[f"{side}_start"].to_pylist(), batch[f"{side}_end"].to_pylist(),
                    self._texts(batch, side), strict=True,
                )
            ]
            for side in "ab"
        ]  # fmt: skip
        rest = (batch[name].to_pylist() for name in ("n_sentences", "similarity", "kind", "direction"))
        for a, b, n_sentences, similarity, kind, direction in zip(*sides, *rest, strict=True):
            yield Passage(a, b, n_sentences, similarity, kind, direction)

    def _texts(self, passages: pa.Table | pa.RecordBatch, side: str) -> Iterator[str]:
        # The codes of the id column are document numbers: two documents of one id (with `against`) stay apart.
        codes = passages[f"{side}_id"]
        codes = codes.combine_chunks().indices if isinstance(codes, pa.ChunkedArray) else codes.indices
        text_of = lru_cache(maxsize=64)(self.collection.text)
        for document, start, end in zip(
            codes.to_pylist(), passages[f"{side}_start"].to_pylist(), passages[f"{side}_end"].to_pylist(), strict=True
        ):
            yield text_of(document)[start:end]

    def _cleaned_texts(self) -> pa.Table:
        """Return the texts that were taken out of HTML: the passages' offsets count in them, and they stand nowhere else."""
        batches = [b.filter(b.column("cleaned")).select(["id", "text"]) for b in self.collection.batches]
        return pa.Table.from_batches(batches, schema=self.collection.batches[0].select(["id", "text"]).schema)


@dataclass(frozen=True, repr=False)
class Result(PassageResult):
    """Passages, documents and repeats as Arrow tables. Iterating yields every `Passage` with its texts."""

    documents: pa.Table
    repeats: pa.Table

    def __repr__(self) -> str:
        return f"<Result: {len(self)} passages, {self.repeats.num_rows} repeats, {self.documents.num_rows} documents>"

    def overview(self) -> PassageOverview:
        """Return what a summary tells, but for the longest passages."""
        return PassageOverview(
            kinds_of(self.passages.select(["kind"]).to_batches()),
            n_repeats=self.repeats.num_rows,
            n_documents=self.documents.num_rows,
            n_reused=reused_of(self.documents.select(["reused_share"]).to_batches()),
            most_words=int(self.collection.n_words.max(initial=0)),
            most_sentences=int(np.diff(self.collection.document_first).max(initial=0)),
        )

    def _further_tables(self) -> dict[str, pa.Table]:
        return {"documents": self.documents, "repeats": self.repeats}

    def _result_counts(self) -> dict[str, int]:
        return {"passages": len(self), "repeats": self.repeats.num_rows}


@dataclass(frozen=True, repr=False)
class Comparison(PassageResult):
    """The passages of listed pairs of documents, as an Arrow table. Iterating yields every `Passage` with its texts."""

    n_pairs: int

    def __repr__(self) -> str:
        return f"<Comparison: {len(self)} passages in {self.n_pairs} pairs>"


@dataclass(frozen=True, repr=False)
class ClusterResult(RunResult):
    """Pairs of duplicates and the clusters they form, as Arrow tables; `plan` is the sampling plan that was used, if any."""

    duplicates: pa.Table
    clusters: pa.Table
    documents: Documents
    plan: SamplingPlan | None

    def __len__(self) -> int:
        return self.duplicates.num_rows  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        n_clusters = self._result_counts()["clusters"]
        return f"<ClusterResult: {len(self)} pairs, {n_clusters} clusters of {self.clusters.num_rows} documents>"

    def overview(self) -> ClusterOverview:
        """Return what a summary tells."""
        n_clusters, largest = largest_clusters(in_batches(self.clusters))
        return ClusterOverview(len(self), n_clusters, self.clusters.num_rows, self.documents.n_documents, largest)

    def write(self, folder: str | os.PathLike[str], **settings: Any) -> list[Path]:
        """Write both tables, `skipped.jsonl` and `run.json` into a folder; settings: `format`, `overwrite`."""
        return write_clusters(self, folder, {"duplicates": self.duplicates, "clusters": self.clusters}, **settings)

    def _result_counts(self) -> dict[str, int]:
        n_canonical = int(np.count_nonzero(self.clusters["canonical"].to_numpy()))
        return {"duplicates": len(self), "clusters": n_canonical, "clustered": self.clusters.num_rows}


def write_clusters(result: Any, folder: str | os.PathLike[str], tables: Mapping[str, Any], **settings: Any) -> list[Path]:
    """Write the tables of a clustering, in memory or as streams, with all that is told of it."""
    output = Config.of(result.config, **settings).output
    path = Path(folder)
    check_output(path, output.overwrite)
    run = result.run() | ({} if result.plan is None else {"plan": result.plan.to_dict()})
    return write_result(path, tables, result.skipped, run, output.format)


@dataclass(frozen=True)
class Tuning:
    """A sampling plan, and what was measured for each group of documents of about one size."""

    plan: SamplingPlan
    groups: Sequence[SizeGroup]
    skipped: Sequence[Skipped]

    @property
    def share(self) -> float:
        """Share of all shingles that the plan looks at."""
        total = sum(group.n_shingles for group in self.groups)
        return sum(group.n_shingles / group.every for group in self.groups) / total if total else 1.0
