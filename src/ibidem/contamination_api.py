"""`ibidem.decontaminate`: items of benchmarks in training data."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, overload

import pyarrow as pa

from ibidem.config import Config
from ibidem.config.keywords import carried_out_by
from ibidem.execution.progress import Progress
from ibidem.execution.verb_runs import VerbRun
from ibidem.model import Document, Inputs, Setting, SparkInputs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from typing_extensions import Unpack

    from ibidem.config.verb_settings import DecontaminateSettings
    from ibidem.execution.spark.engine import SparkEngine
    from ibidem.results.contamination_result import ContaminationResult

Given = TypeVar("Given", bound="Inputs")
Record = TypeVar("Record")
Decontaminated: TypeAlias = "ContaminationResult[pa.Table, Iterator[Document], Given]"
DecontaminatedOnSpark: TypeAlias = "ContaminationResult[DataFrame, DataFrame, DataFrame]"


def _decontaminate(
    inputs: Any, benchmarks: Mapping[str, Any], *, config: Config | None = None, progress: Progress | None = None,
    engine: SparkEngine | str | None = None, **settings: Setting,
) -> Any:  # fmt: skip
    from ibidem import pipeline
    from ibidem.contamination.benchmark_files import check_level, read_items
    from ibidem.formats.python_inputs import repeatable

    run = VerbRun.of("decontaminate", inputs, None, config, progress, engine, settings)
    check_level(run.config)
    if run.spark_engine is None:
        run = dataclasses.replace(run, inputs=repeatable(run.inputs))
    items = read_items(benchmarks, run.config, run.inputs)
    run = dataclasses.replace(run, further={"benchmarks": list(items.inputs)})
    return run.carry_out(partial(pipeline.decontaminate, items=items))


@overload
def decontaminate(
    inputs: Iterator[Record], benchmarks: Mapping[str, Inputs], *, config: Config | None = None,
    progress: Progress | None = None, engine: Literal["local"] | None = None, **settings: Unpack[DecontaminateSettings],
) -> Decontaminated[list[Record]]: ...  # fmt: skip
@overload
def decontaminate(
    inputs: Given, benchmarks: Mapping[str, Inputs], *, config: Config | None = None, progress: Progress | None = None,
    engine: Literal["local"] | None = None, **settings: Unpack[DecontaminateSettings],
) -> Decontaminated[Given]: ...  # fmt: skip
@overload
def decontaminate(
    inputs: SparkInputs, benchmarks: Mapping[str, Inputs], *, config: Config | None = None,
    progress: Progress | None = None, engine: SparkEngine | Literal["spark"], **settings: Unpack[DecontaminateSettings],
) -> DecontaminatedOnSpark: ...  # fmt: skip
@overload
def decontaminate(
    inputs: SparkInputs, benchmarks: Mapping[str, Inputs], *, config: Config | None = None,
    progress: Progress | None = None, engine: SparkEngine | str | None, **settings: Unpack[DecontaminateSettings],
) -> Decontaminated[Any] | DecontaminatedOnSpark: ...  # fmt: skip
@carried_out_by(_decontaminate)
def decontaminate(
    inputs: SparkInputs, benchmarks: Mapping[str, Inputs], *, config: Config | None = None,
    progress: Progress | None = None, engine: SparkEngine | str | None = None,
    # settings of decontaminate
    text_field: str = "text", id_field: str = "id", query: str = "none", html: bool = False, main_content: bool = False,
    text_path: str = "auto", encoding: str = "utf-8", hash_seed: int = -1, ignore: str | Sequence[str] = "none",
    level: Literal["document", "passage", "sentence", "run"] = "document", mark_only: bool = False, prompt_fields: str = "auto",
    answer_fields: str = "auto", item_id_field: str = "id", min_item_words: int = 8, whole_share: float | Fraction = 0.8,
    min_part_words: int = 13, max_item_pages: int = 100, workers: int = 0, memory: str = "auto", max_disk: str = "auto",
    tmp_dir: str = "auto", partitions: int = 0, resume: bool = False, work_dir: str = "auto", overwrite: bool = False,
    strict: bool = False,
    # end of settings
) -> Decontaminated[Any] | DecontaminatedOnSpark:  # fmt: skip
    """Find the items of benchmarks in training data, and decide what to remove so that none is left.

    `benchmarks` maps names to inputs: files, tables or records. `prompt_fields` and `answer_fields` say which of their fields
    to look for: `"question"` for all of them, `["quiz=question", "exam=stem"]` for some. An item is found *whole* where
    `whole_share` of its words are close together, however lines break, with single words changed, or with other text in
    between; *in part* where `min_part_words` are nearly in a row. `level="document"` removes documents with an item,
    `level="passage"` cuts the item out.

    Returns a `ContaminationResult`: `benchmarks`, `found_items` and `item_places` are tables, `cleaned()` is what the inputs
    are. With `engine=SparkEngine(spark)`, `item_places`, `removed` and `cleaned()` are Spark data frames.

    >>> import ibidem
    >>> pages = ["It was loud. How many ferries\\nstayed in port over night? Two of them did.", "It was quiet."]
    >>> quiz = [{"id": 7, "question": "How many ferries stayed in port over night?", "answer": "two"}]
    >>> result = ibidem.decontaminate(pages, {"quiz": quiz}, level="passage")
    >>> result.shares, result.cleaned()
    ({'quiz': 1.0}, ['It was loud. of them did.', 'It was quiet.'])
    """
    raise NotImplementedError
