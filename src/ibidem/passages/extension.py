"""The ends of passages: moved outwards word by word while the texts of both documents say the same.

So a heading, a list item or a cut-off quotation that is glued to a sentence does not hide the rest of it. The words are
compared in the texts, and only around ends: nothing is computed for the rest of the collection.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.collection import Collection
from ibidem.columns.distinct import firsts, stable_order
from ibidem.columns.hashes import seed_of
from ibidem.columns.rows import Rows
from ibidem.columns.texts import text_buffers, word_bytes
from ibidem.execution.tasks import RunTasks, in_turn
from ibidem.model import KINDS
from ibidem.passages import PassageRows
from ibidem.passages.kernels import extension as kernels
from ibidem.passages.kernels.extension import MOST_FOLDED_BYTES, N_STRETCH_ENDS, Extended, Texts
from ibidem.sentences.code_points import load_code_points

LEAST_EXTENSION_WORDS = 4  # fewer equal words at an end may be chance
Numbers = NDArray[np.int64]
ROOM = 2 * MOST_FOLDED_BYTES + 2  # for the tokens of two words
_QUOTE, _EXACT, _NEAR = (KINDS.index(kind) for kind in ("quote", "exact", "near"))


class Stretches(NamedTuple):
    """The texts around passages, as in `kernels.Texts`: the bytes of both sides, a row of eight ends and four flags each."""

    a: NDArray[np.uint8]
    b: NDArray[np.uint8]
    ends: Numbers
    is_cut: NDArray[np.bool_]


@dataclass(frozen=True)
class EndWords:
    """What is known of the words after and before each sentence of a collection, if a passage ends or begins with it."""

    after: NDArray[np.uint16]
    before: NDArray[np.uint16]

    @classmethod
    def of(cls, passages: Sequence[PassageRows], rows: Rows, collection: Collection, run_tasks: RunTasks = in_turn) -> EndWords:
        """Return what is known around the ends of passages, given the documents with their texts."""
        words = cls(*(np.zeros(len(collection.document), np.uint16) for _ in range(2)))
        for some in passages:
            kernels.mark_needed(some.table, rows.sentence, words.after, words.before)
        return words._looked_up(collection, run_tasks)

    @classmethod
    def of_all(cls, collection: Collection, run_tasks: RunTasks = in_turn) -> EndWords:
        """Return what is known around all sentences."""
        words = cls(*(np.full(len(collection.document), kernels.NEEDED, np.uint16) for _ in range(2)))
        return words._looked_up(collection, run_tasks)

    def _looked_up(self, collection: Collection, run_tasks: RunTasks) -> EndWords:
        def look(number: int) -> None:
            low, high = collection.batch_first[number], collection.batch_first[number + 1]
            sentences = slice(collection.document_first[low], collection.document_first[high])
            data, offsets = text_buffers(collection.batches[number].column("text"))
            kernels.hash_ends(
                word_bytes(data), offsets, collection.document[sentences] - np.int32(low), collection.start_byte[sentences],
                collection.end_byte[sentences], LEAST_EXTENSION_WORDS, load_code_points(), seed_of(collection.hash_seed),
                np.empty(ROOM, np.uint64), self.after[sentences], self.before[sentences],
            )  # fmt: skip

        for _ in run_tasks(look, range(len(collection.batches))):
            pass
        return self

    @classmethod
    def unknown(cls, n: int) -> EndWords:
        """Return that the words around so many sentences may be any."""
        return cls(*(np.full(n, kernels.ANY_WORDS, np.uint16) for _ in range(2)))

    @classmethod
    def joined(cls, parts: Sequence[EndWords]) -> EndWords:
        """Return what is known of the sentences of all parts, in order."""
        return cls(np.concatenate([part.after for part in parts]), np.concatenate([part.before for part in parts]))

    def chosen(self, sentences: Numbers) -> EndWords:
        """Return what is known of some sentences."""
        return EndWords(self.after[sentences], self.before[sentences])

    def in_bytes(self) -> EndWords:
        """Return the same with hashes that fit into a byte: different words are more often taken for the same."""
        return EndWords(*(_in_bytes(words) for words in (self.after, self.before)))

    def may_move(self, passages: PassageRows, rows: Rows) -> NDArray[np.uint8]:
        """Return which ends of passages may move (flags AFTER and BEFORE); nearly all others are left out."""
        ends = np.empty(len(passages), np.uint8)
        kernels.find_movable(passages.table, rows.sentence, self.after, self.before, ends)
        return ends


def _in_bytes(words: NDArray[np.uint16]) -> NDArray[np.uint16]:
    first = kernels.FIRST_HASH
    return np.where(words < first, words, first + words % (256 - first)).astype(np.uint16)


@dataclass(frozen=True)
class PlacedPassages:
    """Passages by the characters they cover; those of a pair of documents come together, by their places in a and in b.

    `documents` has two rows, a and b; `places` has four: start and end in a, start and end in b. `n_words` counts both sides.
    `may_move` has flags: AFTER and BEFORE.
    """

    documents: NDArray[Any]
    places: Numbers
    n_sentences: NDArray[np.int32]
    n_words: Numbers
    similarity: NDArray[np.float64]
    is_equal: NDArray[np.bool_]
    kinds: NDArray[np.int8]
    may_move: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.n_words)

    def chosen(self, rows: Numbers) -> PlacedPassages:
        """Return some of the passages."""
        return PlacedPassages(
            self.documents[:, rows], self.places[:, rows], self.n_sentences[rows], self.n_words[rows], self.similarity[rows],
            self.is_equal[rows], self.kinds[rows], self.may_move[rows],
        )  # fmt: skip

    def pair_first(self) -> Numbers:
        """Return where the passages of each pair begin, and last the number of passages."""
        is_new = np.ones(len(self) + 1, np.bool_)
        is_new[1:-1] = (self.documents[:, 1:] != self.documents[:, :-1]).any(axis=0)
        return np.flatnonzero(is_new)


@dataclass(frozen=True)
class ExtendedEnds:
    """What becomes of passages: see `kernels.Extended`."""

    places: Numbers
    added: Numbers
    joined: Numbers
    undecided: NDArray[np.uint8]


class _Extension:
    """Passages whose ends are being moved: those of a pair of documents after another, each with the texts of its pair."""

    def __init__(self, passages: PlacedPassages, ends: Numbers, is_cut: NDArray[np.bool_], hash_seed: int) -> None:
        n = len(passages)
        self.pair_first = passages.pair_first()
        first = self.pair_first[:-1]
        self._is_one = passages.documents[0, first] == passages.documents[1, first]
        self._may_move = passages.may_move
        self._places = np.ascontiguousarray(passages.places.T).reshape(-1)
        self._around = ends.reshape(-1), is_cut.reshape(-1)
        self._seed, self._room = seed_of(hash_seed), np.empty(ROOM, np.uint64)
        self._extended = Extended(
            np.empty(4 * n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.bool_),
            np.empty(n, np.uint8),
        )  # fmt: skip

    def extend(self, a: NDArray[np.uint8], b: NDArray[np.uint8], pair_from: int, pair_to: int) -> None:
        """Move the ends of the passages of some pairs, whose texts these bytes contain."""
        texts = Texts(word_bytes(a), word_bytes(b), *self._around, load_code_points())
        kernels.extend_ends(
            pair_from, pair_to, self.pair_first, self._is_one, self._may_move, LEAST_EXTENSION_WORDS, self._places, texts,
            self._seed, self._room, self._extended,
        )  # fmt: skip

    def ends(self) -> ExtendedEnds:
        """Return what has become of all passages."""
        places, added, joined, _, undecided = self._extended
        return ExtendedEnds(places.reshape(-1, 4).T, added, joined, undecided)


def extend_ends(passages: PlacedPassages, stretches: Stretches, hash_seed: int) -> ExtendedEnds:
    """Return where the ends of passages are when they are moved outwards by equal words, given the texts around them."""
    extension = _Extension(passages, stretches.ends, stretches.is_cut, hash_seed)
    extension.extend(stretches.a, stretches.b, 0, len(extension.pair_first) - 1)
    return extension.ends()


def extend_in(passages: PlacedPassages, sentences: Numbers, collection: Collection) -> ExtendedEnds:
    """Return where the ends of passages are when they are moved outwards, given the documents with their texts.

    `sentences` has four rows: the first and the last one in a, the first and the last one in b.
    """
    n = len(passages)
    ends = np.empty((n, N_STRETCH_ENDS), np.int64)
    begins, stops = collection.text_bounds
    for side in range(2):
        documents, (first, last) = passages.documents[side], sentences[2 * side : 2 * side + 2]
        ends[:, 4 * side], ends[:, 4 * side + 3] = begins[documents], stops[documents]
        ends[:, 4 * side + 1] = ends[:, 4 * side] + collection.start_byte[first]
        ends[:, 4 * side + 2] = ends[:, 4 * side] + collection.end_byte[last]
    # Those of a pair are in the same two batches.
    texts = [text_buffers(batch.column("text"))[0] for batch in collection.batches]
    a, b = np.searchsorted(collection.batch_first, passages.documents, side="right") - 1
    in_batches = a * len(texts) + b
    order = stable_order(in_batches)
    in_batches = in_batches[order]
    extension = _Extension(passages.chosen(order), ends[order], np.zeros((n, 4), np.bool_), collection.hash_seed)
    heads = firsts(in_batches)
    pairs = np.searchsorted(extension.pair_first, np.append(heads, n)).tolist()
    for (pair_from, pair_to), number in zip(pairwise(pairs), in_batches[heads].tolist(), strict=True):
        extension.extend(texts[number // len(texts)], texts[number % len(texts)], pair_from, pair_to)
    moved = extension.ends()
    extended = ExtendedEnds(np.empty((4, n), np.int64), np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.uint8))
    extended.places[:, order], extended.added[order], extended.undecided[order] = moved.places, moved.added, moved.undecided
    extended.joined[order] = np.where(moved.joined >= 0, order[moved.joined], -1)
    return extended


def of_their_pairs(is_chosen: NDArray[np.bool_], documents: NDArray[Any]) -> Numbers:
    """Return which passages belong to pairs of documents of which one passage is chosen; those of a pair are together."""
    if not is_chosen.any():
        return np.empty(0, np.int64)
    is_new = np.ones(len(is_chosen), np.bool_)
    is_new[1:] = (documents[:, 1:] != documents[:, :-1]).any(axis=0)
    first = np.flatnonzero(is_new)
    return np.flatnonzero(np.repeat(np.logical_or.reduceat(is_chosen, first), np.diff(first, append=len(is_chosen))))


def with_ends(passages: PlacedPassages, ends: ExtendedEnds, min_sentences: int) -> tuple[Numbers, PlacedPassages]:
    """Return the passages with their new ends, those that were joined as one, and which passage each of them begins with.

    Those of a pair are in the order of their new places.
    """
    first, passages = _joined(passages, ends, min_sentences)
    order = _by_place(passages)
    return (first, passages) if (order[1:] > order[:-1]).all() else (first[order], passages.chosen(order))


def _by_place(passages: PlacedPassages) -> Numbers:
    """Return the order in which the passages of each pair are by their places; pairs stay where they are."""
    first = passages.pair_first()
    pair = np.repeat(np.arange(len(first) - 1), np.diff(first))
    order: Numbers = np.lexsort((passages.places[2], passages.places[0], pair))
    return order


def _joined(passages: PlacedPassages, ends: ExtendedEnds, min_sentences: int) -> tuple[Numbers, PlacedPassages]:
    if not ends.added.any():
        return np.arange(len(passages)), passages
    similarity = _similarity(passages.similarity * passages.n_words, passages.n_words, ends.added)
    changed = np.where(ends.added > 0, similarity, passages.similarity)
    passages = replace(passages, places=ends.places.copy(), n_words=passages.n_words + 2 * ends.added, similarity=changed)
    is_joined = ends.joined >= 0
    if not is_joined.any():
        return np.arange(len(passages)), passages
    head = _heads(ends.joined)
    first, group = np.unique(head, return_inverse=True)
    is_last = ~is_joined
    together = passages.chosen(first)
    for side in (1, 3):  # the end of the last one
        together.places[side, group[is_last]] = passages.places[side, is_last]
    n_sentences = np.bincount(group, passages.n_sentences).astype(np.int32)
    n_words = np.bincount(group, passages.n_words).astype(np.int64)
    score = np.bincount(group, passages.similarity * passages.n_words)
    is_equal = np.ones(len(first), np.bool_)
    is_equal[group[~passages.is_equal]] = False
    several = np.bincount(group) > 1
    kinds = np.where(n_sentences < min_sentences, _QUOTE, np.where(is_equal, _EXACT, _NEAR)).astype(np.int8)
    return first, replace(
        together, n_sentences=n_sentences, n_words=n_words, is_equal=is_equal,
        similarity=np.where(several, np.minimum(1.0, score / n_words), together.similarity),
        kinds=np.where(several, kinds, together.kinds),
    )  # fmt: skip


def _similarity(score: NDArray[np.float64], n_words: Numbers, added: Numbers) -> NDArray[np.float64]:
    similarity: NDArray[np.float64] = np.minimum(1.0, (score + 2 * added) / (n_words + 2 * added))
    return similarity


def _heads(joined: Numbers) -> Numbers:
    """Return with which passage the chain of each begins, given the next one of each (or -1)."""
    head = np.arange(len(joined))
    before = np.flatnonzero(joined >= 0)
    head[joined[before]] = before
    while True:
        further = head[head]
        if (further == head).all():
            return head
        head = further
