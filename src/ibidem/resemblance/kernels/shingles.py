"""Kernels that turn the tokens of documents into shingles."""

from __future__ import annotations

import numpy as np

from ibidem.columns.hashes import SEED, mix
from ibidem.execution.compiler import outer_kernel

# Two shingles of different words have the same sum under every seed if a signed sum of powers of _STEP is 0. There are 3**n
# such sums of n powers for 2**64 values: with 41 words one can be expected, and found; with 32 the chance is one in ten
# thousand. So longer shingles are chains of sums.
BLOCK_TOKENS = 32
# Odd, and 3 modulo 4: differences of its powers have few factors of two, so swapped tokens change the sum.
_STEP = np.uint64(0x9E3779B97F4A7C17)
_ONE = np.uint64(1)


@outer_kernel
def shingle_documents(tokens, first, size, distinct, slots, sums, hashes, hash_first):
    """Write the hashes of `size` tokens in a row of every document, in reading order; a shorter document is one shingle.

    With `distinct`, each hash of a document is written once; `slots` is a zeroed table of at least twice the tokens of the
    longest document, a power of two. Returns the number of hashes. The hash is made from a rolling sum, so up to 32 tokens its
    cost does not grow with `size`; for more tokens it is the hash of sums of 32 that cover them, and `sums` has room for the
    tokens of the longest document.
    """
    n_summed = min(size, BLOCK_TOKENS)
    leading = _ONE
    for _ in range(n_summed - 1):
        leading *= _STEP
    n = 0
    hash_first[0] = 0
    for document in range(len(first) - 1):
        begin = first[document]
        n_tokens = first[document + 1] - begin
        width = min(size, n_tokens)
        bits = 1
        while (1 << bits) < 2 * n_tokens:
            bits += 1
        shift = np.uint64(64 - bits)
        mask = np.uint64((1 << bits) - 1)
        if distinct:
            for i in range(1 << bits):
                slots[i] = 0
        rolling = np.uint64(0)
        for i in range(n_tokens):
            if i >= n_summed:
                rolling -= tokens[begin + i - n_summed] * leading
            rolling = rolling * _STEP + tokens[begin + i]
            if width > BLOCK_TOKENS and i >= BLOCK_TOKENS - 1:
                sums[i - BLOCK_TOKENS + 1] = rolling
            if i < width - 1:
                continue
            # Mixed, because the low bits of the sum depend only on the tokens' low bits; 0 means a free slot.
            key = SEED
            if width > BLOCK_TOKENS:
                for k in range(i - width + 1, i - BLOCK_TOKENS + 1, BLOCK_TOKENS):
                    key = mix(key, sums[k])
            key = mix(key, rolling)
            if key == 0:
                key = _ONE
            if distinct:
                slot = key >> shift
                while slots[slot] != 0 and slots[slot] != key:
                    slot = (slot + _ONE) & mask
                if slots[slot] == key:
                    continue
                slots[slot] = key
            hashes[n] = key
            n += 1
        hash_first[document + 1] = n
    return n
