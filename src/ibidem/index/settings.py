"""The settings that an index keeps: what its sentences and signatures are made by. They never change."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import count
from math import comb
from typing import Any

from ibidem.columns.hashes import DRAWN, SEED, draw_seed
from ibidem.config import SET_SIGNATURES, Config, WordSource, setting_fields, surface
from ibidem.config.papers import check_paper
from ibidem.config.settings import AUTO
from ibidem.config.word_source import NO_WORDS
from ibidem.errors import IndexSettingsError, SettingsError
from ibidem.formats.word_tables import digest_of, own_stop_words, word_counts_of, words_of
from ibidem.index.bits import bits_per_word_for
from ibidem.index.segment import SegmentSettings
from ibidem.index.vocabulary import WordCounts
from ibidem.sentences import SPLITTER_VERSION
from ibidem.signatures.known_words import outside_counts, stop_hashes
from ibidem.signatures.sentence_types import NO_WORDS as NO_HASHES
from ibidem.signatures.spotsigs import n_frequent

FIXED = (
    "lang", "max_sentence_words", "hash_seed", "signature", "min_similarity", "max_document_share", "signature_bits",
    "bits_per_word", "word_counts", "stop_words", "texts",
)  # fmt: skip
# Other settings that a signature depends on: an index stores them, too.
_OF_SIGNATURE = {
    "shingles": ("shingle_size", "paper"),
    "imatch": ("min_idf", "max_idf", "paper"),
    "fingerprint": ("paper",),
    "spotsigs": ("antecedents", "spot_stop_words", "spot_short_chains", "spot_distance", "spot_chain"),
}
# Of indexes made before this setting existed, or without it.
_BEFORE = {"hash_seed": 0, "word_counts": NO_WORDS, "stop_words": NO_WORDS, "texts": False}
_NOT_CHOSEN = (("signature", "auto"), ("hash_seed", DRAWN), ("bits_per_word", AUTO), ("bits_per_word", "auto"))
_MADE_BY = {"splitter_version": SPLITTER_VERSION, "seed": int(SEED)}
_CHECKSUM = "sha256:"
_NO_WORDS_GIVEN = (("word_counts", NO_WORDS), ("stop_words", NO_WORDS))
_STAGES = {setting.name: stage for stage, setting in setting_fields()}
_MOST_REMEMBERED = 64  # checked settings of calls
_ENGINE = "search_engine"  # an index is searched as was chosen when it was made, unless a search chooses otherwise


def fixed_settings(signature: str) -> tuple[str, ...]:
    """Return the settings that an index with such a signature keeps."""
    return (*FIXED, *_OF_SIGNATURE.get(signature, ()))


def to_store(config: Config) -> dict[str, Any]:
    """Return the settings that an index stores, and how its hashes and sentences were made."""
    kept = {name: _value(with_words_inside(config), name) for name in fixed_settings(config.signatures.signature)}
    if _value(config, _ENGINE) != _value(Config(), _ENGINE):
        kept[_ENGINE] = _value(config, _ENGINE)
    kept = {name: str(value) if isinstance(value, (Fraction, WordSource)) else value for name, value in kept.items()}
    # Without words from outside, an index looks as it always did.
    return {name: value for name, value in kept.items() if (name, value) not in _NO_WORDS_GIVEN} | _MADE_BY


def with_words_inside(config: Config) -> Config:
    """Return settings that need no file: stop words are listed, and counts, which the index keeps, known by their checksum."""
    counts, stops, skipped = config.signatures.word_counts, config.signatures.stop_words, own_stop_words(config.signatures)
    changes: dict[str, Any] = {}
    if not counts.is_none and not counts.name.startswith(_CHECKSUM):
        changes["word_counts"] = _CHECKSUM + digest_of(word_counts_of(counts))
    for name, source in (("stop_words", stops), ("spot_stop_words", skipped)):
        if not source.is_none:
            changes[name] = ",".join(sorted(set(words_of(source)))) + ","  # no file has such a name
    return Config.of(config, **changes) if changes else config


def given_counts(config: Config, stored: Mapping[str, Any]) -> WordCounts | None:
    """Return the counts that an index without a commit begins with, if they are given; `config` is what was asked for."""
    known = outside_counts(Config.of(config, hash_seed=stored["hash_seed"]), NO_HASHES)
    if known is None and "word_counts" in stored:
        message = "the index is empty, and the word counts that it was created with are not stored yet"
        raise IndexSettingsError(message, f"Give the same {surface.named('word_counts')} with the first documents.")
    return None if known is None else WordCounts.given(known, n_frequent(config.signatures))


def with_own_seed(config: Config) -> Config:
    """Return the settings of a new index: unless a seed is chosen, it gets its own secret one.

    Of equally frequent words, the hash decides which begin spots: there the seed is the public one, as in `find`.
    """
    if config.sentences.hash_seed != DRAWN:
        return config
    return Config.of(config, hash_seed=0 if config.signatures.signature == "spotsigs" else draw_seed())


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


def with_engine(stored: Mapping[str, Any], base: Config, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is given, with the engine that was chosen when the index was made, unless another one is chosen."""
    is_chosen = _value(Config.of(base, **given), _ENGINE) != _value(Config(), _ENGINE)  # perhaps by a paper
    return {**({_ENGINE: stored[_ENGINE]} if _ENGINE in stored and not is_chosen else {}), **given}


