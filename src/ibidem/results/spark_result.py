"""What the verbs give back on Spark: data frames, and the same tables in a folder, each as a folder of parts."""

from __future__ import annotations

import json
import os
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from types import TracebackType
from typing import Any

from ibidem.config import Config
from ibidem.execution.flow import PartedTable
from ibidem.execution.programs.cluster import ClusterBlocks
from ibidem.execution.programs.find import FoundBlocks
from ibidem.execution.progress import Progress
from ibidem.execution.spark.files import check_spark_output, clear_spark_output, uri_of, write_file, write_frame
from ibidem.execution.spark.run import SparkRun
from ibidem.execution.spark.session import SessionSettings, escaped, rename_parts, spark_errors
from ibidem.formats.inputs import JSONL
from ibidem.model import CLUSTERS, DOCUMENTS, DUPLICATES, PASSAGES, REMOVED, REPEATS
from ibidem.resemblance import SamplingPlan
from ibidem.results.table_files import describe_run
from ibidem.results.texts import with_texts


class RunFrames:
    """Tables of a run on Spark. They lie in the run's folder, which goes with `close`, or at the end of a with block."""

    _tables: Mapping[str, tuple[PartedTable, Sequence[str]]]

    def __init__(self, run: SparkRun, config: Config, progress: Progress) -> None:
        self.skipped = run.scans.first_skipped(run.flow, strict=False).records
        self._n_skipped = run.scans.n_skipped
        self.config = config
        self.inputs = run.scans.described
        self.counts: Mapping[str, int] = progress.counts
        self.timings = progress.timings
        self._run = run
        # The folder goes with the result, also with one that is forgotten.
        self._closing = weakref.finalize(self, run.kept().close)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Remove what the run has kept; frames of it cannot be used any more."""
        self._closing()

    def run(self) -> dict[str, Any]:
        """Return what `run.json` holds."""
        counts = {**self.counts, **self._result_counts, "skipped": self._n_skipped}
        told = describe_run(self.config, self.inputs, counts, self.timings)
        context = self._run.spark.sparkContext
        return told | {
            "spark": {"version": context.version, "master": context.master, "partitions": self._run.layout.n_partitions}
        }

    @cached_property
    def _result_counts(self) -> Mapping[str, int]:
        return self._count_results()

    def _count_results(self) -> dict[str, int]:
        return {name: self._run.flow.count(blocks) for name, (blocks, _) in self._tables.items()}

    def summary(self, folder: object = None) -> str:
        """Return what was found, in a few lines for people."""
        seconds = sum(self.timings.values())
        counts = {**self.counts, **self._result_counts}
        lines = [", ".join(f"{number:,} {name.replace('_', ' ')}" for name, number in counts.items()) + f"; {seconds:.1f} s"]
        if self._n_skipped:
            lines.append(f"{self._n_skipped:,} records skipped; see skipped.jsonl")
        return "\n".join([*lines, *([f"results: {folder}"] if folder is not None else [])])

    def _skipped_frame(self) -> Any:
        scans, names = self._run.scans, ["source", "position", "reason", "id"]
        here = self._run.spark.createDataFrame(
            [(s.source, s.position, s.reason, s.id) for s in scans.skipped_here],
            "source string, position long, reason string, id string",
        )
        if scans.skipped is None:
            return here
        there = self._run.flow.frame(scans.skipped, [*names, "document"]).coalesce(1).sortWithinPartitions("document")
        return there.drop("document").unionByName(here) if scans.skipped_here else there.drop("document")

    def _frame(self, name: str) -> Any:
        """Return a table as it is written: real columns, in order."""
        blocks, columns = self._tables[name]
        return self._run.flow.frame(blocks, columns)

    def _kept(self, name: str) -> Any:
        """Return a table for further use; it is stored as Parquet first, so that the session's settings may be any."""
        return self._stored(f"table-{name}", self._frame(name))

    def _stored(self, name: str, frame: Any) -> Any:
        path = f"{self._run.folder}/{name}"
        with spark_errors(), SessionSettings(self._run.spark):
            frame.write.parquet(path)
        return self._run.spark.read.parquet(escaped(path))

    def _write(
        self,
        folder: str,
        frames: Mapping[str, Any],
        table_format: str,
        overwrite: bool,
        more: Mapping[str, Any],
        write_more: Callable[[str], None] = lambda folder: None,
    ) -> None:
        """Write frames, `skipped.jsonl`, what `write_more` writes, and, last of all, `run.json`."""
        spark = self._run.spark
        check_spark_output(spark, folder, overwrite)
        clear_spark_output(spark, folder)
        uri = uri_of(folder)
        with spark_errors(), SessionSettings(spark):
            for name, frame in frames.items():
                write_frame(frame, uri, name, table_format)
            if self._n_skipped:
                write_frame(self._skipped_frame(), uri, "skipped", "jsonl")
            write_more(uri)
        text = json.dumps({**self.run(), **more}, indent=2, ensure_ascii=False) + "\n"
        write_file(spark, folder, "run.json", text)


