"""Alignment in an index: a stream finds what one batch finds, and what `find` makes of two documents alone."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ibidem
from ibidem.alignment import Aligned, Words, align_spans, refinement
from ibidem.alignment.places import whole_documents
from ibidem.columns.hashes import FACTOR
from ibidem.config import Config, passage_limits
from ibidem.execution.tasks import RunTasks
from ibidem.index import segment_build, watcher
from ibidem.index import word_pairs as word_pairs_module
from ibidem.index.index import Index
from ibidem.index.segment_build import MOST_PAIRED_WORDS
from ibidem.index.settings import segment_settings
from ibidem.index.vocabulary import WordCounts
from ibidem.index.word_pairs import MAX_GAP_SENTENCES, MOST_IN_DOCUMENT, sentences_by_pairs
from tests.index_twins import Record, arrivals_of, temporary_folder, text_of
from tests.test_index_stream import Passages, found_in, twice
from tests.texts import word

UNCAPPED = 10**6
ALIGNED: dict[str, Any] = {"align": True, "min_aligned_words": 8, "min_evidence": 8.0, "max_places": UNCAPPED}


def edited(sentence: Sequence[str], chance: random.Random, share: float) -> list[str]:
    """Return a sentence some of whose words are replaced, dropped, or joined by others."""
    changed: list[str] = []
    for each in sentence:
        kind = chance.random()
        if kind < share / 3:
            continue
        changed.append(word(chance.randrange(500)) if kind < 2 * share / 3 else each)
        if kind > 1 - share / 3:
            changed.append(word(chance.randrange(500)))
    return changed


def collection_of(seed: int, n_documents: int) -> list[Record]:
    """Return documents made of sentences of one another: unchanged, edited, or glued to something else."""
    chance = random.Random(seed)
    pool = [[word(chance.randrange(500)) for _ in range(chance.randint(4, 18))] for _ in range(8)]
    records: list[Record] = []
    for number in range(n_documents):
        begin = chance.randrange(len(pool))
        chosen = [pool[(begin + k) % len(pool)] for k in range(chance.randint(2, 9))]
        shares = [chance.choice([0, 0, 0.2, 0.5]) for _ in chosen]
        sentences = [" ".join(edited(each, chance, share)) for each, share in zip(chosen, shares, strict=True)]
        ends = [chance.choice([". ", ". ", ", ", "\n\n", " – "]) for _ in sentences]
        text = "".join(sentence.capitalize() + end for sentence, end in zip(sentences, ends, strict=True))
        records.append({"id": f"d{number}", "text": f"Ä{text}", "time": 10**9 + number % 3, "group": f"g{number % 2}"})
    return records


def word_pairs(record: Record) -> list[set[int]]:
    """Return the keys of pairs of words, sentence by sentence, as an index of few documents stores them."""
    arrivals = arrivals_of([record], hash_seed=0)
    tokens, first = arrivals.tokens.tokens.tolist(), arrivals.tokens.first.tolist()
    keys: list[set[int]] = []
    for number in arrivals.types.of_sentence.tolist():
        hashes = sorted(set(tokens[first[number] : first[number + 1]]))[:MOST_PAIRED_WORDS]
        products = [(a ^ b) * int(FACTOR) % 2**64 for a, b in combinations(hashes, 2)]
        keys.append({product >> 29 & 0xFFFFFFFF for product in products if product >> 61 == 0})
    return keys


def sentences_with(key: int, keys: Sequence[set[int]]) -> list[int]:
    """Return the first sentences that have a pair of words."""
    return [number for number, mine in enumerate(keys) if key in mine][:MOST_IN_DOCUMENT]


def digests(record: Record) -> list[int]:
    return arrivals_of([record], hash_seed=0).collection.digest.tolist()  # type: ignore[no-any-return]


def sharing(keys_a: Sequence[set[int]], keys_b: Sequence[set[int]], a: Record, b: Record) -> set[tuple[int, int]]:
    """Return the pairs of sentences that have a key in common, and another key close by, unless both documents have both."""
    meetings = [
        (key, i, j)
        for key in set().union(*keys_a) & set().union(*keys_b)
        for i, j in product(sentences_with(key, keys_a), sentences_with(key, keys_b))
    ]
    of_a, of_b = digests(a), digests(b)
    return {
        x[1:]
        for x in meetings
        if not (of_a[x[1]] in of_b and of_b[x[2]] in of_a)
        and any(x[0] != y[0] and max(abs(x[1] - y[1]), abs(x[2] - y[2])) <= MAX_GAP_SENTENCES for y in meetings)
    }


def spans_of(pairs: Iterable[tuple[int, int]], words: Words, n: int) -> Any:
    """Return the words of pairs of sentences of two documents, the first of which has n sentences, as spans."""
    first = words.sentence_first
    spans = [[first[i], first[i + 1], first[n + j], first[n + j + 1]] for i, j in sorted(pairs)]
    return np.array(spans, np.int64).reshape(-1, 4)


def align_all(places: Any, words: Words, _: Any, config: Config, run_tasks: RunTasks) -> Aligned:
    """Align two documents, which are short, as a whole if there is a place at all."""
    spans = whole_documents(words, np.array([[0, 1]][: len(places)], np.int64).reshape(-1, 2))
    return align_spans(words, spans, config.alignment, passage_limits(config).max_gap_sentences, run_tasks)


def twin(records: Sequence[Record], **limits: Any) -> Passages:
    """Return what `find` gives for two documents alone if pairs of words lead to places outside the passages of sentences."""
    found: Passages = Counter()
    for a, b in combinations(records, 2):
        if limits.get("skip_same_group") and a["group"] == b["group"]:
            continue
        pair, keys = (a, b), (word_pairs(a), word_pairs(b))
        shared = sharing(*keys, a, b)
        with pytest.MonkeyPatch.context() as patch:
            spans = partial(spans_of, shared, n=len(keys[0]))
            patch.setattr(refinement, "find_rectangles", lambda words, *_, spans=spans: spans(words))
            patch.setattr(refinement, "align_windows", align_all)
            # Which short runs mean something depends on the whole collection; an index does not look for them.
            patch.setattr(refinement, "find_quotations", lambda *_: np.empty((0, 4), np.int64))
            found += found_in(ibidem.find(list(pair), workers=1, **limits).passages.to_pylist())
    return found


LIMITS = st.fixed_dictionaries(
    {
        "signature": st.sampled_from(["words", "words", "exact"]),
        "min_sentences": st.integers(1, 4),
        "min_quote_words": st.sampled_from([0, 4, 10]),
        "skip_same_group": st.sampled_from([False, False, True]),
    }
)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 5), LIMITS, st.sampled_from(["1", "2", "1000"]), st.randoms(use_true_random=False))
def test_a_stream_is_aligned_as_pairs_are_alone(
    seed: int, n_documents: int, limits: dict[str, Any], rhythm: str, chance: random.Random
) -> None:
    limits = {**limits, **ALIGNED}
    records = collection_of(seed, n_documents)
    expected = twin(records, **limits)
    chance.shuffle(records)
    with (
        temporary_folder() as folder,
        Index(folder, workers=1, hash_seed=0, **limits) as index,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(watcher, "MOST_TOGETHER", chance.randint(1, len(records)))
        arrivals = list(index.watch(records, commit_every=rhythm))
        assert sum((found_in(arrival.passages) for arrival in arrivals), Counter()) == expected
        assert index.verify() == []
    with temporary_folder() as folder, Index(folder, workers=1, hash_seed=0, **limits) as index:
        index.add(records)
        result = index.query(records)
        assert found_in(result.passages.to_pylist()) == twice(expected)
        texts = {record["id"]: record["text"] for record in records}
        for row in result.with_texts().to_pylist():
            for side in "ab":
                assert row[f"{side}_text"] == texts[row[f"{side}_id"]][row[f"{side}_start"] : row[f"{side}_end"]]


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.lists(st.sampled_from(["add", "watch", "remove", "compact", "reopen"]), min_size=2, max_size=8),
    st.randoms(use_true_random=False),
)
def test_it_is_so_through_removals_and_compactions(seed: int, steps: list[str], chance: random.Random) -> None:
    records = collection_of(seed, 6)
    there: dict[str, Record] = {}
    with temporary_folder() as folder:
        index = Index(folder, workers=1, hash_seed=0)
        for step in steps:
            if step in ("add", "watch"):
                new = chance.sample(records, chance.randint(1, 3))
                if step == "add":
                    index.add(new, replace=True)
                    there |= {record["id"]: record for record in new}
                    continue
                for record, arrival in zip(new, index.watch(new, replace=True, **ALIGNED), strict=True):
                    there[record["id"]] = record
                    mine = {p: n for p, n in twin(list(there.values()), **ALIGNED).items() if record["id"] in (p[0], p[3])}
                    assert found_in(arrival.passages) == Counter(mine)
            elif step == "remove":
                gone = chance.sample(sorted(there), min(len(there), 2))
                index.remove(gone)
                there = {name: record for name, record in there.items() if name not in gone}
            elif step == "reopen":
                index.close()
                index = Index(folder, create=False, workers=1)
            else:
                index.compact()
        if there:
            found = found_in(index.query(list(there.values()), **ALIGNED).passages.to_pylist())
            assert found == twice(twin(list(there.values()), **ALIGNED))
        index.close()


@pytest.mark.parametrize("seed", range(10))
def test_pairs_are_found_by_halves_of_their_keys_as_by_whole_ones(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    arrivals = arrivals_of(collection_of(seed, 8), hash_seed=0)
    made, counts, serials = segment_settings(Config.of(texts=True)), WordCounts.empty(), np.arange(8)
    whole = arrivals.segment(serials, counts, made)
    monkeypatch.setattr(segment_build, "_MANY_KEYS", 0)
    halved = arrivals.segment(serials, counts, made)
    assert len(whole.pair_keys) > 100
    assert halved.pair_keys is None
    keys = np.concatenate([whole.pair_keys, [0, 2**32 - 1], [chance.randrange(2**32) for _ in range(50)]]).astype(np.uint32)
    keys = np.concatenate([keys, keys ^ np.uint32(1), keys ^ np.uint32(1 << 16)])
    (first, size), (other_first, other_size) = whole.find_pairs(keys), halved.find_pairs(keys)
    assert size.tolist() == other_size.tolist()
    assert first[size > 0].tolist() == other_first[size > 0].tolist()
    assert whole.pair_types.tolist() == halved.pair_types.tolist()


TEXT = (
    "The harbour was closed on Monday because of the storm. Two ferries stayed in port over night, and nobody was hurt. "
    "On Tuesday the wind had fallen, and the first boats could leave for the islands again, although the waves were still "
    "four metres high in the early morning. Shops opened late."
)
EDITED = (
    "They write: Two ferries stayed in port over night, and nobody was hurt. In other towns things went differently. "
    "By Tuesday the wind had calmed, and first boats were able to leave for the islands, although waves were still "
    "four metres high early in the morning. Nothing else is known."
)


def test_edited_copies_are_found_beside_shared_sentences() -> None:
    with temporary_folder() as folder, Index(folder, workers=1) as index:
        index.add([{"id": "source", "text": TEXT}])
        plain, aligned = (index.query({"id": "copy", "text": EDITED}, align=align) for align in (False, True))
        assert "Tuesday" not in "".join(plain.with_texts()["a_text"].to_pylist())
        (row,) = aligned.with_texts().to_pylist()
        assert "the first boats could leave" in row["b_text"]
        assert row["a_text"].endswith("early in the morning.")
        assert index.check({"id": "copy", "text": EDITED}, align=True).covered_share > 0.7


def test_documents_without_texts_stay_as_found() -> None:
    """An earlier version may have written some of the segments."""
    with temporary_folder() as folder, Index(folder, workers=1) as index:
        index._settings = replace(index._settings, texts=False)
        index.add([{"id": "old", "text": TEXT}])
        index._settings = replace(index._settings, texts=True)
        index.add([{"id": "new", "text": TEXT}])
        rows = index.query({"id": "copy", "text": EDITED}, align=True).with_texts().to_pylist()
        plain = {row["b_id"]: row for row in index.query({"id": "copy", "text": EDITED}).with_texts().to_pylist()}
        assert [row for row in rows if row["b_id"] == "old"] == [plain["old"]]
        assert plain["old"]["b_text"] is None
        assert "first boats could leave" in next(row["b_text"] for row in rows if row["b_id"] == "new")
        index.compact()
        assert index.query({"id": "copy", "text": EDITED}, align=True).with_texts().to_pylist() == rows


def test_edited_copies_are_found_that_share_no_sentence() -> None:
    """Each sentence is changed too much to match, but pairs of words remain."""
    chance = random.Random(1)
    source = [[word(chance.randrange(1000)) for _ in range(16)] for _ in range(8)]
    copy = [edited(sentence, chance, 0.5) for sentence in source]
    others = [[[word(chance.randrange(1000)) for _ in range(16)] for _ in range(8)] for _ in range(50)]
    records = [{"id": str(number), "text": text_of(document)} for number, document in enumerate([source, *others])]
    with temporary_folder() as folder, Index(folder, workers=1, hash_seed=0) as index:
        index.add(records)
        result = index.query({"id": "copy", "text": text_of(copy)}, align=True)
        assert index.query({"id": "copy", "text": text_of(copy)}).passages.num_rows == 0
        (row,) = result.passages.to_pylist()
        assert row["b_id"] == "0"
        assert row["b_end"] - row["b_start"] > 0.8 * len(text_of(source))


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(2, 12), st.randoms(use_true_random=False))
def test_a_cap_and_batches_do_not_change_which_sentences_share_words(
    seed: int, most: int, n_documents: int, chance: random.Random
) -> None:
    """A pair of words in more places than that, in documents that are there and before, leads to nothing."""
    records = collection_of(seed, n_documents)
    keys = {record["id"]: word_pairs(record) for record in records}
    gone = set(chance.sample([record["id"] for record in records], n_documents // 3))
    settings_ = segment_settings(Config.of(texts=True))
    counts = WordCounts.empty()
    at = n_first = chance.randint(0, n_documents - 1)
    parts = []
    for begin in range(0, n_first, 3):
        some = records[begin : min(begin + 3, n_first)]
        segment = arrivals_of(some, hash_seed=0).segment(np.arange(len(some)), counts, settings_)
        parts.append((segment, np.array([record["id"] not in gone for record in some])))
    arrivals = arrivals_of(records[at:], hash_seed=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_pairs_module, "MOST_MEETINGS", chance.choice([1, 5, 10**6]))
        found, earlier = sentences_by_pairs(arrivals, arrivals.queries(counts, settings_), parts, counts, most, True)
    new = arrivals.collection

    def place(sentence: int, first: Any, n_before: int) -> tuple[str, int]:
        document = int(np.searchsorted(first, sentence, side="right")) - 1
        return records[n_before + document]["id"], sentence - int(first[document])

    pairs = {(*place(a, new.document_first, at), *place(b, new.document_first, at)) for a, b in earlier.tolist()}
    for number, rows in enumerate(found):
        known = parts[number][0].document_first
        pairs |= {(*place(a, new.document_first, at), *place(b, known, 3 * number)) for a, b in rows.tolist()}
    there = [record for record in records[:at] if record["id"] not in gone]
    expected = set()
    for record in records[at:]:
        name = record["id"]
        n_places = Counter(key for other in there for sentence in keys[other["id"]] for key in sentence)
        mine = [{key for key in sentence if n_places[key] <= most} for sentence in keys[name]]
        for other in there:
            shared = sharing(mine, keys[other["id"]], record, other)
            expected |= {(name, i, other["id"], j) for i, j in shared}
        there.append(record)
    assert pairs == expected
