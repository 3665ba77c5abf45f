"""Repeat groups: text that stands in very many places is listed once, with its places, instead of in a square of pairs.

Hot windows that always follow one another are one text: a window is linked to the next one when no occurrence of either
has another neighbour. What comes out are the longest texts that share all their places.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ibidem.passages.kernels.repeats import link_groups

Numbers = NDArray[np.int32] | NDArray[np.int64]


@dataclass(frozen=True)
class Repeat:
    """One text in many places: rows [start, start + length) for each start."""

    starts: NDArray[np.int32]
    length: int


def link_windows(
    window_rows: NDArray[np.int32],
    window_first: NDArray[np.int64],
    max_places: int,
    size: int,
    document: NDArray[np.int32],
) -> list[Repeat]:
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

    groups: list[Repeat] = []
    for head in np.flatnonzero(is_head):
        length = size
        at = head
        while linked[at]:
            at = following[at]
            length += 1
        starts = window_rows[window_first[hot[head]] : window_first[hot[head] + 1]]
        text = np.zeros(len(starts), np.uint64)
        groups.append(Repeat(starts[apart(starts, document[starts], text, np.full(len(starts), length))], length))
    return groups


def apart(starts: Numbers, documents: Numbers, texts: NDArray[np.uint64], lengths: Numbers) -> NDArray[np.bool_]:
    """Tell which places to keep: not those that overlap the kept place of the same text before them in the same document.

    (A line repeated many times over is one text with itself.) Places of a text and document come in rising order.
    """
    keep = np.ones(len(starts), np.bool_)
    same = (documents[1:] == documents[:-1]) & (texts[1:] == texts[:-1])
    if not (same & (np.diff(starts) < lengths[1:])).any():
        return keep
    last = -1
    for i, (start, length) in enumerate(zip(starts.tolist(), lengths.tolist(), strict=True)):
        if i > 0 and same[i - 1] and start - last < length:
            keep[i] = False
        else:
            last = start
    return keep
