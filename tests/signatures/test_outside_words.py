"""Words from outside: a signature does with them what it would do with a collection in which words are that common."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ibidem
from ibidem.config import Config
from ibidem.errors import InputError
from ibidem.signatures import load_signature
from ibidem.signatures.known_words import outside_counts, stop_hashes
from tests.execution.parity import found_apart, local_tables, removed_apart, rows_of
from tests.execution.random_collections import odd_records, random_records
from tests.signatures import twins
from tests.texts import documents, text, word, words

BY_WORDS = ("imatch", "fingerprint", "spotsigs")
CHOICES: dict[str, list[dict[str, Any]]] = {
    "imatch": [{}, {"min_idf": 0.3, "max_idf": 0.8}, {"paper": True}],
    "fingerprint": [{"max_document_share": 0.1, "paper": True}, {"max_document_share": 0.3}],
    "spotsigs": [{"antecedents": "4"}, {}, {"antecedents": "9", "spot_stop_words": "3", "spot_short_chains": True}],
}


@pytest.mark.parametrize("signature", BY_WORDS)
def test_counts_of_the_same_collection_change_nothing(signature: str) -> None:
    for records in (random_records(3, 40), odd_records()):
        table = ibidem.words(records)
        for choice in CHOICES[signature]:
            chosen = {"signature": signature, "min_similarity": "0.6", **choice}
            expected = local_tables(records, None, **chosen)
            assert local_tables(records, None, word_counts=table, **chosen) == expected


@pytest.mark.parametrize("signature", BY_WORDS)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_partitions_use_words_from_outside_as_one_machine_does(signature: str, data: Any) -> None:
    seed = data.draw(st.integers(0, 10**6))
    records, elsewhere = random_records(seed, data.draw(st.integers(2, 14))), random_records(seed // 3, 20, "e")
    common = ibidem.words(elsewhere, max_words=data.draw(st.sampled_from([0, 5, 40])))
    stops = [row["word"] for row in common.to_arrow().slice(1, data.draw(st.integers(0, 9))).to_pylist()]
    chosen: dict[str, Any] = {
        "signature": signature,
        "min_similarity": data.draw(st.sampled_from(["0.5", "0.8"])),
        **data.draw(st.sampled_from(CHOICES[signature])),
        **data.draw(st.sampled_from([{}, {"word_counts": common}])),
        **({"stop_words": stops} if stops else {}),
    }
    partitions = data.draw(st.sampled_from([1, 3, 7]))
    assert found_apart(records, None, partitions, 3, seed, **chosen) == local_tables(records, None, **chosen)
    cut = {**chosen, "level": "passage", "hash_seed": 7}
    expected = rows_of(ibidem.dedup(records, **cut).removed)
    assert removed_apart(records, None, partitions, 3, seed, **cut) == expected


WORDS = [word(37 * i) for i in range(9)]
SENTENCES = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(tuple), min_size=1, max_size=8)
COUNTS = st.dictionaries(st.sampled_from(WORDS), st.tuples(st.integers(1, 9), st.integers(0, 20)), max_size=8)


class Elsewhere(twins.Corpus):
    """A corpus whose words are as common as a table says; others occur in one document, and never."""

    def __init__(self, sentences: list[tuple[str, ...]], table: dict[str, tuple[int, int]], n_documents: int) -> None:
        super().__init__([[sentence] for sentence in sentences])
        self.n_documents = n_documents
        self.counts.clear()
        self.counts.update({name: n + more for name, (n, more) in table.items()})
        for name in self.document_counts:
            self.document_counts[name] = table.get(name, (1, 0))[0]


@settings(max_examples=150, deadline=None)
@given(SENTENCES, COUNTS, st.sets(st.sampled_from(WORDS), max_size=3), st.integers(0, 6), st.sampled_from([0.0, 0.3, 0.5]))
def test_signatures_are_equal_to_their_twins(
    sentences: list[tuple[str, ...]], table: dict[str, tuple[int, int]], stops: set[str], count: int, low: float
) -> None:
    given_counts: dict[str, Any] = {"*": 9} | {name: (n, n + more) for name, (n, more) in table.items()}
    config = Config.of(
        word_counts=given_counts, stop_words=sorted(stops) or "none", hash_seed=0, antecedents=count, min_idf=low,
        max_document_share=0.4, paper=True,
    )  # fmt: skip
    corpus = Elsewhere(sentences, table, 9)
    tokens = corpus.tokens()
    made: dict[str, Any] = {}
    for name in BY_WORDS:
        known = outside_counts(config, stop_hashes(config, name))
        assert known is not None
        signature: Any = load_signature(name)
        make = signature.hashes if name == "spotsigs" else signature.key
        made[name] = make(tokens, known.vocabulary(tokens), config.signatures)
    kept = [twins.imatch(words, corpus, low, 1.0, True, stops) for words in corpus.types]
    assert twins.same_keys(made["imatch"], kept)
    left = [twins.fingerprint(words, corpus, Fraction("0.4"), True, stops) for words in corpus.types]
    assert twins.same_keys(made["fingerprint"], left)
    antecedents = twins.most_frequent(corpus, count)
    assert twins.same_sets(made["spotsigs"], [twins.spots(words, antecedents, 1, 2, stops) for words in corpus.types])


def test_stop_words_do_not_count() -> None:
    common = ("the", "of", "and")
    sentences = [words(n, 9) for n in (1, 2, 3)]
    plain = ". ".join(" ".join(sentence).capitalize() for sentence in sentences) + "."
    filled = [" ".join(f"{name} {common[i % 3]}" for i, name in enumerate(sentence)).capitalize() for sentence in sentences]
    records = documents(plain, ". ".join(filled) + ".", *(text(200 + i) for i in range(5)))
    for signature in BY_WORDS:
        chosen: dict[str, Any] = {"signature": signature, "antecedents": [name for s in sentences for name in s]}
        assert len(ibidem.find(records, **chosen)) == 0
        found = list(ibidem.find(records, stop_words=common, **chosen))
        assert [(p.a.id, p.b.id, p.n_sentences) for p in found] == [("d0", "d1", 3)], signature


def test_files_mappings_and_tables_are_the_same(tmp_path: Path) -> None:
    records, elsewhere = random_records(8, 30), random_records(9, 30, "e")
    table = ibidem.words(elsewhere, min_documents=2)
    rows = table.to_arrow().to_pylist()
    mapping = {row["word"]: (row["documents"], row["occurrences"]) for row in rows}
    chosen: dict[str, Any] = {"signature": "imatch", "min_idf": 0.4, "max_idf": 0.9}
    expected = local_tables(records, None, word_counts=table, **chosen)
    assert expected != local_tables(records, None, **chosen)
    for ending in ("tsv", "csv", "parquet"):
        path = tmp_path / f"words.{ending}"
        table.write(path)
        assert local_tables(records, None, word_counts=path, **chosen) == expected
        ibidem.find(records, word_counts=str(path), **chosen).write(tmp_path / f"out-{ending}")
        said = json.loads((tmp_path / f"out-{ending}" / "run.json").read_text())
        assert said["settings"]["signatures"]["word_counts"] == str(path)
        digest = said["words"]["word_counts"].pop("sha256")
        assert len(digest) == 64
        assert said["words"]["word_counts"] == {"name": str(path), "words": len(table), "documents": 30}
    assert local_tables(records, None, word_counts=mapping, **chosen) == expected
    assert local_tables(records, None, word_counts=table.to_arrow(), **chosen) == expected
    table.cut(max_words=12).write(tmp_path / "stop.txt")
    stops = [row["word"] for row in rows[1:13]]
    assert (tmp_path / "stop.txt").read_text().split() == stops
    listed = local_tables(records, None, stop_words=stops, **chosen)
    assert local_tables(records, None, stop_words=tmp_path / "stop.txt", **chosen) == listed
    assert local_tables(records, None, stop_words=",".join(stops), **chosen) == listed


def test_rows_of_several_words_count_for_each_and_variants_add_up() -> None:
    config = Config.of(word_counts={"*": 100, "the": 90, "The": 5, "of course": 30, "—": 3}, hash_seed=0)
    known = outside_counts(config, stop_hashes(config, "imatch"))
    assert known is not None
    counted = {int(h): int(n) for h, n in zip(known.hashes, known.document_counts, strict=True)}
    assert counted == {twins.hash_of("the"): 95, twins.hash_of("of"): 30, twins.hash_of("course"): 30}


BAD_FILES: dict[str, tuple[str | bytes | None, str]] = {
    "no-total.tsv": ("the\t3\n", "no-total.tsv does not say how many documents were counted"),
    "letters.tsv": ("word\tdocuments\n*\t9\nthe\tmany\n", "line 3: documents must be a whole number, not 'many'"),
    "none.tsv": ("*\t9\nthe\t0\n", "none.tsv, line 2: documents must be at least 1, not 0"),
    "more.tsv": ("*\t9\nthe\t8\nof\t12\n", "more.tsv, line 3: 'of' occurs in 12 documents of 9"),
    "fewer.csv": ("word,documents,occurrences\n*,9,20\nthe,8,7\n", "line 3: 'the' occurs in 8 documents but only 7 times"),
    "short.csv": ("*,9\nthe\n", "short.csv, line 2: 1 columns instead of 2"),
    "header.tsv": ("word\tcount\nthe\t3\n", "header.tsv, line 1: no column documents"),
    "list.txt": ("the\nof\n", "list.txt, line 1: no column documents"),
    "bytes.tsv": (b"*\t9\n\xff\xfe\t3\n", "bytes.tsv is not UTF-8"),
    "broken.parquet": (b"PAR1", "broken.parquet cannot be read"),
    "missing.tsv": (None, "there is no file"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_what_is_wrong_with_a_file_is_said_with_its_line(tmp_path: Path, name: str) -> None:
    content, message = BAD_FILES[name]
    if content is not None:
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(InputError) as caught:
        ibidem.find([{"id": "a", "text": "Nobody reads this."}], signature="imatch", word_counts=tmp_path / name)
    assert message in caught.value.message
    assert caught.value.next_step
    assert caught.value.exit_code == 3


def test_a_table_without_its_columns_is_refused() -> None:
    records = [{"id": "a", "text": "Nobody reads this."}]
    with pytest.raises(InputError, match="the table has no column documents"):
        ibidem.find(records, signature="imatch", word_counts=pa.table({"word": ["a"]}))
    with pytest.raises(InputError, match="the mapping, 'a': documents must be a whole number, not None"):
        ibidem.find(records, signature="imatch", word_counts={"*": 3, "a": None})  # type: ignore[dict-item]
    with pytest.raises(ibidem.UsageError, match="word_counts must be a file, words, a mapping or a table, not 7"):
        ibidem.find(records, signature="imatch", word_counts=7)


def test_numbers_of_data_frames_and_what_is_no_text() -> None:
    records = [{"id": "a", "text": "Nobody reads this."}]
    floats = pa.table({"word": ["*", "this"], "documents": [9.0, 3.0], "occurrences": [30.0, None]})
    assert len(ibidem.find(records, signature="imatch", word_counts=floats)) == 0
    with pytest.raises(InputError, match=r"documents must be a whole number, not 2\.5"):
        ibidem.find(records, signature="imatch", word_counts=pa.table({"word": ["*"], "documents": [2.5]}))
    with pytest.raises(InputError, match="is not text"):
        ibidem.find(records, signature="imatch", word_counts={"*": 3, "\ud800": 1})
    with pytest.raises(InputError, match="is not text"):
        ibidem.find(records, signature="imatch", stop_words="the,\ud800")


def test_settings_with_words_as_toml(tmp_path: Path) -> None:
    (tmp_path / "words.tsv").write_text("*\t9\nthe\t5\n")
    config = Config.of(word_counts=tmp_path / "words.tsv", stop_words=["of", "and"], spot_stop_words=20)
    (tmp_path / "settings.toml").write_text(config.to_toml())
    assert Config.from_toml(tmp_path / "settings.toml") == config
    assert config != Config.of(config, stop_words="of")
    given = Config.of(word_counts={"*": 9, "the": 5})
    assert given != Config.of(word_counts={"*": 9, "the": 6})
    with pytest.raises(ibidem.UsageError, match="word_counts was given in Python; write it to a file"):
        given.to_toml()


def test_what_travels_to_other_processes_is_a_name() -> None:
    source = Config.of(word_counts={"*": 9, "the": 5}).signatures.word_counts
    copy = pickle.loads(pickle.dumps(source))
    assert (copy.name, copy.is_none, copy.content) == (source.name, False, None)
