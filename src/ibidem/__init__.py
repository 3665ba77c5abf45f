"""ibidem finds text that also appears elsewhere, and shows where: exact, near and partial duplicates, located to the character.

Names are loaded when they are first used, so that `import ibidem` and `ibidem --help` stay quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ibidem.version import __version__

if TYPE_CHECKING:
    from ibidem.api import cluster, collapse, compare, compare_pairs, dedup, find, similarity, tune
    from ibidem.config import Config
    from ibidem.config.sampling_plan import SamplingPlan
    from ibidem.contamination_api import decontaminate
    from ibidem.errors import IbidemError, IndexStoreError, InputError, ResourceError, UsageError
    from ibidem.execution.spark.engine import SparkEngine
    from ibidem.formats import read
    from ibidem.formats.word_tables import WordTable
    from ibidem.index.answers import Hit, QueryResult, Verdict
    from ibidem.index.index import Index
    from ibidem.index.quotations import VerifiedQuotation
    from ibidem.index.watcher import Arrival
    from ibidem.model import Difference, Document, Passage, Similarity, Skipped, Span
    from ibidem.results.cleaning_result import CleaningResult
    from ibidem.results.contamination_result import ContaminationResult
    from ibidem.results.limits_from_verdicts import VerdictTuning
    from ibidem.results.result import ClusterResult, Comparison, Result, Tuning
    from ibidem.sentences import split_sentences
    from ibidem.viewer.verdict_limits import tune_from_verdicts
    from ibidem.word_api import words

_HOMES = {
    "Arrival": "ibidem.index.watcher",
    "CleaningResult": "ibidem.results.cleaning_result",
    "ClusterResult": "ibidem.results.result",
    "Comparison": "ibidem.results.result",
    "Config": "ibidem.config",
    "ContaminationResult": "ibidem.results.contamination_result",
    "Difference": "ibidem.model",
    "Document": "ibidem.model",
    "Hit": "ibidem.index.answers",
    "IbidemError": "ibidem.errors",
    "Index": "ibidem.index.index",
    "IndexStoreError": "ibidem.errors",
    "InputError": "ibidem.errors",
    "Passage": "ibidem.model",
    "QueryResult": "ibidem.index.answers",
    "VerifiedQuotation": "ibidem.index.quotations",
    "ResourceError": "ibidem.errors",
    "Result": "ibidem.results.result",
    "SamplingPlan": "ibidem.config.sampling_plan",
    "Similarity": "ibidem.model",
    "Skipped": "ibidem.model",
    "Span": "ibidem.model",
    "SparkEngine": "ibidem.execution.spark.engine",
    "Tuning": "ibidem.results.result",
    "UsageError": "ibidem.errors",
    "Verdict": "ibidem.index.answers",
    "VerdictTuning": "ibidem.results.limits_from_verdicts",
    "WordTable": "ibidem.formats.word_tables",
    "cluster": "ibidem.api",
    "collapse": "ibidem.api",
    "compare": "ibidem.api",
    "compare_pairs": "ibidem.api",
    "decontaminate": "ibidem.contamination_api",
    "dedup": "ibidem.api",
    "find": "ibidem.api",
    "read": "ibidem.formats",
    "similarity": "ibidem.api",
    "split_sentences": "ibidem.sentences",
    "tune": "ibidem.api",
    "tune_from_verdicts": "ibidem.viewer.verdict_limits",
    "words": "ibidem.word_api",
}

__all__ = [
    "Arrival",
    "CleaningResult",
    "ClusterResult",
    "Comparison",
    "Config",
    "ContaminationResult",
    "Difference",
    "Document",
    "Hit",
    "IbidemError",
    "Index",
    "IndexStoreError",
    "InputError",
    "Passage",
    "QueryResult",
    "ResourceError",
    "Result",
    "SamplingPlan",
    "Similarity",
    "Skipped",
    "Span",
    "SparkEngine",
    "Tuning",
    "UsageError",
    "Verdict",
    "VerdictTuning",
    "VerifiedQuotation",
    "WordTable",
    "__version__",
    "cluster",
    "collapse",
    "compare",
    "compare_pairs",
    "decontaminate",
    "dedup",
    "find",
    "read",
    "similarity",
    "split_sentences",
    "tune",
    "tune_from_verdicts",
    "words",
]

# Old class names, for one more version: a result on Spark has the same class as elsewhere.
_OLD_NAMES = {"SparkCleaningResult": "CleaningResult", "SparkClusterResult": "ClusterResult", "SparkResult": "Result"}


def __getattr__(name: str) -> Any:
    name = _OLD_NAMES.get(name, name)
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'ibidem' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
