"""The settings stored in an index: how its sentences and signatures were made. They never change."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ibidem.columns.hashes import DRAWN, SEED, draw_seed
from ibidem.config import Config, setting_fields, surface
from ibidem.errors import IndexSettingsError, SettingsError
from ibidem.index.segment import SegmentSettings
from ibidem.sentences import SPLITTER_VERSION

FIXED = (
    "lang", "max_sentence_words", "hash_seed", "signature", "min_similarity", "max_document_share", "signature_bits",
    "bits_per_word",
)  # fmt: skip
SIGNATURES = ("words", "exact")
_BEFORE = {"hash_seed": 0}  # of indexes made before this setting existed
_NOT_CHOSEN = (("signature", "auto"), ("hash_seed", DRAWN))
_MADE_BY = {"splitter_version": SPLITTER_VERSION, "seed": int(SEED)}
_STAGES = {setting.name: stage for stage, setting in setting_fields()}


def to_store(config: Config) -> dict[str, Any]:
    """Return the settings that an index stores, and how its hashes and sentences were made."""
    kept = {name: _value(config, name) for name in FIXED}
    return {name: str(value) if isinstance(value, Fraction) else value for name, value in kept.items()} | _MADE_BY


def with_own_seed(config: Config) -> Config:
    """Return the settings of a new index: unless a seed is chosen, it gets its own secret one."""
    return config if config.sentences.hash_seed != DRAWN else Config.of(config, hash_seed=draw_seed())


def with_seed_of(stored: Mapping[str, Any], made_with: dict[str, Any], config: Config) -> dict[str, Any]:
    """Return the settings of a new index: all processes that open it before its first commit share one seed, unless one is
    chosen.
    """
    if config.sentences.hash_seed != DRAWN:
        return made_with
    return made_with | {"hash_seed": stored.get("hash_seed", made_with["hash_seed"])}


def check_made_by(stored: Mapping[str, Any]) -> None:
    """Raise if an index was made with sentences or hashes that this version does not make."""
    for name, mine in _MADE_BY.items():
        if stored.get(name) != mine:
            message = f"the index was made with {name.replace('_', ' ')} {stored.get(name)}; this ibidem has {mine}"
            raise IndexSettingsError(message, "Rebuild the index, or use the version that made it.")


def with_stored(stored: Mapping[str, Any], base: Config, given: Mapping[str, Any]) -> Config:
    """Return the settings of an index, with given ones that may differ; raise an error that names all others that differ.

    Of `base`, what differs from the defaults counts as given.
    """
    usual = Config()
    chosen = {name: _value(base, name) for name in FIXED if _value(base, name) != _value(usual, name)}
    config = Config.of(base, **{name: stored.get(name, _BEFORE.get(name)) for name in FIXED})
    given = {name: value for name, value in {**chosen, **given}.items() if (name, value) not in _NOT_CHOSEN}
    changed = Config.of(config, **given)
    different = [
        f"{surface.named(name)} is {_shown(_value(config, name))} in the index, not {_shown(_value(changed, name))}"
        for name in FIXED
        if _value(changed, name) != _value(config, name)
    ]
    if different:
        raise IndexSettingsError("; ".join(different), "Leave these settings out, or create another index with them.")
    return changed


def check_signature(config: Config) -> Config:
    """Return settings with a signature that an index supports; others need the whole collection at once."""
    config = config.with_signature("words")
    if config.signatures.signature not in SIGNATURES:
        chosen = surface.given("signature", config.signatures.signature)
        problem = f"{chosen} needs all documents at once; an index takes words or exact"
        raise SettingsError([problem])
    return config


def segment_settings(config: Config) -> SegmentSettings:
    """Return the settings of segments."""
    exact = config.signatures.signature == "exact"
    # If sentences must be equal, a single word of each is enough to find the same words again.
    limit = Fraction(1) if exact else config.matches.min_similarity
    return SegmentSettings(
        config.index.signature_bits, config.index.bits_per_word, config.signatures.max_document_share, limit, exact
    )


def _value(config: Config, name: str) -> Any:
    return getattr(getattr(config, _STAGES[name]), name)


def _shown(value: Any) -> str:
    return str(float(value)) if isinstance(value, Fraction) else str(value)
