"""Where digests of eight bits find the candidates, results are the same: nothing is taken for equal that is not."""

from __future__ import annotations

import random
import re
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest

from ibidem.config import SentencesConfig
from ibidem.sentences import exchange, split_texts
from ibidem.sentences.exchange import names_of
from tests.execution.parity import removed_apart
from tests.weak_digests import DEDUP, IN_PARTS, RUNS, chance_documents, compare_parts, compare_run, weak_digests

NAMES = [f"{verb}-{'-'.join(map(str, chosen.values()))}" for verb, chosen, _ in RUNS]
SENTENCES = [chosen for chosen in DEDUP if chosen["level"] != "document"]


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


@pytest.mark.parametrize(("verb", "chosen", "names"), IN_PARTS, ids=[NAMES[RUNS.index(run)] for run in IN_PARTS])
def test_runs_on_disk_find_what_they_find_with_whole_digests(verb: str, chosen: Any, names: Any) -> None:
    compare_run(verb, chosen, names, chance_documents(random.Random(3)), partitions=3)


@pytest.mark.parametrize("chosen", SENTENCES, ids=[f"{each['level']}-{each['signature']}" for each in SENTENCES])
@pytest.mark.parametrize("n_partitions", [1, 2, 5])
def test_removals_in_parts_are_what_they_are_with_whole_digests(chosen: Any, n_partitions: int) -> None:
    compare_parts(chosen, chance_documents(random.Random(6), 800), n_partitions)


@pytest.mark.parametrize("level", ["passage", "sentence"])
@pytest.mark.parametrize("n_partitions", [1, 4])
def test_whatever_shares_a_class_nothing_goes_that_does_not_stand_elsewhere(level: str, n_partitions: int) -> None:
    """Classes of eight bits instead of 64: rows meet that have nothing in common, and their checks are all there is."""
    documents = chance_documents(random.Random(5))
    texts = {document["id"]: document["text"] for document in documents}

    def weak_names(digests: Any, checks: Any) -> Any:
        return names_of(digests, checks) & np.uint64(0xFF) | np.uint64(1)

    def words(row: dict[str, Any], prefix: str = "") -> list[str]:
        text = texts[row["matched_id" if prefix else "id"]]
        return re.findall(r"\w+", text[row[f"{prefix}start"] : row[f"{prefix}end"]].lower())

    with patch.object(exchange, "names_of", weak_names):
        gone = removed_apart(documents, None, n_partitions, level=level, min_sentences=2)
    assert gone
    for row in gone:
        assert words(row) == words(row, "matched_")
    removed = {row["id"]: sum(other["end"] - other["start"] for other in gone if other["id"] == row["id"]) for row in gone}
    for row in gone:
        assert (row["removed"] == "document") == (removed[row["id"]] == len(texts[row["id"]]))
