"""The settings that an index keeps: what its sentences and signatures are made by. They never change."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ibidem.columns.hashes import DRAWN, SEED, draw_seed
from ibidem.config import Config, WordSource, setting_fields
from ibidem.config.word_source import NO_WORDS
from ibidem.errors import IndexSettingsError, SettingsError
from ibidem.formats.word_tables import digest_of, word_counts_of, words_of
from ibidem.index.segment import SegmentSettings
from ibidem.index.vocabulary import WordCounts
from ibidem.sentences import SPLITTER_VERSION
from ibidem.signatures.known_words import outside_counts, stop_hashes
from ibidem.signatures.sentence_types import NO_WORDS as NO_HASHES

FIXED = (
    "lang", "max_sentence_words", "hash_seed", "signature", "min_similarity", "max_document_share", "signature_bits",
    "bits_per_word", "word_counts", "stop_words",
)  # fmt: skip
SIGNATURES = ("words", "exact")
_BEFORE = {
    "hash_seed": 0,
    "word_counts": NO_WORDS,
    "stop_words": NO_WORDS,
}  # of indexes that were made before there was such a setting
_NOT_CHOSEN = (("signature", "auto"), ("hash_seed", DRAWN))
_MADE_BY = {"splitter_version": SPLITTER_VERSION, "seed": int(SEED)}
_CHECKSUM = "sha256:"
_NO_WORDS_GIVEN = (("word_counts", NO_WORDS), ("stop_words", NO_WORDS))
_STAGES = {setting.name: stage for stage, setting in setting_fields()}


def to_store(config: Config) -> dict[str, Any]:
    """Return what an index keeps of the settings, and what its hashes and sentences were made by."""
    kept = {name: _value(with_words_inside(config), name) for name in FIXED}
    kept = {name: str(value) if isinstance(value, (Fraction, WordSource)) else value for name, value in kept.items()}
    # Without words from outside, an index looks as it always did.
    return {name: value for name, value in kept.items() if (name, value) not in _NO_WORDS_GIVEN} | _MADE_BY


def with_words_inside(config: Config) -> Config:
    """Return settings that need no file: stop words are listed, and counts, which the index keeps, known by their checksum."""
    counts, stops = config.signatures.word_counts, config.signatures.stop_words
    changes: dict[str, Any] = {}
    if not counts.is_none and not counts.name.startswith(_CHECKSUM):
        changes["word_counts"] = _CHECKSUM + digest_of(word_counts_of(counts))
    if not stops.is_none:
        changes["stop_words"] = ",".join(sorted(set(words_of(stops)))) + ","  # no file has such a name
    return Config.of(config, **changes) if changes else config


def given_counts(config: Config, stored: Mapping[str, Any]) -> WordCounts | None:
    """Return the counts that an index without a commit begins with, if they are given; `config` is what was asked for."""
    known = outside_counts(Config.of(config, hash_seed=stored["hash_seed"]), NO_HASHES)
    if known is None and "word_counts" in stored:
        message = "the index is empty, and the word counts that it was created with are not stored yet"
        raise IndexSettingsError(message, "Give the same word_counts with the first documents.")
    return None if known is None else WordCounts.given(known)


def with_own_seed(config: Config) -> Config:
    """Return the settings of a new index: unless a seed is chosen it gets one that nobody else has."""
    return config if config.sentences.hash_seed != DRAWN else Config.of(config, hash_seed=draw_seed())


def with_seed_of(stored: Mapping[str, Any], made_with: dict[str, Any], config: Config) -> dict[str, Any]:
    """Return what a new index is made with: all who open it before its first commit have one seed, unless one is chosen."""
    if config.sentences.hash_seed != DRAWN:
        return made_with
    return made_with | {"hash_seed": stored.get("hash_seed", made_with["hash_seed"])}


def check_made_by(stored: Mapping[str, Any]) -> None:
    """Raise where an index was made by sentences or hashes that this version does not make."""
    for name, mine in _MADE_BY.items():
        if stored.get(name) != mine:
            message = f"the index was made with {name.replace('_', ' ')} {stored.get(name)}; this ibidem has {mine}"
            raise IndexSettingsError(message, "Rebuild the index, or use the version that made it.")


def with_stored(stored: Mapping[str, Any], base: Config, given: Mapping[str, Any]) -> Config:
    """Return the settings of an index, with those given that may differ; others that do differ are an error naming them all.

    Of `base`, what differs from the defaults counts as given.
    """
    base, usual = with_words_inside(base), Config()
    words = {name: given[name] for name in ("word_counts", "stop_words") if name in given}
    inside = with_words_inside(Config.of(**words)).signatures
    given = {**given, **{name: getattr(inside, name) for name in words}}
    chosen = {name: _value(base, name) for name in FIXED if _value(base, name) != _value(usual, name)}
    config = Config.of(base, **{name: stored.get(name, _BEFORE.get(name)) for name in FIXED})
    given = {name: value for name, value in {**chosen, **given}.items() if (name, value) not in _NOT_CHOSEN}
    changed = Config.of(config, **given)
    different = [
        f"{name} is {_shown(_value(config, name))} in the index, not {_shown(_value(changed, name))}"
        for name in FIXED
        if _value(changed, name) != _value(config, name)
    ]
    if different:
        raise IndexSettingsError("; ".join(different), "Leave these settings out, or create another index with them.")
    return changed


def check_signature(config: Config) -> Config:
    """Return settings with a signature that an index can keep; others need the whole collection at once."""
    config = config.with_signature("words")
    if config.signatures.signature not in SIGNATURES:
        problem = f"signature = {config.signatures.signature!r} needs all documents at once; an index takes words or exact"
        raise SettingsError([problem])
    return config


def segment_settings(config: Config) -> SegmentSettings:
    """Return what segments are made by."""
    exact = config.signatures.signature == "exact"
    # Where sentences have to be equal, a single word of each is enough to find the same words again.
    limit = Fraction(1) if exact else config.matches.min_similarity
    stops = stop_hashes(config, config.signatures.signature)
    index, share = config.index, config.signatures.max_document_share
    return SegmentSettings(index.signature_bits, index.bits_per_word, share, limit, exact, stops)


def _value(config: Config, name: str) -> Any:
    return getattr(getattr(config, _STAGES[name]), name)


def _shown(value: Any) -> str:
    return str(float(value)) if isinstance(value, Fraction) else str(value)
