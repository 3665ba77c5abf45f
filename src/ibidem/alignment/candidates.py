"""Places of two documents worth aligning, found over a whole collection in time linear in its words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.alignment.aligner import Words
from ibidem.alignment.kernels import candidates as kernels
from ibidem.alignment.kernels.room import TASK
from ibidem.alignment.kernels.seeds import OCTET_WORDS
from ibidem.columns.rows import Pairing
from ibidem.execution.tasks import RunTasks, in_turn, split_by_cost

LEAST_RARE = 100  # a word may occur this often and is still rare, however few documents there are
RARE_SHARE = 1  # or once in so many documents
BOND_REACH_WORDS = 8
MOST_PLACES = 8  # of a mark; those of more produce no candidate, so there are at most 3.5 meetings per mark
LEAST_BONDS = 4
MAX_GAP_WORDS = 100  # between bonds of one place
LEAST_RUN = kernels.WINDOW + OCTET_WORDS - 1
_N_TASKS = 64
_N_MEETING_TASKS = 4  # each counts all documents
_UPPER_HALF = np.uint64(0xFFFFFFFF00000000)
_BONDS_PER_WORD = 2
_WORDS_PER_BYTE_BITS = 3  # so that the bits of keys fit in the cache
Column = NDArray[Any]


class Marks(NamedTuple):
    """Marks in reading order: their keys (upper half) and numbers (lower half), sorted; their words and documents."""

    keys: Column  # unsigned, of 64 bits
    words: Column  # unsigned, of 32 bits
    documents: Column
    openness: Column  # whether one of its words is open


class Meetings(NamedTuple):
    """Marks that meet in two documents: the word and document of each mark, and pairs of marks (flat) by their first document.

    Those of document d are [first[d], first[d + 1]).
    """

    words: Column
    documents: Column
    pairs: Column
    first: Column


# Lists marks of documents [begin, end) whose keys are wanted, and returns how many.
ListMarks = Callable[[tuple[int, int], Column, Marks], int]
_NO_MARKS = Marks(np.empty(0, np.uint64), np.empty(0, np.uint32), np.empty(0, np.int32), np.empty(0, np.bool_))


def most_of_rare(n_documents: int) -> int:
    """Return how often a rare word may occur."""
    return max(LEAST_RARE, n_documents // RARE_SHARE)


def find_rectangles(
    words: Words, is_open: NDArray[np.bool_], pairing: Pairing, min_words: int = 0, run_tasks: RunTasks = in_turn
) -> NDArray[np.int64]:
    """Return pairs of spans of words in two documents that share rare words close together, or many words in a row.

    Many are LEAST_RUN, or as many as `min_words`, which a passage needs. `is_open` says by word whether its sentence appears
    nowhere else: at least one side of what leads to a pair is open. A row is start and end in a, start and end in b.
    """
    counts = np.zeros(kernels.STEM_SLOTS, np.int32)
    kernels.count_stems(words.stem, counts)
    most = most_of_rare(len(words.document_first) - 1)

    def list_bonds(task: tuple[int, int], wanted: Column, marks: Marks) -> int:
        given = words.stem, is_open, words.document_first, *task, counts, most, BOND_REACH_WORDS
        return kernels.list_bonds(*given, wanted, marks)  # type: ignore[no-any-return]

    def list_octets(task: tuple[int, int], wanted: Column, marks: Marks) -> int:
        given = words.stem, is_open, words.document_first, *task, np.empty(kernels.WINDOW, np.uint64)
        return kernels.list_octets(*given, wanted, marks)  # type: ignore[no-any-return]

    # Marks and meetings of bonds are passed on, not named, so that they are released before those of octets are made.
    around_bonds = rectangles_of_bonds(
        meetings_of(marks_of(list_bonds, words, run_tasks, choosing=True), words, pairing, run_tasks), run_tasks
    )
    octets = meetings_of(marks_of(list_octets, words, run_tasks, choosing=False), words, pairing, run_tasks)
    return by_place(around_bonds, rectangles_of_runs(octets, words, min_words, run_tasks))


def room_for_marks(words: Words, task: tuple[int, int]) -> Marks:
    """Return room for the marks of documents [begin, end), and one that is overwritten."""
    room = _BONDS_PER_WORD * int(words.document_first[task[1]] - words.document_first[task[0]]) + 1
    return Marks(*(np.empty(room, column.dtype) for column in _NO_MARKS))


def _wanted_keys(list_marks: ListMarks, words: Words, tasks: Sequence[tuple[int, int]], run_tasks: RunTasks) -> Column:
    """Return the bits of keys that are in two to MOST_PLACES places.

    Most bonds are alone or in too many places. All keys by themselves take a fourth of the memory of all marks.
    """

    def keys_of(task: tuple[int, int]) -> Column:
        return _listed(list_marks, words, task, np.empty(0, np.uint8)).keys.astype(np.uint32)

    keys, n = np.empty(_BONDS_PER_WORD * len(words.stem), np.uint32), 0  # room that stays unused is never touched
    for found in run_tasks(keys_of, tasks):
        keys[n : n + len(found)] = found
        n += len(found)
    keys = keys[:n]
    keys.sort()
    wanted = np.zeros(1 << max(4, len(words.stem).bit_length() - _WORDS_PER_BYTE_BITS), np.uint8)
    kernels.mark_wanted(keys, MOST_PLACES, wanted)
    return wanted


def _listed(list_marks: ListMarks, words: Words, task: tuple[int, int], wanted: Column) -> Marks:
    """Return marks of documents [begin, end), as views of larger columns."""
    marks = room_for_marks(words, task)
    n = list_marks(task, wanted, marks)
    return Marks(*(column[:n] for column in marks))


def marks_of(list_marks: ListMarks, words: Words, run_tasks: RunTasks, choosing: bool) -> Marks:
    """Return marks; with `choosing`, only those of keys in two to MOST_PLACES places, or that share a bit with such a key."""
    tasks = split_by_cost(np.diff(words.document_first) + 1, _N_TASKS)
    wanted = _wanted_keys(list_marks, words, tasks, run_tasks) if choosing else np.empty(0, np.uint8)

    def listed(task: tuple[int, int]) -> Marks:
        return Marks(*(column.copy() for column in _listed(list_marks, words, task, wanted)))

    marks, n = room_for_marks(words, (0, len(words.document_first) - 1)), 0  # what stays unused is never touched
    for part in run_tasks(listed, tasks):
        for column, found in zip(marks, part, strict=True):
            column[n : n + len(found)] = found
        n += len(part.keys)
    marks = Marks(*(column[:n] for column in marks))
    kernels.number_marks(marks.keys)
    marks.keys.sort()
    return marks


def meetings_of(marks: Marks, words: Words, pairing: Pairing, run_tasks: RunTasks = in_turn) -> Meetings:
    """Return the marks that meet in two documents, by pair."""
    edges = np.arange(1, _N_MEETING_TASKS) * len(marks.keys) // _N_MEETING_TASKS
    first_keys = marks.keys[edges[edges < len(marks.keys)]] & _UPPER_HALF  # equal keys are in one task
    bounds = [0] * (_N_MEETING_TASKS - len(first_keys)) + [*np.searchsorted(marks.keys, first_keys).tolist(), len(marks.keys)]
    given = MOST_PLACES, marks.documents, marks.openness, pairing.side, pairing.group_numbers
    positions = np.zeros((_N_MEETING_TASKS, len(words.document_first) - 1), np.int64)

    def count(task: int) -> None:
        span = bounds[task], bounds[task + 1]
        kernels.list_meetings(marks.keys, *span, *given, True, positions[task], np.empty(0, np.uint32))

    for _ in run_tasks(count, range(_N_MEETING_TASKS)):
        pass
    first = np.concatenate([[0], np.cumsum(positions.sum(axis=0))])
    # The meetings of a document are those of one task after the other.
    positions = np.cumsum(np.concatenate([first[None, :-1], positions[:-1]]), axis=0)
    pairs = np.empty(2 * int(first[-1]), np.uint32)

    def write(task: int) -> None:
        kernels.list_meetings(marks.keys, bounds[task], bounds[task + 1], *given, False, positions[task], pairs)

    for _ in run_tasks(write, range(_N_MEETING_TASKS)):
        pass
    return Meetings(marks.words, marks.documents, pairs, first)


def rectangles_of_bonds(met: Meetings, run_tasks: RunTasks = in_turn) -> NDArray[np.int64]:
    """Return where enough bonds meet close together."""
    first = met.first

    def rectangles_of(task: tuple[int, int]) -> NDArray[np.int64]:
        most_meetings = int(np.diff(first)[slice(*task)].max())
        room = int(first[task[1]] - first[task[0]]) // LEAST_BONDS + 1
        rectangles = np.empty(kernels.RECTANGLE * room, np.int64)
        n = kernels.list_rectangles(
            *task, first, met.pairs, met.words, met.documents, LEAST_BONDS, MAX_GAP_WORDS, np.zeros(len(first) - 1, np.int32),
            np.empty(2 * most_meetings, np.int64), np.empty(TASK * (most_meetings + 2), np.int64), np.empty(3, np.int64),
            rectangles,
        )  # fmt: skip
        return rectangles.reshape(-1, kernels.RECTANGLE)[:n].copy()

    return _joined(run_tasks(rectangles_of, split_by_cost(np.diff(first) + 1, _N_TASKS)))


def rectangles_of_runs(met: Meetings, words: Words, min_words: int = 0, run_tasks: RunTasks = in_turn) -> NDArray[np.int64]:
    """Return the long runs of equal words around octets that meet."""
    return runs_around(met, words, max(LEAST_RUN, min_words), run_tasks)


def runs_around(met: Meetings, words: Words, least_words: int, run_tasks: RunTasks = in_turn) -> NDArray[np.int64]:
    """Return the runs of at least `least_words` equal words around marks that meet."""
    first = met.first

    def rectangles_of(task: tuple[int, int]) -> NDArray[np.int64]:
        chosen = met.pairs[2 * first[task[0]] : 2 * first[task[1]]].reshape(-1, 2)
        starts, documents = met.words[chosen].astype(np.int64), met.documents[chosen]
        order = np.lexsort((starts[:, 0], starts[:, 1] - starts[:, 0]))
        columns = [np.ascontiguousarray(column[order]) for column in (*starts.T, *documents.T)]
        rectangles = np.empty(kernels.RECTANGLE * len(order), np.int64)
        n = kernels.list_runs(*columns, words.stem, words.document_first, least_words, rectangles)
        return rectangles.reshape(-1, kernels.RECTANGLE)[:n].copy()

    return _joined(run_tasks(rectangles_of, split_by_cost(np.diff(first) + 1, _N_TASKS)))


def by_place(*rectangles: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return rectangles of all kinds together, by their places."""
    found = np.concatenate(rectangles)
    return found[np.lexsort(found.T[::-1])]


def _joined(rectangles: Iterable[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate([np.empty((0, kernels.RECTANGLE), np.int64), *rectangles])
