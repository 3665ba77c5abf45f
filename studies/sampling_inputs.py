"""The documents of sampling.py as sets of shingles, in two halves, and what samples of these find."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ibidem.columns.sets import HashSets
from ibidem.columns.shingled import ShingledDocuments
from ibidem.config import Config
from ibidem.config.settings import LARGEST
from ibidem.execution.threads import Threads
from ibidem.resemblance import Corpus, SizeGroup, representatives, tune_sampling
from ibidem.resemblance.candidates import find_candidates

COLLECTIONS = (
    "mdn_en (two snapshots), mdn_ko, mdn_ja, mdn_zh, win32_api_docs, mail_list, newsgroups20, pan13_dev (with its planted "
    "passages); nothing else planted, nothing fitted to the paper"
)


@dataclass(frozen=True)
class Half:
    """Every second document: the shingles of all, and which of them count."""

    sets: HashSets
    wanted: np.ndarray

    def pairs(self, every: np.ndarray, limit: str, engine: Threads, remainder: int = 0) -> np.ndarray:
        """Return the pairs that a sample of the shingles finds, each as one number."""
        told = {"sample_every": int(every.max()), "sample_remainder": remainder, "max_shingle_documents": LARGEST}
        config = Config.of(min_similarity=limit, **told)
        corpus = Corpus(self.sets, None, self.wanted, np.empty(0, np.int8), every)
        found = find_candidates(corpus, config, False, engine.run_tasks).duplicates
        return found.a.astype(np.int64) << 32 | found.b

    def trials(
        self, limit: str, groups: Sequence[int], ratios: Sequence[int], engine: Threads, all_remainders: bool = True
    ) -> list[SizeGroup]:
        """Return what the samples find in each size group, at every ratio."""
        most = (Fraction(limit), 1e-9, LARGEST)
        told = {"all_remainders": all_remainders, "whole_grid": True}
        return tune_sampling(self.sets, self.wanted, *most, groups, ratios, engine.run_tasks, **told)


def halves(documents: ShingledDocuments) -> list[Half]:
    """Return both halves of the collection, identical documents once."""
    n = documents.n_documents
    representative = representatives(documents.digests, documents.side, np.arange(n))
    wanted = (representative == np.arange(n)) & (documents.digests != 0)
    return [Half(documents.known_by, wanted & (np.arange(n) % 2 == side)) for side in (0, 1)]
