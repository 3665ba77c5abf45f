"""The work of a request is bounded: very many similar sentences are not all looked at, and the rule does not show the store."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from ibidem.config import Config
from ibidem.index import answers, hits, watcher
from ibidem.index import search as search_module
from ibidem.index.arrivals import Arrivals
from ibidem.index.index import Index
from ibidem.index.kernels import comparison
from ibidem.index.kernels import search as search_kernels
from ibidem.index.kernels import segment as segment_kernels
from ibidem.index.search import SegmentMatches
from ibidem.index.segment import Segment
from ibidem.index.settings import segment_settings
from ibidem.index.vocabulary import WordCounts
from tests.index_twins import Document, Record, arrivals_of, ask, records_of, temporary_folder
from tests.test_index_portions import documents_of, template, told

SIZES = (100, 200, 400)  # postings are read 64 at a time


def look_at(patch: pytest.MonkeyPatch, most: int) -> None:
    """Let so few similar places of a sentence be looked at."""
    for module in (answers, hits):
        patch.setattr(module, "places_needed", lambda max_places: most)


def index_of(documents: list[Document], kept: list[bool], sizes: list[int], config: Config) -> list[tuple[Segment, Any]]:
    """Return segments of so many documents each; what is not kept is removed."""
    parts, at = [], 0
    for size in sizes:
        records = [{**record, "id": f"d{at + n}"} for n, record in enumerate(records_of(documents[at : at + size]))]
        segment = arrivals_of(records).segment(np.arange(at, at + size), WordCounts.empty(), segment_settings(config))
        parts.append((segment, np.array(kept[at : at + size])))
        at += size
    return parts


@pytest.mark.parametrize("seed", range(25))
def test_what_is_looked_at_does_not_depend_on_segments_or_removed_documents(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One segment with removed documents, several, and one that never had them."""
    chance = random.Random(seed)
    n_cut = 0
    for _ in range(4):
        config = Config.of(
            max_places=chance.choice([2, 3, 7]), min_score=chance.choice([0.5, 0.8]), min_similarity=0.7, min_hit_words=1,
            min_sentences=chance.choice([1, 2]), min_quote_words=3, min_contained_words=1,
            search_engine=chance.choice(["overlap", "overlap", "inverted", "scan"]),
        )  # fmt: skip
        documents = documents_of(chance, 12)
        kept = [chance.random() < 0.7 for _ in documents]
        queries = records_of(documents_of(chance, 2), "q")
        most = chance.choice([1, 2, 5, 12])
        outcomes = []
        for look in (most, 10**6):
            look_at(monkeypatch, look)
            for sizes in ([12], [5, 4, 3], [1] * 12):
                parts = index_of(documents, kept, sizes, config)
                outcomes.append(told(ask(arrivals_of(queries), parts, None, WordCounts.empty(), config)))
            there = [document for document, is_there in zip(documents, kept, strict=True) if is_there]
            parts = index_of(there, [True] * len(there), [len(there)], config)
            names = [f"d{n}" for n, is_there in enumerate(kept) if is_there]
            outcomes.append(told(ask(arrivals_of(queries), parts, None, WordCounts.empty(), config)))
            found, expected = renamed(outcomes.pop(), names), outcomes[-1]
            assert found[:2] == expected[:2]
            assert outcomes[-3] == outcomes[-2] == outcomes[-1]
        n_cut += outcomes[0] != outcomes[-1]
    assert n_cut > 0


def renamed(outcome: tuple[Any, ...], names: list[str]) -> tuple[Any, ...]:
    """Return hits and verdicts with other names for the documents d0, d1, …"""
    of = {f"d{n}": name for n, name in enumerate(names)}
    rows, verdicts, passages = outcome
    rows = [{**row, "b_id": of[row["b_id"]]} for row in rows]
    verdicts = [(*v[:4], tuple(source._replace(id=of[source.id]) for source in v[4])) for v in verdicts]
    return rows, verdicts, passages


