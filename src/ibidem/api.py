"""The functions behind `import ibidem`."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypeVar, overload

import pyarrow as pa

from ibidem.config import SHINGLE_SIZES, Config
from ibidem.config.sampling_plan import SamplingPlan
from ibidem.errors import SettingsError
from ibidem.execution.progress import Progress
from ibidem.model import Document, Passage, Similarity

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ibidem.evaluation.measures import Sentences
    from ibidem.execution.run import Run
    from ibidem.execution.spark.engine import SparkEngine
    from ibidem.formats.word_tables import WordTable
    from ibidem.results.cleaning_result import CleaningResult
    from ibidem.results.result import ClusterResult, Comparison, Result, Tuning


class ArrowStream(Protocol):
    """What gives its rows to Arrow: pandas and Polars frames, and many others."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


# What a setting may be: names, numbers and truth values, as on the command line; lists of names; words as mappings or tables.
Setting = str | int | float | Fraction | Sequence[str] | os.PathLike[str] | Mapping[str, int | Sequence[int]] | ArrowStream
# What documents are read from: a path, glob or folder, a table, records (also a Hugging Face dataset); or several of these.
Inputs: TypeAlias = (
    str | os.PathLike[str] | pa.Table | ArrowStream | Iterable[Mapping[str, object] | Document] | Sequence["Inputs"]
)
SparkInputs: TypeAlias = "Inputs | DataFrame | Sequence[Inputs | DataFrame]"
Plan = SamplingPlan | str | os.PathLike[str]
AnyResult = TypeVar("AnyResult")
Cleaned: TypeAlias = "CleaningResult[pa.Table, Iterator[Document]]"


@overload
def find(
    inputs: Inputs, *, against: Inputs | None = None, config: Config | None = None,
    progress: Progress | None = None, engine: Literal["local"] | None = None, **settings: Setting,
) -> Result[pa.Table]: ...  # fmt: skip
@overload
def find(
    inputs: SparkInputs, *, against: SparkInputs | None = None, config: Config | None = None,
    progress: Progress | None = None, engine: SparkEngine | Literal["spark"], **settings: Setting,
) -> Result[DataFrame]: ...  # fmt: skip
@overload
def find(
    inputs: SparkInputs, *, against: SparkInputs | None = None, config: Config | None = None,
    progress: Progress | None = None, engine: SparkEngine | str | None, **settings: Setting,
) -> Result[pa.Table] | Result[DataFrame]: ...  # fmt: skip
def find(
    inputs: SparkInputs,
    *,
    against: SparkInputs | None = None,
    config: Config | None = None,
    progress: Progress | None = None,
    engine: SparkEngine | str | None = None,
    **settings: Setting,
) -> Result[pa.Table] | Result[DataFrame]:
    """Find every passage that appears in two documents, located to the character in both.

    `inputs` is a path, glob or folder, `-` for standard input, an Arrow table, a pandas or Polars frame, a Hugging Face
    dataset, an iterable of dicts or `Document`s, or a list of such things. With `against`, only passages of the inputs that
    also appear in the reference documents are reported. Settings are those of the command line (`min_similarity=0.9`,
    `signature="exact"`, …); `config` gives them all at once.

    Returns a `Result`. With `engine=SparkEngine(spark)` the work runs on Spark: `inputs` may be Spark data frames, and the
    tables of the result are data frames too.

    >>> import ibidem
    >>> texts = ["The harbour was closed on Monday because of the storm. Two ferries stayed in port over night. "
    ...          "The mayor asked everyone to stay at home.", "It was loud. "]
    >>> texts[1] += texts[0]
    >>> result = ibidem.find([{"id": str(i), "text": t} for i, t in enumerate(texts)])
    >>> [(p.a.id, p.a.start, p.b.id, p.b.start, p.n_sentences, p.kind) for p in result]
    [('0', 0, '1', 13, 3, 'exact')]
    """
    config, spark_engine = _with_engine(config, engine, settings)
    config, progress = _with_seed("find", config.with_signature("words")), progress or Progress()
    from ibidem import pipeline

    return _carry_out("find", inputs, against, config, progress, spark_engine, pipeline.find)


