"""What the kernels of the alignment work on: two texts as one array of words, the limits they keep, and the room they need.

Rows of several numbers lie flat in the room, one after the other: tasks, passages and seeds (sentence of a, sentence of b).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

SEEDS_A_SENTENCE = 8
OCTET_PLACES = 4  # of one run of eight words in the other text that lead to seeds
TASK = 5  # first seed, end, side to cut by, whether the other side has been looked at, gap
PASSAGE = 5  # start and end in a, start and end in b, model

Numbers = NDArray[Any]


class Text(NamedTuple):
    """Two texts as one array, the words of b from `n_a_words` on: numbers of words, of pairs and of runs of four words."""

    words: Numbers
    pairs: Numbers
    runs: Numbers
    is_bound: Numbers
    n_a_words: int
    n_words: int


class Limits(NamedTuple):
    """What a passage needs, and the weights of words by model and grade, flat."""

    min_evidence: float
    min_words: int
    max_gap_sentences: int
    summaries: bool
    least_cosine: float
    least_dice: float
    least_share: float
    unseen: float
    highest_chance_level: int
    levels: Numbers
    within_sentence: float
    min_summary_evidence: float
    beside_verbatim: float
    n_models: int
    weights: Numbers


class Room(NamedTuple):
    """Arrays for one thread, large enough for its largest pair of texts. Counts are 0 and heads -1 between calls.

    `waiting` is how many passages of the last pair there was no room for in the table; they are still in `passages`.
    """

    stamp: Numbers
    starts: Numbers
    ends: Numbers
    keys: Numbers
    stamps: Numbers
    numbers: Numbers
    words: Numbers
    pairs: Numbers
    runs: Numbers
    octets: Numbers
    is_bound: Numbers
    total: Numbers
    counts: Numbers
    pair_counts: Numbers
    run_counts: Numbers
    used: Numbers
    rates: Numbers
    grades: Numbers
    sentence_counts: Numbers
    seen: Numbers
    slot: Numbers
    firsts: Numbers
    sentence_of: Numbers
    entry_words: Numbers
    entry_weights: Numbers
    entry_first: Numbers
    entry_sentence: Numbers
    norms: Numbers
    head: Numbers
    following: Numbers
    dots: Numbers
    shared: Numbers
    touched: Numbers
    best: Numbers
    seeds: Numbers
    tasks: Numbers
    span: Numbers
    core: Numbers
    place: Numbers
    found: Numbers
    chosen: Numbers
    model_scores: Numbers
    model_order: Numbers
    model_stretches: Numbers
    passages: Numbers
    evidence: Numbers
    waiting: Numbers


def make_room(n_a_words: int, n_words: int, n_models: int) -> Room:
    """Return room for pairs of texts of at most so many words in a, and in both together."""
    n_slots = 1 << max(4, int(2 * n_words + 1).bit_length())
    n_seeds = SEEDS_A_SENTENCE * (n_a_words + 1) + OCTET_PLACES * n_words
    sizes: dict[str, tuple[int, Any]] = {
        "stamp": (1, np.int64), "starts": (2, np.int64), "ends": (2, np.int64), "keys": (n_slots, np.uint64),
        "stamps": (n_slots, np.int64), "numbers": (n_slots, np.int32), "is_bound": (n_words + 1, np.bool_),
        "firsts": (n_words + 3, np.int64), "entry_first": (n_words + 3, np.int64), "entry_weights": (n_words + 1, np.float64),
        "norms": (n_words + 2, np.float64),
        "rates": (n_words + 2, np.float64), "dots": (n_words + 2, np.float64), "best": (SEEDS_A_SENTENCE + 1, np.float64),
        "seeds": (2 * n_seeds, np.int64), "tasks": (TASK * (n_seeds + 2), np.int64), "span": (3, np.int64),
        "core": (4, np.int64), "place": (4, np.int64), "found": (2, np.int64), "chosen": (n_models, np.int64),
        "model_scores": (n_models, np.float64), "model_order": (n_models, np.float64),
        "model_stretches": (2 * n_models, np.int64), "passages": (PASSAGE * (n_seeds + 3), np.int64),
        "evidence": (2 * (n_seeds + 3), np.float64), "waiting": (1, np.int64),
    }  # fmt: skip
    arrays = {}
    for name in Room._fields:
        size, kind = sizes.get(name, (n_words + 2, np.int32))
        arrays[name] = np.zeros(size, kind)
    arrays["head"][:] = -1
    return Room(**arrays)