class SparkResult(RunFrames):
    """Passages, documents and repeats as data frames, with the columns that `Result` has.

    A data frame has no order; tables that are written are in reading order, part after part.
    """

    def __init__(self, run: SparkRun, config: Config, progress: Progress, found: FoundBlocks) -> None:
        super().__init__(run, config, progress)
        self._texts: PartedTable = found.texts
        self._tables = {
            "passages": (found.passages, PASSAGES.names),
            "documents": (found.documents, DOCUMENTS.names),
            "repeats": (found.repeats, ["document", "start", *REPEATS.names]),
        }

    @cached_property
    def passages(self) -> Any:
        """The passages."""
        return self._kept("passages")

    @cached_property
    def documents(self) -> Any:
        """The documents of the inputs, and how much of each stands elsewhere."""
        return self._kept("documents")

    @cached_property
    def repeats(self) -> Any:
        """Texts that stand in very many places."""
        return self._kept("repeats")

    def write(self, folder: str | os.PathLike[str], **settings: Any) -> None:
        """Write all tables into a folder of any file system; settings: `format`, `keep_text`, `overwrite`."""
        output = Config.of(self.config, **settings).output
        frames = {name: self._frame(name) for name in self._tables}
        if output.keep_text:
            frames["passages"] = self._run.flow.frame(self._with_texts, [*PASSAGES.names, "a_text", "b_text"])
        texts = self._run.flow.frame(self._texts, ["id", "text", "cleaned"])
        with spark_errors(), SessionSettings(self._run.spark):
            if texts.where("cleaned").limit(1).count():
                frames["texts"] = texts.where("cleaned").drop("cleaned")
        self._write(os.fspath(folder), frames, output.format, output.overwrite, {})

    @cached_property
    def _with_texts(self) -> PartedTable:
        with spark_errors(), SessionSettings(self._run.spark):
            return with_texts(self._run.flow, self._tables["passages"][0], self._texts, self._run.layout)

    def _frame(self, name: str) -> Any:
        frame = super()._frame(name)
        if name != "repeats":
            return frame
        from pyspark.sql import functions

        order = ["n_documents", functions.length("text"), "text", "document", "start", functions.size("places")]
        return frame.orderBy(*order, ascending=[False, False, True, True, True, True]).drop("document", "start")


class SparkClusterResult(RunFrames):
    """Pairs of duplicates and the clusters they form as data frames, with the columns that `ClusterResult` has."""

    def __init__(
        self, run: SparkRun, config: Config, progress: Progress, found: ClusterBlocks, plan: SamplingPlan | None
    ) -> None:
        super().__init__(run, config, progress)
        self.plan = plan
        self._tables = {"duplicates": (found.duplicates, DUPLICATES.names), "clusters": (found.clusters, CLUSTERS.names)}

    def _count_results(self) -> dict[str, int]:
        counts = super()._count_results()
        with spark_errors(), SessionSettings(self._run.spark):
            n_clusters = self._frame("clusters").where("canonical").count()
        return {"duplicates": counts["duplicates"], "clusters": n_clusters, "clustered": counts["clusters"]}

    @cached_property
    def duplicates(self) -> Any:
        """The pairs of duplicates."""
        return self._kept("duplicates")

    @cached_property
    def clusters(self) -> Any:
        """The members of all clusters."""
        return self._kept("clusters")

    def write(self, folder: str | os.PathLike[str], **settings: Any) -> None:
        """Write both tables into a folder of any file system; settings: `format`, `overwrite`."""
        output = Config.of(self.config, **settings).output
        more = {} if self.plan is None else {"plan": self.plan.to_dict()}
        frames = {name: self._frame(name) for name in self._tables}
        self._write(os.fspath(folder), frames, output.format, output.overwrite, more)


class SparkCleaningResult(RunFrames):
    """What was decided about a collection. `removed` says what goes; `remaining` and `write` give what is left."""

    def __init__(
        self,
        run: SparkRun,
        config: Config,
        progress: Progress,
        gone: PartedTable,
        clean: Callable[[bool], PartedTable],
        kind: str,
    ) -> None:
        super().__init__(run, config, progress)
        self._tables = {"removed": (gone, REMOVED.names)}
        self._clean = clean
        self._kind = kind

    @cached_property
    def removed(self) -> Any:
        """What goes, one row each: where it stands, and what it matches."""
        return self._kept("removed")

    @cache  # noqa: B019 (a result is not made often, and its folder lives as long as it)
    def remaining(self) -> Any:
        """Return the records that remain, as a data frame: all columns of theirs, or their lines (`value`)."""
        return self._stored("table-remaining", self._cleaned(self.config.cleaning.mark_only))

    def write(self, folder: str | os.PathLike[str], **settings: Any) -> None:
        """Write the cleaned collection and `removed.jsonl` into a folder; settings: `mark_only`, `overwrite`."""
        config = Config.of(self.config, **settings)
        check_spark_output(self._run.spark, os.fspath(folder), config.output.overwrite)
        cleaned = self._cleaned(config.cleaning.mark_only)  # before anything is replaced: it fails if inputs have changed

        def write_cleaned(where: str) -> None:
            if self._kind == JSONL:
                cleaned.write.text(f"{where}/cleaned.jsonl")
                rename_parts(self._run.spark, f"{where}/cleaned.jsonl", ".txt", ".jsonl")
            else:
                cleaned.write.parquet(f"{where}/cleaned.parquet")

        frames = {"removed": self._frame("removed")}
        self._write(os.fspath(folder), frames, "jsonl", config.output.overwrite, {}, write_cleaned)

    def _cleaned(self, mark_only: bool) -> Any:
        with spark_errors(), SessionSettings(self._run.spark):
            blocks = self._clean(mark_only)
        if self._kind == JSONL:
            return self._run.flow.frame(blocks, ["line"]).selectExpr("cast(line as string) as value")
        return self._run.flow.frame(blocks, blocks.schema.names[1:])
