"""Web text, mail, chat and news whose sentences people have marked: the ends that are found, and no others.

In `marked/`, ¶ is the end of a sentence and an empty line separates texts. `abbreviations` has abbreviations of many languages
with a word in lower case after them, most of which no list has.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from ibidem.sentences import split_sentences

FOLDER = Path(__file__).with_name("marked")
# What is missed: chat without stops, dots or numbers before a word in lower case, lines that end with a comma.
LEAST = {"en": 0.93, "de": 0.9, "fr": 0.94, "abbreviations": 0.97}


def inner_ends(text: str, ends: list[int]) -> set[int]:
    """Return where sentences end, blanks after them aside, and without the end of the text."""
    return {len(text[:end].rstrip()) for end in ends} - {0, len(text.rstrip())}


def marked_ends(marked: str) -> set[int]:
    pieces = marked.split("¶")
    return inner_ends("".join(pieces), [len("".join(pieces[:n])) for n in range(1, len(pieces))])


def test_the_sample_is_large_and_varied() -> None:
    names = {path.stem for path in FOLDER.iterdir()}
    assert names == {"abbreviations", "am", "ar", "de", "el", "en", "es", "fr", "hy", "kk", "sk"}
    assert (FOLDER / "en.txt").read_text("utf-8").count("¶") >= 200


@pytest.mark.parametrize("path", sorted(FOLDER.iterdir()), ids=lambda path: path.stem)
def test_ends_of_sentences(path: Path) -> None:
    n_right = n_either = 0
    for marked in path.read_text("utf-8").split("\n\n"):
        text = marked.strip("\n").replace("¶", "")
        true, found = marked_ends(marked.strip("\n")), inner_ends(text, [end for _, end in split_sentences(text)])
        n_right += len(true & found)
        n_either += len(true) + len(found)
    assert 2 * n_right / n_either >= LEAST.get(path.stem, 1.0)
