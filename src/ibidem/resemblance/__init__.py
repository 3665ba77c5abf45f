"""Resemblance: documents compared as wholes, by the shingles they share."""

from __future__ import annotations

from ibidem.resemblance.candidates import Corpus, Found
from ibidem.resemblance.comparing import Duplicates
from ibidem.resemblance.duplicates import Comparer, find_duplicates
from ibidem.resemblance.identical import representatives, with_identical
from ibidem.resemblance.order import occurrence_hashes
from ibidem.resemblance.plan import SamplingPlan
from ibidem.resemblance.shingles import shingle_tokens
from ibidem.resemblance.tuning import GROUPS, SizeGroup, tune_sampling

__all__ = [
    "GROUPS",
    "Comparer",
    "Corpus",
    "Duplicates",
    "Found",
    "SamplingPlan",
    "SizeGroup",
    "find_duplicates",
    "occurrence_hashes",
    "representatives",
    "shingle_tokens",
    "tune_sampling",
    "with_identical",
]