def with_stored(stored: Mapping[str, Any], base: Config, given: Mapping[str, Any]) -> Config:
    """Return the settings of an index, with those given that may differ; others that do differ are an error naming them all.

    Of `base`, what differs from the defaults counts as given.
    """
    base, usual, fixed = with_words_inside(base), Config(), fixed_settings(str(stored.get("signature")))
    words = {name: given[name] for name in ("word_counts", "stop_words", "spot_stop_words") if name in given}
    inside = with_words_inside(Config.of(**words)).signatures
    given = {**given, **{name: getattr(inside, name) for name in words}}
    chosen = {name: _value(base, name) for name in fixed if _value(base, name) != _value(usual, name)}
    config = Config.of(base, **{name: stored.get(name, _BEFORE.get(name)) for name in fixed})
    given = {name: value for name, value in {**chosen, **given}.items() if (name, value) not in _NOT_CHOSEN}
    changed = Config.of(config, **given)
    different = [
        f"{surface.named(name)} is {_shown(_value(config, name))} in the index, not {_shown(_value(changed, name))}"
        for name in fixed
        if _value(changed, name) != _value(config, name)
    ]
    if different:
        raise IndexSettingsError("; ".join(different), "Leave these settings out, or create another index with them.")
    return changed


class CheckedSettings:
    """The settings of an index, with those given to a call. Checking these takes as long as a search: some are remembered."""

    def __init__(self, stored: Mapping[str, Any], config: Config) -> None:
        self._stored, self._config = stored, config
        self._remembered: dict[frozenset[tuple[str, type, Any]], Config] = {}

    def with_given(self, given: Mapping[str, Any]) -> Config:
        """Return the settings with these; an error names all that differ from those of the index and may not."""
        if not given:
            return self._config
        try:  # by type as well: 1 and True are equal, but one of them may be wrong
            key = frozenset((name, type(value), value) for name, value in given.items())
        except TypeError:  # a list of paths, for example
            return self._check(given)
        config = self._remembered.get(key)
        if config is None:
            config = self._check(given)
            if len(self._remembered) < _MOST_REMEMBERED:
                self._remembered[key] = config
        return config

    def _check(self, given: Mapping[str, Any]) -> Config:
        check_paper(Config.of(self._config, **given), "index")
        return with_stored(self._stored, self._config, given)


def is_undecided(stored: Mapping[str, Any]) -> bool:
    """Return whether the first documents have to decide how many bits a word sets."""
    return bool(stored["bits_per_word"] == AUTO)


def decided(stored: Mapping[str, Any], n_words: int) -> dict[str, Any]:
    """Return what an index keeps once it is known how many words the first documents have; without room, an error."""
    n_bits = int(stored["signature_bits"])
    chosen = bits_per_word_for(n_bits, n_words)
    if chosen is None:
        n_masks = comb(n_bits, n_bits // 2)
        needed = next(n for n in count(n_bits) if comb(n, n // 2) >= n_words)
        problem = f"{surface.given('bits_per_word', 'auto')} finds no bits: signatures of {n_bits} bits have {n_masks:,} "
        problem += f"different masks at most, and the documents have {n_words:,} words; "
        raise SettingsError([problem + f"set {surface.named('signature_bits')} to {needed} or more"])
    return {**stored, "bits_per_word": chosen}


def as_decided(mine: Mapping[str, Any], stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of an index that was new, with what its first documents have decided."""
    return {**mine, **({"bits_per_word": stored["bits_per_word"]} if is_undecided(mine) else {})}


def segment_settings(config: Config) -> SegmentSettings:
    """Return the settings of segments."""
    name = config.signatures.signature
    elements = config.signatures if name not in ("auto", "words", "exact") else None
    # Where sentences or keys have to be equal, a single element of each is enough to find the same again.
    limit = config.matches.min_similarity if name in ("auto", *SET_SIGNATURES) else Fraction(1)
    index, share = config.index, config.signatures.max_document_share
    per_word = index.bits_per_word or 1  # as long as nothing has decided, there is nothing to search
    stops = stop_hashes(config, "words"), stop_hashes(config, name)
    return SegmentSettings(index.signature_bits, per_word, share, limit, name == "exact", elements, *stops, index.texts)


def _value(config: Config, name: str) -> Any:
    return getattr(getattr(config, _STAGES[name]), name)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(float(value)) if isinstance(value, Fraction) else str(value)
