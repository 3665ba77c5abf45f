"""What the verbs return: tables, the texts behind them, and ways to look at them and to write them.

There is one class per verb. Only its backing knows where the rows are: in memory, on disk or on Spark.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

import pyarrow as pa

from ibidem.columns.notebook import MOST_ROWS, counted, listed, longest_passages, page
from ibidem.config import Config
from ibidem.config.sampling_plan import SamplingPlan
from ibidem.config.settings import OutputConfig
from ibidem.config.surface import given, in_shell
from ibidem.errors import UsageError
from ibidem.model import Passage, Skipped
from ibidem.resemblance import SizeGroup
from ibidem.results.overview import ClusterOverview, PassageOverview, kinds_of, largest_clusters, mirrors_of, reused_of
from ibidem.results.remote_folder import file_sent_to
from ibidem.results.reuse_baseline import Baseline
from ibidem.results.reuse_check import ReuseCheck, baseline_of, reuse_check
from ibidem.results.sampling_grid import grid_table
from ibidem.results.storage import Backing, Table, TableT_co, passages_of
from ibidem.results.table_files import describe_run

AnyResult = TypeVar("AnyResult", bound="RunResult[Any]")
TableFormat = Literal["parquet", "jsonl", "csv"]
ExportFormat = Literal["xlsx", "csv", "gexf", "graphml", "pan", "tei", "annotations", "sarif", "html-table"]
ExportTable = Literal["pairs", "passages", "families", "places", "documents"]
ExportNetwork = Literal["documents", "groups", "passages"]


@dataclass(frozen=True, repr=False, eq=False)
class RunResult(Generic[TableT_co]):
    """What every result has besides its tables. `backing.storage` says where these are: memory, disk or spark."""

    skipped: Sequence[Skipped]
    config: Config
    inputs: Sequence[Mapping[str, Any]]
    counts: Mapping[str, int]
    timings: Mapping[str, float]
    backing: Backing[TableT_co]
    notices: Sequence[str] = field(default=(), kw_only=True)
    resources: Mapping[str, int] = field(default_factory=dict, kw_only=True)
    n_skipped: int | None = field(default=None, kw_only=True)  # None: `skipped` has all of them

    def __enter__(self: AnyResult) -> AnyResult:
        return self

    def __repr__(self) -> str:
        try:
            return f"<{type(self).__name__}: {self._sentence()}>"
        except UsageError:
            return f"<{type(self).__name__}: closed>"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: a sentence, and the first of what was found; on Spark, the sentence alone."""
        try:
            return page(f"{self._sentence()}.", *([] if self.backing.storage == "spark" else self._examples()))
        except UsageError as error:
            return page(f"{error.message}.")

    def _sentence(self) -> str:
        """Say what was found, in a sentence without its full stop."""
        raise NotImplementedError

    def _examples(self) -> Iterator[str]:
        """Yield the first of what was found, as HTML."""
        raise NotImplementedError

    def __exit__(self, *problem: object) -> None:
        self.close(failed=problem[0] is not None)

    def close(self, failed: bool = False) -> None:
        """Delete the temporary files of the run, if any; tables stored in them can no longer be read."""
        self.backing.close(failed)

    def run(self) -> dict[str, Any]:
        """Return what `run.json` contains: version, settings, inputs, counts and timings of the run."""
        n_skipped = len(self.skipped) if self.n_skipped is None else self.n_skipped
        counts = {**self.counts, **self._result_counts, "skipped": n_skipped}
        run = describe_run(self.config, self.inputs, counts, self.timings, self.resources)
        return {**run, **({"notices": list(self.notices)} if self.notices else {}), **self.backing.facts()}

    def to_html(
        self,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        max_pairs: int | None = None,
        overwrite: bool = False,
    ) -> Path:
        """Write a report: one self-contained page with the results; return its path.

        `max_pairs` bounds how many pairs of documents it shows (2,500). The page contains the texts of the documents it shows.
        An existing file that is not a report is replaced only with `overwrite`.
        """
        from ibidem.viewer.report import report_result

        with file_sent_to(path) as place:
            return report_result(self, place, title, max_pairs, overwrite)

    def export(
        self,
        path: str | os.PathLike[str],
        *,
        to: ExportFormat,
        table: ExportTable | None = None,
        network: ExportNetwork | None = None,
        base: str = "",
        baseline: str | os.PathLike[str] | None = None,
        overwrite: bool = False,
    ) -> Path:
        """Write the results for another program, with times, groups, titles and texts; return the path.

        `table` is what csv and html-table contain (passages or, if there are none, pairs); `network` is what gexf and graphml
        connect (documents); `base` is what the addresses of documents begin with in tei, annotations and sarif; what a
        `baseline` has is left out of sarif. An option that the format does not know is refused. With pan, the path is a folder.
        An existing file is replaced only with `overwrite`.
        """
        from ibidem.viewer.exports.export_formats import ExportOptions, export_result

        known = None if baseline is None else Path(baseline)
        return export_result(self, Path(path), to, ExportOptions(table, network, base, known), overwrite)

    @cached_property
    def _result_counts(self) -> Mapping[str, int]:
        return self._count()

    def _count(self) -> dict[str, int]:
        return {}

    def _write(self, folder: str | os.PathLike[str], tables: Mapping[str, Table], table_format: str, **more: Any) -> list[Path]:
        return self.backing.write(folder, tables, self.skipped, self.run() | more, table_format)


