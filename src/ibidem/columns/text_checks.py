"""Checks: digests of 122 bits that separate equal texts from those that only have the same 64-bit digest.

A digest of 64 bits finds what may be equal. It is made with `hash_seed`, which may be known, so checks are compared before two
texts are called equal. They are made with a key drawn for this purpose.
"""

from __future__ import annotations

import hashlib
import secrets

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.kernels import text_checks as check_kernels
from ibidem.columns.texts import Bytes, Hashes, Offsets, kernel_texts, read_only, word_bytes

Checks = NDArray[np.uint64]  # two numbers per text
_FIELD = (1 << check_kernels.FIELD_BITS) - 1
_SEED_BITS = 63


class CheckKey:
    """The key of checks: two points of a field, and a seed for the hashes of words. Equal seeds give equal keys."""

    def __init__(self, seed: int) -> None:
        digest = hashlib.blake2b(seed.to_bytes(8, "little"), digest_size=24, person=b"ibidem checks").digest()
        a, b, c = (int.from_bytes(digest[start : start + 8], "little") for start in (0, 8, 16))
        self.seed = seed
        self.places = read_only(np.array([a % (_FIELD - 1) + 1, b % (_FIELD - 1) + 1], np.uint64))
        self.hash_seed = c >> (64 - _SEED_BITS) or 1

    @classmethod
    def drawn(cls) -> CheckKey:
        """Return a new secret key."""
        return cls(secrets.randbits(_SEED_BITS))

    def of_bytes(self, data: Bytes, starts: Offsets, ends: Offsets) -> Checks:
        """Return the checks of spans of bytes."""
        checks = np.empty((len(starts), 2), np.uint64)
        check_kernels.check_spans(word_bytes(data), read_only(starts), read_only(ends), self.places, checks)
        return checks

    def of_texts(self, texts: pa.LargeStringArray) -> Checks:
        """Return the checks of the exact bytes of texts."""
        data, offsets = kernel_texts(texts)
        return self.of_bytes(data, offsets[:-1], offsets[1:])

    def of_tokens(self, tokens: Hashes, first: Offsets) -> Checks:
        """Return the checks of lists of words, given as hashes made with a secret seed."""
        checks = np.empty((len(first) - 1, 2), np.uint64)
        check_kernels.check_tokens(read_only(tokens), read_only(first), self.places, checks)
        return checks


def text_key(hash_seed: int) -> CheckKey:
    """Return the key for texts that are read again, later in the run or by a resumed run."""
    return CheckKey(max(hash_seed, 0))


def settle_digests(digests: Hashes, checks: Checks, taken_elsewhere: Hashes | None = None) -> Hashes:
    """Return digests that are equal only if the checks are equal too; the same array, unless different texts share one.

    0 means no words, and equals no other. New digests avoid those in `taken_elsewhere`.
    """
    order = np.argsort(digests, kind="stable")
    ordered = digests[order]
    same = np.flatnonzero(ordered[1:] == ordered[:-1])
    unlike = (checks[order[same]] != checks[order[same + 1]]).any(axis=1)
    shared = ordered[same[unlike]]
    if not len(shared):
        return digests
    settled = digests.copy()
    rows = np.flatnonzero(np.isin(digests, shared))
    _, head, number = np.unique(checks[rows], axis=0, return_index=True, return_inverse=True)
    of_check = np.maximum(checks[rows[head], 0], np.uint64(1))
    while True:
        is_first = np.zeros(len(head), np.bool_)
        is_first[np.unique(of_check, return_index=True)[1]] = True
        clashes = ~is_first | np.isin(of_check, digests if taken_elsewhere is None else taken_elsewhere)
        if not clashes.any():
            break
        of_check[clashes] += np.uint64(1)
    settled[rows] = np.where(digests[rows] == 0, 0, of_check[number.reshape(-1)])
    return settled
