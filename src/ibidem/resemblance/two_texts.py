"""Two texts compared as wholes."""

from __future__ import annotations

import pyarrow as pa

from ibidem.model import Similarity
from ibidem.resemblance.order import order_similarity
from ibidem.resemblance.shingles import shingle_tokens
from ibidem.sentences import tokenise_texts
from ibidem.signatures import TypeTokens


def compare_texts(text_a: str, text_b: str, shingle_size: int, hash_seed: int = 0) -> Similarity:
    """Return how alike two texts are; a text without words is like none."""
    tokens, first = tokenise_texts(pa.array([text_a, text_b], pa.large_string()), hash_seed)
    shingles = shingle_tokens(TypeTokens(tokens, first), shingle_size, distinct=False)
    a, b = (shingles.hashes[shingles.first[i] : shingles.first[i + 1]] for i in (0, 1))
    if len(a) == 0 or len(b) == 0:
        return Similarity(0.0, 0.0, 0.0, 0.0)
    of_a, of_b = set(a.tolist()), set(b.tolist())
    shared = len(of_a & of_b)
    order = 2 * order_similarity(a, b) / (len(a) + len(b))
    return Similarity(shared / len(of_a | of_b), shared / len(of_a), shared / len(of_b), order)