@dataclass(frozen=True, repr=False, eq=False)
class PassageResult(RunResult[TableT_co]):
    """Passages. Iterating yields every `Passage` with its texts."""

    def __len__(self) -> int:
        return self.backing.table("passages").n_rows

    def __iter__(self) -> Iterator[Passage]:
        for batch in self.backing.passages_with_texts().batches():
            yield from passages_of(batch)

    @property
    def passages(self) -> TableT_co:
        """All passages."""
        return self.backing.native("passages")

    def longest(self, count: int) -> list[Passage]:
        """Return the longest passages, by the characters of both sides together."""
        rows = self.backing.add_texts(self.backing.longest(count))
        return [passage for row in rows for passage in passages_of(row)]

    def with_texts(self) -> pa.Table:
        """Return the passages with the columns `a_text` and `b_text`, in memory."""
        return self.backing.passages_with_texts().read()

    def write(
        self, folder: str | os.PathLike[str], *, format: TableFormat | None = None, keep_text: bool | None = None,
        overwrite: bool | None = None,
    ) -> list[Path]:  # fmt: skip
        """Write all tables, `skipped.jsonl` and `run.json` into a folder.

        Settings not given here are those of the run. The folder may be elsewhere, such as s3://bucket/folder. Return the paths;
        of a folder elsewhere, and on Spark, where each table is a folder of parts, an empty list.
        """
        output = _output_settings(self.config, format=format, keep_text=keep_text, overwrite=overwrite)
        self.backing.check_output(folder, output.overwrite)
        passages = self.backing.passages_with_texts() if output.keep_text else self.backing.table("passages")
        tables = {"passages": passages, **self._further_tables()}
        cleaned = self.backing.cleaned_texts()
        return self._write(folder, tables if cleaned is None else {**tables, "texts": cleaned}, output.format)

    def _examples(self) -> Iterator[str]:
        yield longest_passages(self.backing)

    def _further_tables(self) -> dict[str, Table]:
        return {}

    def _count(self) -> dict[str, int]:
        return {"passages": len(self)}


