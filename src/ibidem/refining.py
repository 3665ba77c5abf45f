"""`find --align`: passages found by sentences are moved to where words say they begin and end, and edited copies are added."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ibidem.aligning import AlignedPassages, locate, words_of
from ibidem.alignment import Aligned, Words, align_spans, find_rectangles
from ibidem.alignment.refining_kernels import choose_passages, extend_equal, word_spans
from ibidem.collection import Collection
from ibidem.config import Config, passage_limits
from ibidem.parts import MapParts
from ibidem.passages import Pairing, PassageRows, Rows
from ibidem.progress import Progress
from ibidem.signatures import collapse_sentences

LEAST_EXTENSION_WORDS = 4
_MARGIN_WORDS = 60
_EQUAL = 1
_DOCUMENT_BITS = 32
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Found:
    """Passages found by sentences, all parts together: spans of words, documents, sentences in common, and flags."""

    spans: Numbers
    documents: Numbers
    table: NDArray[np.int32]

    @property
    def pairs(self) -> Numbers:
        """A number for the pair of documents of each passage."""
        pairs: Numbers = self.documents[:, 0] << _DOCUMENT_BITS | self.documents[:, 1]
        return pairs


def align_passages(
    parts: list[PassageRows], rows: Rows, collection: Collection, pairing: Pairing, config: Config, map_parts: MapParts,
    progress: Progress,
) -> tuple[list[PassageRows], AlignedPassages]:  # fmt: skip
    """Return the passages that stay as they were found, and those that are aligned word by word.

    Passages of equal sentences are extended by equal words. Others, and places where rare words stand close to one another in
    both documents although no sentences match, are aligned. Of passages that lie over one another the longest stays.
    """
    words = words_of(collection, map_parts)
    settings = replace(config.alignment, summaries=False)
    gap = passage_limits(config).max_gap_sentences
    found = _found(parts, rows, words)
    is_extended = np.empty(len(found.spans), np.bool_)
    extend_equal(
        found.spans.reshape(-1), np.ascontiguousarray(found.table[:, 5]), found.documents.reshape(-1), words.stem,
        words.document_first, LEAST_EXTENSION_WORDS, is_extended,
    )  # fmt: skip
    is_near = (found.table[:, 5] & _EQUAL) == 0
    rectangles = np.concatenate(
        [
            _with_margin(found.spans[is_near], found.documents[is_near], words),
            find_rectangles(words, _open_words(rows, words), pairing, map_parts),
        ]
    )
    progress.count(aligned_places=len(rectangles))
    aligned = align_spans(words, rectangles, settings, gap, map_parts)
    aligned = _with_extended(aligned, found, is_extended)
    stays, is_kept = _choose(aligned, found, is_extended, is_near, words)
    aligned = Aligned(aligned.table[is_kept], aligned.evidence[is_kept])
    kept_parts, first = [], 0
    for part in parts:
        chosen = stays[first : first + len(part)]
        first += len(part)
        kept_parts.append(part if chosen.all() else PassageRows(part.table[chosen], part.similarity[chosen]))
    return kept_parts, locate(aligned, words, collection)


def as_rows(passages: AlignedPassages, rows: Rows) -> PassageRows:
    """Return aligned passages as the rows of the sentences that they cover at least half of; those of none are left out."""
    start, end = (np.searchsorted(rows.sentence, column) for column in (passages.sentences[[0, 2]], passages.sentences[[1, 3]]))
    table = np.zeros((len(passages), 6), np.int32)
    table[:, 0], table[:, 1], table[:, 2], table[:, 3] = start[0], end[0], start[1], end[1]
    table[:, 4] = passages.n_sentences
    chosen = (start < end).all(axis=0)
    return PassageRows(table[chosen], passages.similarity[chosen])


def _found(parts: list[PassageRows], rows: Rows, words: Words) -> Found:
    table = np.concatenate([np.empty((0, 6), np.int32), *(part.table for part in parts)])
    spans = np.empty((len(table), 4), np.int64)
    word_spans(table, rows.sentence, words.sentence_first, spans.reshape(-1))
    return Found(spans, rows.document[table[:, [0, 2]]].astype(np.int64), table)


def _with_margin(spans: Numbers, documents: Numbers, words: Words) -> Numbers:
    """Return spans with what is around them in their documents."""
    first = words.document_first
    wider = spans + np.array([-_MARGIN_WORDS, _MARGIN_WORDS] * 2)
    for side in range(2):
        wider[:, 2 * side] = np.maximum(wider[:, 2 * side], first[documents[:, side]])
        wider[:, 2 * side + 1] = np.minimum(wider[:, 2 * side + 1], first[documents[:, side] + 1])
    return wider


def _open_words(rows: Rows, words: Words) -> NDArray[np.bool_]:
    """Tell which words stand in sentences that match no other: only these can be the beginning of something new."""
    classes = rows.classes
    if len(classes) and int(classes.max()) <= 4 * len(classes):
        is_alone = np.bincount(classes.astype(np.int64))[classes.astype(np.int64)] == 1
    else:
        types = collapse_sentences(classes)
        is_alone = np.bincount(types.of_sentence)[types.of_sentence] == 1
    is_open = np.ones(len(words.sentence_first) - 1, np.bool_)
    is_open[rows.sentence] = is_alone
    return np.repeat(is_open, np.diff(words.sentence_first))


def _with_extended(aligned: Aligned, found: Found, is_extended: NDArray[np.bool_]) -> Aligned:
    """Add the passages that were extended by equal words, all of whose words are common."""
    spans = found.spans[is_extended]
    extended = np.zeros((len(spans), aligned.table.shape[1]), np.int64)
    extended[:, 1:5] = spans
    extended[:, 7] = spans[:, 1] - spans[:, 0]
    return Aligned(
        np.concatenate([aligned.table, extended]), np.concatenate([aligned.evidence, extended[:, 7].astype(np.float64)])
    )


def _choose(
    aligned: Aligned, found: Found, is_extended: NDArray[np.bool_], is_near: NDArray[np.bool_], words: Words
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Tell which found and which aligned passages stay."""
    first_words = aligned.table[:, [1, 3]]
    documents = np.searchsorted(words.document_first, first_words, side="right") - 1
    aligned_pairs = documents[:, 0] << _DOCUMENT_BITS | documents[:, 1]
    stays = ~is_extended
    concerned = np.flatnonzero(stays & np.isin(found.pairs, aligned_pairs))
    pairs = np.concatenate([aligned_pairs, found.pairs[concerned]])
    spans = np.concatenate([aligned.table[:, 1:5], found.spans[concerned]])
    # A near passage is always given up for what became of it; otherwise the longer one stays, the found one of two equal ones.
    ranks = 2 * (spans[:, 1] - spans[:, 0] + spans[:, 3] - spans[:, 2])
    ranks[len(aligned) :] += 1
    ranks[len(aligned) :][is_near[concerned]] = 0
    order = np.lexsort((spans[:, 2], spans[:, 0], pairs))
    is_kept = np.empty(len(order), np.bool_)
    choose_passages(pairs[order], np.ascontiguousarray(spans[order]).reshape(-1), ranks[order], is_kept)
    kept = np.empty(len(order), np.bool_)
    kept[order] = is_kept
    stays[concerned[~kept[len(aligned) :]]] = False
    return stays, kept[: len(aligned)]
