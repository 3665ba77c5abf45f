"""The papers' own examples. The one of qSign, figure 3, is in `tests/test_bits.py` beside the predictions."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pyarrow as pa
import pytest

import ibidem
from ibidem.resemblance import shingle_tokens
from ibidem.sentences import tokenise_texts
from ibidem.signatures import TypeTokens
from tests.execution.parity import rows_of
from tests.texts import render, text, word


def test_pdc_mr_figure_2_which_sentences_of_which_pages() -> None:
    """Page A shares one run of sentences with page B, and another one with page C."""
    pages = {
        "A": text(1, 10, 11, 12, 13, 2, 20, 21, 22, 23, 24, 3),
        "B": text(4, 5, 10, 11, 12, 13, 6),
        "C": text(20, 21, 22, 23, 24, 7, 8),
    }
    found = ibidem.find([{"id": name, "text": page} for name, page in pages.items()], as_paper="pdc-mr")
    names = ("a_id", "a_sentence", "b_id", "b_sentence", "n_sentences")
    assert [tuple(row[name] for name in names) for row in rows_of(found.passages)] == [("A", 1, "B", 2, 4), ("A", 6, "C", 0, 5)]
    for passage in found:
        assert (pages[passage.a.id][passage.a.start : passage.a.end]) == passage.b.text


def test_pdc_mr_figures_3_and_4_from_signatures_to_duplicate_sentences() -> None:
    """A toy collection of three documents: map and reduce give the index, and again map and reduce the duplicates."""
    first, second, third = (tuple(map(word, numbers)) for numbers in ((1, 2, 3), (4, 5, 6), (1, 2, 3, 7)))
    documents = {"d1": [first, second], "d2": [third], "d3": [second, first]}
    records = [{"id": name, "text": "\n\n".join(map(render, sentences))} for name, sentences in documents.items()]
    call = {"as_paper": "pdc-mr", "signature": "words", "sentence_pairs": True, "postings": True}
    found = ibidem.find(records, **call)
    # Map emits (signature, place of the sentence); what has one key is grouped and sorted, and reduce writes it.
    emitted = [(w, name, number) for name, sentences in documents.items() for number, s in enumerate(sentences) for w in s]
    grouped = defaultdict(list)
    for signature, name, number in emitted:
        grouped[signature].append((name, number))
    lists = defaultdict(list)
    for row in rows_of(found.postings):
        lists[row["signature"]].append((row["id"], row["sentence"]))
    assert sorted(lists.values()) == sorted(grouped.values())
    assert sorted(map(len, lists.values())) == [1, 2, 2, 2, 3, 3, 3]
    # Two sentences at one signature become a key; reduce has all that they share. 3 of 4 is 0.75, which is not 0.9.
    assert rows_of(found.sentence_pairs) == [
        {"a_id": "d1", "a_sentence": 0, "b_id": "d3", "b_sentence": 1, "similarity": 1.0},
        {"a_id": "d1", "a_sentence": 1, "b_id": "d3", "b_sentence": 0, "similarity": 1.0},
    ]
    more = rows_of(ibidem.find(records, **call, min_similarity=0.75).sentence_pairs)
    assert [(row["a_id"], row["b_id"], row["similarity"]) for row in more] == [
        ("d1", "d2", 0.75), ("d1", "d3", 1.0), ("d1", "d3", 1.0), ("d2", "d3", 0.75)
    ]  # fmt: skip


def test_pdc_mr_figure_5_only_diagonals_count() -> None:
    """Duplicated sentences that are scattered, or in another order, are no sequence."""
    sequence = text(1, 2, 3, 4)
    records = [{"id": "di", "text": sequence}, {"id": "dj", "text": text(4, 3, 2, 1)}, {"id": "dk", "text": sequence}]
    records += [{"id": str(n), "text": text(50 + n)} for n in range(9)]  # or all words would be too common
    found = ibidem.find(records, as_paper="pdc-mr", sentence_pairs=True)
    assert [(p.a.id, p.b.id, p.n_sentences) for p in found] == [("di", "dk", 4)]
    assert found.sentence_pairs.num_rows == 4 * 3


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_swlr_a_document_of_n_words_has_n_minus_q_plus_1_shingles(size: int) -> None:
    """Shingles are a sequence here: those that repeat are all there."""
    for n_words in range(size, 12):
        tokens = TypeTokens(*tokenise_texts(pa.array([" ".join(["lum"] * n_words)], pa.large_string())))
        assert len(shingle_tokens(tokens, size, distinct=False).hashes) == n_words - size + 1


def test_swlr_looks_at_the_order_of_shingles() -> None:
    """What shingling cannot tell apart: the same elements in another order."""
    here, turned = "one two three four", "three four one two"
    both = [{"id": "a", "text": here}, {"id": "b", "text": turned}]
    assert len(ibidem.cluster(both, shingle_size=1)) == 1
    assert len(ibidem.cluster(both, as_paper="swlr", shingle_size=1, min_similarity=0.5)) == 0  # r = 0.5 is not above q
    (pair,) = rows_of(ibidem.cluster(both, as_paper="swlr", shingle_size=1, min_similarity=0.49).duplicates)
    assert pair["similarity"] == 0.5


TITLES = {
    "a": "U.S. to Reveal Some Rules on Security for Internet",
    "b": "U.S. to Reveal Security Rules for Internet",
    "c": "U.S. to Reveal Rules on Internet Security",
}


def test_yoon_figure_1_a_document_made_of_two_others(tmp_path: Path) -> None:
    """Document b consists of a segment of a and a segment of c: both are found, by sentences and not by the whole."""
    originals = [{"id": "a", "text": text(1, 2, 3, 4, 5, 6)}, {"id": "c", "text": text(11, 12, 13, 14, 15, 16)}]
    made = {"id": "b", "text": text(20, 3, 4, 5, 21, 12, 13, 22)}
    others = [{"id": f"other {n}", "text": text(100 + n, 200 + n)} for n in range(20)]
    with ibidem.Index(tmp_path / "index", as_paper="yoon") as index:
        index.add([*originals, *others])
        verdict = index.check(made)
        assert (verdict.duplicated, verdict.n_known) == (True, 5)
        assert {hit.b_id for hit in verdict.hits} == {"a", "c"}
        assert not index.check({"id": "only a part of a", "text": text(20, 3, 4, 5, 21)}).duplicated  # three: not more than δ
    whole = ibidem.cluster([*originals, *others, made], method="imatch", verify=False)
    assert whole.duplicates.num_rows == 0


def posts(common: str) -> list[dict[str, str]]:
    """Return posts that all have the common words, and others of their own."""
    return [{"id": f"post {n}", "text": f"{common.capitalize()} {word(5 * n)} {word(5 * n + 1)}."} for n in range(40)]


@pytest.mark.parametrize(("common", "collides"), [("to some on for", True), ("to on for", False)])
def test_yoon_figure_4_titles_that_collide(common: str, collides: bool, tmp_path: Path) -> None:
    """Without the common words, sorted, the three titles are one. If “some” is not common, the first is another."""
    with ibidem.Index(tmp_path / "index", as_paper="yoon") as index:
        index.add([*posts(common), {"id": "b", "text": TITLES["b"]}])
        known = {name: [hit.b_id for hit in index.check({"id": name, "text": TITLES[name]}).hits] for name in "ac"}
    assert known == {"a": ["b"] if collides else [], "c": ["b"]}
    titles = [{"id": name, "text": title} for name, title in TITLES.items()]
    found = ibidem.find([*posts(common), *titles], signature="fingerprint", paper=True, sentence_pairs=True)
    pairs = {(row["a_id"], row["b_id"]) for row in rows_of(found.sentence_pairs) if row["b_id"] in TITLES}
    assert pairs == ({("a", "b"), ("a", "c"), ("b", "c")} if collides else {("b", "c")})


def test_yoon_the_df_filter_at_its_limit() -> None:
    """A word in 0.6 of the documents stays, a word in more goes: sentences that differ in it are one then."""
    for n_documents_with, collides in ((24, False), (25, True)):  # of 40
        records = [{"id": str(n), "text": f"{word(400 + n)} {word(500 + n)}."} for n in range(38)]
        for record in records[: n_documents_with - 1]:
            record["text"] = f"{word(999)} {record['text']}"
        sentence = " ".join(map(word, range(4)))
        records += [{"id": "x", "text": f"{sentence} {word(999)}."}, {"id": "y", "text": f"{sentence}."}]
        found = ibidem.find(records, signature="fingerprint", paper=True, max_document_share=0.6, sentence_pairs=True)
        pairs = {(row["a_id"], row["b_id"]) for row in rows_of(found.sentence_pairs)}
        assert (("x", "y") in pairs) == collides


@pytest.mark.parametrize("apostrophe", ["’", "'"])
def test_ye_3_shingling_of_a_sentence_with_a_contraction(apostrophe: str) -> None:
    """Six places and five shingles: “we don’t know” is there twice, and a contraction is one word."""
    sentence = "The ones we don’t know we don’t know".replace("’", apostrophe)
    shingles = ["the ones we", "ones we dont", "we dont know", "dont know we", "know we dont"]
    records = [{"id": "whole", "text": sentence}]
    records += [{"id": shingle, "text": shingle.replace("dont", f"don{apostrophe}t")} for shingle in shingles]
    found = ibidem.cluster(records, as_paper="ye", shingle_size=3, min_similarity=0.2)
    pairs = {(row["a_id"], row["b_id"]): row["similarity"] for row in rows_of(found.duplicates)}
    assert pairs == {("whole", shingle): 1 / 5 for shingle in shingles}
    with ibidem.cluster(records, as_paper="ye", shingle_size=3, min_similarity=0.2, partitions=3) as stored:
        assert rows_of(stored.duplicates) == rows_of(found.duplicates)
    as_two_words = rows_of(ibidem.cluster(records, shingle_size=3, min_similarity=0.1).duplicates)
    assert min(row["similarity"] for row in as_two_words) == 1 / 6  # ours: eight places, six shingles
