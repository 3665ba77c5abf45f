"""What the alignment kernels work on: two texts as one array of words, the limits, and working memory.

Rows of several numbers are stored flat: tasks, passages and seeds (sentence of a, sentence of b).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.kernels.lanes import N_LANES

SEEDS_A_SENTENCE = 8
OCTET_PLACES = 4  # of one run of eight words in the other text that give seeds
TASK = 5  # first seed, end, side to cut by, whether the other side was tried, gap
PASSAGE = 5  # start and end in a, start and end in b, model

Numbers = NDArray[Any]


class Text(NamedTuple):
    """Two texts as one array, the words of b from `n_a_words` on: numbers of words, of pairs and of runs of four words."""

    words: Numbers
    pairs: Numbers
    runs: Numbers
    bounds: Numbers
    n_a_words: int
    n_words: int


class Limits(NamedTuple):
    """What a passage needs, and the weights of words per model and grade, flat: after the models that of summaries, and the
    most that any model gives. `lanes` has those of all models per grade, `noisy_lanes` those of the model for noise, per grade
    in place.
    """

    min_evidence: float
    min_words: int
    least_core_words: float
    max_gap_sentences: int
    summaries: bool
    least_cosine: float
    least_dice: float
    least_share: float
    unseen: float
    highest_chance_level: int
    levels: Numbers
    logarithms: Numbers
    end_costs: Numbers
    min_summary_evidence: float
    min_extension_evidence: float
    beside_verbatim: float
    n_models: int
    most_falls: Numbers
    weights: Numbers
    lanes: Numbers
    noisy_lanes: Numbers


class NumberTable(NamedTuple):
    """The numbers of words and runs, with open addressing. A slot is in use if it has the current stamp."""

    keys: Numbers
    stamps: Numbers
    numbers: Numbers


class Grading(NamedTuple):
    """What words are graded by: how often they, their pairs and their runs are in the stretch of the other text; how many of
    these are consumed; the place of a word that is there once; the expected number of a word (a logarithm); anchors; grades,
    and grades of words in place. The first four are 0 between calls.
    """

    counts: Numbers
    pair_counts: Numbers
    run_counts: Numbers
    used: Numbers
    places: Numbers
    rates: Numbers
    anchors: Numbers
    grades: Numbers
    in_place: Numbers


class Entries(NamedTuple):
    """The distinct words of every sentence, with their weights: those of sentence s are [`first`[s], `first`[s + 1]).

    `norms` are per sentence, `sentence_counts` per word.
    """

    words: Numbers
    weights: Numbers
    first: Numbers
    sentence: Numbers
    norms: Numbers
    sentence_counts: Numbers


class Places(NamedTuple):
    """Where words or runs are: `head` has the first place of each (-1 if none, as between calls), `following` the next one."""

    head: Numbers
    following: Numbers


class Scores(NamedTuple):
    """What one sentence shares with those of the other text: products of weights, and words; which sentences these are; and the
    best cosines. All except the last two are 0 between calls.
    """

    dots: Numbers
    shared: Numbers
    touched: Numbers
    best: Numbers


class Models(NamedTuple):
    """How models explain a cluster: the chosen ones, their evidence (for choosing), and evidence, start and end of each."""

    chosen: Numbers
    order: Numbers
    stretches: Numbers


class Room(NamedTuple):
    """Arrays for one thread, large enough for its largest pair of texts.

    `graded` are the words of a that have grades, and the stretch of b they were graded against; then those of b likewise.
    `waiting` is the number of passages of the last pair that did not fit in the table; they are still in `passages`.
    """

    stamp: Numbers
    starts: Numbers
    ends: Numbers
    table: NumberTable
    words: Numbers
    pairs: Numbers
    runs: Numbers
    octets: Numbers
    bounds: Numbers
    total: Numbers
    grading: Grading
    graded: Numbers
    seen: Numbers
    slot: Numbers
    firsts: Numbers
    sentence_of: Numbers
    entries: Entries
    places: Places
    scores: Scores
    seeds: Numbers
    tasks: Numbers
    span: Numbers
    core: Numbers
    place: Numbers
    found: Numbers
    models: Models
    passages: Numbers
    evidence: Numbers
    waiting: Numbers


def make_room(n_a_words: int, n_words: int, n_models: int) -> Room:
    """Return room for pairs of texts with at most `n_a_words` words in a and `n_words` in both together."""
    n, n_slots = n_words + 3, 1 << max(4, int(2 * n_words + 1).bit_length())
    n_seeds = SEEDS_A_SENTENCE * (n_a_words + 1) + OCTET_PLACES * n_words

    def numbers() -> Numbers:
        return np.zeros(n, np.int32)

    def places(size: int) -> Numbers:
        return np.zeros(size, np.int64)

    return Room(
        stamp=places(1),
        starts=places(2),
        ends=places(2),
        table=NumberTable(np.zeros(n_slots, np.uint64), places(n_slots), np.zeros(n_slots, np.int32)),
        words=numbers(),
        pairs=numbers(),
        runs=numbers(),
        octets=numbers(),
        bounds=np.zeros(n, np.uint8),
        total=numbers(),
        grading=Grading(numbers(), numbers(), numbers(), numbers(), numbers(), np.zeros(n), numbers(), numbers(), numbers()),
        graded=places(8),
        seen=numbers(),
        slot=numbers(),
        firsts=places(n),
        sentence_of=numbers(),
        entries=Entries(numbers(), np.zeros(n), places(n), numbers(), np.zeros(n), numbers()),
        places=Places(np.full(n, -1, np.int32), numbers()),
        scores=Scores(np.zeros(n), numbers(), numbers(), np.zeros(SEEDS_A_SENTENCE + 1)),
        seeds=places(2 * n_seeds),
        tasks=places(TASK * (n_seeds + 2)),
        span=places(3),
        core=places(4),
        place=places(4),
        found=places(2),
        models=Models(places(n_models), np.zeros(n_models), np.zeros(3 * N_LANES)),
        passages=places(PASSAGE * (n_seeds + 3)),
        evidence=np.zeros(2 * (n_seeds + 3)),
        waiting=places(1),
    )
