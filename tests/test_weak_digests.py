"""Where digests of eight bits find the candidates, results are the same: nothing is taken for equal that is not."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import ibidem
from ibidem.config import SentencesConfig
from ibidem.sentences import split_texts
from tests.weak_digests import DEDUP, RUNS, chance_documents, compare_run, weak_digests

NAMES = [f"{verb}-{'-'.join(map(str, chosen.values()))}" for verb, chosen, _ in RUNS]


def test_the_digests_are_weak() -> None:
    texts = pa.array([document["text"] for document in chance_documents(random.Random(1), 1500)], pa.large_string())
    whole = split_texts(texts, SentencesConfig()).column("digest").to_numpy()
    with weak_digests():
        weak = split_texts(texts, SentencesConfig()).column("digest").to_numpy()
    assert len(np.unique(weak)) <= 256 < len(np.unique(whole))


@pytest.mark.parametrize(("verb", "chosen", "names"), RUNS, ids=NAMES)
@pytest.mark.parametrize("seed", [1, 2])
def test_runs_find_what_they_find_with_whole_digests(verb: str, chosen: Any, names: Any, seed: int) -> None:
    compare_run(verb, chosen, names, chance_documents(random.Random(seed)))


@pytest.mark.parametrize(("verb", "chosen", "names"), [run for run in RUNS if run[0] == "cluster"][:3])
def test_clusters_on_disk_are_what_they_are_with_whole_digests(verb: str, chosen: Any, names: Any) -> None:
    compare_run(verb, chosen, names, chance_documents(random.Random(3)), partitions=3)


def test_documents_removed_on_disk_are_what_they_are_with_whole_digests() -> None:
    compare_run("dedup", {**DEDUP[0], "shingle_size": 2}, ("removed",), chance_documents(random.Random(4)), partitions=3)


def test_similar_sentences_on_disk_that_share_a_digest_are_an_error() -> None:
    documents = chance_documents(random.Random(5))
    with weak_digests(), pytest.raises(ibidem.UsageError, match="different sentences have the same hash"):
        ibidem.find(documents, partitions=3)
