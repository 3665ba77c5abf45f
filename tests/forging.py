"""Texts made to have the digest of another text under the public hash: what an attacker can do who has read the code."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from ibidem.columns.hashes import FACTOR, SEED
from ibidem.sentences import digest_tokens, tokenise_texts
from ibidem.sentences.kernels.tokens import WORD_END

_ALL = (1 << 64) - 1
_INVERSE = pow(FACTOR, -1, 1 << 64)
_LETTERS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz0123456789", np.uint8)
_N_TRIES = 1 << 20
_IS_LETTER = np.isin(np.arange(256), _LETTERS)


def digest_of(text: str) -> int:
    """Return the digest of a text under the public hash."""
    return int(digest_tokens(*tokenise_texts(pa.array([text], pa.large_string())))[0])


@cache
def forged(text: str, victim: str) -> str:
    """Return the text and one word more, of sixteen letters, with the digest of the victim."""
    before = digest_of(text)
    made = f"{text} {word_of(unmixed(before, digest_of(victim)))}"
    assert digest_of(made) == digest_of(victim)
    return made


def forged_words(victim: str) -> str:
    """Return a text of as many words, none of which is the victim's, with all its hashes."""
    tokens, _ = tokenise_texts(pa.array([victim], pa.large_string()))
    made = {token: word_of(token) for token in set(tokens.tolist())}
    return " ".join(made[token] for token in tokens.tolist()) + "."


def unmixed(h: int, mixed: int) -> int:
    """Return x such that mix(h, x) is the number given."""
    return (mixed ^ mixed >> 32) * _INVERSE & _ALL ^ h


@lru_cache(maxsize=16)  # of 16 MB each; one in six has a word for a hash
def _tries(number: int) -> tuple[Any, Any]:
    """Return many strings of eight letters, as numbers, and what each makes of the hash before WORD_END."""
    random = np.random.default_rng(number)
    first = _LETTERS[np.arange(256) % len(_LETTERS)][random.integers(0, 256, 8 * _N_TRIES, np.uint8)].view(np.uint64)
    mixed = (first ^ SEED) * np.uint64(FACTOR)
    return first, mixed ^ mixed >> np.uint64(32)


@cache
def word_of(token: int) -> str:
    """Return a word of sixteen letters with this hash: eight by chance, until the eight that must follow are letters too."""
    # The hash of a word is mix(mix(mix(SEED, letters), more letters), WORD_END), and mix is a bijection in either argument.
    wanted = np.uint64(unmixed(0, unmixed(int(WORD_END), token)))
    number = 0
    while True:
        first, mixed = _tries(number)
        hits = np.flatnonzero(_IS_LETTER[((wanted ^ mixed) & np.uint64(255)).astype(np.uint8)])
        second = (wanted ^ mixed[hits]).view(np.uint8).reshape(-1, 8)
        hits = hits[_IS_LETTER[second].all(axis=1)]
        if len(hits):
            return (first[hits[:1]].tobytes() + (wanted ^ mixed[hits[:1]]).tobytes()).decode("ascii")
        number += 1
