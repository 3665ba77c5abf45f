"""The one hash of ibidem: 64-bit mixing, the same on every machine and in every version."""

from __future__ import annotations

import secrets

import numpy as np
from numpy.typing import NDArray

from ibidem.execution.compiler import growing_kernel, inlined_kernel, outer_kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2^64 divided by the golden ratio: multiples of this are far apart
SEED = GOLDEN  # the start of hashes; like FACTOR, part of the index format
FACTOR = 0xD6E8FEB86659FD93
_FACTOR = np.uint64(FACTOR)
_HALF = np.uint64(32)
_ONE = np.uint64(1)
_ALL = (1 << 64) - 1
DRAWN = -1  # as `hash_seed`: draw a number for the run
_SEED_BITS = 63
_drawn_here: set[int] = set()


def _mix(h: np.uint64, x: np.uint64) -> np.uint64:
    """Return `h` with `x` folded in. With either of them fixed this is a bijection: one step never collides."""
    h = (h ^ x) * _FACTOR
    return h ^ (h >> _HALF)


mix = growing_kernel(_mix)

Seed = tuple[np.uint64, np.uint64, np.uint64]


def draw_seed() -> int:
    """Return a new secret seed."""
    seed = secrets.randbits(_SEED_BITS) or 1
    _drawn_here.add(seed)
    return seed


def is_secret(hash_seed: int) -> bool:
    """Return whether a seed was drawn by this process, so that no text can be crafted for it."""
    return hash_seed in _drawn_here


def seed_of(hash_seed: int) -> Seed:
    """Return what the hashes of words are made with: their start, a factor, and a mask (see `stir`).

    0, or none drawn, is the public hash. With any other number, only those who know it can find words that collide.
    """
    if hash_seed <= 0:
        return SEED, _ONE, np.uint64(0)
    values, state = [], int(SEED)
    for step in (1, 2):
        # Three rounds, so that seeds that differ in one bit have nothing in common.
        for value in (hash_seed, step, hash_seed):
            state = (state ^ value) * FACTOR & _ALL
            state ^= state >> 29
        values.append(np.uint64(state))
    return values[0], values[1] | _ONE, np.uint64(_ALL)


def _stir(x: np.uint64, seed: Seed) -> np.uint64:
    """Return letters as they enter a hash: unchanged without a secret, otherwise spread over all bits by a secret factor.

    A bijection. Without it, letters in the last of eight places would change the same few bits of the hash under every seed,
    and later letters could undo that: two such words would collide whatever the secret.
    """
    x = x * seed[1]
    return x ^ ((x >> _HALF) & seed[2])


stir = inlined_kernel(_stir)


def _fold_bytes(data: NDArray[np.uint8], offsets: NDArray[np.int64], hashes: NDArray[np.uint64]) -> None:
    """Write the hash of every string of bytes: string i is `data[offsets[i]:offsets[i + 1]]`."""
    for i in range(len(hashes)):
        h = SEED
        for k in range(offsets[i], offsets[i + 1]):
            h = mix(h, np.uint64(data[k]))
        hashes[i] = h


fold_bytes = outer_kernel(_fold_bytes)
