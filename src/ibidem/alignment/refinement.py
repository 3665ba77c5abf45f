"""`find` with alignment: the ends of passages found by sentences are moved to the word, and edited copies are added."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.alignment import Aligned, Words, align_spans, find_rectangles
from ibidem.alignment.aligner import covering_last
from ibidem.alignment.found_spans import FoundSpans, cells, documents_of, pair_numbers
from ibidem.alignment.kernels.refinement import choose_passages, extend_across, extend_equal, mark_covered, word_spans
from ibidem.alignment.places import AlignedPassages, locate, words_of
from ibidem.alignment.quotations import find_quotations
from ibidem.alignment.windows import align_windows, merged, with_margins
from ibidem.columns.collection import Collection
from ibidem.columns.rows import Pairing, Rows
from ibidem.config import Config, passage_limits
from ibidem.execution.memory import release_unused
from ibidem.execution.progress import Progress
from ibidem.execution.tasks import RunTasks, in_turn
from ibidem.passages import PassageRows
from ibidem.passages.kernels.chains import A_END, A_FIRST, B_END, B_FIRST, EQUAL, FLAGS, N_COLUMNS, N_SENTENCES
from ibidem.signatures import collapse_sentences

LEAST_EXTENSION_WORDS = 4
SENTENCE_MARGIN_WORDS = 3000  # all of most documents: with 1,000, a seventh more of the edited passages is missed
_SLACK_WORDS = 2
Numbers = NDArray[np.int64]


class AlignedPlaces(NamedTuple):
    """Which passages found by sentences stay as they are, those aligned word by word, and how many places were aligned."""

    stays: NDArray[np.bool_]
    aligned: Aligned
    n_places: int


def align_passages(
    passages: list[PassageRows], rows: Rows, types: NDArray[np.int32] | None, collection: Collection, pairing: Pairing,
    config: Config, run_tasks: RunTasks, progress: Progress,
) -> tuple[list[PassageRows], AlignedPassages]:  # fmt: skip
    """Return the passages kept as found, and those aligned word by word; see `align_words`."""
    words = words_of(collection, run_tasks)
    outcome, _ = align_words(passages, rows, types, words, pairing, config, run_tasks, progress)
    return _remaining(passages, outcome), locate(outcome.aligned, words, collection, run_tasks)


def align_words(
    passages: list[PassageRows], rows: Rows, types: NDArray[np.int32] | None, words: Words, pairing: Pairing, config: Config,
    run_tasks: RunTasks, progress: Progress,
) -> tuple[AlignedPlaces, FoundSpans]:  # fmt: skip
    """Return which passages stay as found, those aligned word by word, and all found ones as spans of words.

    Passages are extended by equal words. Places where rare words are close together in both documents are aligned, unless they
    are inside a passage. Of overlapping passages the longest is kept; similar sentences give way to what they are part of.
    `types` says which rows are equal sentences; None: those of one class.
    """
    min_words = config.alignment.min_aligned_words
    is_open = _open_words(rows, types, words)
    rectangles = find_rectangles(words, is_open, pairing, min_words, run_tasks)
    quotations = find_quotations(words, is_open, pairing, min_words, run_tasks)
    del is_open
    release_unused()  # marks take more memory than anything else here
    found = _found(passages, rows, words)
    outcome = align_places(words, found, rectangles, quotations, config, run_tasks)
    release_unused()
    progress.count(aligned_places=outcome.n_places)
    return outcome, found


def align_places(
    words: Words, found: FoundSpans, rectangles: Numbers, quotations: Numbers, config: Config, run_tasks: RunTasks = in_turn
) -> AlignedPlaces:
    """Align the words around rectangles, add quotations, and decide which passages stay.

    Pairs of documents do not influence one another.
    """
    rectangles, quotations = (spans[~_covered(spans, found, words)] for spans in (rectangles, quotations))
    aligned = align_windows(rectangles, words, found, config, run_tasks)
    return _chosen(aligned, quotations, len(rectangles), words, found)


def align_sentences(
    passages: list[PassageRows], rows: Rows, collection: Collection, pairs: Numbers, config: Config, run_tasks: RunTasks
) -> tuple[list[PassageRows], AlignedPassages]:
    """Return the passages kept as found, and those aligned word by word, as `align_passages` does, where it is known which
    `pairs` of sentences promise something.

    Such places are few and far between: a wide margin around each is aligned, which is all of most documents. The outcome for
    two documents depends on these two alone.
    """
    words = words_of(collection, run_tasks)
    found, (a, b), first = _found(passages, rows, words), pairs.T, words.sentence_first
    places = np.stack([first[a], first[a + 1], first[b], first[b + 1]], axis=1)
    places = places[~_covered(places, found, words)]
    around = merged(with_margins(places, np.full(places.shape, SENTENCE_MARGIN_WORDS), words), words)
    aligned = align_spans(words, around, config.alignment, passage_limits(config).max_gap_sentences, run_tasks)
    outcome = _chosen(aligned, np.empty((0, 4), np.int64), len(places), words, found)
    return _remaining(passages, outcome), locate(outcome.aligned, words, collection, run_tasks)


def _chosen(aligned: Aligned, quotations: Numbers, n_places: int, words: Words, found: FoundSpans) -> AlignedPlaces:
    """Choose between what is aligned, what is quoted and what was found."""
    aligned = _with_quotations(aligned, quotations)
    n_aligned = len(aligned)
    aligned = _with_extended(aligned, found, words)
    stays, is_kept = _choose(aligned, n_aligned, found, words)
    return AlignedPlaces(stays, Aligned(aligned.table[is_kept]), n_places)


def _remaining(passages: list[PassageRows], outcome: AlignedPlaces) -> list[PassageRows]:
    """Return the passages that stay as they were found."""
    remaining, first = [], 0
    for part in passages:
        remaining.append(part.chosen(outcome.stays[first : first + len(part)]))
        first += len(part)
    return remaining


def pair_by_pair(passages: list[PassageRows], aligned: AlignedPassages, rows: Rows) -> list[PassageRows]:
    """Return found and aligned passages together, by pair, as the table of documents needs them."""
    everything = [*passages, _as_rows(aligned, rows)]
    table = np.concatenate([part.table for part in everything])
    # They are in order except for the last, so a stable sort has little to do.
    order = np.argsort(pair_numbers(rows.document[table[:, [A_FIRST, B_FIRST]]].astype(np.int64)), kind="stable")
    return [PassageRows(table[order], np.concatenate([part.similarity for part in everything])[order])]


def _as_rows(passages: AlignedPassages, rows: Rows) -> PassageRows:
    """Return aligned passages as the rows of the sentences they cover at least half; those without any are left out."""
    start, end = (np.searchsorted(rows.sentence, column) for column in (passages.sentences[[0, 2]], passages.sentences[[1, 3]]))
    table = np.zeros((len(passages), N_COLUMNS), np.int32)
    for column, values in ((A_FIRST, start[0]), (A_END, end[0]), (B_FIRST, start[1]), (B_END, end[1])):
        table[:, column] = values
    table[:, N_SENTENCES] = passages.n_sentences
    chosen = (start < end).all(axis=0)
    return PassageRows(table[chosen], passages.similarity[chosen])


def extend_spans(spans: Numbers, documents: Numbers, words: Words) -> Numbers:
    """Move the ends of passages outwards, in place, while words are equal on both sides; return how many words are added."""
    added = np.empty(len(spans), np.int64)
    extend_equal(spans.reshape(-1), documents.reshape(-1), words.stem, words.document_first, LEAST_EXTENSION_WORDS, added)
    moved = np.flatnonzero(added)
    spans[moved], n_more = covering_last(spans[moved], words)
    added[moved] += n_more
    return added


def _found(passages: list[PassageRows], rows: Rows, words: Words) -> FoundSpans:
    """Return found passages as spans of words, extended by equal words."""
    table = np.concatenate([np.empty((0, N_COLUMNS), np.int32), *(part.table for part in passages)])
    spans = np.empty((len(table), 4), np.int64)
    word_spans(table, rows.sentence, words.sentence_first, spans.reshape(-1))
    documents = rows.document[table[:, [A_FIRST, B_FIRST]]].astype(np.int64)
    added = extend_spans(spans, documents, words)
    similarity = np.concatenate([np.empty(0), *(part.similarity for part in passages)])
    return FoundSpans(spans, added, documents, table[:, FLAGS] & EQUAL == 0, similarity)


def _covered(rectangles: Numbers, found: FoundSpans, words: Words) -> NDArray[np.bool_]:
    """Return which rectangles are inside a found passage."""
    pairs = pair_numbers(documents_of(rectangles, words.document_first))
    concerned = np.flatnonzero(np.isin(found.pairs, pairs))
    is_covered = np.empty(len(rectangles), np.bool_)
    mark_covered(
        rectangles.reshape(-1), pairs, found.spans[concerned].reshape(-1), found.pairs[concerned], _SLACK_WORDS,
        *cells(len(concerned)), is_covered,
    )  # fmt: skip
    return is_covered


def _open_words(rows: Rows, types: NDArray[np.int32] | None, words: Words) -> NDArray[np.bool_]:
    """Return which words are in sentences that appear nowhere else unchanged: only these can lead to something new."""
    numbers = collapse_sentences(rows.classes).of_sentence if types is None else types
    is_open = np.ones(len(words.sentence_first) - 1, np.bool_)
    is_open[rows.sentence] = np.bincount(numbers)[numbers] == 1
    return np.repeat(is_open, np.diff(words.sentence_first))


def _with_quotations(aligned: Aligned, quotations: Numbers) -> Aligned:
    """Add runs of equal words."""
    table = np.zeros((len(quotations), aligned.table.shape[1]), np.int64)
    table[:, 1:5] = quotations
    table[:, 5] = quotations[:, 1] - quotations[:, 0]
    return Aligned(np.concatenate([aligned.table, table]))


def _with_extended(aligned: Aligned, found: FoundSpans, words: Words) -> Aligned:
    """Add the passages that were extended by equal words, now also across short differences."""
    chosen = found.added > 0
    spans, n_equal = found.spans[chosen], np.empty(np.count_nonzero(chosen), np.int64)
    length = (spans[:, 1] - spans[:, 0] + spans[:, 3] - spans[:, 2]) // 2
    extend_across(
        spans.reshape(-1), found.documents[chosen].reshape(-1), words.stem, words.bounds, words.document_first,
        LEAST_EXTENSION_WORDS, np.empty(4, np.int64), n_equal,
    )  # fmt: skip
    spans, n_last = covering_last(spans, words)
    table = np.zeros((len(spans), aligned.table.shape[1]), np.int64)
    table[:, 1:5] = spans
    more = found.added[chosen]
    table[:, 5] = np.rint(found.similarity[chosen] * (length - more)) + more + n_equal + n_last
    return Aligned(np.concatenate([aligned.table, table]))


def _choose(aligned: Aligned, n_aligned: int, found: FoundSpans, words: Words) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which found and which aligned passages are kept; from `n_aligned` on, they are found ones that were extended."""
    aligned_pairs = pair_numbers(documents_of(aligned.spans, words.document_first))
    stays = found.added == 0
    concerned = np.flatnonzero(stays & np.isin(found.pairs, aligned_pairs))
    pairs = np.concatenate([aligned_pairs, found.pairs[concerned]])
    spans = np.concatenate([aligned.spans, found.spans[concerned]])
    ranks = 2 * (spans[:, 1] - spans[:, 0] + spans[:, 3] - spans[:, 2])
    ranks[len(aligned) :] += 1  # prefer it as found, if both are equally long
    ranks[len(aligned) :][found.is_near[concerned]] = 0
    order = np.lexsort((spans[:, 2], spans[:, 0], -ranks, pairs))
    is_kept = np.empty(len(order), np.bool_)
    is_found = order >= n_aligned
    spans = np.ascontiguousarray(spans[order])
    choose_passages(pairs[order], spans.reshape(-1), is_found, *cells(len(order)), is_kept)
    kept = np.empty(len(order), np.bool_)
    kept[order] = is_kept
    stays[concerned[~kept[len(aligned) :]]] = False
    return stays, kept[: len(aligned)]