def compare(text_a: str, text_b: str, *, config: Config | None = None, **settings: Setting) -> list[Passage]:
    """Align two texts word by word; return the passages they have in common, in the order of the first text.

    It finds edited, shortened and reordered copies, half sentences, and stretches that summarise the other text.
    `differences` of a passage says what was changed. The spans have the ids `a` and `b`.

    >>> import ibidem
    >>> text = ("The harbour was closed on Monday because of the storm, and two ferries stayed in port over night. "
    ...         "The mayor asked everyone to stay at home until the wind had gone down.")
    >>> edited = text.replace("Monday", "Tuesday").replace("asked everyone", "begged people")
    >>> for p in ibidem.compare("It was loud. " + text, edited):
    ...     print(p.a.start, p.a.end, p.b.start, p.b.end, p.kind, round(p.similarity, 2))
    13 181 0 168 quote 0.91
    """
    if not (text_a.strip() and text_b.strip()):
        return []
    # Settings that say how records are read are of no use here.
    config = dataclasses.replace(Config.of(config, **settings), documents=Config().documents)
    records = [{"id": "a", "text": text_a}, {"id": "b", "text": text_b}]
    return list(compare_pairs(records, [("a", "b")], config=config))


def compare_pairs(
    inputs: Inputs,
    pairs: str | os.PathLike[str] | Iterable[tuple[str, str]],
    *,
    config: Config | None = None,
    progress: Progress | None = None,
    **settings: Setting,
) -> Comparison:
    """Align listed pairs of documents word by word.

    `inputs` are as for `find`; `pairs` is a table with the columns a_id and b_id (Parquet, JSON lines or CSV), or pairs of
    ids. Returns a `Comparison`; its `skipped` lists pairs whose documents are not among the inputs.
    """
    from ibidem.evaluation.truth_files import read_pairs
    from ibidem.execution.run import MemoryRun
    from ibidem.pipeline import compare as compare_listed

    source = os.fspath(pairs) if isinstance(pairs, (str, os.PathLike)) else "the pairs"
    if isinstance(pairs, (str, os.PathLike)):
        table = read_pairs(Path(pairs))
        pairs = zip(table["a_id"].to_pylist(), table["b_id"].to_pylist(), strict=True)
    with MemoryRun(inputs, None, Config.of(config, **settings), progress or Progress()) as run:
        return compare_listed(run, list(pairs), source)


def sentence_places(inputs: Inputs, *, config: Config | None = None, **settings: Setting) -> Sentences:
    """Return where the sentences of all documents are; inputs and settings are as for `find`."""
    from ibidem.evaluation.measures import Sentences
    from ibidem.execution.checks import check_documents
    from ibidem.execution.run import MemoryRun
    from ibidem.sentences.stage import split

    config = Config.of(config, **settings)
    with MemoryRun(inputs, None, config, Progress()) as run:
        collection = split(run.flow, run.read(config.documents), config, run.progress).take()
        check_documents(collection, has_reference=False)
    columns = (collection.n_chars, collection.document, collection.start_char, collection.end_char)
    return Sentences(collection.ids, *(column.astype("int64") for column in columns))


@overload
def cluster(
    inputs: Inputs, *, against: Inputs | None = None, plan: Plan | None = None, config: Config | None = None,
    progress: Progress | None = None, engine: Literal["local"] | None = None, **settings: Setting,
) -> ClusterResult[pa.Table]: ...  # fmt: skip
@overload
def cluster(
    inputs: SparkInputs, *, against: SparkInputs | None = None, plan: Plan | None = None, config: Config | None = None,
    progress: Progress | None = None, engine: SparkEngine | Literal["spark"], **settings: Setting,
) -> ClusterResult[DataFrame]: ...  # fmt: skip
@overload
def cluster(
    inputs: SparkInputs, *, against: SparkInputs | None = None, plan: Plan | None = None, config: Config | None = None,
    progress: Progress | None = None, engine: SparkEngine | str | None, **settings: Setting,
) -> ClusterResult[pa.Table] | ClusterResult[DataFrame]: ...  # fmt: skip
def cluster(
    inputs: SparkInputs,
    *,
    against: SparkInputs | None = None,
    plan: Plan | None = None,
    config: Config | None = None,
    progress: Progress | None = None,
    engine: SparkEngine | str | None = None,
    **settings: Setting,
) -> ClusterResult[pa.Table] | ClusterResult[DataFrame]:
    """Find every pair of documents that are duplicates of one another, and the clusters they form.

    Inputs and settings are as for `find`. With `against`, only pairs of an input and a reference document are reported.
    `plan` is a sampling plan, or the file that `ibidem tune` wrote it to. Returns a `ClusterResult`; with
    `engine=SparkEngine(spark)` its tables are data frames.

    >>> import ibidem
    >>> text = "The harbour was closed on Monday because of the storm, and two ferries stayed in port over night."
    >>> records = [{"id": "a", "text": text}, {"id": "b", "text": text + " More soon."}, {"id": "c", "text": "It was loud."}]
    >>> result = ibidem.cluster(records, shingle_size=3)
    >>> result.duplicates.to_pylist()[0]["similarity"], result.clusters["id"].to_pylist()
    (0.8888888888888888, ['a', 'b'])
    """
    if isinstance(plan, (str, os.PathLike)):
        plan = SamplingPlan.load(plan)
    config, spark_engine = _with_engine(config, engine, settings)
    if plan is not None:
        plan.check(config)
    config, progress = _with_seed("cluster", config, plan), progress or Progress()
    from ibidem import pipeline

    program = partial(pipeline.cluster, plan=plan)
    return _carry_out("cluster", inputs, against, config, progress, spark_engine, program, plan)