@dataclass(frozen=True, repr=False, eq=False)
class Result(PassageResult[TableT_co]):
    """Passages, documents and repeats: Arrow tables, or data frames on Spark. Iterating yields every `Passage` with its texts.

    The tables of a run that was larger than memory are read from disk at every access. They are in reading order. A data frame
    has no order, but it is written in reading order too, part after part.
    """

    def _sentence(self) -> str:
        return ", ".join(counted(self.backing.table(f"{noun}s").n_rows, noun) for noun in ("passage", "repeat", "document"))

    @property
    def documents(self) -> TableT_co:
        """The documents of the inputs, and how much of each also appears elsewhere."""
        return self.backing.native("documents")

    @property
    def repeats(self) -> TableT_co:
        """Texts that appear in very many places."""
        return self.backing.native("repeats")

    @property
    def families(self) -> TableT_co:
        """All places of each passage, with its wordings, if `families` was set."""
        return self._asked_for("families")

    @property
    def sentence_pairs(self) -> TableT_co:
        """All pairs of matching sentences, if `sentence_pairs` was set."""
        return self._asked_for("sentence_pairs")

    @property
    def postings(self) -> TableT_co:
        """The inverted index of signatures, if `postings` was set."""
        return self._asked_for("postings")

    @property
    def runs(self) -> TableT_co:
        """Runs of words that also occur earlier, if `runs` was set."""
        return self._asked_for("runs")

    def _asked_for(self, name: str) -> TableT_co:
        if not self.backing.has(name):
            raise UsageError(f"this run has no table {name}", f"Run it again with {given(name, True)}.")
        return self.backing.native(name)

    def overview(self) -> PassageOverview:
        """Return what a summary says, except for the longest passages."""
        documents, sizes = self.backing.table("documents"), self.backing.sizes()
        return PassageOverview(
            kinds_of(self.backing.table("passages").batches(["kind"])),
            n_repeats=self.backing.table("repeats").n_rows,
            n_documents=documents.n_rows,
            n_reused=reused_of(documents.batches(["reused_share"])),
            most_words=sizes.most_words,
            most_sentences=sizes.most_sentences,
        )

    def check_reuse(self, max_share: float | Fraction, *, baseline: str | os.PathLike[str] | None = None) -> ReuseCheck:
        """Check that no document shares more than a part of its text (0 to 1) with others: for continuous integration.

        What a `baseline`, a file of `write_baseline`, already has does not count. The share is that of the characters of a
        document which are in passages and repeats. Not on Spark.
        """
        limit = Fraction(str(max_share))
        if not 0 <= limit <= 1:
            raise UsageError(f"{in_shell('--max-reused-share', 'max_share')} must be from 0 to 1, not {max_share}")
        known = None if baseline is None else Baseline.read(baseline)
        return reuse_check(self._local_backing("check_reuse"), self.config.sentences, limit, known)

    def write_baseline(self, path: str | os.PathLike[str]) -> Path:
        """Write what documents share now to a file that `check_reuse` takes; return its path. Not on Spark."""
        return baseline_of(self._local_backing("write_baseline"), self.config.sentences).write(path)

    def _local_backing(self, what: str) -> Backing[TableT_co]:
        if self.backing.storage == "spark":
            raise UsageError(f"{what} does not work on Spark", "Use the local engine.")
        return self.backing

    def _further_tables(self) -> dict[str, Table]:
        return {name: self.backing.table(name) for name in ("documents", "repeats", *self._optional)}

    def _count(self) -> dict[str, int]:
        counts = {name: self.backing.table(name).n_rows for name in ("repeats", *self._optional)}
        if "families" in counts:
            counts["families"] = self.backing.count_true("families", "is_first")
        return {"passages": len(self), **counts}

    @property
    def _optional(self) -> list[str]:
        return [name for name in ("families", "sentence_pairs", "postings", "runs") if self.backing.has(name)]


@dataclass(frozen=True, repr=False, eq=False)
class Comparison(PassageResult[pa.Table]):
    """The passages of listed pairs of documents, as an Arrow table. Iterating yields every `Passage` with its texts."""

    n_pairs: int

    def _sentence(self) -> str:
        return f"{counted(len(self), 'passage')} in {counted(self.n_pairs, 'pair')}"


