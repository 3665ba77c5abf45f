"""qSign in an index: how many bits a word sets, what is said where no radius keeps the promise, and wide signatures."""

from __future__ import annotations

from math import comb
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.config import Config
from ibidem.errors import IndexSettingsError, SettingsError
from ibidem.index import bits
from ibidem.index.index import Index
from tests.index_twins import Record, temporary_folder, text_of
from tests.texts import word


def document(name: str, first: int, n_words: int, size: int = 8) -> Record:
    """A document of `n_words` different words, `size` to a sentence."""
    words = [word(number) for number in range(first, first + n_words)]
    return {"id": name, "text": text_of([tuple(words[at : at + size]) for at in range(0, n_words, size)])}


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from([(8, 1), (16, 1), (32, 2), (64, 3), (64, 5), (128, 3), (512, 4)]), st.integers(0, 5),
    st.sampled_from([0.0, 1e-9, 0.01, 0.1, 0.25, 0.5, 0.9]),
)  # fmt: skip
def test_the_longest_sentence_with_a_radius(masks: tuple[int, int], words_flexible: int, max_false_positive: float) -> None:
    longest = bits.longest_with_radius(*masks, words_flexible, max_false_positive)
    for n_words in {1, 2, 5, 20, 100, longest - 1, longest, longest + 1, longest + 50}:
        if n_words > 0:
            radius = bits.radius_for(*masks, n_words, words_flexible, max_false_positive)
            assert (radius is not None) == (n_words <= longest)


@pytest.mark.parametrize(
    ("n_bits", "n_words", "expected"), [(16, 17, 2), (64, 64, 1), (64, 65, 2), (64, 2100, 3), (200, 2100, 2)]
)
def test_bits_per_word_from_the_vocabulary(n_bits: int, n_words: int, expected: int) -> None:
    """As few as give every word of the first documents a mask of its own; later documents change nothing."""
    assert comb(n_bits, expected) >= n_words > comb(n_bits, expected - 1)
    with temporary_folder() as folder:
        with Index(folder, workers=1, signature_bits=n_bits, bits_per_word="auto") as index:
            assert index.query(document("q", 0, 8)).hits.num_rows == 0  # nothing there, and nothing decided
            index.add([document("a", 0, n_words)])
            assert index.info()["bits"]["bits_per_word"] == expected
            assert index.query(document("q", 8, 8), search_engine="bits", radius=0).hits.num_rows == 1
        with Index(folder, workers=1, bits_per_word="auto") as index:  # said again, it changes nothing
            assert index.config.index.bits_per_word == index.info()["settings"]["bits_per_word"] == expected
            index.add([document("b", n_words, 2000)])
            assert index.info()["bits"]["bits_per_word"] == expected
            assert index.verify() == []
        with pytest.raises(IndexSettingsError, match=f"bits_per_word is {expected} in the index, not 7"):
            Index(folder, bits_per_word=7)


def test_too_few_bits_for_the_vocabulary() -> None:
    with temporary_folder() as folder, Index(folder, workers=1, signature_bits=8, bits_per_word="auto") as index:
        with pytest.raises(SettingsError, match="8 bits have 70 different masks at most, and the documents have 71 words"):
            index.add([document("a", 0, 71)])
        assert len(index) == 0
        with pytest.raises(SettingsError, match="set signature_bits to 9 or more"):
            index.add([document("a", 0, 71)])
        index.add([document("a", 0, 70)])
        assert index.info()["settings"]["bits_per_word"] == 4


def test_a_stream_does_not_decide() -> None:
    with temporary_folder() as folder, Index(folder, workers=1, bits_per_word="auto") as index:
        with pytest.raises(IndexSettingsError, match="no words yet"):
            list(index.watch([document("a", 0, 8)]))
        index.add([document("a", 0, 8)])
        assert [arrival.id for arrival in index.watch([document("b", 0, 8)])] == ["b"]


def test_whoever_opens_a_new_index_learns_what_was_decided() -> None:
    with temporary_folder() as folder:
        first, second = (Index(folder, workers=1, bits_per_word="auto", hash_seed=0) for _ in range(2))
        first.add([document("a", 0, 100)])
        assert second.query(document("q", 0, 8), search_engine="bits", radius=0).hits.num_rows == 1
        second.add([document("b", 100, 3000)])
        assert first.info()["settings"]["bits_per_word"] == second.info()["settings"]["bits_per_word"] == 2
        first.close()
        second.close()


def test_where_no_radius_keeps_the_promise_it_is_said() -> None:
    """With 64 bits and 3 per word there is a radius for up to 27 words, at a tenth of false positives."""
    with temporary_folder() as folder, Index(folder, workers=1, search_engine="bits") as index:
        index.add([document("a", 0, 40, 27), document("b", 0, 40, 28)])
        assert index.info()["bits"]["longest_sentence"] == 27
        short, long = index.query(document("q", 0, 27, 27)), index.query(document("q", 0, 28, 28))
        assert list(short.notes) == []
        (note,) = long.notes
        assert note.startswith("bits search: for sentences of more than 27 words no radius keeps false positives at 0.1")
        assert "b" in {hit.b_id for hit in long}  # the very sentence
        assert list(index.query(document("q", 0, 28, 28), radius=3).notes) == []
        assert list(index.query(document("q", 0, 28, 28), search_engine="overlap").notes) == []
        with pytest.raises(SettingsError, match="no radius keeps the false positives of the bits search at 0"):
            index.query(document("q", 0, 8), max_false_positive=0)


def test_wide_signatures_find_what_all_others_find(tmp_path: Path) -> None:
    """At their lossless radius: two words are others, so nothing that differs by two is lost."""
    known = [document(f"d{n}", 20 * n, 20, 10) for n in range(30)]
    changed = [
        {"id": f"q{n}", "text": text_of([(*[word(20 * n + k) for k in range(8)], word(5000), word(5001))])} for n in range(30)
    ]
    for n_bits in (65, 128, 512):
        with Index(tmp_path / str(n_bits), workers=1, signature_bits=n_bits, bits_per_word=4) as index:
            index.add(known[:20])
            list(index.watch(known[20:], commit_every="1"))
            index.remove("d0")
            index.compact()
            found = {(hit.a_id, hit.b_id) for hit in index.query(changed, search_engine="bits", radius=16, min_score=0.7)}
            assert found == {(f"q{n}", f"d{n}") for n in range(1, 30)}
            everything = index.query(changed, min_score=0.7)
            assert found == {(hit.a_id, hit.b_id) for hit in everything}
            assert index.verify() == []


def test_auto_is_a_word_or_a_number() -> None:
    assert Config.of(bits_per_word="auto").index.bits_per_word == Config.of(bits_per_word=0).index.bits_per_word == 0
    with pytest.raises(SettingsError, match="signature_bits must be a whole number, not 'auto'"):
        Config.of(signature_bits="auto")
