"""Edited copies that `dedup --align` cuts, beside sentences that occur elsewhere: passages aligned word by word.

Documents are decided in the order of their rank, as for sentences. What sentences or words found says where to look. In the
later document of a passage, a sentence, or the part of it in the passage, is cut if all of the passage is kept in the earlier
document, and enough of the sentence's own words are together there. So a sentence that was put into a copied passage stays.
Words that are cut already, or whose sentence is the kept copy of one that is cut elsewhere, stay as they are. So whatever is
cut has its copy in text that is kept, and no document that gives a copy is cut after it gave it: it is decided before the one
that gets cut.

Passages are found under a fixed seed, so every run removes the same. Words are compared whole, and under the secret seed of
the run: nothing is removed because somebody made words with equal hashes.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibidem.alignment import Aligned, Words
from ibidem.alignment.found_spans import documents_of
from ibidem.alignment.places import AlignedPassages, locate, words_of
from ibidem.alignment.refinement import align_words
from ibidem.clusters.cuts import Cuts, decision_order
from ibidem.clusters.kernels.copies import CUT, GIVES, PIECE, cut_copies
from ibidem.clusters.removals import Removals
from ibidem.columns.collection import Collection
from ibidem.columns.ragged import ranges
from ibidem.columns.rows import Rows
from ibidem.config import Config, passage_limits
from ibidem.execution.progress import Progress
from ibidem.execution.tasks import RunTasks
from ibidem.matches import Cells
from ibidem.passages import Meeting, find_in

Numbers = NDArray[np.int64]
FIXED_SEED = 0


def with_copies(
    removals: Removals, cuts: Cuts, collection: Collection, rows: Rows, cells: Cells | None, rank: Numbers, config: Config,
    run_tasks: RunTasks, progress: Progress,
) -> Removals:  # fmt: skip
    """Return what is removed when edited copies are, too; `removals` are those of the sentences in `cuts`."""
    meeting = Meeting.of_all(collection, rows, cells, config)
    passages = find_in(meeting, passage_limits(config), run_tasks).passages
    words = words_of(collection, run_tasks, FIXED_SEED)
    types = None if cells is None else cells.types
    outcome, found = align_words(passages, rows, types, words, meeting.pairing, config, run_tasks, progress)
    states = np.zeros(len(words.stem), np.uint8)
    for sentences, state in ((rows.sentence[cuts.source_row], GIVES), (rows.sentence[cuts.row], CUT)):
        first = words.sentence_first[sentences]
        states[ranges(first, words.sentence_first[sentences.astype(np.int64) + 1] - first)] = state
    is_reference = collection.side.astype(np.bool_)  # empty without a reference
    spans = np.concatenate([outcome.aligned.spans, found.spans[outcome.stays]])
    spans = in_order(spans, words, _positions(rank, is_reference), is_reference)
    pieces, states = cut_words(spans, words_of(collection, run_tasks, whole=True), states, config.cleaning.min_copy_similarity)
    nothing = np.zeros((len(pieces), 1), np.int64)
    table = np.concatenate([nothing, pieces[:, 1:3], spans[pieces[:, 0], 2:], nothing], axis=1)
    similarity = pieces[:, 3] / np.maximum(pieces[:, 4], 1)
    located = locate(Aligned(table), words, collection)
    more = _removals(located, similarity, collection)
    n_left = _left_words(states, words)
    return join_removals(removals, more, n_left[np.union1d(removals.document, more.document)])


def in_order(spans: Numbers, words: Words, position: Numbers, is_reference: NDArray[np.bool_]) -> Numbers:
    """Return the spans of passages, the copy first, in the order of the documents; the longest copies first.

    With a reference, only what stays there counts, and only copies outside it.
    """
    documents = documents_of(spans, words.document_first)
    is_turned = position[documents[:, 0]] < position[documents[:, 1]]
    spans = np.where(is_turned[:, None], spans[:, [2, 3, 0, 1]], spans)
    documents = np.where(is_turned[:, None], documents[:, ::-1], documents)
    chosen = documents[:, 0] != documents[:, 1]
    if len(is_reference):
        chosen &= ~is_reference[documents[:, 0]] & is_reference[documents[:, 1]]
    spans, documents = spans[chosen], documents[chosen]
    longest_first = spans[:, 0] - spans[:, 1]
    of_copy, of_kept = position[documents].T
    ordered: Numbers = spans[np.lexsort((spans[:, 3], spans[:, 2], of_kept, spans[:, 0], longest_first, of_copy))]
    return ordered


def cut_words(spans: Numbers, words: Words, states: NDArray[np.uint8], limit: Fraction) -> tuple[Numbers, NDArray[np.uint8]]:
    """Return what is cut, in the order of decision (see PIECE), and the states of all words after it."""
    longest = int((spans[:, 1] - spans[:, 0]).max(initial=0))
    n_slots = 1 << max(4, (2 * longest).bit_length())
    room = 2 * len(spans) + 16
    while True:
        after, pieces = states.copy(), np.empty(PIECE * room, np.int64)
        table = np.zeros(n_slots, np.uint32), np.zeros(n_slots, np.int64), np.zeros(n_slots, np.int64)
        flat = np.ascontiguousarray(spans).reshape(-1)
        n = cut_copies(flat, words.stem, words.bounds, limit.as_integer_ratio(), after, table, pieces)
        if n >= 0:
            return pieces.reshape(-1, PIECE)[:n], after
        room *= 2


def _positions(rank: Numbers, is_reference: NDArray[np.bool_]) -> Numbers:
    """Return the place of each document in the order of decision; those of a reference come first."""
    order = decision_order(rank, is_reference)
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order))
    return position


def _left_words(states: NDArray[np.uint8], words: Words) -> Numbers:
    """Return how many words of each document are left."""
    kept = np.concatenate([[0], np.cumsum(states != CUT)])
    left: Numbers = kept[words.document_first[1:]] - kept[words.document_first[:-1]]
    return left


def _removals(pieces: AlignedPassages, similarity: NDArray[np.float64], collection: Collection) -> Removals:
    """Return located pieces as stretches of their texts."""
    documents = pieces.documents[0].astype(np.int64)
    return Removals(
        documents, pieces.places[0], ends_with_space(documents, pieces.places[0], pieces.places[1], collection.text),
        pieces.documents[1].astype(np.int64), pieces.places[2], pieces.places[3],
        np.maximum(pieces.sentences[1] - pieces.sentences[0], 1), np.zeros(len(pieces), np.bool_), similarity,
    )  # fmt: skip


def join_removals(removals: Removals, more: Removals, n_left: Numbers) -> Removals:
    """Return both in reading order. A document is removed as a whole if no words are left: `n_left` has their number for each
    document that occurs, in order.
    """
    columns: dict[str, Any] = {name: np.concatenate([column, more.columns[name]]) for name, column in removals.columns.items()}
    order = np.lexsort((columns["start"], columns["document"]))
    columns = {name: column[order] for name, column in columns.items()}
    columns["is_dropped"] |= n_left[np.unique(columns["document"], return_inverse=True)[1]] == 0
    return Removals(**columns)


def ends_with_space(documents: Numbers, starts: Numbers, ends: Numbers, text_of: Callable[[int], str]) -> Numbers:
    """Return where stretches of documents end with the space after them: what is left around them reads as before.

    Where something is left of the line in which a stretch begins, the line break after it stays.
    """
    ends, document, text = ends.copy(), -1, ""
    for piece in np.argsort(documents, kind="stable").tolist():
        if documents[piece] != document:
            document = int(documents[piece])
            text = text_of(document)
        start, end = int(starts[piece]), int(ends[piece])
        begins_line = start == 0 or text[start - 1] in "\n\r"
        while end < len(text) and text[end].isspace() and (begins_line or text[end] not in "\n\r"):
            end += 1
        ends[piece] = end
    return ends
