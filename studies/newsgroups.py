"""The posts of newsgroups20, as the studies of the index read them: what qsign.py and fingerprints.py share."""

from __future__ import annotations

import argparse
import gc
import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from evidence import EVIDENCE, study_options

from ibidem.collection import Collection, gather
from ibidem.config import Config
from ibidem.documents import read_batches
from ibidem.index.vocabulary import WordCounts
from ibidem.parts import in_turn
from ibidem.signatures import SentenceTypes
from ibidem.signatures.types import number_hashes

POSTS = "newsgroups20/docs.jsonl.zst"
QUOTATIONS = "newsgroups20/truth_passages.jsonl.zst"

Record = dict[str, str]


def parse_options(description: str | None) -> argparse.Namespace:
    """Return what the study is told. With a share below 1 it is only tried, and may not be written to where evidence stands."""
    parser = study_options(description)
    parser.add_argument("--share", type=float, default=1.0, help="share of the collection, to try the study in little time")
    options = parser.parse_args()
    if not 0 < options.share <= 1:
        parser.error("--share is above 0, and 1 at most")
    if options.share < 1 and options.out == EVIDENCE:
        parser.error("a part of the collection is no evidence: give another folder with --out")
    return options


def read_texts(path: Path) -> list[Record]:
    """Return ids and texts of the posts in the order of their ids, newsgroup after newsgroup: threads stay together."""
    pairs: list[tuple[str, str]] = []
    for batch in read_batches(str(path), Config().documents, lambda record: None):
        pairs += zip(batch.column("id").to_pylist(), batch.column("text").to_pylist(), strict=True)
    pairs.sort(key=lambda pair: (pair[0].split("/")[0], int(pair[0].split("/")[1])))
    return [{"id": name, "text": text} for name, text in pairs]


def read_json_lines(path: Path) -> list[dict[str, Any]]:
    """Return the records of a zstd-compressed JSONL file with all their fields."""
    with pa.CompressedInputStream(pa.OSFile(str(path)), "zstd") as stream:
        # Not splitlines: it also cuts at U+2028, which JSON allows inside a string.
        return [json.loads(line) for line in stream.read().decode("utf-8").split("\n") if line]


def gathered(records: list[Record]) -> Collection:
    """Return documents with their sentences; those without any text are left out."""
    config = Config()
    batches = read_batches(records, config.documents, lambda record: None)
    return gather(batches, iter(()), config.sentences, in_turn, lambda n_documents, n_sentences: None)


def every_sentence(collection: Collection) -> SentenceTypes:
    """Return types that are one sentence each."""
    every = np.arange(len(collection.digest))
    return SentenceTypes(every.astype(np.int32), every)


def count_words(collection: Collection) -> WordCounts:
    """Return in how many documents each word stands."""
    tokens = collection.type_tokens(every_sentence(collection), in_turn)
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
