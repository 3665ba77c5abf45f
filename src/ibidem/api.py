"""The functions behind `import ibidem`, each with all its settings, and carried out by the function before it."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, overload

import pyarrow as pa

from ibidem.config import SHINGLE_SIZES, Config
from ibidem.config.checks import check_at_least
from ibidem.config.keywords import carried_out_by
from ibidem.config.papers import MIN_PRECISION, check_paper
from ibidem.config.sampling_plan import SamplingPlan, check_tuning, grid_limits_of
from ibidem.execution.progress import Progress
from ibidem.execution.verb_runs import VerbRun
from ibidem.model import Document, Inputs, Passage, Setting, Similarity, SparkInputs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from typing_extensions import Unpack

    from ibidem.config.verb_settings import ClusterSettings, DedupSettings, FindSettings
    from ibidem.config.word_source import GivenPath, GivenWords
    from ibidem.evaluation.measures import Sentences
    from ibidem.execution.spark.engine import SparkEngine
    from ibidem.results.cleaning_result import CleaningResult
    from ibidem.results.result import ClusterResult, Comparison, Result, Tuning
Plan = SamplingPlan | str | os.PathLike[str]
Given = TypeVar("Given", bound="Inputs")
Record = TypeVar("Record")
Cleaned: TypeAlias = "CleaningResult[pa.Table, Iterator[Document], Given]"
CleanedOnSpark: TypeAlias = "CleaningResult[DataFrame, DataFrame, DataFrame]"


def _find(
    inputs: Any, *, against: Any = None, config: Config | None = None, progress: Progress | None = None,
    engine: SparkEngine | str | None = None, **settings: Setting,
) -> Any:  # fmt: skip
    run = VerbRun.of("find", inputs, against, config, progress, engine, settings, signature="words")
    del inputs, against
    from ibidem import pipeline

    return run.carry_out(pipeline.find)


@overload
def find(
    inputs: Inputs, *, against: Inputs | None = None, config: Config | None = None, progress: Progress | None = None,
    engine: Literal["local"] | None = None, **settings: Unpack[FindSettings],
) -> Result[pa.Table]: ...  # fmt: skip
@overload
def find(
    inputs: SparkInputs, *, against: SparkInputs | None = None, config: Config | None = None,
    progress: Progress | None = None, engine: SparkEngine | Literal["spark"], **settings: Unpack[FindSettings],
) -> Result[DataFrame]: ...  # fmt: skip
@overload
def find(
    inputs: SparkInputs, *, against: SparkInputs | None = None, config: Config | None = None,
    progress: Progress | None = None, engine: SparkEngine | str | None, **settings: Unpack[FindSettings],
) -> Result[pa.Table] | Result[DataFrame]: ...  # fmt: skip
@carried_out_by(_find)
def find(
    inputs: SparkInputs, *, against: SparkInputs | None = None, config: Config | None = None,
    progress: Progress | None = None, engine: SparkEngine | str | None = None,
    # settings of find
    text_field: str = "text", id_field: str = "id", time_field: str = "time", group_field: str = "group",
    date_format: str = "auto", metadata: GivenPath = "none", metadata_key: str = "auto", time_from: str = "none",
    group_from: str = "none", query: str = "none", html: bool = False, main_content: bool = False, text_path: str = "auto",
    encoding: str = "utf-8", against_text_field: str = "same", against_id_field: str = "same", against_time_field: str = "same",
    against_group_field: str = "same", lang: str = "auto", max_sentence_words: int = 120, hash_seed: int = -1,
    ignore: str | Sequence[str] = "none",
    signature: Literal["auto", "exact", "words", "shingles", "imatch", "spotsigs", "fingerprint"] = "auto",
    shingle_size: int = 0, min_idf: float = 0.1, max_idf: float = 1.0, antecedents: str | int | Sequence[str] = "auto",
    spot_stop_words: str | int | Sequence[str] = "auto", spot_short_chains: bool = False, spot_distance: int = 1,
    spot_chain: int = 2, max_document_share: float = 0.6, word_counts: GivenWords = "none", stop_words: GivenWords = "none",
    as_paper: Literal["none", "pdc-mr", "swlr", "qsign", "yoon", "ye"] = "none", paper: bool = False,
    min_similarity: float | Fraction = 0.8, sentence_pairs: bool = False, postings: bool = False, min_sentences: int = 3,
    min_words: int = 1, min_quote_words: int = 10, max_gap_sentences: int = 4, extend_ends: bool = True, max_places: int = 100,
    min_run_words: int = 50, min_passage_similarity: float | Fraction = 0, min_passage_chars: int = 0,
    min_coverage: float | Fraction = 0, same_document: bool = False, skip_same_group: bool = False, runs: bool = False,
    families: bool = False, align: bool | None = None, min_evidence: float = 25.0, min_aligned_words: int = 25,
    difference_kinds: bool = False, only_differences: str = "all", workers: int = 0, memory: str = "auto",
    max_disk: str = "auto", tmp_dir: str = "auto", partitions: int = 0, resume: bool = False, work_dir: str = "auto",
    format: Literal["parquet", "jsonl", "csv"] = "parquet", keep_text: bool = False, overwrite: bool = False,
    strict: bool = False,
    # end of settings
) -> Result[pa.Table] | Result[DataFrame]:  # fmt: skip
    """Find every passage that appears in two documents, located to the character in both.

    `inputs` is one of these, or a list of them:

    - a path, glob or folder, or `-` for standard input;
    - texts: a list of strings, a Series. Their ids are their positions, from 0; of a pandas Series the index, if it is unique
      and not a plain range. Strings are paths if all of them exist, and texts if none does and one contains a blank;
    - records: dicts or `Document`s in a list or generator;
    - tables: a pandas or Polars frame, a Polars LazyFrame (which is collected), Arrow data, a Hugging Face dataset.

    With `against`, only passages of the inputs that also appear in the reference documents are reported. Settings are those
    of the command line (`min_similarity=0.9`, `signature="exact"`, …); `config` gives them all at once, and keywords win.

    Returns a `Result`. With `engine=SparkEngine(spark)`, inputs may be Spark data frames, and the tables of the result are.

    >>> import ibidem
    >>> texts = ["The harbour was closed on Monday because of the storm. Two ferries stayed in port over night. "
    ...          "The mayor asked everyone to stay at home.", "It was loud. "]
    >>> texts[1] += texts[0]
    >>> result = ibidem.find(texts)
    >>> [(p.a.id, p.a.start, p.b.id, p.b.start, p.n_sentences, p.kind) for p in result]
    [('0', 0, '1', 13, 3, 'exact')]
    """
    raise NotImplementedError


def _compare(text_a: str, text_b: str, *, config: Config | None = None, **settings: Setting) -> list[Passage]:
    from ibidem.formats.python_inputs import check_texts

    check_texts(text_a, text_b)
    if not (text_a.strip() and text_b.strip()):
        return []
    config = dataclasses.replace(Config.of(config, **settings), documents=Config().documents)
    records = [{"id": "a", "text": text_a}, {"id": "b", "text": text_b}]
    return list(compare_pairs(records, [("a", "b")], config=config))


@carried_out_by(_compare)
def compare(
    text_a: str, text_b: str, *, config: Config | None = None,
    # settings of compare
    lang: str = "auto", max_sentence_words: int = 120, hash_seed: int = -1, max_gap_sentences: int = 4,
    min_evidence: float = 25.0, min_aligned_words: int = 25, only_differences: str = "all", summaries: bool = True,
    workers: int = 0,
    # end of settings
) -> list[Passage]:  # fmt: skip
    """Align two texts word by word; return the passages they have in common, in the order of the first text.

    It finds edited and shortened copies, half sentences and summaries. `differences` says what was changed, and how.

    >>> import ibidem
    >>> text = ("The harbour was closed on Monday because of the storm, and two ferries stayed in port over night. "
    ...         "The mayor asked everyone to stay at home until the wind had gone down.")
    >>> edited = text.replace("Monday", "Tuesday").replace("asked everyone", "begged people")
    >>> for p in ibidem.compare("It was loud. " + text, edited):
    ...     print(p.a.start, p.a.end, p.b.start, p.b.end, p.kind, round(p.similarity, 2))
    13 181 0 168 quote 0.91
    """
    raise NotImplementedError


def _compare_pairs(
    inputs: Any, pairs: Any, *, config: Config | None = None, progress: Progress | None = None, **settings: Setting
) -> Comparison:
    from ibidem.evaluation.truth_files import read_pairs
    from ibidem.execution.run import MemoryRun
    from ibidem.formats.python_inputs import settle
    from ibidem.pipeline import compare as compare_listed

    source = os.fspath(pairs) if isinstance(pairs, (str, os.PathLike)) else "the pairs"
    if isinstance(pairs, (str, os.PathLike)):
        table = read_pairs(Path(pairs))
        pairs = zip(table["a_id"].to_pylist(), table["b_id"].to_pylist(), strict=True)
    config = Config.of(config, **settings)
    check_paper(config, "compare")
    with MemoryRun(settle(inputs), None, config, progress or Progress()) as run:
        return compare_listed(run, list(pairs), source)


@carried_out_by(_compare_pairs)
def compare_pairs(
    inputs: Inputs, pairs: str | os.PathLike[str] | Iterable[tuple[str, str]], *,
    config: Config | None = None, progress: Progress | None = None,
    # settings of compare_pairs
    text_field: str = "text", id_field: str = "id", time_field: str = "time", query: str = "none", html: bool = False,
    main_content: bool = False, text_path: str = "auto", encoding: str = "utf-8", lang: str = "auto",
    max_sentence_words: int = 120, hash_seed: int = -1, max_gap_sentences: int = 4, min_evidence: float = 25.0,
    min_aligned_words: int = 25, difference_kinds: bool = False, only_differences: str = "all", summaries: bool = True,
    workers: int = 0, format: Literal["parquet", "jsonl", "csv"] = "parquet", keep_text: bool = False, overwrite: bool = False,
    strict: bool = False,
    # end of settings
) -> Comparison:  # fmt: skip
    """Align listed pairs of documents word by word.

    `inputs` are as for `find`; `pairs` is a table with the columns a_id and b_id (Parquet, JSON lines or CSV), or pairs of
    ids. Returns a `Comparison`; its `skipped` lists pairs whose documents are not among the inputs.
    """
    raise NotImplementedError


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


def _cluster(
    inputs: Any, *, against: Any = None, plan: Plan | None = None, config: Config | None = None,
    progress: Progress | None = None, engine: SparkEngine | str | None = None, **settings: Setting,
) -> Any:  # fmt: skip
    run = VerbRun.of("cluster", inputs, against, config, progress, engine, settings).with_plan(plan)
    del inputs, against
    from ibidem import pipeline

    return run.carry_out(partial(pipeline.cluster, plan=run.plan))


@overload
def cluster(
    inputs: Inputs, *, against: Inputs | None = None, plan: Plan | None = None, config: Config | None = None,
    progress: Progress | None = None, engine: Literal["local"] | None = None, **settings: Unpack[ClusterSettings],
) -> ClusterResult[pa.Table]: ...  # fmt: skip
@overload
def cluster(
    inputs: SparkInputs, *, against: SparkInputs | None = None, plan: Plan | None = None, config: Config | None = None,
    progress: Progress | None = None, engine: SparkEngine | Literal["spark"], **settings: Unpack[ClusterSettings],
) -> ClusterResult[DataFrame]: ...  # fmt: skip
@overload
def cluster(
    inputs: SparkInputs, *, against: SparkInputs | None = None, plan: Plan | None = None, config: Config | None = None,
    progress: Progress | None = None, engine: SparkEngine | str | None, **settings: Unpack[ClusterSettings],
) -> ClusterResult[pa.Table] | ClusterResult[DataFrame]: ...  # fmt: skip
@carried_out_by(_cluster)
def cluster(
    inputs: SparkInputs, *, against: SparkInputs | None = None, plan: Plan | None = None, config: Config | None = None,
    progress: Progress | None = None, engine: SparkEngine | str | None = None,
    # settings of cluster
    text_field: str = "text", id_field: str = "id", time_field: str = "time", group_field: str = "group",
    date_format: str = "auto", metadata: GivenPath = "none", metadata_key: str = "auto", time_from: str = "none",
    group_from: str = "none", query: str = "none", html: bool = False, main_content: bool = False, text_path: str = "auto",
    encoding: str = "utf-8", against_text_field: str = "same", against_id_field: str = "same", against_time_field: str = "same",
    against_group_field: str = "same", contained: Literal["input", "reference", "either"] = "input", hash_seed: int = -1,
    ignore: str | Sequence[str] = "none", shingle_size: int = 0, min_idf: float = 0.1, max_idf: float = 1.0,
    antecedents: str | int | Sequence[str] = "auto", spot_stop_words: str | int | Sequence[str] = "auto",
    spot_short_chains: bool = False, spot_distance: int = 1, spot_chain: int = 2, word_counts: GivenWords = "none",
    stop_words: GivenWords = "none", as_paper: Literal["none", "pdc-mr", "swlr", "qsign", "yoon", "ye"] = "none",
    paper: bool = False, min_similarity: float | Fraction = 0.8, measure: Literal["resemblance", "order"] = "resemblance",
    method: Literal["join", "identical", "shingling", "pairs", "minhash", "simhash", "imatch", "spotsigs"] = "join",
    contractions: bool = False, min_containment: float | Fraction = 0, min_shared_shingles: int = 0,
    max_shingle_documents: int = 1000, shingle_unit: Literal["word", "line"] = "word",
    sampling: Literal["modulo", "smallest", "supershingles"] = "modulo", sample_every: int = 1, sample_remainder: int = 0,
    sample_size: int = 400, supershingles: int = 6, supershingle_size: int = 14, min_supershingles: int = 2,
    verify: bool = True, filter_bits: int = 256, permutations: int = 128, bands: int = 16, max_bits_apart: int = 3,
    keep: str = "first", chains: bool = False, by_group: bool = False, workers: int = 0, memory: str = "auto",
    max_disk: str = "auto", tmp_dir: str = "auto", partitions: int = 0, resume: bool = False, work_dir: str = "auto",
    format: Literal["parquet", "jsonl", "csv"] = "parquet", overwrite: bool = False, strict: bool = False,
    # end of settings
) -> ClusterResult[pa.Table] | ClusterResult[DataFrame]:  # fmt: skip
    """Find every pair of documents that are duplicates of one another, and the clusters they form.

    Inputs and settings are as for `find`. With `against`, only pairs of an input and a reference document are reported.
    `plan` is a sampling plan, or the file that `ibidem tune` wrote. With `engine=SparkEngine(spark)`, tables are data frames.

    >>> import ibidem
    >>> text = "The harbour was closed on Monday because of the storm, and two ferries stayed in port over night."
    >>> records = [{"id": "a", "text": text}, {"id": "b", "text": text + " More soon."}, {"id": "c", "text": "It was loud."}]
    >>> result = ibidem.cluster(records, shingle_size=3)
    >>> result.duplicates.to_pylist()[0]["similarity"], result.clusters["id"].to_pylist()
    (0.8888888888888888, ['a', 'b'])
    """
    raise NotImplementedError


def _tune(
    inputs: Any, *, min_precision: float | None = None, max_documents: int = 0, groups: Sequence[int] | None = None,
    ratios: Sequence[int] | None = None, limits: Sequence[float | str | Fraction] | None = None, all_remainders: bool = False,
    config: Config | None = None, progress: Progress | None = None, **settings: Setting,
) -> Tuning:  # fmt: skip
    from ibidem import pipeline
    from ibidem.execution.run import MemoryRun
    from ibidem.formats.python_inputs import settle
    from ibidem.resemblance import GROUPS, RATIOS

    config = Config.of(config, **settings)
    check_paper(config, "tune")
    if min_precision is None:
        min_precision = MIN_PRECISION.get(config.signatures.as_paper, 0.9)
    bounds, tried = groups if groups is not None else GROUPS, ratios if ratios is not None else RATIOS
    has_grid = ratios is not None or limits is not None or all_remainders
    grid_limits = grid_limits_of(config, limits, has_grid)
    check_tuning(config, min_precision, max_documents, bounds, tried)
    with MemoryRun(settle(inputs), None, config, progress or Progress()) as run:
        return pipeline.tune(run, min_precision, max_documents, bounds, tried, grid_limits, all_remainders)


@carried_out_by(_tune)
def tune(
    inputs: Inputs, *, min_precision: float = 0.9, max_documents: int = 0, groups: Sequence[int] | None = None,
    ratios: Sequence[int] | None = None, limits: Sequence[float | str | Fraction] | None = None, all_remainders: bool = False,
    config: Config | None = None, progress: Progress | None = None,
    # settings of tune
    text_field: str = "text", id_field: str = "id", query: str = "none", html: bool = False, main_content: bool = False,
    text_path: str = "auto", encoding: str = "utf-8", hash_seed: int = -1, shingle_size: int = 0,
    as_paper: Literal["none", "pdc-mr", "swlr", "qsign", "yoon", "ye"] = "none", min_similarity: float | Fraction = 0.8,
    contractions: bool = False, max_shingle_documents: int = 1000, shingle_unit: Literal["word", "line"] = "word",
    workers: int = 0, strict: bool = False,
    # end of settings
) -> Tuning:  # fmt: skip
    """Measure which share of the shingles `cluster` must look at, by document size, to reach a given precision.

    The resulting plan makes `cluster` look at fewer shingles. It is measured on the inputs (on the first `max_documents` of
    them, unless that is 0), for the given `min_similarity`. `groups` are the sizes, in shingles, at which groups start: 0, ….
    With `ratios` (2 for one in two shingles), `limits` (of similarity) or `all_remainders` (all n samples of one in n shingles,
    not just four), the `grid` of the result has precision and recall for each limit, ratio and size.
    """
    raise NotImplementedError


def _dedup(
    inputs: Any, *, against: Any = None, plan: Plan | None = None, config: Config | None = None,
    progress: Progress | None = None, engine: SparkEngine | str | None = None, **settings: Setting,
) -> Any:  # fmt: skip
    from ibidem import pipeline
    from ibidem.execution.checks import check_reference
    from ibidem.formats.python_inputs import repeatable

    run = VerbRun.of("dedup", inputs, against, config, progress, engine, settings, signature="exact").with_plan(plan)
    if run.spark_engine is None:
        run = dataclasses.replace(run, inputs=repeatable(run.inputs))
    check_reference(run.inputs, run.against)  # before a run makes its folder: nothing could be resumed
    return run.carry_out(partial(pipeline.dedup, plan=run.plan))


@overload
def dedup(
    inputs: Iterator[Record], *, against: Inputs | None = None, plan: Plan | None = None, config: Config | None = None,
    progress: Progress | None = None, engine: Literal["local"] | None = None, **settings: Unpack[DedupSettings],
) -> Cleaned[list[Record]]: ...  # fmt: skip
@overload
def dedup(
    inputs: Given, *, against: Inputs | None = None, plan: Plan | None = None, config: Config | None = None,
    progress: Progress | None = None, engine: Literal["local"] | None = None, **settings: Unpack[DedupSettings],
) -> Cleaned[Given]: ...  # fmt: skip
@overload
def dedup(
    inputs: SparkInputs, *, against: SparkInputs | None = None, plan: Plan | None = None, config: Config | None = None,
    progress: Progress | None = None, engine: SparkEngine | Literal["spark"], **settings: Unpack[DedupSettings],
) -> CleanedOnSpark: ...  # fmt: skip
@overload
def dedup(
    inputs: SparkInputs, *, against: SparkInputs | None = None, plan: Plan | None = None, config: Config | None = None,
    progress: Progress | None = None, engine: SparkEngine | str | None, **settings: Unpack[DedupSettings],
) -> Cleaned[Any] | CleanedOnSpark: ...  # fmt: skip
@carried_out_by(_dedup)
def dedup(
    inputs: SparkInputs, *, against: SparkInputs | None = None, plan: Plan | None = None, config: Config | None = None,
    progress: Progress | None = None, engine: SparkEngine | str | None = None,
    # settings of dedup
    text_field: str = "text", id_field: str = "id", time_field: str = "time", group_field: str = "group",
    date_format: str = "auto", metadata: GivenPath = "none", metadata_key: str = "auto", time_from: str = "none",
    group_from: str = "none", query: str = "none", html: bool = False, main_content: bool = False, text_path: str = "auto",
    encoding: str = "utf-8", against_text_field: str = "same", against_id_field: str = "same", against_time_field: str = "same",
    against_group_field: str = "same", contained: Literal["input", "reference", "either"] = "input", lang: str = "auto",
    max_sentence_words: int = 120, hash_seed: int = -1, ignore: str | Sequence[str] = "none",
    signature: Literal["auto", "exact", "words", "shingles", "imatch", "spotsigs", "fingerprint"] = "auto",
    shingle_size: int = 0, min_idf: float = 0.1, max_idf: float = 1.0, antecedents: str | int | Sequence[str] = "auto",
    spot_stop_words: str | int | Sequence[str] = "auto", spot_short_chains: bool = False, spot_distance: int = 1,
    spot_chain: int = 2, max_document_share: float = 0.6, word_counts: GivenWords = "none", stop_words: GivenWords = "none",
    as_paper: Literal["none", "pdc-mr", "swlr", "qsign", "yoon", "ye"] = "none", paper: bool = False,
    min_similarity: float | Fraction = 0.8, min_sentences: int = 3, min_words: int = 1, min_quote_words: int = 10,
    min_run_words: int = 50, same_document: bool = False, align: bool | None = None, min_evidence: float = 25.0,
    min_aligned_words: int = 25, measure: Literal["resemblance", "order"] = "resemblance",
    method: Literal["join", "identical", "shingling", "pairs", "minhash", "simhash", "imatch", "spotsigs"] = "join",
    contractions: bool = False, min_containment: float | Fraction = 0, min_shared_shingles: int = 0,
    max_shingle_documents: int = 1000, shingle_unit: Literal["word", "line"] = "word",
    sampling: Literal["modulo", "smallest", "supershingles"] = "modulo", sample_every: int = 1, sample_remainder: int = 0,
    sample_size: int = 400, supershingles: int = 6, supershingle_size: int = 14, min_supershingles: int = 2,
    verify: bool = True, filter_bits: int = 256, permutations: int = 128, bands: int = 16, max_bits_apart: int = 3,
    keep: str = "first", chains: bool = False, level: Literal["document", "passage", "sentence", "run"] = "document",
    min_copy_similarity: float | Fraction = 0.7, keep_copies: int = 1, lossless: bool = False, lossless_words: int = 3,
    keep_if_differs: str = "none", mark_copies: bool = False, mark_only: bool = False, workers: int = 0, memory: str = "auto",
    max_disk: str = "auto", tmp_dir: str = "auto", partitions: int = 0, resume: bool = False, work_dir: str = "auto",
    overwrite: bool = False, strict: bool = False,
    # end of settings
) -> Cleaned[Any] | CleanedOnSpark:  # fmt: skip
    """Decide what to remove from a collection so that nothing is in it twice; `cleaned` and `write` give what remains.

    `level="document"` removes all but one document of each cluster of duplicates; `"passage"` cuts passages of at least
    `min_sentences` that appeared earlier; `"sentence"` cuts single sentences. With `against`, only what also appears in the
    reference is removed. Unless `signature` says otherwise, passages and sentences are removed only if they appear elsewhere
    word for word. `plan` is a sampling plan, as for `cluster`.

    Returns a `CleaningResult`. Its `cleaned()` is what the inputs are, such as a frame for a frame; `keep_mask` says which rows
    stay. With `engine=SparkEngine(spark)`, `removed` and `cleaned()` are Spark data frames.

    >>> import ibidem
    >>> text = "The harbour was closed on Monday because of the storm, and two ferries stayed in port over night."
    >>> result = ibidem.dedup([text, "It was loud. " + text, text], level="sentence")
    >>> result.cleaned()[1:], result.keep_mask
    (['It was loud. '], array([ True,  True, False]))
    """
    raise NotImplementedError


def _collapse(
    hits: Iterable[Mapping[str, object]], *, query_field: str | None = None, config: Config | None = None, **settings: Setting
) -> Iterator[dict[str, object]]:
    config = Config.of(config, **settings)
    from ibidem.resemblance.ranked_lists import collapse_records

    return collapse_records(hits, query_field, config)


@carried_out_by(_collapse)
def collapse(
    hits: Iterable[Mapping[str, object]], *, query_field: str | None = None, config: Config | None = None,
    # settings of collapse
    text_field: str = "text", id_field: str = "id", hash_seed: int = -1, shingle_size: int = 0,
    min_similarity: float | Fraction = 0.8, min_containment: float | Fraction = 0,
    shingle_unit: Literal["word", "line"] = "word", mark_only: bool = False,
    # end of settings
) -> Iterator[dict[str, object]]:  # fmt: skip
    """Fold hits of a ranked list that are nearly the same as a higher one under it, such as search results.

    `hits` are dicts in order of rank. Those that are kept, and all without text, are yielded in this order with all fields and,
    as `collapsed`, the ids of those folded under them. With `query_field`, neighbours with the same value there are one list.
    `mark_only=True` yields every hit; `collapsed_into` is the id of the one it is folded under. Settings are as for `cluster`.

    >>> import ibidem
    >>> text = "The harbour was closed on Monday because of the storm, and two ferries stayed in port over night."
    >>> hits = [{"id": 7, "text": text}, {"id": 3, "text": "It was loud."}, {"id": 5, "text": text + " More soon."}]
    >>> [(hit["id"], hit["collapsed"]) for hit in ibidem.collapse(hits, shingle_size=3)]
    [(7, [5]), (3, [])]
    """
    raise NotImplementedError


def similarity(text_a: str, text_b: str, shingle_size: int = SHINGLE_SIZES["document"]) -> Similarity:
    """Return how alike two whole texts are, by the shingles of `shingle_size` words that they share.

    >>> import ibidem
    >>> ibidem.similarity("one two three four", "three four one two", shingle_size=1)
    Similarity(resemblance=1.0, containment_a=1.0, containment_b=1.0, order=0.5)
    """
    from ibidem.resemblance.comparison import compare_texts

    check_at_least(shingle_size=(shingle_size, 1))
    return compare_texts(text_a, text_b, shingle_size)
