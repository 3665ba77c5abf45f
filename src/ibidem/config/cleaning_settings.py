"""The settings of `dedup`: what is removed from a collection, and how."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ibidem.config.settings import LEVELS, NONE, criterion, output_setting


@dataclass(frozen=True)
class CleaningConfig:
    """What is removed from a collection, and how."""

    level: str = criterion(
        "document", "What to remove: document, passage, sentence or run (of words).", common=True, value="NAME", choices=LEVELS
    )
    min_copy_similarity: Fraction = criterion(  # noqa: RUF009 (as all the others)
        Fraction(7, 10), "Share of an edited sentence's words that the remaining copy must have, from 0 to 1."
    )
    keep_copies: int = criterion(
        1,
        "How many documents of each cluster to keep: the one that `keep` chooses, and the next ones in reading order.",
        at_least=1,
    )
    lossless: bool = criterion(
        False,
        "Remove a document or passage only if every three words in a row of it also appear in what remains. removed.jsonl says "
        "where.",
    )
    lossless_words: int = criterion(3, "Words in each sequence that lossless removal looks for.", at_least=1, at_most=1000)
    keep_if_differs: str = criterion(
        NONE,
        "Never remove a document whose facts of these kinds, separated by commas, differ from those of the document kept or "
        "come in another order: number, date, name, negation, unit. none: facts do not matter.",
        value="KINDS",
    )
    mark_copies: bool = output_setting(
        False,
        "Add the field ibidem_copies to every record that stays: how many documents are in its cluster, itself included.",
    )
    mark_only: bool = output_setting(False, "Remove nothing; mark duplicates in new columns.", common=True)
