"""Places of two documents worth aligning, found over a whole collection in time linear in its words."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibidem.alignment.aligner import Words
from ibidem.alignment.kernels import candidates as kernels
from ibidem.alignment.kernels.room import TASK
from ibidem.alignment.kernels.seeds import OCTET_WORDS
from ibidem.columns.rows import Pairing
from ibidem.execution.tasks import RunTasks, in_turn, split_by_cost

LEAST_RARE = 100  # a word that occurs this often is still rare, however few documents there are
RARE_SHARE = 3  # or once in this many documents
BOND_REACH_WORDS = 8
MOST_PLACES = 8  # of a mark; marks with more produce no candidate
MEETINGS_A_MARK = 4  # on average, at most: beyond that, fewer places are allowed
LEAST_BONDS = 3
MAX_GAP_WORDS = 100  # between bonds of one place
LEAST_RUN = kernels.WINDOW + OCTET_WORDS - 1
_N_TASKS = 64
Column = NDArray[Any]


@dataclass(frozen=True)
class Marks:
    """Marks in reading order: keys (upper half) and numbers (lower half), sorted; their words and documents."""

    keys: NDArray[np.uint64]
    words: NDArray[np.uint32]
    documents: NDArray[np.int32]


def find_rectangles(
    words: Words, is_open: NDArray[np.bool_], pairing: Pairing, min_words: int = 0, run_tasks: RunTasks = in_turn
) -> NDArray[np.int64]:
    """Return pairs of spans of words in two documents that share rare words close together, or many words in a row.

    "Many" means LEAST_RUN, or `min_words`, which a passage needs, if that is more. `is_open` says per word whether it may lead
    to a pair. A row is start and end in a, start and end in b.
    """
    counts = np.zeros(kernels.STEM_SLOTS, np.int32)
    kernels.count_stems(words.stem, counts)
    most = max(LEAST_RARE, (len(words.document_first) - 1) // RARE_SHARE)

    def list_bonds(task: tuple[int, int], *columns: Column) -> int:
        given = words.stem, is_open, words.document_first, *task, counts, most, BOND_REACH_WORDS
        return kernels.list_bonds(*given, *columns)  # type: ignore[no-any-return]

    def list_octets(task: tuple[int, int], *columns: Column) -> int:
        hashes = np.empty(kernels.WINDOW, np.uint64)
        return kernels.list_octets(  # type: ignore[no-any-return]
            words.stem, is_open, words.document_first, *task, hashes, *columns
        )

    bonds = _marks(list_bonds, words, run_tasks)
    met = _rectangles_of_bonds(bonds, words, pairing, run_tasks)
    del bonds
    octets = _marks(list_octets, words, run_tasks)
    runs = _rectangles_of_runs(octets, words, pairing, max(LEAST_RUN, min_words), run_tasks)
    found = np.concatenate([met, runs])
    return found[np.lexsort(found.T[::-1])]


def _marks(list_marks: Callable[..., int], words: Words, run_tasks: RunTasks) -> Marks:
    first = words.document_first

    def listed(task: tuple[int, int]) -> tuple[Column, Column, Column]:
        room = int(first[task[1]] - first[task[0]])
        keys, places, documents = np.empty(room, np.uint64), np.empty(room, np.uint32), np.empty(room, np.int32)
        n = list_marks(task, keys, places, documents)
        return keys[:n].copy(), places[:n].copy(), documents[:n].copy()

    found = list(run_tasks(listed, split_by_cost(np.diff(first) + 1, _N_TASKS)))
    keys = np.concatenate([np.empty(0, np.uint64), *(columns[0] for columns in found)])
    kernels.number_marks(keys)
    keys.sort()
    places = np.concatenate([np.empty(0, np.uint32), *(columns[1] for columns in found)])
    return Marks(keys, places, np.concatenate([np.empty(0, np.int32), *(columns[2] for columns in found)]))


def _meetings(marks: Marks, words: Words, pairing: Pairing) -> tuple[Column, Column]:
    """Return the marks that meet in two documents, by pair, and where those of each first document begin."""
    first = np.zeros(len(words.document_first), np.int64)
    given = marks.keys, _most_places(marks.keys), marks.documents, pairing.side, pairing.group_numbers
    kernels.list_meetings(*given, True, first, np.empty(0, np.int64))
    meetings = np.empty(2 * int(first[-1]), np.int64)
    kernels.list_meetings(*given, False, first, meetings)
    return meetings, first


def _rectangles_of_bonds(marks: Marks, words: Words, pairing: Pairing, run_tasks: RunTasks) -> NDArray[np.int64]:
    meetings, first = _meetings(marks, words, pairing)

    def rectangles_of(task: tuple[int, int]) -> NDArray[np.int64]:
        most_meetings = int(np.diff(first)[slice(*task)].max())
        room = int(first[task[1]] - first[task[0]]) // LEAST_BONDS + 1
        rectangles = np.empty(kernels.RECTANGLE * room, np.int64)
        n = kernels.list_rectangles(
            *task, first, meetings, marks.words, marks.documents, LEAST_BONDS, MAX_GAP_WORDS,
            np.empty(2 * most_meetings, np.int64), np.empty(TASK * (most_meetings + 2), np.int64), np.empty(3, np.int64),
            rectangles,
        )  # fmt: skip
        return rectangles.reshape(-1, kernels.RECTANGLE)[:n].copy()

    return _joined(run_tasks(rectangles_of, split_by_cost(np.diff(first) + 1, _N_TASKS)))


def _rectangles_of_runs(
    marks: Marks, words: Words, pairing: Pairing, least_words: int, run_tasks: RunTasks
) -> NDArray[np.int64]:
    meetings, first = _meetings(marks, words, pairing)

    def rectangles_of(task: tuple[int, int]) -> NDArray[np.int64]:
        chosen = meetings[2 * first[task[0]] : 2 * first[task[1]]].reshape(-1, 2)
        starts, documents = marks.words[chosen].astype(np.int64), marks.documents[chosen]
        order = np.lexsort((starts[:, 0], starts[:, 1] - starts[:, 0]))
        columns = [np.ascontiguousarray(column[order]) for column in (*starts.T, *documents.T)]
        rectangles = np.empty(kernels.RECTANGLE * len(order), np.int64)
        n = kernels.list_runs(*columns, words.stem, words.document_first, least_words, rectangles)
        return rectangles.reshape(-1, kernels.RECTANGLE)[:n].copy()

    return _joined(run_tasks(rectangles_of, split_by_cost(np.diff(first) + 1, _N_TASKS)))


def _joined(rectangles: Iterable[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate([np.empty((0, kernels.RECTANGLE), np.int64), *rectangles])


def _most_places(keys: NDArray[np.uint64]) -> int:
    """Return how many places a mark may have so that there are not too many meetings."""
    sizes = np.zeros(MOST_PLACES + 1, np.int64)
    kernels.count_meetings(keys, sizes)
    numbers = np.arange(MOST_PLACES + 1)
    meetings = np.cumsum(sizes * numbers * (numbers - 1) // 2)
    return max(2, int(np.flatnonzero(meetings <= MEETINGS_A_MARK * len(keys)).max(initial=2)))
