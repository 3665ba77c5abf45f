"""`hash_seed`: other hashes, the same results; and words made to collide under the public hash do not under a secret one."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ibidem
from ibidem.config import SentencesConfig
from ibidem.errors import IndexSettingsError
from ibidem.index.settings import to_store, with_stored
from ibidem.sentences import split_texts, stem_words, tokenise_texts
from ibidem.sentences.hashing import seed_of
from tests.distributed.parity import found_apart, rows_of

SENTENCES = [
    "The ferry to the northern islands left the small harbour at seven.",
    "The ferry to the northern islands left the large harbour at seven.",
    "Nobody on the quay had expected so many passengers that morning.",
    "It rained.",
    "Über Straßen und Brücken ging der Verkehr am Montag weiter wie zuvor.",
    "Жители города снова вышли на набережную, чтобы увидеть старый паром.",
    "他说：“你好，今天天气很好，我们去码头看船吧。”",
    "Extraordinarily internationalised counterrevolutionaries misunderstood it.",
    "The council said that it would decide about the bridge in the second week of May.",
    "Café, naïve, ﬁne and e\u0301te\u0301 are words too, all of them in one sentence here.",
]
COLLECTIONS = st.lists(st.lists(st.integers(0, len(SENTENCES) - 1), min_size=1, max_size=8), min_size=2, max_size=6).map(
    lambda documents: [{"id": f"d{i}", "text": " ".join(SENTENCES[s] for s in some)} for i, some in enumerate(documents)]
)
SEEDS = st.integers(1, (1 << 63) - 1)
SETTINGS: list[dict[str, Any]] = [
    {},
    {"signature": "exact", "same_document": True},
    {"signature": "shingles", "min_similarity": 0.5},
    {"signature": "imatch"},
    {"signature": "fingerprint"},
    {"signature": "spotsigs", "antecedents": "the,to,it", "min_similarity": 0.5},
    {"align": True},
]


def texts(*values: str) -> pa.LargeStringArray:
    return pa.array(values, pa.large_string())


def no_spans() -> list[np.ndarray]:
    return [np.empty(0, np.int64), np.empty(0, np.int64)]


def all_rows(result: Any, *tables: str) -> list[list[dict[str, Any]]]:
    return [rows_of(getattr(result, table)) for table in tables]


@settings(max_examples=25, deadline=None, derandomize=True)
@given(COLLECTIONS, SEEDS, st.sampled_from(SETTINGS))
def test_find_gives_the_same_tables_with_every_seed(documents: Any, seed: int, chosen: dict[str, Any]) -> None:
    plain, seeded = (ibidem.find(documents, hash_seed=each, **chosen) for each in (0, seed))
    tables = ("passages", "documents", "repeats")
    assert all_rows(plain, *tables) == all_rows(seeded, *tables)


@settings(max_examples=15, deadline=None, derandomize=True)
@given(COLLECTIONS, SEEDS, st.sampled_from(["resemblance", "order"]))
def test_cluster_gives_the_same_tables_with_every_seed(documents: Any, seed: int, measure: str) -> None:
    chosen: dict[str, Any] = {"measure": measure, "shingle_size": 2, "min_similarity": 0.4}
    plain, seeded = (ibidem.cluster(documents, hash_seed=each, **chosen) for each in (0, seed))
    assert all_rows(plain, "duplicates", "clusters") == all_rows(seeded, "duplicates", "clusters")


@settings(max_examples=20, deadline=None, derandomize=True)
@given(COLLECTIONS, SEEDS, st.sampled_from(["document", "passage", "sentence"]), st.sampled_from(["exact", "words"]))
def test_dedup_removes_the_same_with_every_seed(documents: Any, seed: int, level: str, signature: str) -> None:
    plain, seeded = (ibidem.dedup(documents, level=level, signature=signature, hash_seed=each) for each in (0, seed))
    assert all_rows(plain, "removed") == all_rows(seeded, "removed")


@settings(max_examples=8, deadline=None, derandomize=True)
@given(COLLECTIONS, COLLECTIONS, SEEDS)
def test_an_index_answers_the_same_with_every_seed(known: Any, asked: Any, seed: int) -> None:
    answers = []
    asked = [{**document, "id": f"q{document['id']}"} for document in asked]
    with tempfile.TemporaryDirectory() as folder:
        for each in (0, seed):
            with ibidem.Index(Path(folder) / str(each), hash_seed=each) as index:
                index.add(known)
                answers.append(all_rows(index.query(asked), "passages", "hits"))
    assert answers[0] == answers[1]


@settings(max_examples=15, deadline=None, derandomize=True)
@given(COLLECTIONS, SEEDS, st.sampled_from(SETTINGS[:-1]))
def test_partitions_find_the_same_with_every_seed(documents: Any, seed: int, chosen: dict[str, Any]) -> None:
    expected, _, _ = found_apart(documents, None, 3, **chosen)
    assert found_apart(documents, None, 3, hash_seed=seed, **chosen)[0] == expected


def test_texts_are_split_alike_and_hashed_otherwise() -> None:
    column = texts(" ".join(SENTENCES))
    plain, seeded, other = (split_texts(column, SentencesConfig(hash_seed=seed)) for seed in (0, 1, 2))
    for name in plain.schema.names:
        if name != "digest":
            assert plain.column(name) == seeded.column(name) == other.column(name)
    digests = [batch.column("digest").to_pylist() for batch in (plain, seeded, other)]
    assert all(len({*same}) == len(same) for same in zip(*digests, strict=True))
    for hashes in (tokenise_texts(column, seed)[0] for seed in (1, 2)):
        assert not set(hashes.tolist()) & set(tokenise_texts(column)[0].tolist())
    assert not set(stem_words(column, *no_spans(), 1)[0].tolist()) & set(stem_words(column, *no_spans())[0].tolist())


def test_zero_is_the_hash_of_all_versions() -> None:
    assert [int(part) for part in seed_of(0)] == [0x9E3779B97F4A7C15, 1, 0]
    assert len({seed_of(seed) for seed in range(100)}) == 100


def colliding_words() -> list[tuple[str, str]]:
    """Words of sixteen letters that collide under the public hash: what the eighth letter changes, two others undo."""
    found = []
    for a, b in itertools.product("abcdefgh", repeat=2):
        word = f"{a}{b}{a}{b}{a}{b}{a}1" + f"{b}{a}{b}1{b}{a}{b}1"
        pair = word, word.replace("1", "q")
        hashes, _ = tokenise_texts(texts(*pair))
        if hashes[0] == hashes[1]:
            found.append(pair)
    return found


def test_words_that_collide_under_the_public_hash_do_not_under_secret_ones() -> None:
    prepared = colliding_words()
    assert len(prepared) > 10
    column = texts(*(word for pair in prepared for word in pair))
    for seed in range(1, 200):
        hashes, _ = tokenise_texts(column, seed)
        assert len(np.unique(hashes)) == len(hashes)


@pytest.mark.parametrize("seed", [-1, 0, 12345])
def test_prepared_sentences_are_told_apart_with_every_seed(seed: int) -> None:
    one, other = colliding_words()[0]
    documents = [
        {"id": "a", "text": f"The captain said that {one} was the name of the ship he had seen."},
        {"id": "b", "text": f"The captain said that {other} was the name of the ship he had seen."},
    ]
    assert ibidem.find(documents, signature="exact", hash_seed=seed).passages.num_rows == 0


def test_an_index_keeps_its_seed(tmp_path: Path) -> None:
    with ibidem.Index(tmp_path / "index", hash_seed=7) as index:
        index.add([{"id": "a", "text": SENTENCES[0]}])
    with ibidem.Index(tmp_path / "index") as index:
        assert index.config.sentences.hash_seed == 7
    with pytest.raises(IndexSettingsError, match="hash_seed is 7 in the index, not 8"):
        ibidem.Index(tmp_path / "index", hash_seed=8)


def test_an_index_made_before_has_no_seed() -> None:
    stored = to_store(ibidem.Config.of(signature="words"))
    del stored["hash_seed"]
    assert with_stored(stored, ibidem.Config(), {}).sentences.hash_seed == 0
    with pytest.raises(IndexSettingsError, match="hash_seed is 0 in the index, not 5"):
        with_stored(stored, ibidem.Config.of(hash_seed=5), {})
