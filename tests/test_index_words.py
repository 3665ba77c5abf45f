"""Words from outside in an index: scores, bits and fingerprints go by them, and the index needs no file for it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ibidem
from ibidem.errors import IndexSettingsError
from ibidem.index.vocabulary import WEIGHT_UNIT
from tests.execution.random_collections import random_records
from tests.index_twins import WORDS, Document, Sentence, records_of, temporary_folder

SOME = WORDS[:14]
SENTENCE = st.lists(st.sampled_from(SOME), min_size=1, max_size=9).map(tuple)
DOCUMENT = st.lists(SENTENCE, min_size=1, max_size=4)
COUNTS = st.dictionaries(st.sampled_from(SOME), st.integers(1, 20), max_size=10)
STOPS = st.sets(st.sampled_from(SOME), max_size=5)
N_DOCUMENTS = 20


class Outside:
    """What is known of words from outside."""

    def __init__(self, counts: dict[str, int], stops: set[str]) -> None:
        self.counts, self.stops = counts, stops

    def weight(self, word: str) -> int:
        if word in self.stops:
            return 0
        return max(1, round(WEIGHT_UNIT * math.log(N_DOCUMENTS / self.counts.get(word, 1))))

    def score(self, query: Sentence, other: Sentence, form: str) -> Fraction:
        common = set(query) & set(other)
        counted = [word for word in set(query) if word not in self.stops]
        if not counted:
            return Fraction(0)
        by_words = Fraction(sum(word in common for word in counted), len(counted))
        by_weight = Fraction(sum(map(self.weight, common)), sum(map(self.weight, counted)))
        whole = Fraction(len(common), len(set(query)))
        return {"fraction": by_words, "idf": by_weight, "product": by_weight * whole}[form]

    def is_hit(self, query: Sentence, other: Sentence, form: str, limit: Fraction, min_contained: int) -> bool:
        if not (set(query) & set(other)) - self.stops:
            return False
        if len(set(query)) < min_contained:
            return set(query) == set(other)
        return self.score(query, other, form) >= limit

    def fingerprint(self, sentence: Sentence, share: Fraction) -> list[str]:
        most = max(share * N_DOCUMENTS, Fraction(10))
        return sorted(word for word in sentence if self.counts.get(word, 1) <= most and word not in self.stops)


def places(result: ibidem.QueryResult) -> set[tuple[int, str, int]]:
    return {(row["a_sentence"], row["b_id"], row["b_sentence"]) for row in result.hits.to_pylist()}


@settings(max_examples=150, deadline=None)
@given(
    st.lists(DOCUMENT, min_size=1, max_size=5), DOCUMENT, COUNTS, STOPS, st.sampled_from(["idf", "fraction", "product"]),
    st.sampled_from(["1/4", "1/2", "4/5", "1"]), st.sampled_from([1, 4]), st.booleans(),
)  # fmt: skip
def test_hits_are_those_of_brute_force(
    known: list[Document], query: Document, counts: dict[str, int], stops: set[str], form: str, limit: str, least: int,
    counted: bool,
) -> None:  # fmt: skip
    outside = Outside(counts if counted else {}, stops)
    chosen: dict[str, Any] = {"word_counts": {"*": N_DOCUMENTS, **outside.counts}} | ({"stop_words": stops} if stops else {})
    asked: dict[str, Any] = {"score": form, "min_score": limit, "min_contained_words": least, "max_places": 100}
    pairs = [
        ((q, f"d{d}", s), sentence, other)
        for q, sentence in enumerate(query)
        for d, document in enumerate(known)
        for s, other in enumerate(document)
    ]
    expected = {place for place, a, b in pairs if outside.is_hit(a, b, form, Fraction(limit), least)}
    kept = {sentence: outside.fingerprint(sentence, Fraction("0.6")) for _, *both in pairs for sentence in both}
    same = {place for place, a, b in pairs if kept[a] and kept[a] == kept[b]}
    record = records_of([query], "q")[0]
    with temporary_folder() as folder, ibidem.Index(folder, **chosen) as index:
        for one in records_of(known):
            index.add([one])
        index.compact()
        for engine in ("overlap", "inverted", "scan"):
            assert places(index.query(record, search_engine=engine, **asked)) == expected, engine
        assert places(index.query(record, search_engine="bits", radius=64, **asked)) == expected
        assert places(index.query(record, search_engine="fingerprint", **asked)) == same


def test_an_index_needs_no_file_once_it_is_made(tmp_path: Path) -> None:
    records, asked = random_records(5, 30), random_records(6, 6, "q")
    table = ibidem.words(random_records(7, 40, "e"))
    counts, stops = tmp_path / "words.tsv", tmp_path / "stop.txt"
    table.write(counts)
    table.cut(max_words=5).write(stops)
    chosen: dict[str, Any] = {"word_counts": counts, "stop_words": stops, "hash_seed": 3}
    with ibidem.Index(tmp_path / "index", **chosen) as index:
        index.add(records[:10])
        expected = index.query(asked, min_score="0.3").hits.to_pylist()
        assert index.info()["word_counts"]["documents"] == 40
    with ibidem.Index(tmp_path / "plain", hash_seed=3) as plain:
        plain.add(records[:10])
        assert plain.query(asked, min_score="0.3").hits.to_pylist() != expected
        assert "word_counts" not in plain.info()["settings"]
    copy = tmp_path / "copy.tsv"
    counts.rename(copy)
    stops.unlink()
    with ibidem.Index(tmp_path / "index") as index:
        assert index.query(asked, min_score="0.3").hits.to_pylist() == expected
        index.add(records[10:])
        counted = index.info()["word_counts"]
        assert counted == {"version": 1, "documents": 40, "words": counted["words"], "fixed": True}
        with pytest.raises(IndexSettingsError, match="were given when it was created"):
            index.compact(recount=True)
    with ibidem.Index(tmp_path / "index", word_counts=copy) as index:  # the same content
        assert len(index) == 30
    ibidem.words(records).write(copy)
    with pytest.raises(IndexSettingsError, match="word_counts is sha256:"):
        ibidem.Index(tmp_path / "index", word_counts=copy)
    with pytest.raises(IndexSettingsError, match=r"stop_words is .* in the index, not the,"):
        ibidem.Index(tmp_path / "index", stop_words="the")


def test_an_empty_index_asks_for_its_counts_again(tmp_path: Path) -> None:
    counts = {"*": 9, WORDS[0]: 3}
    ibidem.Index(tmp_path / "index", word_counts=counts).close()
    with (
        ibidem.Index(tmp_path / "index", create=False) as index,
        pytest.raises(IndexSettingsError, match="are not stored yet"),
    ):
        index.add(random_records(1, 3))
    with ibidem.Index(tmp_path / "index", word_counts=counts) as index:
        assert index.add(random_records(1, 3)) == 3
        assert index.info()["word_counts"]["documents"] == 9


def test_passages_of_an_index_do_not_depend_on_stop_words(tmp_path: Path) -> None:
    records, asked = random_records(11, 25), random_records(11, 8, "q")
    stops = [row["word"] for row in ibidem.words(records, max_words=6).to_arrow().slice(1).to_pylist()]

    def passages(name: str, **chosen: Any) -> Sequence[Any]:
        with ibidem.Index(tmp_path / name, hash_seed=1, **chosen) as index:
            index.add(records)
            rows: list[dict[str, Any]] = index.query(asked).passages.to_pylist()
            return rows

    assert passages("plain") == passages("stopped", stop_words=stops) != []
