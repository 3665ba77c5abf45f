"""Repeat groups: text that stands in very many places is listed once, with its places, instead of in a square of pairs.

Hot windows that always follow one another are one text: a window is linked to the next one when no occurrence of either
has another neighbour. What comes out are the longest texts that share all their places.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ibidem.passages.repeat_kernels import link_groups
from ibidem.passages.rows import PlaceGroup


def link_windows(
    window_rows: NDArray[np.int32],
    window_first: NDArray[np.int64],
    max_places: int,
    size: int,
    document: NDArray[np.int32],
) -> list[PlaceGroup]:
    """Return the repeat groups made of windows with more than `max_places` places."""
    hot = np.flatnonzero(np.diff(window_first) > max_places)
    if len(hot) == 0:
        return []
    group_of_row = np.full(len(document) + 1, -1, np.int32)
    for number, group in enumerate(hot):
        group_of_row[window_rows[window_first[group] : window_first[group + 1]]] = number
    following = np.full(len(hot), -2, np.int32)
    preceding = np.full(len(hot), -2, np.int32)
    link_groups(group_of_row, document, following, preceding)
    linked = (following >= 0) & (following != np.arange(len(hot)))
    linked[linked] = preceding[following[linked]] == np.flatnonzero(linked)
    is_head = np.ones(len(hot), np.bool_)
    is_head[following[linked]] = False

    groups: list[PlaceGroup] = []
    for head in np.flatnonzero(is_head):
        length = size
        at = head
        while linked[at]:
            at = following[at]
            length += 1
        starts = window_rows[window_first[hot[head]] : window_first[hot[head] + 1]]
        groups.append(PlaceGroup(_without_overlaps(starts, document[starts], length), length))
    return groups


def _without_overlaps(starts: NDArray[np.int32], documents: NDArray[np.int32], length: int) -> NDArray[np.int32]:
    """Drop places that overlap the kept place before them in the same document (a line repeated many times over)."""
    near = np.zeros(len(starts), np.bool_)
    near[1:] = (np.diff(starts) < length) & (documents[1:] == documents[:-1])
    if not near.any():
        return starts
    kept: list[tuple[int, int]] = [(-1, 0)]
    for document, start in zip(documents.tolist(), starts.tolist(), strict=True):
        if document != kept[-1][0] or start - kept[-1][1] >= length:
            kept.append((document, start))
    return np.array([start for _, start in kept[1:]], np.int32)
