"""Found passages against true ones by characters, with the measures of PAN's text alignment task.

A true and a found passage *meet* if they are of the same two documents and overlap on both sides. The recall of a true passage
is the share of its characters, both sides together, that found passages which meet it cover; the precision of a found passage
is the same the other way round. Scores are means over passages; the micro-averaged ones count characters instead, each once for
a pair of documents. Granularity is how many found passages meet a true one, over those that are met. Plagdet is the harmonic
mean of precision and recall ÷ log2(1 + granularity). Which side is `a` and which is `b` does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.evaluation.confidence import Figures, Interval, bootstrap_intervals, macro_scores
from ibidem.evaluation.document_numbers import (
    MAX_CHARS,
    NONE,
    Numbered,
    Numbers,
    Passages,
    category_numbers,
    check_one_category,
    number_passages,
    passage_table,
)

Mask = NDArray[np.bool_]
_ROWS_AT_ONCE = 1 << 18  # more do not stay in the processor's cache


class PassageScores(NamedTuple):
    """How well passages were found. `n_matched` counts the true ones that were met, `n_pairs` the pairs of documents.

    With nothing true and nothing found, precision and recall are 1; with nothing of one of them, both are 0.
    """

    plagdet: float
    precision: float
    recall: float
    granularity: float
    micro_precision: float
    micro_recall: float
    n_truth: int
    n_found: int
    n_matched: int
    n_pairs: int


class GroupScores(NamedTuple):
    """Scores of all passages or of a category, and by name of the score the intervals, if they were asked for."""

    scores: PassageScores
    intervals: dict[str, Interval]


class Evaluation(NamedTuple):
    """Scores over all and by category, and how many passages were ignored because their pair of documents is not listed."""

    overall: GroupScores
    categories: dict[str, GroupScores]
    n_ignored_truth: int
    n_ignored_found: int


def score_passages(truth: pa.Table | Iterable[Sequence[Any]], found: pa.Table | Iterable[Sequence[Any]]) -> PassageScores:
    """Return the scores of found passages; both are rows of a_id, a_start, a_end, b_id, b_start, b_end, or such tables."""
    return evaluate_passages(truth, found).overall.scores


def evaluate_passages(
    truth: pa.Table | Iterable[Sequence[Any]],
    found: pa.Table | Iterable[Sequence[Any]],
    pairs: pa.Table | None = None,
    n_samples: int = 0,
) -> Evaluation:
    """Return the scores of found passages over all and by category.

    With `pairs` (a_id, b_id and, if there are any, category) only passages of these pairs of documents count; what is found in
    pairs without truth is wrong, also in the category of the pair. The category of a true passage is that of its pair, or
    without such, its own; a found one belongs to the first true passage it meets, or else to the first of its pair. `n_samples`
    is how often the pairs are resampled for the intervals, 0 for none.
    """
    truth_table, found_table = passage_table(truth), passage_table(found)
    numbered = number_passages(truth_table, found_table, pairs)
    counted = np.full(numbered.n_pairs, numbered.listed is None)
    if numbered.listed is not None:
        counted[numbered.listed] = True
    of_truth, of_found = counted[numbered.truth.pair], counted[numbered.found.pair]
    numbered = numbered._replace(truth=numbered.truth.take(of_truth), found=numbered.found.take(of_found))
    meetings = find_meetings(numbered.truth, numbered.found)
    categories = assign_categories(numbered, truth_table.filter(pa.array(of_truth)), pairs, meetings)
    scorer = _Scorer(numbered.truth, numbered.found, meetings, n_samples)
    return Evaluation(
        scorer.score(categories.of_truth >= NONE, categories.of_found >= NONE, counted),
        {
            name: scorer.score(categories.of_truth == number, categories.of_found == number, categories.of_pair == number)
            for number, name in enumerate(categories.names)
        },
        n_ignored_truth=int((~of_truth).sum()),
        n_ignored_found=int((~of_found).sum()),
    )


class _Scorer:
    """Shares of all passages, and the scores of groups of them."""

    def __init__(self, truth: Passages, found: Passages, meetings: Meetings, n_samples: int) -> None:
        self._truth = truth
        self._found = found
        self._meetings = meetings
        self._n_samples = n_samples
        self._found_share = _covered_share(truth, meetings.truth, meetings)
        self._true_share = _covered_share(found, meetings.found, meetings)
        self._n_meetings = np.bincount(meetings.truth, minlength=len(truth.pair))

    def score(self, of_truth: Mask, of_found: Mask, of_pairs: Mask) -> GroupScores:
        """Return the scores of some true and found passages; `of_pairs` are the pairs of documents they may be in."""
        n_meetings = self._n_meetings[of_truth]
        true_pair, found_pair = self._truth.pair[of_truth], self._found.pair[of_found]
        of_pairs = of_pairs.copy()
        of_pairs[true_pair] = of_pairs[found_pair] = True  # a pair may have more than one category
        n_pairs = len(of_pairs)
        tallies: Figures = np.stack(
            [
                np.bincount(true_pair, self._found_share[of_truth], n_pairs),
                np.bincount(true_pair, minlength=n_pairs),
                np.bincount(found_pair, self._true_share[of_found], n_pairs),
                np.bincount(found_pair, minlength=n_pairs),
                np.bincount(true_pair, n_meetings, n_pairs),
                np.bincount(true_pair, n_meetings > 0, n_pairs),
            ],
            axis=-1,
            dtype=np.float64,
        )[of_pairs]
        plagdet, precision, recall, granularity = macro_scores(tallies.sum(axis=0)).tolist()
        intervals = {}
        if self._n_samples and len(tallies):
            ends = bootstrap_intervals(tallies, self._n_samples).T.tolist()
            intervals = {name: Interval(*ends[k]) for k, name in enumerate(("plagdet", "precision", "recall"))}
        scores = PassageScores(
            plagdet,
            precision,
            recall,
            granularity,
            *self._micro_scores(of_truth, of_found),
            n_truth=len(true_pair),
            n_found=len(found_pair),
            n_matched=int((n_meetings > 0).sum()),
            n_pairs=len(tallies),
        )
        return GroupScores(scores, intervals)

    def _micro_scores(self, of_truth: Mask, of_found: Mask) -> tuple[float, float]:
        """Return precision and recall of characters."""
        truth, found, meetings = self._truth, self._found, self._meetings
        if not of_truth.any() and not of_found.any():
            return 1.0, 1.0
        both = of_truth[meetings.truth] & of_found[meetings.found]
        shared = Passages(truth.pair[meetings.truth[both]], meetings.starts[:, both], meetings.ends[:, both])
        n_shared = _n_distinct_chars(shared)
        n_found, n_true = _n_distinct_chars(found.take(of_found)), _n_distinct_chars(truth.take(of_truth))
        return n_shared / max(n_found, 1), n_shared / max(n_true, 1)


def _covered_share(passages: Passages, owner: Numbers, meetings: Meetings) -> Figures:
    """Return the share of each passage that meetings cover, both sides together."""
    n_passages = len(passages.pair)
    covered = sum(count_covered(owner, meetings.starts[side], meetings.ends[side], n_passages) for side in (0, 1))
    shares: Figures = covered / np.maximum(passages.n_chars, 1)
    return shares


def _n_distinct_chars(passages: Passages) -> int:
    _, pair = np.unique(passages.pair, return_inverse=True)
    pair = pair.reshape(-1)
    n_pairs = len(pair)
    return sum(int(count_covered(pair, passages.starts[side], passages.ends[side], n_pairs).sum()) for side in (0, 1))


class Meetings(NamedTuple):
    """True and found passages that meet, by row, in the order of the truth; and the stretches they share, by side."""

    truth: Numbers
    found: Numbers
    starts: Numbers
    ends: Numbers


def find_meetings(truth: Passages, found: Passages) -> Meetings:
    """Return all pairs of a true and a found passage of the same two documents that overlap on both sides."""
    order = np.argsort(found.pair * MAX_CHARS + found.starts[0], kind="stable")
    # Passages of about one length at a time: a long one reaches over all the short ones behind it.
    length_class = np.frexp(np.maximum(found.ends[0] - found.starts[0], 0)[order])[1]
    classes = [order[length_class == each] for each in np.unique(length_class)] or [order]
    found_in_turn = [some for chosen in classes for some in _meetings_in_turn(truth, found.take(chosen), chosen)]
    joined = Meetings(*(np.concatenate(column, axis=-1) for column in zip(*found_in_turn, strict=True)))
    if len(classes) == 1:
        return joined
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    by_truth = np.lexsort((place[joined.found], joined.truth))
    return Meetings(*(column[..., by_truth] for column in joined))


def count_covered(owner: Numbers, start: Numbers, end: Numbers, n_owners: int) -> Numbers:
    """Return how many characters the stretches of each owner cover, each character counted once."""
    order = np.argsort(owner * MAX_CHARS + start)
    owner, start, end = owner[order], start[order], end[order]
    first, last = owner * MAX_CHARS + start, owner * MAX_CHARS + end
    # Up to where the stretches before have counted; those of other owners end before this one's text begins.
    reached = np.maximum.accumulate(np.concatenate([np.zeros(1, np.int64), last]))[:-1]
    fresh = np.maximum(last - np.maximum(first, reached), 0)
    return np.bincount(owner, weights=fresh, minlength=n_owners).astype(np.int64)


def _meetings_in_turn(truth: Passages, found: Passages, rows: Numbers) -> Iterator[Meetings]:
    """Look on side 0 for what can overlap, then at both sides, at so many candidates at once.

    Found passages come in their order on side 0; `rows` says which ones they are.
    """
    # The farthest end so far rises with the rows, so that the first row that can reach into a passage is looked up.
    reach = np.maximum.accumulate(found.pair * MAX_CHARS + found.ends[0])
    low = np.searchsorted(reach, truth.pair * MAX_CHARS + truth.starts[0], side="right")
    high = np.searchsorted(found.pair * MAX_CHARS + found.starts[0], truth.pair * MAX_CHARS + truth.ends[0], side="left")
    n_candidates = np.maximum(high - low, 0)
    total = np.concatenate([[0], np.cumsum(n_candidates)])
    row = 0
    while True:
        next_row = max(row + 1, int(np.searchsorted(total, total[row] + _ROWS_AT_ONCE, side="right")) - 1)
        counts = n_candidates[row:next_row]
        of_truth = np.repeat(np.arange(row, row + len(counts)), counts)
        before = np.cumsum(counts) - counts
        of_found = np.arange(len(of_truth)) + np.repeat(low[row:next_row] - before, counts)
        for side in (1, 0):  # what was looked up on side 0 mostly overlaps there
            overlaps = found.starts[side, of_found] < truth.ends[side, of_truth]
            overlaps &= truth.starts[side, of_truth] < found.ends[side, of_found]
            of_truth, of_found = of_truth[overlaps], of_found[overlaps]
        starts = np.maximum(truth.starts[:, of_truth], found.starts[:, of_found])
        ends = np.minimum(truth.ends[:, of_truth], found.ends[:, of_found])
        shared = (starts < ends).all(axis=0)  # an empty stretch is inside others, and shares nothing with them
        yield Meetings(of_truth[shared], rows[of_found[shared]], starts[:, shared], ends[:, shared])
        row = next_row
        if row >= len(n_candidates):
            return


class Categories(NamedTuple):
    """Names in alphabetical order, and the number of the category of each pair and passage; -1 for none."""

    names: list[str]
    of_pair: Numbers
    of_truth: Numbers
    of_found: Numbers


def assign_categories(numbered: Numbered, truth: pa.Table, pairs: pa.Table | None, meetings: Meetings) -> Categories:
    """Return the categories that the list of pairs says, or if it says none, the truth.

    A found passage belongs to the first true one it meets; if it meets none, to its pair, and that to its first true passage.
    """
    of_pair = np.full(numbered.n_pairs, NONE, np.int64)
    if pairs is not None and "category" in pairs.column_names:
        names, of_row = category_numbers(pairs)
        of_pair[numbered.listed] = of_row
        check_one_category(pairs, of_row, of_pair[numbered.listed])
        of_truth = of_pair[numbered.truth.pair]
    else:
        names, of_truth = category_numbers(truth)
        named = of_truth != NONE
        # Of numbers that are written to one place the last one stays: from the end on, the first true passage of the pair.
        of_pair[numbered.truth.pair[named][::-1]] = of_truth[named][::-1]
    of_found = of_pair[numbered.found.pair]
    of_found[meetings.found[::-1]] = of_truth[meetings.truth[::-1]]
    return Categories(names, of_pair, of_truth, of_found)
