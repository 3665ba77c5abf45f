"""What the verbs give back on Spark: data frames, and the same tables in a folder, each as a folder of parts."""

from __future__ import annotations

import json
import os
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa

from ibidem.blocks import Blocks, Emitted
from ibidem.config import Config
from ibidem.distributed.cleaning import GONE
from ibidem.distributed.duplicates import ClusterBlocks
from ibidem.distributed.finding import FoundBlocks
from ibidem.distributed.layout import Layout
from ibidem.distributed.pairing import FOUND
from ibidem.distributed.runs import SparkRun
from ibidem.distributed.tables import cut_texts, in_order, table_of
from ibidem.documents.inputs import JSONL
from ibidem.engines.spark.session import (
    SessionSettings,
    delete,
    escaped,
    exists,
    list_files,
    rename_parts,
    spark_errors,
    write_text,
)
from ibidem.errors import OutputExistsError
from ibidem.model import CLUSTERS, DOCUMENTS, DUPLICATES, PASSAGES, REPEATS
from ibidem.progress import Progress
from ibidem.reports.writing import RESULT_NAMES, check_output, clear_output, describe_run
from ibidem.resemblance import SamplingPlan

_SIDE_TEXT = pa.schema([("number", pa.int64()), ("home", pa.int64()), ("text", pa.large_string())])
_WITH_TEXTS = pa.schema([*FOUND, ("a_text", pa.large_string()), ("b_text", pa.large_string())])
_SPAN = pa.schema(
    [("number", pa.int64()), ("home", pa.int64()), ("document", pa.int64()), ("start", pa.int64()), ("end", pa.int64())]
)


# What readers of JSON and CSV other than Spark's expect.
_AS_OTHERS_READ = {
    "header": True,
    "ignoreNullFields": False,
    "escape": '"',
    "ignoreLeadingWhiteSpace": False,
    "ignoreTrailingWhiteSpace": False,
    "emptyValue": "",
}


class RunFrames:
    """Tables of a run on Spark. They lie in the run's folder, which goes with `close`, or at the end of a with block."""

    _tables: Mapping[str, tuple[Blocks, Sequence[str]]]

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
        _clear(spark, folder)
        local, folder = local_path(folder), uri_of(folder)
        with spark_errors(), SessionSettings(spark):
            for name, frame in frames.items():
                writer = (_flat(frame) if table_format == "csv" else frame).write.options(**_AS_OTHERS_READ)
                path = f"{folder}/{name}.{table_format}"
                {"parquet": writer.parquet, "jsonl": writer.json, "csv": writer.csv}[table_format](path)
            if self._n_skipped:
                self._skipped_frame().write.options(**_AS_OTHERS_READ).json(f"{folder}/skipped.jsonl")
            write_more(folder)
        text = json.dumps({**self.run(), **more}, indent=2, ensure_ascii=False) + "\n"
        if local is None:
            write_text(spark, f"{folder}/run.json", text)
        else:
            (local / "run.json").write_text(text, encoding="utf-8")


class SparkResult(RunFrames):
    """Passages, documents and repeats as data frames, with the columns that `Result` has.

    A data frame has no order; tables that are written are in reading order, part after part.
    """

    def __init__(self, run: SparkRun, config: Config, progress: Progress, found: FoundBlocks) -> None:
        super().__init__(run, config, progress)
        self._texts: Blocks = found.texts
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
    def _with_texts(self) -> Blocks:
        with spark_errors(), SessionSettings(self._run.spark):
            return with_texts(self._run, self._tables["passages"][0], self._texts)

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
        self, run: SparkRun, config: Config, progress: Progress, gone: Blocks, clean: Callable[[bool], Blocks], kind: str
    ) -> None:
        super().__init__(run, config, progress)
        self._tables = {"removed": (gone, GONE.names[1:])}
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

        def write_cleaned(where: str) -> None:
            cleaned = self._cleaned(config.cleaning.mark_only)
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


def with_texts(run: SparkRun, passages: Blocks, texts: Blocks) -> Blocks:
    """Return the passages with the texts of both sides."""
    layout: Layout = run.layout

    def ask(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Emitted]:
        table = tables["passages"]
        for side in "ab":
            document = table[f"{side}_document"].to_numpy()
            columns = [
                table["number"],
                np.full(len(document), partition),
                document,
                table[f"{side}_start"],
                table[f"{side}_end"],
            ]
            yield Emitted(side, table_of(columns, _SPAN), layout.home(document))

    def cut(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Emitted]:
        documents = in_order(tables["texts"])
        numbers = documents["document"].to_numpy()
        for side in "ab":
            spans = tables[side]
            at = np.searchsorted(numbers, spans["document"].to_numpy())
            cuts = cut_texts(documents["text"], at, spans["start"].to_pylist(), spans["end"].to_pylist())
            yield Emitted(side, table_of([spans["number"], spans["home"], cuts], _SIDE_TEXT), spans["home"].to_numpy())

    def join(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Emitted]:
        def ordered(table: pa.Table) -> pa.Table:
            return table.take(pa.array(np.argsort(table["number"].to_numpy())))

        texts = [ordered(tables[side])["text"] for side in "ab"]
        yield Emitted("passages", table_of([*ordered(tables["passages"]).columns, *texts], _WITH_TEXTS), partition)

    flow = run.flow
    spans = flow.reduce("passages-spans", {"passages": passages}, ask, {"a": _SPAN, "b": _SPAN})
    cuts = flow.reduce("passages-cut", {"texts": texts, **spans}, cut, {"a": _SIDE_TEXT, "b": _SIDE_TEXT})
    return flow.reduce("passages-texts", {"passages": passages, **cuts}, join, {"passages": _WITH_TEXTS})["passages"]


def check_spark_output(spark: Any, folder: str, overwrite: bool) -> None:
    """Raise unless the folder, of any file system, may take results."""
    with spark_errors():
        _check_output(spark, folder, overwrite)


def _check_output(spark: Any, folder: str, overwrite: bool) -> None:
    if (path := local_path(folder)) is not None:
        check_output(path, overwrite)
    elif exists(spark, folder) and list_files(spark, folder):
        if not exists(spark, f"{folder}/run.json"):
            raise OutputExistsError(f"{folder} holds other files than results of ibidem", "Give another folder with -o.")
        if not overwrite:
            raise OutputExistsError(f"{folder} holds results already", "Give another folder, or --overwrite to replace them.")


def _clear(spark: Any, folder: str) -> None:
    if (path := local_path(folder)) is not None:
        clear_output(path)
    else:
        for name in RESULT_NAMES:
            delete(spark, f"{folder}/{name}")


def local_path(folder: str) -> Path | None:
    """Return the path of a folder on this machine, or None for one of another file system."""
    plain = folder.removeprefix("file://")
    return None if "://" in plain else Path(plain)


def uri_of(folder: str) -> str:
    """Return a folder as Spark takes it without doubt about its file system."""
    local = local_path(folder)
    return folder if local is None else f"file:{local.resolve()}"


def _flat(frame: Any) -> Any:
    """Return a frame without nested columns: a cell of CSV holds them as JSON."""
    from pyspark.sql import functions

    nested = [field.name for field in frame.schema.fields if field.dataType.typeName() in ("array", "struct")]
    return frame.withColumns({name: functions.to_json(name) for name in nested}) if nested else frame
