"""Resemblance: whole documents compared by the shingles they share."""

from __future__ import annotations

from ibidem.resemblance.candidates import Corpus, Found
from ibidem.resemblance.comparison import Comparer, Duplicates
from ibidem.resemblance.core import corpus_of, find_duplicates, representatives, with_identical
from ibidem.resemblance.order import occurrence_hashes
from ibidem.resemblance.sampling_trials import GROUPS, SizeGroup, tune_sampling
from ibidem.resemblance.shingled_texts import shingle_tokens

__all__ = [
    "GROUPS",
    "Comparer",
    "Corpus",
    "Duplicates",
    "Found",
    "SizeGroup",
    "corpus_of",
    "find_duplicates",
    "occurrence_hashes",
    "representatives",
    "shingle_tokens",
    "tune_sampling",
    "with_identical",
]
