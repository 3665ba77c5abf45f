"""Tokens in, shingles out: what a document as a whole is known by (Broder et al.)."""

from __future__ import annotations

import numpy as np

from ibidem.resemblance.kernels import shingles as shingle_kernels
from ibidem.signatures import HashSets, TypeTokens


def shingle_tokens(texts: TypeTokens, size: int, distinct: bool) -> HashSets:
    """Return the hashes of every `size` tokens in a row, by text; in reading order with repeats unless `distinct`.

    In scripts without spaces a token is a pair of characters, so a shingle is `size` + 1 characters. A text of fewer tokens
    is one shingle.
    """
    longest = int(np.diff(texts.first).max(initial=1))
    slots = np.zeros(1 << max(1, (2 * longest - 1).bit_length()) if distinct else 1, np.uint64)
    hashes = np.empty(len(texts.tokens), np.uint64)
    first = np.empty(len(texts) + 1, np.int64)
    sums = np.empty(longest if size > shingle_kernels.BLOCK_TOKENS else 0, np.uint64)
    n = shingle_kernels.shingle_documents(texts.tokens, texts.first, size, distinct, slots, sums, hashes, first)
    return HashSets(hashes[:n], first)
