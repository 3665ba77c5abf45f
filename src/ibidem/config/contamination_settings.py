"""The settings of `decontaminate`: what the items of benchmarks are, and when one is found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ibidem.config.settings import criterion, input_setting

AUTO_FIELDS = "auto"
LEAST_ITEM_WORDS = 4  # grams of so many words lead to items
_FOUR_FIFTHS = Fraction(4, 5)


@dataclass(frozen=True)
class ContaminationConfig:
    """What the items of benchmarks are, and when one counts as found."""

    prompt_fields: str = input_setting(
        AUTO_FIELDS,
        "Benchmark fields with the prompt. Separate several with commas; NAME=FIELD applies to one benchmark. auto: "
        "question, prompt, problem, text and the like.",
        common=True,
        value="FIELDS",
    )
    answer_fields: str = input_setting(
        AUTO_FIELDS,
        "Benchmark fields with the answer. The syntax is the same. auto: answer, solution, target and the like. none: no "
        "field.",
        common=True,
        value="FIELDS",
    )
    item_id_field: str = input_setting(
        "id", "Field of a benchmark with the item's id. NAME=FIELD is for one benchmark.", value="FIELD"
    )
    min_item_words: int = criterion(
        8,
        "Words an item needs to be looked for. A shorter answer is looked for after a prompt that was found.",
        at_least=LEAST_ITEM_WORDS,
    )
    whole_share: Fraction = criterion(  # noqa: RUF009 (as all the others)
        _FOUR_FIFTHS, "Share of an item's words that must be found for it to count as whole, from 0 to 1."
    )
    min_part_words: int = criterion(
        13, "Words of an item, nearly in a row, that make it found in part. 0: parts do not count.", at_least=0
    )
    max_item_pages: int = criterion(
        100,
        "An item in more documents than this is common text, such as a proverb or a licence. It is listed, but nothing is "
        "removed because of it. 0: no limit.",
        at_least=0,
    )


def fields_of_benchmark(given: str, name: str) -> list[str]:
    """Return the fields that a setting names for a benchmark: its own ones, or else those for all."""
    listed = [part.strip().rpartition("=") for part in given.split(",") if part.strip()]
    own = [field for owner, _, field in listed if owner.strip() == name]
    return own or [field for owner, _, field in listed if not owner]


def owners_of_fields(settings: Iterable[str]) -> Sequence[str]:
    """Return the names of benchmarks that have fields of their own in some settings."""
    parts = (part.strip().rpartition("=")[0].strip() for given in settings for part in given.split(","))
    return list(dict.fromkeys(filter(None, parts)))
