"""The settings of passages: which runs of matches they are, which are reported, and how two texts are aligned."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ibidem.config.settings import ALL, criterion, output_setting

_NOTHING = Fraction(0)


@dataclass(frozen=True)
class PassagesConfig:
    """Which runs of matches are passages."""

    min_sentences: int = criterion(3, "Sentences a passage needs.", common=True, at_least=1, at_most=1000)
    min_words: int = criterion(1, "Words a passage needs on each side.", at_least=1)
    min_quote_words: int = criterion(
        10,
        "One sentence of N words also counts. So do two short texts that are the same from end to end. Such short "
        "passages are called quotes. 0: never.",
        common=True,
        at_least=0,
    )
    max_gap_sentences: int = criterion(
        4, "Differing sentences in a row that a passage may contain, on either side. 0: none.", at_least=0
    )
    extend_ends: bool = criterion(
        True,
        "Extend passages at both ends, word by word, while both texts have the same words. Otherwise, passages are whole "
        "sentences, unless words are aligned.",
    )
    max_places: int = criterion(
        100, "Text in more places than this becomes one repeat group instead of many pairs.", at_least=2
    )
    min_run_words: int = criterion(
        50,
        "Fewest words in a run. A run is the same word for word, wherever sentences begin or end.",
        at_least=2,
        at_most=1_000_000,
    )
    min_passage_similarity: Fraction = criterion(  # noqa: RUF009 (as all the others)
        _NOTHING, "Report only passages with at least this value in the column similarity, from 0 to 1."
    )
    min_passage_chars: int = criterion(0, "Report only passages of at least N characters on each side.", at_least=0)
    min_coverage: Fraction = criterion(  # noqa: RUF009
        _NOTHING,
        "Report the passages of two documents only if they cover at least this share of one of them, from 0 to 1. The "
        "tables documents and repeats are not limited.",
    )
    same_document: bool = criterion(False, "Also report passages that occur twice in one document.")
    skip_same_group: bool = criterion(False, "Ignore pairs of documents from the same group.", common=True)
    runs: bool = output_setting(
        False, "Also write runs: every run of words that also occurs earlier, and where it occurs first."
    )
    families: bool = output_setting(
        False, "Also write families: all places of each passage, the earliest first, with its different wordings."
    )


@dataclass(frozen=True)
class AlignmentConfig:
    """How two texts are aligned word by word."""

    align: bool | None = criterion(
        None,
        "Align words to find edited copies. Parts of sentences are found too, and passages begin and end at the right word. "
        "On by default for find, unless you choose a signature or a paper; without it, find takes a third to half of the time.",
        common=True,
        kind=bool,
    )
    min_evidence: float = criterion(
        25.0, "Evidence an aligned passage needs. It is the logarithm of how much likelier a copy is than chance.", at_least=0
    )
    min_aligned_words: int = criterion(25, "Words an aligned passage, or a rare quotation, needs on each side.", at_least=1)
    difference_kinds: bool = output_setting(
        False, "Add a column with the kinds of differences between the two sides of a passage, such as number or date."
    )
    only_differences: str = output_setting(
        ALL,
        "Report only passages that differ, and only in these kinds, separated by commas: number, date, name, negation, "
        "unit, spelling, order, added, removed, reworded. all: report every passage.",
        value="KINDS",
    )
    summaries: bool = criterion(
        True, "When two texts are compared: also report a stretch that summarises the whole of the other text."
    )