def tune(
    inputs: Inputs,
    *,
    min_precision: float = 0.9,
    max_documents: int = 0,
    groups: Sequence[int] | None = None,
    config: Config | None = None,
    progress: Progress | None = None,
    **settings: Setting,
) -> Tuning:
    """Measure which share of the shingles `cluster` must look at, by document size, to reach a given precision.

    The resulting plan makes `cluster` look at fewer shingles. It is measured on the inputs (on the first `max_documents` of
    them, unless that is 0), for the given `min_similarity`. `groups` are the sizes, in shingles, at which groups start; the
    first is 0.
    """
    from ibidem import pipeline
    from ibidem.execution.run import MemoryRun
    from ibidem.resemblance import GROUPS

    bounds = tuple(groups) if groups is not None else GROUPS
    problems = []
    if not 0 < min_precision < 1:
        problems.append(f"min_precision must be between 0 and 1 (neither included), not {min_precision:g}")
    if max_documents < 0:
        problems.append(f"max_documents must be at least 0, not {max_documents}")
    if not bounds or bounds[0] != 0 or list(bounds) != sorted(set(bounds)):
        problems.append("groups must begin with 0 and increase")
    if problems:
        raise SettingsError(problems)
    with MemoryRun(inputs, None, Config.of(config, **settings), progress or Progress()) as run:
        return pipeline.tune(run, min_precision, max_documents, bounds)


@overload
def dedup(
    inputs: Inputs, *, against: Inputs | None = None, config: Config | None = None,
    progress: Progress | None = None, engine: Literal["local"] | None = None, **settings: Setting,
) -> Cleaned: ...  # fmt: skip
@overload
def dedup(
    inputs: SparkInputs, *, against: SparkInputs | None = None, config: Config | None = None,
    progress: Progress | None = None, engine: SparkEngine | Literal["spark"], **settings: Setting,
) -> CleaningResult[DataFrame, DataFrame]: ...  # fmt: skip
@overload
def dedup(
    inputs: SparkInputs, *, against: SparkInputs | None = None, config: Config | None = None,
    progress: Progress | None = None, engine: SparkEngine | str | None, **settings: Setting,
) -> Cleaned | CleaningResult[DataFrame, DataFrame]: ...  # fmt: skip
def dedup(
    inputs: SparkInputs,
    *,
    against: SparkInputs | None = None,
    config: Config | None = None,
    progress: Progress | None = None,
    engine: SparkEngine | str | None = None,
    **settings: Setting,
) -> Cleaned | CleaningResult[DataFrame, DataFrame]:
    """Decide what to remove from a collection so that nothing is in it twice; `remaining` and `write` give what remains.

    `level="document"` removes all but one document of each cluster of duplicates; `"passage"` cuts passages of at least
    `min_sentences` that appeared earlier; `"sentence"` cuts single sentences. With `against`, only what also appears in the
    reference is removed. Unless `signature` says otherwise, passages and sentences are removed only if they appear elsewhere
    word for word. Returns a `CleaningResult`; with `engine=SparkEngine(spark)`, `removed` and `remaining()` are data frames.

    >>> import ibidem
    >>> text = "The harbour was closed on Monday because of the storm, and two ferries stayed in port over night."
    >>> result = ibidem.dedup([{"id": "a", "text": text}, {"id": "b", "text": "It was loud. " + text}], level="sentence")
    >>> [(document.id, document.text) for document in result.remaining()][1]
    ('b', 'It was loud. ')
    """
    config, spark_engine = _with_engine(config, engine, settings)
    config, progress = _with_seed("dedup", config.with_signature("exact")), progress or Progress()
    from ibidem import pipeline
    from ibidem.execution.checks import check_reference

    inputs = inputs if spark_engine is not None else _repeatable(inputs)
    check_reference(inputs, against)  # before a run makes its folder: nothing could be resumed
    return _carry_out("dedup", inputs, against, config, progress, spark_engine, pipeline.dedup)