def watched(records: list[Record], together: int, **settings: Any) -> list[Any]:
    with pytest.MonkeyPatch.context() as patch, temporary_folder() as folder, Index(folder, workers=1, **settings) as index:
        patch.setattr(watcher, "MOST_TOGETHER", together)
        return [(a.id, a.verdict, a.verdict and a.verdict.hits) for a in index.watch(records)]


@pytest.mark.parametrize("seed", range(12))
def test_hits_and_verdicts_of_a_batch_are_those_of_a_stream(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    records = records_of(documents_of(chance, 12))
    settings: dict[str, Any] = {"max_places": chance.choice([2, 3]), "min_contained_words": 1, "min_hit_words": 1}
    everything = watched(records, 12, **settings)
    look_at(monkeypatch, chance.choice([1, 3, 8]))
    found = watched(records, 1, **settings)
    assert found == watched(records, 12, **settings) == watched(records, 5, **settings)
    assert found != everything


def test_the_very_sentence_is_found_behind_any_number_of_similar_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    look_at(monkeypatch, 5)
    with temporary_folder() as folder, Index(folder, workers=1, score="fraction") as index:
        index.add([{"id": "crowd", "text": template("a", 40)}])
        index.add([{"id": "source", "text": template("b", 3)}])
        verdict = index.check({"id": "copy", "text": template("b", 3)})
        (hit, *_) = verdict.hits
    assert {(source.id, source.n_sentences) for source in verdict.sources} == {("crowd", 3), ("source", 3)}
    assert (hit.b_id, hit.score) == ("source", 1.0)


def work_of(n: int, patch: pytest.MonkeyPatch) -> Counter[str]:
    """Count what a template document of n sentences costs after another one: lists compared, postings read, matches.

    Kernels run as plain Python, so that their parts can be counted.
    """
    counts: Counter[str] = Counter()
    compare, read_block = search_kernels.compare.py_func, search_kernels.read_block.py_func

    def counting_compare(*values: Any) -> Any:
        counts["compared"] += 1
        return compare(*values)

    def counting_read_block(*values: Any) -> Any:
        outcome = read_block(*values)
        counts["read"] += outcome[0]
        return outcome

    def counting_search(*values: Any, **others: Any) -> SegmentMatches:
        found = search(*values, **others)
        counts["matches"] += len(found.hits)
        return found

    search = search_module.search
    config, empty = Config.of(max_places=5), WordCounts.empty()
    made = segment_settings(config)
    known, new = ({"id": name, "text": template(name, n)} for name in ("a", "b"))
    segment = arrivals_of([known]).segment(np.arange(1), empty, made)
    arrivals: Arrivals = arrivals_of([new])
    with pytest.MonkeyPatch.context() as counted:
        for module in (search_kernels, comparison):
            for name, kernel in vars(module).copy().items():
                if hasattr(kernel, "py_func") and name != "distinct_words":  # which adds hashes beyond 64 bits
                    counted.setattr(module, name, kernel.py_func)
        for name in ("read_number", "first_not_below"):  # called by those of the segment that are plain Python now
            counted.setattr(segment_kernels, name, getattr(segment_kernels, name).py_func)
        counted.setattr(search_kernels, "compare", counting_compare)
        counted.setattr(search_kernels, "read_block", counting_read_block)
        counted.setattr(answers, "search", counting_search)
        look_at(patch, 10)
        result = ask(arrivals, [(segment, np.ones(1, np.bool_))], None, empty, config)
        assert result.verdicts[0].n_known == n
        assert result.passages.num_rows == 0
    return counts


def test_the_work_of_template_documents_grows_with_their_length(monkeypatch: pytest.MonkeyPatch) -> None:
    """All sentences of one are similar to all of the other."""
    counts = [work_of(n, monkeypatch) for n in SIZES]
    for kind in ("compared", "read", "matches"):
        per_sentence = [count[kind] / n for count, n in zip(counts, SIZES, strict=True)]
        assert 0 < per_sentence[-1] <= 1.1 * per_sentence[0], kind
