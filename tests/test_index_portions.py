"""Requests of very many matches are answered in portions: the answers do not change, and memory stays bounded."""

from __future__ import annotations

import random
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ibidem
from ibidem.config import Config
from ibidem.index import answers, hits, search, similar_types, watcher
from ibidem.index.answers import QueryResult
from ibidem.index.index import Index
from ibidem.index.segment import Segment
from ibidem.index.settings import segment_settings
from ibidem.index.vocabulary import WordCounts
from tests.index_twins import WORDS, Document, Record, arrivals_of, ask, records_of, temporary_folder, text_of

FEW = [1, 7, 40]


def documents_of(chance: random.Random, n: int) -> list[Document]:
    """Documents of few words: most sentences are similar to many others, some of them to their neighbours only."""
    pool = [tuple(chance.choice(WORDS[:5]) for _ in range(chance.randint(1, 6))) for _ in range(12)]
    pool += [(*WORDS[:6], WORDS[6 + k]) for k in range(20)]
    return [[chance.choice(pool) for _ in range(chance.choice([1, 3, 8, 25]))] for _ in range(n)]


def asked(chance: random.Random, settings: dict[str, Any]) -> QueryResult:
    """Ask three segments, some of whose documents are removed, about documents of which some are known."""
    config, counts = Config.of(**settings), WordCounts.empty()
    parts: list[tuple[Segment, Any]] = []
    for number, n in enumerate((9, 4, 1)):
        records = records_of(documents_of(chance, n), f"d{number} ")
        segment = arrivals_of(records).segment(np.arange(n) + 100 * number, counts, segment_settings(config))
        parts.append((segment, np.array([chance.random() < 0.8 for _ in range(n)])))
    queries = records_of(documents_of(chance, 3), chance.choice(["d0 ", "q"]))
    if chance.random() < 0.5:
        queries.append({"id": "again", "text": queries[0]["text"]})
    own = None
    arrivals = arrivals_of(queries)
    if chance.random() < 0.3:
        arrivals = arrivals_of(queries[:1])
        own = arrivals.segment(np.array([10**6]), counts, segment_settings(config))
    return ask(arrivals, parts, own, counts, config)


def told(result: QueryResult) -> tuple[Any, ...]:
    verdicts = [(v.id, v.duplicated, v.n_known, v.n_common, v.sources) for v in result.verdicts]
    return result.hits.to_pylist(), verdicts, sorted(map(str, result.passages.to_pylist()))


@pytest.mark.parametrize("seed", range(20))
def test_portions_tell_what_the_whole_tells(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where sentences are in too many places: limits are so low that most do."""
    chance = random.Random(seed)
    n_hits = n_passages = 0
    monkeypatch.setattr(hits, "MANY_PLACES", 5)
    for number in range(6):
        settings = {
            "max_places": chance.choice([2, 3, 7]), "min_score": chance.choice([0.5, 0.8]), "min_similarity": 0.7,
            "min_sentences": chance.choice([1, 2]), "min_quote_words": 3, "min_contained_words": chance.choice([1, 4]),
            "min_hit_words": 1, "search_engine": chance.choice(["overlap", "overlap", "inverted", "bits", "scan"]),
        }  # fmt: skip
        monkeypatch.setattr(hits, "MANY_HITS", chance.choice([20, 10_000]))
        outcomes = []
        for most in (10**6, *FEW):
            monkeypatch.setattr(answers, "MOST_MATCHES", most)
            monkeypatch.setattr(similar_types, "MOST_SIMILAR", most)
            monkeypatch.setattr(search, "_MOST_CANDIDATES", most)
            outcomes.append(told(asked(random.Random(1000 * seed + number), settings)))
        assert all(outcome == outcomes[0] for outcome in outcomes)
        n_hits += len(outcomes[0][0])
        n_passages += len(outcomes[0][2])
    assert n_hits > 50
    assert n_passages > 0


def watched(records: list[Record], **settings: Any) -> list[Any]:
    with temporary_folder() as folder, Index(folder, workers=1, **settings) as index:
        arrivals = list(index.watch(records))
        assert len(index) == len(records)
        assert index.verify() == []
    return [(a.id, a.verdict and a.verdict.n_known, a.verdict and a.verdict.hits, a.passages) for a in arrivals]


@pytest.mark.parametrize("seed", range(12))
def test_a_stream_is_answered_one_by_one_where_a_batch_has_too_many(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    records = records_of(documents_of(random.Random(seed), 9))
    settings: dict[str, Any] = {"max_places": 3, "min_contained_words": 1, "min_quote_words": 3, "min_sentences": 2}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(watcher, "MOST_TOGETHER", 1)
        expected = watched(records, **settings)
    for most in FEW[:2]:
        monkeypatch.setattr(answers, "MOST_MATCHES", most)
        monkeypatch.setattr(similar_types, "MOST_SIMILAR", most)
        assert watched(records, **settings) == expected


def template(name: str, n: int) -> str:
    return " ".join(f"Paragraph number {name}{k} of a very long page with more words of its own." for k in range(n))


def test_documents_of_one_template_take_memory_in_proportion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """1,100 such sentences have 1.2 million matches with those of another document: 300 MB, if all were listed."""
    monkeypatch.setattr(answers, "MOST_MATCHES", 1 << 16)
    monkeypatch.setattr(similar_types, "MOST_SIMILAR", 1 << 16)
    with ibidem.Index(tmp_path / "index", workers=1) as index:
        list(index.watch([{"id": "few", "text": text_of([tuple(WORDS[:12])])}]))  # whatever is loaded with the first one
        tracemalloc.start()
        try:
            arrivals = list(index.watch([{"id": name, "text": template(name, 1100)} for name in ("a", "b")]))
            checked = index.query({"id": "c", "text": template("c", 1100)})
            found = checked.hits.num_rows, checked.passages.num_rows
            _, peak_bytes = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert [(a.verdict.n_known, len(a.verdict.sources)) for a in arrivals if a.verdict] == [(0, 0), (1100, 1)]
    assert found == (1100, 0)  # the oldest 1,001 similar places are all in the first document
    assert peak_bytes < 100e6


def test_other_searches_list_few_candidates_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """1,500 such sentences have more than two million candidates; what is kept of them is the same for every search."""
    monkeypatch.setattr(answers, "MOST_MATCHES", 1 << 14)
    monkeypatch.setattr(search, "_MOST_CANDIDATES", 1 << 16)
    peaks = {}
    with ibidem.Index(tmp_path / "index", workers=1, radius=8) as index:
        index.add([{"id": "a", "text": template("a", 1500)}])
        for method in ("overlap", "inverted", "bits"):
            for n_sentences in (3, 1500):
                tracemalloc.start()
                try:
                    found = index.query({"id": "b", "text": template("b", n_sentences)}, search_engine=method)
                    assert found.hits.num_rows == n_sentences
                    peaks[method] = tracemalloc.get_traced_memory()[1]
                finally:
                    tracemalloc.stop()
    assert max(peaks["inverted"], peaks["bits"]) < 1.5 * peaks["overlap"], peaks


def test_a_document_without_sentences_is_answered(tmp_path: Path) -> None:
    with ibidem.Index(tmp_path / "index", workers=1) as index:
        (arrival, _) = index.watch([{"id": "a", "text": "***"}, {"id": "b", "text": text_of([tuple(WORDS[:12])])}])
        assert arrival.verdict is not None
        assert (arrival.verdict.n_sentences, len(index.query({"id": "c", "text": "***"}))) == (0, 0)