def _with_engine(
    config: Config | None, engine: SparkEngine | str | None, settings: Mapping[str, Setting]
) -> tuple[Config, SparkEngine | None]:
    """Return the settings, and the Spark engine that is given or asked for by its name; None for the local one."""
    if engine is None or isinstance(engine, str):
        config = Config.of(config, **settings, **({} if engine is None else {"engine": engine}))
        if config.engine.engine == "local":
            return config, None
        from ibidem.execution.spark.engine import own_engine

        return config, own_engine(config.engine, {})
    return Config.of(config, **settings, engine="spark"), engine


def _with_seed(verb: str, config: Config, plan: SamplingPlan | None = None) -> Config:
    """Return the settings with the seed of the run."""
    from ibidem.execution.disk.work_folder import earlier_seed
    from ibidem.execution.hash_seed import with_seed

    return with_seed(verb, config, plan, earlier_seed(config))


def _carry_out(
    verb: str,
    inputs: Any,
    against: Any,
    config: Config,
    progress: Progress,
    spark_engine: SparkEngine | None,
    program: Callable[[Run[Any]], AnyResult],
    plan: SamplingPlan | None = None,
) -> AnyResult:
    """Run a program on Spark if asked to, otherwise in memory if the inputs fit, and on disk if they do not."""
    from ibidem.execution.run import MemoryRun, OutgrownError
    from ibidem.execution.storage_choice import room_in_memory
    from ibidem.formats.word_tables import describe_words

    describe_words(config)  # first: what is wrong with files of words is said before documents are read
    if spark_engine is not None:
        from ibidem.execution.spark.run import SparkRun

        with SparkRun(spark_engine, inputs, against, config, progress) as on_spark:
            return program(on_spark)
    most_text_bytes = room_in_memory(verb, inputs, against, config, progress)
    if most_text_bytes is not None:
        try:
            with MemoryRun(inputs, against, config, progress, most_text_bytes) as in_memory:
                return program(in_memory)
        except OutgrownError:
            progress.tell("the texts are larger than the compressed size suggested; restarting on disk")
            progress.forget()
    from ibidem.execution.disk.run import DiskRun

    with DiskRun(verb, inputs, against, config, progress, plan) as on_disk:
        return program(on_disk)


def _repeatable(inputs: Any) -> Any:
    """Return inputs that can be read twice: what can be read only once is put into lists."""
    if isinstance(inputs, Iterator):
        inputs = list(inputs)
    return [_repeatable(item) for item in inputs] if isinstance(inputs, (list, tuple)) else inputs


def words(
    inputs: Inputs,
    *,
    min_documents: int = 1,
    max_words: int = 0,
    config: Config | None = None,
    progress: Progress | None = None,
    **settings: Setting,
) -> WordTable:
    """Count in how many documents each word occurs, and how often, for `word_counts` and `stop_words` of other calls.

    Inputs and settings are as for `find`. Words of fewer than `min_documents` documents are left out; `max_words` keeps only
    the most frequent ones, unless it is 0. Returns a `WordTable`, which can be written to a file or used as it is.

    >>> import ibidem
    >>> texts = ["The harbour was closed on Monday.", "The mayor closed the harbour."]
    >>> table = ibidem.words([{"id": str(i), "text": text} for i, text in enumerate(texts)])
    >>> table.n_documents, table.to_arrow().slice(1, 2).to_pylist()[0]
    (2, {'word': 'the', 'documents': 2, 'occurrences': 3})
    """
    problems = []
    if min_documents < 1:
        problems.append(f"min_documents must be at least 1, not {min_documents}")
    if max_words < 0:
        problems.append(f"max_words must be at least 0, not {max_words}")
    if problems:
        raise SettingsError(problems)
    from ibidem import pipeline
    from ibidem.execution.run import MemoryRun

    with MemoryRun(inputs, None, Config.of(config, **settings), progress or Progress()) as run:
        return pipeline.words(run).cut(min_documents, max_words)


def similarity(text_a: str, text_b: str, shingle_size: int = SHINGLE_SIZES["document"]) -> Similarity:
    """Return how alike two whole texts are, by the shingles of `shingle_size` words that they share.

    >>> import ibidem
    >>> ibidem.similarity("one two three four", "three four one two", shingle_size=1)
    Similarity(resemblance=1.0, containment_a=1.0, containment_b=1.0, order=0.5)
    """
    from ibidem.resemblance.comparison import compare_texts

    if shingle_size < 1:
        raise SettingsError([f"shingle_size must be at least 1, not {shingle_size}"])
    return compare_texts(text_a, text_b, shingle_size)
