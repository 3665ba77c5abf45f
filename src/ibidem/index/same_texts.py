"""The same text under two ids: whole documents are compared by digests of their sentences.

Two documents have the same text if they have the same sentences in the same order; case, punctuation and spacing do not count.
The digest of a document is made of the digests of its sentences, so segments that an earlier version wrote have one too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.index.segment import Segment


class TextList(NamedTuple):
    """The digests of texts in rising order, and the serials of their documents; equal digests by rising serial."""

    digests: NDArray[np.uint64]
    serials: NDArray[np.int64]

    @classmethod
    def of(cls, segment: Segment) -> TextList:
        """Return the list of a segment."""
        return cls(segment.text_order.digests, segment.serials[segment.text_order.documents])

    def joined(self, later: TextList) -> TextList:
        """Return one list for this and another one, whose serials are all higher."""
        digests = np.concatenate([self.digests, later.digests])
        order = np.argsort(digests, kind="stable")
        return TextList(digests[order], np.concatenate([self.serials, later.serials])[order])


class NewTexts:
    """The texts that were added since the last commit, in few lists however many segments there are."""

    def __init__(self) -> None:
        self._lists: list[TextList] = []

    def add(self, texts: TextList) -> None:
        """Add the texts of a segment."""
        self._lists.append(texts)
        while len(self._lists) > 1 and len(self._lists[-2].digests) <= 2 * len(self._lists[-1].digests):
            later = self._lists.pop()
            self._lists[-1] = self._lists[-1].joined(later)

    def known(self, digests: NDArray[np.uint64]) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Yield which of the digests are there, each with the serials of its documents."""
        for texts in self._lists:
            for number, places in _found(texts.digests, digests):
                yield number, texts.serials[places]


def known_texts(segment: Segment, digests: NDArray[np.uint64]) -> Iterator[tuple[int, NDArray[np.int64]]]:
    """Yield which of the digests a segment has, each with the serials of its documents."""
    for number, places in _found(segment.text_order.digests, digests):
        yield number, segment.serials[segment.text_order.documents[places]]


def first_with_same_text(
    texts: TextList, segments: Sequence[Segment], new: NewTexts, is_there: Callable[[NDArray[np.int64]], NDArray[np.bool_]]
) -> dict[int, int]:
    """Return which documents have the text of an earlier one, by serial: the first that has it and is not removed.

    Earlier are the documents of `segments` and `new`, and those before it in `texts`. `is_there` says which serials are of
    documents that are not removed.
    """
    digests, starts, counts = np.unique(texts.digests, return_index=True, return_counts=True)
    ends = starts + counts
    found: dict[int, int] = {}
    for source in (*(known_texts(segment, digests) for segment in segments), new.known(digests)):
        for number, serials in source:
            if number not in found and len(there := serials[is_there(serials)]):
                found[number] = int(there[0])
    same: dict[int, int] = {}
    for number in sorted({*found, *np.flatnonzero(counts > 1).tolist()}):
        serials = texts.serials[starts[number] : ends[number]].tolist()
        if number in found:
            same |= dict.fromkeys(serials, found[number])
        else:
            same |= dict.fromkeys(serials[1:], serials[0])
    return dict(sorted(same.items()))


def _found(there: NDArray[np.uint64], digests: NDArray[np.uint64]) -> Iterator[tuple[int, slice]]:
    """Yield the numbers of the digests that are in a rising column, with their places in it."""
    begins = np.searchsorted(there, digests, side="left")
    ends = np.searchsorted(there, digests, side="right")
    for number in np.flatnonzero(ends > begins).tolist():
        yield number, slice(int(begins[number]), int(ends[number]))


def is_not_in(values: NDArray[np.int64], rising: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Say which values a rising column does not have, without a look at all of it."""
    place = np.searchsorted(rising, values)
    is_inside = place < len(rising)
    missing = np.ones(len(values), np.bool_)
    missing[is_inside] = rising[place[is_inside]] != values[is_inside]
    return missing