@dataclass(frozen=True, repr=False, eq=False)
class ClusterResult(RunResult[TableT_co]):
    """Pairs of duplicates and the clusters they form: Arrow tables, or data frames on Spark.

    `plan` is the sampling plan that was used, if any.
    """

    plan: SamplingPlan | None

    def __len__(self) -> int:
        return self.backing.table("duplicates").n_rows

    def _sentence(self) -> str:
        pairs, counts = counted(len(self), "pair"), self._result_counts
        return f"{pairs}, {counted(counts['clusters'], 'cluster')} of {counted(counts['clustered'], 'document')}"

    def _examples(self) -> Iterator[str]:
        found = self.overview()
        rows = [(n, canonical, ", ".join(others[:MOST_ROWS])) for n, canonical, others in found.largest]
        if rows:
            yield listed(("documents", "keep", "duplicates of it"), rows, found.n_clusters - len(rows))

    @property
    def duplicates(self) -> TableT_co:
        """The pairs of duplicates."""
        return self.backing.native("duplicates")

    @property
    def clusters(self) -> TableT_co:
        """The members of all clusters."""
        return self.backing.native("clusters")

    @property
    def mirrors(self) -> TableT_co:
        """The groups that share documents; UsageError unless `by_group` was set."""
        if not self.backing.has("mirrors"):
            raise UsageError("groups were not compared", f"Set {given('by_group', True)}.")
        return self.backing.native("mirrors")

    def overview(self) -> ClusterOverview:
        """Return what a summary says."""
        clusters = self.backing.table("clusters")
        n_clusters, largest = largest_clusters(clusters.batches)
        mirrors = mirrors_of(self.backing.table("mirrors").batches()) if self.backing.has("mirrors") else None
        n_documents = self.backing.sizes().n_all_documents
        return ClusterOverview(len(self), n_clusters, clusters.n_rows, n_documents, largest, mirrors)

    def write(
        self, folder: str | os.PathLike[str], *, format: TableFormat | None = None, overwrite: bool | None = None
    ) -> list[Path]:
        """Write all tables, `skipped.jsonl` and `run.json` into a folder.

        Settings not given here are those of the run. Return the paths; on Spark or of a folder elsewhere, an empty list.
        """
        output = _output_settings(self.config, format=format, overwrite=overwrite)
        self.backing.check_output(folder, output.overwrite)
        names = [name for name in ("duplicates", "clusters", "mirrors") if self.backing.has(name)]
        tables = {name: self.backing.table(name) for name in names}
        return self._write(folder, tables, output.format, **({} if self.plan is None else {"plan": self.plan.to_dict()}))

    def _count(self) -> dict[str, int]:
        n_clusters = self.backing.count_true("clusters", "canonical")
        counts = {"duplicates": len(self), "clusters": n_clusters, "clustered": self.backing.table("clusters").n_rows}
        return counts | ({"mirrors": self.backing.table("mirrors").n_rows} if self.backing.has("mirrors") else {})


@dataclass(frozen=True)
class Tuning:
    """A sampling plan, and what was measured for each group of documents of about one size.

    `by_limit` has the groups of each similarity limit whose whole grid was asked for.
    """

    plan: SamplingPlan
    groups: Sequence[SizeGroup]
    skipped: Sequence[Skipped]
    by_limit: Mapping[Fraction, Sequence[SizeGroup]] = field(default_factory=dict)

    @property
    def grid(self) -> pa.Table:
        """Precision and recall for each limit, ratio and size that was asked for: one row each, and one for all sizes.

        Neither is known where there is no pair. `samples` is the number of remainders that were averaged.
        """
        return grid_table(self.by_limit)

    @property
    def share(self) -> float:
        """Share of all shingles that the plan uses."""
        total = sum(group.n_shingles for group in self.groups)
        return sum(group.n_shingles / group.every for group in self.groups) / total if total else 1.0

    def __repr__(self) -> str:
        return f"<Tuning: {self.share:.1%} of all shingles, in {len(self.groups)} groups of documents>"

    def _repr_html_(self) -> str:
        names = ("from_shingles", "every", "n_documents", "n_shingles")
        rows = [[getattr(group, name) for name in names] for group in self.groups]
        return page(f"The plan looks at {self.share:.1%} of all shingles.", listed([n.replace("_", " ") for n in names], rows))


def _output_settings(config: Config, **given: object) -> OutputConfig:
    """Return the settings of the run for what it writes, with those that are given now."""
    return Config.of(config, **{name: value for name, value in given.items() if value is not None}).output
