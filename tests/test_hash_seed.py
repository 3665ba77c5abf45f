"""`hash_seed`: other hashes, the same results; and words made to collide under the public hash do not under a secret one."""

from __future__ import annotations

import itertools
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ibidem
from ibidem.columns.hashes import seed_of
from ibidem.config import SentencesConfig
from ibidem.errors import IndexSettingsError
from ibidem.execution.disk.work_folder import earlier_seed
from ibidem.execution.hash_seed import with_seed
from ibidem.index.settings import to_store, with_stored
from ibidem.resemblance import shingle_tokens
from ibidem.sentences import split_texts, stem_words, tokenise_texts
from ibidem.signatures import TypeTokens
from tests.execution.parity import found_apart, rows_of

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


def _find_sentences(records: list[dict[str, str]]) -> ibidem.Result:
    return ibidem.find(records, align=False)


def test_every_run_has_a_seed_of_its_own_where_results_do_not_depend_on_it() -> None:
    records = [{"id": str(number), "text": " ".join(SENTENCES)} for number in range(2)]
    runs = [verb(records) for verb in (_find_sentences, ibidem.cluster, ibidem.dedup) for _ in range(2)]
    seeds = [run.config.sentences.hash_seed for run in runs]
    assert len(set(seeds)) == len(seeds)
    assert all(seed > 0 for seed in seeds)
    fixed = [
        ibidem.find(records, signature="spotsigs"),
        ibidem.find(records),
        ibidem.cluster(records, method="minhash"),
        ibidem.cluster(records, sample_every=4),
    ]
    assert [run.config.sentences.hash_seed for run in fixed] == [0, 0, 0, 0]
    assert ibidem.dedup(records, method="minhash").config.sentences.hash_seed > 0, "text that collides would remove other text"


def test_a_new_index_has_a_seed_of_its_own_for_all_who_open_it(tmp_path: Path) -> None:
    with ibidem.Index(tmp_path / "a") as one, ibidem.Index(tmp_path / "a") as two, ibidem.Index(tmp_path / "b") as other:
        assert one.config.sentences.hash_seed == two.config.sentences.hash_seed > 0
        assert other.config.sentences.hash_seed not in (0, one.config.sentences.hash_seed)
        two.add([{"id": "a", "text": SENTENCES[0]}])
        assert one.check({"id": "b", "text": SENTENCES[0]}).n_known == 1


def test_a_run_that_goes_on_has_the_seed_of_the_run(tmp_path: Path) -> None:
    stored = {"stages": "stages", "settings": {"sentences": {"hash_seed": 77}}}
    (tmp_path / "work.json").write_text(json.dumps(stored), encoding="utf-8")
    assert earlier_seed(ibidem.Config.of(work_dir=str(tmp_path), resume=True)) == 77
    assert earlier_seed(ibidem.Config.of(work_dir=str(tmp_path))) is None
    assert earlier_seed(ibidem.Config.of(work_dir=str(tmp_path / "none"), resume=True)) is None
    assert with_seed("find", ibidem.Config(), None, 77).sentences.hash_seed == 77
    assert with_seed("find", ibidem.Config.of(hash_seed=5), None, 77).sentences.hash_seed == 5


@pytest.mark.parametrize("size", [512, 600, 1000])
def test_long_shingles_cannot_be_made_to_agree_under_every_seed(size: int) -> None:
    # Thue and Morse's order: of two words that differ by eight times anything, sums of powers of one odd number agree.
    turns = np.array([bin(number).count("1") % 2 for number in range(512)])
    made = [np.where(turns == first, np.uint64(1000), np.uint64(1008)) for first in (0, 1)]
    tokens = TypeTokens(np.concatenate(made), np.array([0, 512, 1024]))
    one, other = shingle_tokens(tokens, size, distinct=True).hashes.tolist()
    assert one != other


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 120), st.integers(1, 90), st.integers(0, 5))
def test_shingles_are_equal_where_their_words_are(n_tokens: int, size: int, n_words: int) -> None:
    chance = np.random.default_rng(n_tokens * 1000 + size * 7 + n_words)
    tokens = chance.integers(1, n_words + 2, n_tokens).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    found = shingle_tokens(TypeTokens(tokens, np.array([0, n_tokens])), size, distinct=False).hashes.tolist()
    width = min(size, n_tokens)
    windows = [tuple(tokens[start : start + width].tolist()) for start in range(n_tokens - width + 1)]
    assert len(found) == len(windows)
    assert len(set(zip(found, windows, strict=True))) == len(set(found)) == len(set(windows))
