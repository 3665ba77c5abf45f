"""What the studies rely on: made sentences, times of the steps of a search, gains at equal recall, the run of all studies."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ibidem
from ibidem.index import search
from ibidem.index.comparison import Comparison

ROOT = Path(__file__).parents[1]
pytest.importorskip("altair", reason="the studies draw with altair")
pytest.importorskip("vl_convert", reason="the studies draw with vl-convert")
sys.path.insert(0, str(ROOT / "studies"))

import page as pages  # type: ignore[import-not-found]  # noqa: E402
from qsign_made import REPLACED_SHARES, Sentences, first_documents, make_queries  # type: ignore[import-not-found]  # noqa: E402
from qsign_search import RADII, Outcome, limits_of, way_name  # type: ignore[import-not-found]  # noqa: E402
from qsign_steps import timed, timed_steps  # type: ignore[import-not-found]  # noqa: E402
from qsign_stream import parts_of, power_of, tenths  # type: ignore[import-not-found]  # noqa: E402
from qsign_times import at_equal_recall, fastest  # type: ignore[import-not-found]  # noqa: E402

WORDS = ["harbour", "ferry", "mayor", "storm", "island", "bridge", "market", "lantern", "orchard", "violin", "copper", "meadow"]


@pytest.fixture(scope="module")
def sentences() -> Any:
    chance = random.Random(3)
    posts = [{"text": ". ".join(" ".join(chance.sample(WORDS, 6)) for _ in range(8))} for _ in range(40)]
    return Sentences(posts, max_document_share=1.0)


def test_made_documents_are_always_the_same(sentences: Any, tmp_path: Path) -> None:
    sentences.write(tmp_path / "some.jsonl", 52 * 3)
    assert list(first_documents(tmp_path / "some.jsonl", 52 * 2)) == [sentences.document(k) for k in range(2)]


def test_queries_are_copies_of_sentences_that_are_there(sentences: Any) -> None:
    documents = {f"d{k}": sentences.document(k)["text"].split("\n\n") for k in range(6)}
    queries = make_queries(sentences, 6, n_queries=60, n_query_documents=3)
    assert len(queries.records) == 3
    assert set(queries.replaced.values()) <= set(range(len(REPLACED_SHARES)))
    for record in queries.records:
        for number, line in enumerate(record["text"].split("\n\n")):
            n_replaced = queries.replaced[record["id"], number]
            same_length = [
                s.split() for s in documents[queries.source[record["id"], number]] if s.count(" ") == line.count(" ")
            ]
            # A word may be replaced by itself.
            assert min(sum(a != b for a, b in zip(s, line.split(), strict=True)) for s in same_length) <= n_replaced


def test_steps_are_timed_and_left_as_they_were(tmp_path: Path) -> None:
    before = search._within_radius, search._accumulated, Comparison.compare
    records = [{"id": str(k), "text": " ".join(WORDS[k : k + 6]) + "."} for k in range(5)]
    asked = [record | {"id": f"q{record['id']}"} for record in records]
    with ibidem.Index(tmp_path / "index", workers=1) as index:
        index.add(records)
        for engine in ("bits", "inverted"):
            with timed_steps() as steps:
                hits = index.query(asked, search_engine=engine, passages=False).hits
            assert hits.num_rows > 0
            assert steps.selecting > 0
            assert steps.comparing > 0
        with timed_steps() as steps:
            index.query(asked, search_engine="overlap", passages=False)
        assert steps.selecting == 0
    assert (search._within_radius, search._accumulated, Comparison.compare) == before


def test_the_fastest_run_counts() -> None:
    calls: list[int] = []
    taken = timed(lambda: calls.append(sum(range(10_000))), n_times=4)
    assert len(calls) == 4
    assert taken.seconds >= 0
    assert (taken.selecting, taken.comparing) == (0, 0)


def test_tenths_of_a_stream() -> None:
    n_sentences = np.full(200, 5)
    ends, passed = tenths(n_sentences)
    assert (ends[0], ends[-1], len(ends), passed[-1]) == (0, 200, 11, 1000)
    assert parts_of(n_sentences, (0.5,)) == [99]
    assert power_of(passed, np.array(passed, float) ** 2) == pytest.approx(2)
    assert power_of(passed, np.array(passed[:3], float)) == pytest.approx(1)


def test_gains_are_those_over_lists_that_find_as_much() -> None:
    lists = {name: Outcome(name, (), 1.5 - limit, 10 - limit) for name, limit in limits_of("inverted").items()}
    assert list(limits_of("inverted").values()) == [0.5, 0.6, 0.7, 0.8, 0.9, 1.0]
    ways = [way_name(*mask, d) for mask in ((16, 1), (32, 2)) for d in RADII]
    bits = {name: Outcome(name, (), 0.65, 1.0) for name in ways}
    outcomes = lists | bits
    assert fastest(outcomes, "inverted", 0.65).name == "inverted, θ = 0.8"  # 1.5 - 0.8 = 0.7, and 0.9 finds too little
    assert fastest(outcomes, "inverted", 0.95).name == "inverted"
    assert [gain for gain, _ in at_equal_recall(outcomes, "inverted")] == [pytest.approx(9.2)] * len(ways)


def test_a_study_without_its_collections_is_skipped(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "studies" / "all.py"), "--only", "qsign_disk", "--data", str(tmp_path)]
    done = subprocess.run([*command, "--out", str(tmp_path / "out")], capture_output=True, text=True)
    assert done.returncode == 1
    assert "[1/1] qsign_disk: skipped, collections are missing" in done.stdout
    assert "min so far" in done.stdout
    assert f"{tmp_path} does not contain newsgroups20/docs.jsonl.zst" in done.stderr
    assert "nothing was measured" in done.stderr


def test_a_page_has_the_preset_and_the_counts_of_a_paper() -> None:
    evidence = pages.Evidence(pages.EVIDENCE, "../evidence")
    evidence.studies = {
        "one": {
            "parts": [{"kind": "verdict", "of": f"qSign, {k}", "verdict": v} for k, v in enumerate(("in part", "in shape"))]
        },
        "two": {"parts": [{"kind": "verdict", "of": "qSign, 3", "verdict": "in part"}]},
        "other": {"parts": [{"kind": "verdict", "of": "SWLR, 1", "verdict": "reproduced"}]},
    }
    assert evidence.fill("{counts qSign}; {counts SWLR}") == "1 in shape, 2 in part; 1 reproduced"
    preset = evidence.fill("{preset qsign}")
    assert "| `--radius` | 5 | table 2 (d = 0 to 5) |" in preset
    assert "--as yoon" not in preset
