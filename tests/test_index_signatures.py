"""An index of every signature finds what `find` finds, and the engines `exact` and `signature` what brute force finds.

Some signatures ask how common words are. An index fixes that with its first documents, so here the counts are those of the
whole collection, or of the first batch, and `find` gets the same.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ibidem
from ibidem.config import Config
from ibidem.errors import IndexSettingsError, IndexWriteError
from ibidem.index import watcher
from ibidem.index.commits import Commits
from ibidem.index.elements import n_frequent_words
from ibidem.index.index import Index
from ibidem.index.settings import segment_settings
from ibidem.index.vocabulary import WordCounts
from tests.index_twins import (
    WORDS,
    Document,
    Frequencies,
    Record,
    Sentence,
    arrivals_of,
    ask,
    kept_words,
    score,
    temporary_folder,
    text_of,
)
from tests.index_twins import records_of as named_records
from tests.oracles import jaccard
from tests.signatures import twins
from tests.test_document_order import POOL
from tests.test_index_stream import (
    COLLECTIONS,
    FIXED,
    LIMITS,
    UNCAPPED,
    answered_in_turn,
    batch,
    found_in,
    queried,
    records_of,
    twice,
)

MADE = st.one_of(
    st.fixed_dictionaries(
        {
            "signature": st.just("shingles"), "shingle_size": st.sampled_from([0, 1, 2, 3, 6]), "paper": st.booleans(),
            "min_similarity": st.sampled_from(["1/4", "1/2", "4/5", "1"]),
        }
    ),
    st.fixed_dictionaries(
        {
            "signature": st.just("imatch"), "min_idf": st.sampled_from([0.0, 0.1, 0.4, 0.9]), "paper": st.booleans(),
            "max_idf": st.sampled_from([0.9, 1.0, 1.0]),
        }
    ),
    st.fixed_dictionaries(
        {
            "signature": st.just("fingerprint"), "max_document_share": st.sampled_from([0.2, 0.6, 1.0]), "paper": st.booleans(),
            "stop_words": st.sampled_from(["none", POOL[0][0], f"{POOL[0][0]},{POOL[4][1]}"]),
        }
    ),
    st.fixed_dictionaries(
        {
            "signature": st.just("spotsigs"),
            "antecedents": st.sampled_from(["auto", "3", "9", "25", f"{POOL[0][0]},{POOL[4][1]}"]),
            "spot_stop_words": st.sampled_from(["auto", "none", "4", POOL[0][2]]), "spot_short_chains": st.booleans(),
            "spot_chain": st.integers(1, 2), "spot_distance": st.integers(1, 2),
            "min_similarity": st.sampled_from(["1/4", "1/2", "1"]),
        }
    ),
)  # fmt: skip
NEEDS_COUNTS = ("imatch", "fingerprint", "spotsigs")


def counts_of(records: Sequence[Record], config: Config) -> WordCounts:
    """Return how common words are in these documents."""
    made = segment_settings(config)
    segment = arrivals_of(records).segment(np.arange(len(records)), WordCounts.empty(), made)
    return WordCounts.counted([(segment, np.ones(len(records), np.bool_))], 1, n_frequent_words(made.elements))


@settings(max_examples=400, deadline=None)
@given(COLLECTIONS, MADE, st.fixed_dictionaries(LIMITS), st.randoms(use_true_random=False))
def test_answers_one_by_one_are_those_of_find(
    collection: list[list[Sentence]], made: dict[str, Any], limits: dict[str, Any], chance: random.Random
) -> None:
    """Without a disk: documents come one by one or together, and segments are merged now and then."""
    records = records_of(collection)
    limits |= {**made, "max_places": UNCAPPED, "hash_seed": 0, "same_document": True}
    config = Config.of(**limits)
    counts = counts_of(records, config)
    expected = batch(records, **limits)
    chance.shuffle(records)
    assert answered_in_turn(records, config, counts, chance) == expected


def answers_of(index: Index, records: Sequence[Record], **others: Any) -> list[Any]:
    """Return everything that an index says about documents."""
    result = index.query(list(records), **others)
    return [result.hits.to_pylist(), [(v.id, v.duplicated, v.n_known, v.sources) for v in result.verdicts], found_in(
        result.passages.to_pylist()
    )]  # fmt: skip


@settings(max_examples=40, deadline=None)
@given(
    COLLECTIONS, COLLECTIONS, COLLECTIONS, st.one_of(MADE, FIXED), st.sampled_from(["overlap", "signature", "exact"]), st.data()
)
def test_additions_in_a_stream_are_one_batch(
    first: list[list[Sentence]],
    later: list[list[Sentence]],
    asked: list[list[Sentence]],
    made: dict[str, Any],
    engine: str,
    data: st.DataObject,
) -> None:
    """After the same first batch: one by one, watched, removed and put back, compacted; or all at once."""
    collection = [*first, *later]
    records = [{**record, "id": f"d{n}"} for n, record in enumerate(records_of(collection))]
    head, tail = records[: len(first)], records[len(first) :]
    queries = [{**record, "id": f"q{n}"} for n, record in enumerate(records_of(asked))]
    usual = {**made, "workers": 1, "min_hit_words": 1, "min_contained_words": 1, "search_engine": engine, "hash_seed": 0}
    with temporary_folder() as folder, Index(folder, **usual) as index:
        index.add(head)
        index.add(tail)
        expected = answers_of(index, queries)
    with temporary_folder() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(watcher, "MOST_TOGETHER", data.draw(st.integers(1, 4)))
        index = Index(folder, **usual)
        index.add(head)
        for record in tail:
            way = data.draw(st.sampled_from(["add", "watch", "twice"]))
            if way == "watch":
                list(index.watch([record], commit_every="1"))
            else:
                index.add([record])
            if way == "twice":
                index.remove(record["id"])
                index.add([record])
            after = data.draw(st.sampled_from(["", "", "compact", "reopen"]))
            if after == "compact":
                index.compact()
            elif after == "reopen":
                index.close()
                index = Index(folder, create=False, workers=1)
        others = {name: usual[name] for name in ("min_hit_words", "min_contained_words", "search_engine")}
        found = answers_of(index, queries, **others)
        assert index.verify() == []
        index.close()
    assert found == expected


@settings(max_examples=40, deadline=None)
@given(COLLECTIONS, MADE, st.fixed_dictionaries(LIMITS))
def test_one_batch_is_find(collection: list[list[Sentence]], made: dict[str, Any], limits: dict[str, Any]) -> None:
    """The first batch is counted as `find` counts it; counting again then changes nothing."""
    limits |= {**made, "max_places": UNCAPPED, "hash_seed": 0}
    records = records_of(collection)
    expected = twice(batch(records, **limits))
    with temporary_folder() as folder, Index(folder, workers=1, **limits) as index:
        index.add(records)
        assert sum((queried(index, record) for record in records), Counter()) == expected
        if made["signature"] != "spotsigs":
            index.compact(recount=True)
            assert sum((queried(index, record) for record in records), Counter()) == expected


@pytest.mark.parametrize("signature", ["imatch", "fingerprint"])
def test_counts_stay_those_of_the_first_batch(signature: str) -> None:
    """Until they are counted again: then the keys are those of all documents."""
    common = [tuple(WORDS[:6]) for _ in range(12)]
    records = [{"id": f"d{n}", "text": text_of([sentence])} for n, sentence in enumerate(common)]
    rare = [{"id": f"r{n}", "text": text_of([tuple(WORDS[n : n + 6])])} for n in range(10, 16)]
    usual = {"signature": signature, "max_document_share": 0.5, "min_idf": 0.3, "min_hit_words": 1}
    with temporary_folder() as folder, Index(folder, workers=1, **usual) as index:
        index.add(rare)
        index.add(records)
        counted = index.info()["word_counts"]
        assert counted["documents"] == len(rare)
        changed = {"id": "q", "text": text_of([(*WORDS[:5], WORDS[20])])}
        same = {"id": "q", "text": text_of([(*WORDS[1:6], WORDS[0])])}
        assert [len(index.query(one, search_engine="signature")) for one in (changed, same)] == [0, len(records)]
        index.compact(recount=True)
        assert index.info()["word_counts"]["documents"] == len(rare) + len(records)
        # Now all words of the sentence are common, and it is known by nothing.
        assert [len(index.query(one, search_engine="signature")) for one in (changed, same)] == [0, 0]


@pytest.mark.parametrize("signature", NEEDS_COUNTS)
def test_a_stream_needs_counts(signature: str) -> None:
    record = {"id": "a", "text": text_of([tuple(WORDS[:6])])}
    with temporary_folder() as folder, Index(folder, workers=1, signature=signature, antecedents="10") as index:
        with pytest.raises(IndexSettingsError, match="no word counts"):
            list(index.watch([record]))
        assert len(index) == 0
        index.add([record])
        assert [arrival.verdict is not None for arrival in index.watch([{**record, "id": "b"}])] == [True]


def test_spots_are_not_made_again() -> None:
    record = {"id": "a", "text": text_of([tuple(WORDS[:6])])}
    with temporary_folder() as folder, Index(folder, workers=1, signature="spotsigs", antecedents="10") as index:
        index.add([record])
        with pytest.raises(IndexSettingsError, match="does not keep the order of words"):
            index.compact(recount=True)
    # Where every word begins a spot, or those that do are listed, there is nothing that counts could change.
    for antecedents in ("auto", WORDS[0]):
        made = {"signature": "spotsigs", "antecedents": antecedents}
        with temporary_folder() as folder, Index(folder, workers=1, **made) as index:
            assert [arrival.id for arrival in index.watch([record])] == ["a"]
            index.compact(recount=True)


def test_words_that_chains_skip_are_kept_without_their_file(tmp_path: Path) -> None:
    (tmp_path / "stops.txt").write_text(f"{WORDS[1]}\n{WORDS[2]}\n")
    made = {"signature": "spotsigs", "antecedents": WORDS[0], "spot_chain": 1, "search_engine": "signature"}
    with Index(tmp_path / "index", workers=1, spot_stop_words=str(tmp_path / "stops.txt"), **made) as index:
        index.add([{"id": "a", "text": text_of([(WORDS[0], WORDS[1], WORDS[3], WORDS[4])])}])
    (tmp_path / "stops.txt").unlink()
    with Index(tmp_path / "index", create=False, workers=1) as index:
        other = {"id": "q", "text": text_of([(WORDS[0], WORDS[2], WORDS[3], WORDS[5])])}
        assert [hit.b_id for hit in index.query(other)] == ["a"]


@pytest.mark.parametrize("signature", NEEDS_COUNTS)
def test_counts_from_elsewhere_make_a_stream_of_everything(signature: str) -> None:
    """With them, no first batch is needed, and a stream finds what `find` finds with the same counts."""
    chance = random.Random(5)
    collection = [[chance.choice(POOL) for _ in range(8)] for _ in range(12)]
    records, elsewhere = records_of(collection), records_of(collection[:4])
    counts = ibidem.words(elsewhere)
    made = {"signature": signature, "word_counts": counts, "hash_seed": 0, "max_places": UNCAPPED, "min_similarity": "1/2"}
    made |= {"antecedents": "12"}
    expected = batch(records, **made)
    assert expected
    with temporary_folder() as folder, Index(folder, workers=1, **made) as index:
        found = sum((found_in(arrival.passages) for arrival in index.watch(records)), Counter())
        with pytest.raises(IndexSettingsError):
            index.compact(recount=True)
    assert found == expected


def test_settings_of_a_signature_are_fixed_with_it() -> None:
    with temporary_folder() as folder:
        Index(folder, signature="shingles", shingle_size=3).close()
        with Index(folder, create=False, min_idf=0.3) as index:  # which shingles do not use
            assert index.config.signatures.shingle_size == 3
            assert index.info()["settings"]["shingle_size"] == 3
            index.add([{"id": "a", "text": text_of([tuple(WORDS[:6])])}])
        with pytest.raises(IndexSettingsError, match="shingle_size is 3 in the index, not 2"):
            Index(folder, shingle_size=2)


# Engines for single sentences.

WORD = st.one_of(st.sampled_from(WORDS[:4]), st.sampled_from(WORDS[:9]))
SENTENCE = st.lists(WORD, min_size=1, max_size=7).map(tuple)
DOCUMENT = st.lists(SENTENCE, min_size=1, max_size=5)


def known_by(sentence: Sentence, config: Config, frequencies: Frequencies) -> frozenset[Any]:
    """Return what a sentence is known by, in plain words."""
    chosen = config.signatures
    if chosen.signature == "exact":
        return frozenset([sentence])
    if chosen.signature == "words":
        return frozenset(sentence)
    if chosen.signature == "shingles":
        return frozenset(twins.shingles(sentence, chosen.shingle_words("sentence"), False))
    if chosen.signature == "spotsigs":
        return frozenset(twins.spots(sentence, set(chosen.antecedents.split(",")), 1, 2))
    if chosen.signature == "fingerprint":
        kept = tuple(kept_words(sentence, frequencies, Fraction(str(chosen.max_document_share))))
        return frozenset([kept] if kept else [])
    n, counts = frequencies.n_documents, frequencies.document_counts
    corpus = twins.Corpus([[tuple(counts)]])
    corpus.n_documents, corpus.document_counts = n, Counter({w: counts.get(w, 1) for w in WORDS})
    kept_set = twins.imatch(sentence, corpus, chosen.min_idf, chosen.max_idf, False)
    return frozenset([] if kept_set is None else [kept_set])


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.lists(DOCUMENT, min_size=1, max_size=3), min_size=1, max_size=3), st.lists(DOCUMENT, min_size=1, max_size=2),
    st.sampled_from(["words", "exact", "shingles", "imatch", "fingerprint", "spotsigs"]), st.sampled_from(["1/3", "1/2", "1"]),
    st.sampled_from(["exact", "signature"]), st.sampled_from(["idf", "fraction", "product"]),
)  # fmt: skip
def test_engines_find_what_brute_force_finds(
    batches: list[list[Document]], queries: list[Document], signature: str, limit: str, engine: str, form: str
) -> None:
    config = Config.of(
        signature=signature, min_similarity=limit, search_engine=engine, score=form, max_places=UNCAPPED, min_idf=0.3,
        max_document_share=0.5, min_contained_words=8, antecedents=",".join(WORDS[:3]),
    )  # fmt: skip
    frequencies = Frequencies({w: 30 - 3 * n for n, w in enumerate(WORDS[:9])}, 30)
    counts, built = frequencies.counts(), segment_settings(config)
    parts, documents = [], []
    for number, batch_of in enumerate(batches):
        records = [{**record, "id": f"d{number}.{n}"} for n, record in enumerate(named_records(batch_of))]
        documents += [(record["id"], document) for record, document in zip(records, batch_of, strict=True)]
        segment = arrivals_of(records).segment(np.arange(len(records)) + 100 * number, counts, built)
        parts.append((segment, np.ones(len(records), np.bool_)))
    expected = Counter()
    for number, document in enumerate(queries):
        for at, query in enumerate(document):
            for name, other_document in documents:
                for place, other in enumerate(other_document):
                    mine, theirs = (known_by(sentence, config, frequencies) for sentence in (query, other))
                    matches = bool(mine) and bool(theirs) and jaccard(mine, theirs) >= Fraction(limit)
                    if query == other if engine == "exact" else matches:
                        value = float(score(query, other, form, frequencies))
                        expected[f"q{number}", at, name, place, round(value, 9)] += 1
    result = ask(arrivals_of(named_records(queries, "q")), parts, None, counts, config)
    found = Counter((h.a_id, h.a_sentence, h.b_id, h.b_sentence, round(h.score, 9)) for h in result)
    assert found == expected


def test_an_index_remembers_its_engine() -> None:
    """Searches may choose another one, and an index that was made without a choice is as it was."""
    sentence = tuple(WORDS[:9])
    near = {"id": "q", "text": text_of([(*sentence[:8], WORDS[30])])}
    with temporary_folder() as folder:
        with Index(folder, workers=1, search_engine="exact") as index:
            index.add([{"id": "a", "text": text_of([sentence])}])
        with Index(folder, create=False, workers=1) as index:
            assert index.info()["engine"] == "exact"
            assert len(index.query(near)) == 0
            assert len(index.query(near, search_engine="overlap")) == 1
        with Index(folder, create=False, workers=1, search_engine="overlap") as index:
            assert len(index.query(near, min_hit_words=2)) == 1
    bits = {"signature_bits": 32, "bits_per_word": 2}
    with temporary_folder() as folder:
        with Index(folder, workers=1, search_engine="exact", **bits) as index:
            index.add([{"id": "a", "text": text_of([sentence])}])
        with Index(folder, create=False, workers=1, as_paper="qsign") as index:  # a paper chooses, too
            assert index.info()["engine"] == index.config.index.search_engine == "bits"
    with temporary_folder() as folder, Index(folder, workers=1) as index:
        assert "search_engine" not in index._stored
        assert index.info()["engine"] == "overlap"


@pytest.mark.parametrize(
    "made",
    [
        {"signature": "shingles"}, {"signature": "imatch", "min_idf": 0.3}, {"signature": "fingerprint"},
        {"signature": "spotsigs", "antecedents": "5", "min_similarity": "1/2"}, {"signature_bits": 40, "bits_per_word": "auto"},
    ],
    ids=lambda made: "-".join(map(str, made.values())),
)  # fmt: skip
def test_a_commit_that_breaks_off_decides_nothing(made: dict[str, Any]) -> None:
    """What the first documents decide is decided by a commit: until then the next ones do, as if nothing had been tried."""
    chance = random.Random(3)
    batches = [
        [{"id": f"{name}{n}", "text": text_of([chance.choice(POOL) for _ in range(6)])} for n in range(6)] for name in "abc"
    ]
    queries = [{"id": f"q{n}", "text": text_of([chance.choice(POOL) for _ in range(6)])} for n in range(4)]
    usual = {**made, "workers": 1, "hash_seed": 0, "min_hit_words": 1, "min_contained_words": 1}

    def break_off(*change: object) -> None:
        raise IndexWriteError("no space", "")

    with temporary_folder() as folder, temporary_folder() as other:
        with Index(other, **usual) as index:
            index.add(batches[1])
            expected, settled = answers_of(index, queries, search_engine="signature"), index.info()["settings"]
        with Index(folder, **usual) as index:
            for broken, whole in ((batches[0], batches[1]), (batches[2], [])):
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr(Commits, "commit", break_off)
                    with pytest.raises(IndexWriteError):
                        index.add(broken)
                if whole:
                    index.add(whole)
                assert answers_of(index, queries, search_engine="signature") == expected
            assert index.info()["settings"] == settled
            assert index.verify() == []
