"""Places of two documents worth aligning, found over a whole collection in time that grows with its words."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ibidem.alignment import candidate_kernels as kernels
from ibidem.alignment.cluster_kernels import TASK
from ibidem.alignment.words import Words
from ibidem.parts import MapParts, in_turn, split_by_cost
from ibidem.passages import Pairing

LEAST_RARE = 100  # a word may stand this often and is still rare, however few documents there are
RARE_SHARE = 3  # or once in so many documents
BOND_REACH_WORDS = 8
MOST_PLACES = 12  # of a bond; those of more lead nowhere
MEETINGS_A_BOND = 4  # on average, at most: fewer places are allowed where there would be more
LEAST_BONDS = 3
MAX_GAP_WORDS = 100  # between bonds of one place
_N_PARTS = 64


def find_rectangles(
    words: Words, is_open: NDArray[np.bool_], pairing: Pairing, map_parts: MapParts = in_turn
) -> NDArray[np.int64]:
    """Return pairs of spans of words in two documents that share rare words close to one another, in reading order.

    `is_open` says by word whether it may lead to a pair. A row is start and end in a, start and end in b.
    """
    first = words.document_first
    n_documents = len(first) - 1
    counts = np.zeros(kernels.STEM_SLOTS, np.int32)
    kernels.count_stems(words.stem, counts)
    most = max(LEAST_RARE, n_documents // RARE_SHARE)

    def list_bonds(part: tuple[int, int]) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.int32]]:
        room = int(first[part[1]] - first[part[0]])
        keys, places, documents = np.empty(room, np.uint64), np.empty(room, np.uint32), np.empty(room, np.int32)
        n = kernels.list_bonds(words.stem, is_open, first, *part, counts, most, BOND_REACH_WORDS, keys, places, documents)
        return keys[:n].copy(), places[:n].copy(), documents[:n].copy()

    parts = list(map_parts(list_bonds, split_by_cost(np.diff(first) + 1, _N_PARTS)))
    places = np.concatenate([np.empty(0, np.uint32), *(part[1] for part in parts)])
    documents = np.concatenate([np.empty(0, np.int32), *(part[2] for part in parts)])
    keys = np.concatenate([np.empty(0, np.uint64), *(part[0] for part in parts)])
    del parts
    keys <<= np.uint64(32)
    keys |= np.arange(len(keys), dtype=np.uint64)
    keys.sort()
    meetings_first = np.zeros(n_documents + 1, np.int64)
    most_places = _most_places(keys)
    nothing = np.empty(0, np.int64)
    for_meetings = keys, most_places, documents, pairing.side, pairing.kin
    kernels.list_meetings(*for_meetings, True, meetings_first, nothing)
    meetings = np.empty(2 * int(meetings_first[-1]), np.int64)
    kernels.list_meetings(*for_meetings, False, meetings_first, meetings)
    del keys

    def list_rectangles(part: tuple[int, int]) -> NDArray[np.int64]:
        most_meetings = int(np.diff(meetings_first)[slice(*part)].max())
        room = int(meetings_first[part[1]] - meetings_first[part[0]]) // LEAST_BONDS + 1
        rectangles = np.empty(kernels.RECTANGLE * room, np.int64)
        n = kernels.list_rectangles(
            *part, meetings_first, meetings, places, documents, LEAST_BONDS, MAX_GAP_WORDS,
            np.empty(2 * most_meetings, np.int64), np.empty(TASK * (most_meetings + 2), np.int64), np.empty(3, np.int64),
            rectangles,
        )  # fmt: skip
        return rectangles.reshape(-1, kernels.RECTANGLE)[:n].copy()

    found = list(map_parts(list_rectangles, split_by_cost(np.diff(meetings_first) + 1, _N_PARTS)))
    return np.concatenate([np.empty((0, kernels.RECTANGLE), np.int64), *found])


def _most_places(keys: NDArray[np.uint64]) -> int:
    """Return how many places a bond may have so that there are not too many meetings."""
    sizes = np.zeros(MOST_PLACES + 1, np.int64)
    kernels.count_meetings(keys, sizes)
    numbers = np.arange(MOST_PLACES + 1)
    meetings = np.cumsum(sizes * numbers * (numbers - 1) // 2)
    return int(max(2, np.flatnonzero(meetings <= MEETINGS_A_BOND * len(keys)).max(initial=2)))
