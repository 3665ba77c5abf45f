"""ibidem finds text that stands elsewhere too, and says where: exact, near and partial duplicates, located to the character.

Names are loaded when they are first used, so that `import ibidem` and `ibidem --help` stay quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ibidem.version import __version__

if TYPE_CHECKING:
    from ibidem.api import cluster, dedup, find, similarity, tune
    from ibidem.cleaned import CleaningResult
    from ibidem.config import Config
    from ibidem.documents import read
    from ibidem.errors import IbidemError, InputError, ResourceError, UsageError
    from ibidem.model import Document, Passage, Similarity, Skipped, Span
    from ibidem.resemblance.plan import SamplingPlan
    from ibidem.result import ClusterResult, Result, Tuning
    from ibidem.sentences import split_sentences

_HOMES = {
    "CleaningResult": "ibidem.cleaned",
    "ClusterResult": "ibidem.result",
    "Config": "ibidem.config",
    "Document": "ibidem.model",
    "IbidemError": "ibidem.errors",
    "InputError": "ibidem.errors",
    "Passage": "ibidem.model",
    "ResourceError": "ibidem.errors",
    "Result": "ibidem.result",
    "SamplingPlan": "ibidem.resemblance.plan",
    "Similarity": "ibidem.model",
    "Skipped": "ibidem.model",
    "Span": "ibidem.model",
    "Tuning": "ibidem.result",
    "UsageError": "ibidem.errors",
    "cluster": "ibidem.api",
    "dedup": "ibidem.api",
    "find": "ibidem.api",
    "read": "ibidem.documents",
    "similarity": "ibidem.api",
    "split_sentences": "ibidem.sentences",
    "tune": "ibidem.api",
}

__all__ = [
    "CleaningResult",
    "ClusterResult",
    "Config",
    "Document",
    "IbidemError",
    "InputError",
    "Passage",
    "ResourceError",
    "Result",
    "SamplingPlan",
    "Similarity",
    "Skipped",
    "Span",
    "Tuning",
    "UsageError",
    "__version__",
    "cluster",
    "dedup",
    "find",
    "read",
    "similarity",
    "split_sentences",
    "tune",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'ibidem' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted(__all__)
