"""Everything that is wrong with settings, each problem with what is allowed instead."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ibidem.config.quantities import commit_rhythm, listed_kinds, memory_bytes
from ibidem.config.settings import (
    DIFFERENCE_KINDS,
    EXACT_METHODS,
    FACT_KINDS,
    IDENTICAL,
    KEEP_RULES,
    LARGEST,
    METHODS_BY_WORDS,
    NONE,
)
from ibidem.config.surface import given, named
from ibidem.config.word_source import WordSource
from ibidem.errors import SettingsError

if TYPE_CHECKING:
    from ibidem.config.config import Config

_EMPTY = WordSource("")
_SIZES = "auto or a size such as 500MB or 4GB"


def problems_of(config: Config) -> Iterator[str]:
    """Yield what is wrong with the settings of a run, in words."""
    for setting, value in _values(config):
        choices, at_least, at_most = (setting.metadata[name] for name in ("choices", "at_least", "at_most"))
        if value in ("", _EMPTY):
            yield f"{named(setting.name)} must not be empty"
        if choices and value not in choices:
            yield not_among(named(setting.name), value, choices)
        if at_least is not None and not at_least <= value <= at_most:
            yield outside(named(setting.name), value, at_least, at_most)
    yield from _share_problems("min_similarity", config.matches.min_similarity, zero=False, decimals=6)
    yield from _share_problems("min_containment", config.resemblance.min_containment, zero=True, decimals=6)
    yield from _share_problems("min_passage_similarity", config.passages.min_passage_similarity, zero=True, decimals=6)
    yield from _share_problems("min_coverage", config.passages.min_coverage, zero=True, decimals=6)
    yield from _share_problems("min_copy_similarity", config.cleaning.min_copy_similarity, zero=True, decimals=6)
    yield from _share_problems("whole_share", config.contamination.whole_share, zero=False, decimals=6)
    # Three factors have to fit into 64 bits.
    yield from _share_problems("min_score", config.index.min_score, zero=False, decimals=3)
    if config.index.bits_per_word > config.index.signature_bits:
        largest = f"{named('signature_bits')} ({config.index.signature_bits})"
        yield f"{named('bits_per_word')} must be at most {largest}, not {config.index.bits_per_word}"
    if commit_rhythm(config.index.commit_every) is None:
        form = "a number of documents, seconds such as 10s, or both: 1000,10s"
        yield f"{named('commit_every')} must be {form}, not {config.index.commit_every!r}"
    if config.resemblance.sample_remainder >= config.resemblance.sample_every:
        largest = f"{named('sample_every')} ({config.resemblance.sample_every})"
        yield f"{named('sample_remainder')} must be below {largest}, not {config.resemblance.sample_remainder}"
    if config.resemblance.filter_bits not in (0, 64, 128, 256):
        yield not_among(named("filter_bits"), config.resemblance.filter_bits, ("0", "64", "128", "256"))
    if config.resemblance.measure == "order" and config.resemblance.min_containment > 0:
        yield f"{named('min_containment')} ignores the order of shingles; do not combine it with {given('measure', 'order')}"
    if not config.resemblance.verify and (config.resemblance.method == "pairs" or config.resemblance.measure == "order"):
        yield f"{named('verify')} cannot be switched off here: only the full comparison tells how similar two documents are"
    if config.resemblance.sample_every > 1 and config.resemblance.method not in EXACT_METHODS:
        known = " and ".join(EXACT_METHODS)
        yield f"{named('sample_every')} works with the methods {known}, not with {config.resemblance.method}"
    if config.resemblance.method == IDENTICAL and config.resemblance.min_containment > 0:
        yield f"{named('min_containment')} does not work with {given('method', IDENTICAL)}, which compares no shingles"
    yield from _sampling_problems(config)
    if config.resemblance.permutations % config.resemblance.bands:
        bands = f"{named('bands')} ({config.resemblance.bands})"
        yield f"{named('permutations')} must be a multiple of {bands}, not {config.resemblance.permutations}"
    if memory_bytes(config.engine.memory) is None:
        yield f"{named('memory')} must be {_SIZES}, not {config.engine.memory!r}"
    elif config.engine.memory.strip().isdecimal() and 0 < int(config.engine.memory) < 1_000_000:
        yield f"{named('memory')} {config.engine.memory} has no unit and would be bytes; did you mean {config.engine.memory}GB?"
    if config.engine.max_disk != "auto" and not memory_bytes(config.engine.max_disk):
        yield f"{named('max_disk')} must be {_SIZES}, not {config.engine.max_disk!r}"
    if config.engine.resume and config.engine.engine == "spark":
        yield f"{named('resume')} works with the local engine only; Spark replaces lost workers by itself"
    yield from _keep_problems(config)
    yield from _kinds_problems("only_differences", config.alignment.only_differences, DIFFERENCE_KINDS)
    yield from _kinds_problems("keep_if_differs", config.cleaning.keep_if_differs, FACT_KINDS)
    if config.cleaning.keep_if_differs != NONE and config.resemblance.method in METHODS_BY_WORDS:
        yield f"{named('keep_if_differs')} does not work with the method {config.resemblance.method}"
    for name in ("antecedents", "spot_stop_words"):
        value = getattr(config.signatures, name)
        if value.lstrip("+-").isdecimal() and not value.isdecimal():
            yield f"{named(name)} must be auto, a count, or words separated by commas, not {value!r}"
    if config.signatures.min_idf > config.signatures.max_idf:
        largest = f"{named('max_idf')} ({config.signatures.max_idf})"
        yield f"{named('min_idf')} must be at most {largest}, not {config.signatures.min_idf}"


def _keep_problems(config: Config) -> Iterator[str]:
    """Yield what is wrong with the rules that decide which document is kept."""
    keep = config.clusters.keep
    rules = keep.split(",")
    for rule in rules:
        field, separator, end = rule.rpartition(":")
        if rule not in KEEP_RULES and not (separator and field and end in ("max", "min")):
            yield not_among(named("keep"), rule, (*KEEP_RULES, "FIELD:max", "FIELD:min"))
    if len({rule.rpartition(":")[0] for rule in rules if ":" in rule}) > 1:
        yield f"{named('keep')} can use one field of the records, not several: {keep}"
    if "first" in rules[:-1]:
        after = ",".join(rules[rules.index("first") + 1 :])
        yield f"{named('keep')}: first decides every case, so {after} after it has no effect"
    if config.clusters.by_group and ":" in keep:
        known = ", ".join(KEEP_RULES)
        yield f"{named('by_group')} does not work with {given('keep', keep)}, which reads another field; use one of {known}"


def _kinds_problems(name: str, value: str, choices: tuple[str, ...]) -> Iterator[str]:
    """Yield what is wrong with a list of kinds of differences."""
    yield from (not_among(named(name), kind, choices) for kind in listed_kinds(value) if kind not in choices)


def _sampling_problems(config: Config) -> Iterator[str]:
    """Yield what is wrong with how shingles are made and sampled."""
    settings = config.resemblance
    if settings.shingle_unit == "line" and settings.method in METHODS_BY_WORDS:
        yield f"{given('shingle_unit', 'line')} does not work with the method {settings.method}, which compares words"
    if settings.min_shared_shingles:
        yield from _shared_shingles_problems(config)
    if settings.sampling == "modulo":
        return
    chosen = given("sampling", settings.sampling)
    if settings.method not in EXACT_METHODS:
        yield f"{chosen} works with the methods {' and '.join(EXACT_METHODS)}, not with {settings.method}"
    if settings.min_containment > 0:
        yield f"{named('min_containment')} does not work with {chosen}: such samples do not show what is contained"
    if settings.sampling == "supershingles":
        if settings.sample_every > 1:
            instead = f"{named('supershingles')} and {named('supershingle_size')}"
            yield f"{named('sample_every')} does not work with {chosen}; use {instead}"
        if settings.min_supershingles > settings.supershingles:
            largest = f"{named('supershingles')} ({settings.supershingles})"
            yield f"{named('min_supershingles')} must be at most {largest}, not {settings.min_supershingles}"


def _shared_shingles_problems(config: Config) -> Iterator[str]:
    """Yield what does not go together with a number of shared shingles: it is counted among all shingles."""
    settings, name = config.resemblance, named("min_shared_shingles")
    if settings.method not in EXACT_METHODS:
        yield f"{name} works with the methods {' and '.join(EXACT_METHODS)}, not with {settings.method}"
    if settings.sampling != "modulo" or settings.sample_every > 1:
        yield f"{name} counts all shingles; do not combine it with sampling"
    if settings.measure == "order" or settings.min_containment > 0:
        yield f"{name} does not work with {given('measure', 'order')} or {named('min_containment')}"


def not_among(name: str, value: object, choices: tuple[str, ...]) -> str:
    """Return the message for a value that is not among the choices; the nearest one is suggested."""
    from difflib import get_close_matches

    near = get_close_matches(str(value), choices, n=1)
    return f"{name} must be one of {', '.join(choices)}, not {value!r}" + (f" (did you mean {near[0]}?)" if near else "")


def outside(name: str, value: float, at_least: float, at_most: float = LARGEST) -> str:
    """Return the message for a number outside its limits."""
    if at_most < LARGEST:
        return f"{name} must be between {at_least} and {at_most}, not {value}"
    return (
        f"{name} must be at least {at_least}, not {value}"
        if value < at_least
        else f"{name} must be at most {at_most}, not {value}"
    )


def check_at_least(**numbers: tuple[int, int]) -> None:
    """Raise for numbers that are too small, each given with the least that it may be."""
    problems = [outside(named(name), number, least) for name, (number, least) in numbers.items() if number < least]
    if problems:
        raise SettingsError(problems)


def _share_problems(name: str, share: Fraction, zero: bool, decimals: int) -> Iterator[str]:
    """Yield what is wrong with a share, which is between 0 and 1; not every share may be 0."""
    shown = f"{float(share):g}"
    if share == 0 and not zero:
        yield f"{named(name)} must be above 0, not 0"
    elif not 0 <= share <= 1:
        percent = 10 <= share <= 100
        yield f"{named(name)} must be between 0 and 1, not {shown}" + (
            f" (did you mean {float(share) / 100:g}?)" if percent else ""
        )
    elif share.denominator > 10**decimals:
        yield f"{named(name)} must not have more than {decimals} decimals: {share}"


def _values(config: Config) -> Iterator[tuple[dataclasses.Field[Any], Any]]:
    """Yield every setting with its value."""
    for stage in dataclasses.fields(config):
        settings = getattr(config, stage.name)
        yield from ((setting, getattr(settings, setting.name)) for setting in dataclasses.fields(settings))
