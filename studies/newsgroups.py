"""The posts of newsgroups20, as the studies of the index read them: what qsign.py and fingerprints.py share."""

from __future__ import annotations

import argparse
import gc
import math
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from evidence import study_options
from inputs import Record, read_documents

from ibidem.columns.collection import Collection
from ibidem.execution.tasks import in_turn
from ibidem.index.vocabulary import WordCounts
from ibidem.signatures import SentenceTypes, type_tokens
from ibidem.signatures.sentence_types import number_hashes

POSTS = "newsgroups20/docs.jsonl.zst"
QUOTATIONS = "newsgroups20/truth_passages.jsonl.zst"


def parse_options(description: str | None) -> argparse.Namespace:
    """Return the options of the study."""
    parser = study_options(description)
    parser.add_argument("--share", type=float, default=1.0, help="share of the collection, to try the study in little time")
    options = parser.parse_args()
    if not 0 < options.share <= 1:
        parser.error("--share is above 0, and 1 at most")
    return options


def read_posts(path: Path) -> list[Record]:
    """Return ids and texts of the posts in the order of their ids, newsgroup after newsgroup: threads stay together."""
    documents: list[Record] = read_documents(path).to_pylist()
    return sorted(documents, key=lambda post: (post["id"].split("/")[0], int(post["id"].split("/")[1])))


def every_sentence(collection: Collection) -> SentenceTypes:
    """Return types that are one sentence each."""
    every = np.arange(len(collection.digest))
    return SentenceTypes(every.astype(np.int32), every)


def count_words(collection: Collection) -> WordCounts:
    """Return in how many documents each word occurs."""
    tokens = type_tokens(collection, every_sentence(collection), in_turn)
    words = number_hashes(tokens.tokens)
    document = np.repeat(collection.document, np.diff(tokens.first)).astype(np.int64)
    pairs = np.unique(document * len(words.hashes) + words.ids)
    return WordCounts.of(words.hashes, np.bincount(pairs % len(words.hashes)), collection.n_documents, 1)


def best_seconds(function: Callable[[], object], n_times: int = 3) -> float:
    """Return the best time of several."""
    best = math.inf
    gc.collect()
    for _ in range(n_times):
        begin = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - begin)
    return best
