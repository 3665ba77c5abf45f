"""Resemblance: documents compared as wholes, by the shingles they share."""

from __future__ import annotations

from ibidem.resemblance.candidates import Corpus, Found
from ibidem.resemblance.comparing import Duplicates
from ibidem.resemblance.duplicates import Comparer, find_duplicates
from ibidem.resemblance.identical import representatives
from ibidem.resemblance.plan import SamplingPlan
from ibidem.resemblance.shingles import shingle_tokens

__all__ = [
    "Comparer",
    "Corpus",
    "Duplicates",
    "Found",
    "SamplingPlan",
    "find_duplicates",
    "representatives",
    "shingle_tokens",
]
