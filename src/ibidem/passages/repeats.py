"""Repeats: text in very many places is listed once, with its places, instead of in quadratically many pairs.

Hot windows that always follow one another are one text: a window is linked to the next one when no occurrence of either has
another neighbour. The result is the longest texts that share all their places, and hot sentences and short documents not part
of such a text.

Every step works on columns of places, however many are available. In memory, all are. In partitions, links are agreed on by
exchange, and the places of a text are collected before they are grouped (`exchange/repeats.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.postings import Postings, postings_of
from ibidem.columns.ragged import starts_of
from ibidem.columns.rows import Pairing, Rows
from ibidem.config import PassagesConfig
from ibidem.matches import Cells
from ibidem.passages.grams import kinds_of_grams
from ibidem.passages.kernels import repeats as kernels

Numbers = NDArray[np.int64]
Keys = NDArray[np.uint64]


class HotPlaces(NamedTuple):
    """Places of hot grams, in the order of rows among those of one key: rows [row, row + length). Keys differ by kind.

    `following` and `preceding` are the keys of the hot windows at the rows beside a window (0: none). `is_reported`: the place
    alone causes its text to be reported.
    """

    key: Keys
    row: Numbers
    length: Numbers
    following: Keys
    preceding: Keys
    is_reported: NDArray[np.bool_]


class Links(NamedTuple):
    """Keys of hot grams, in order, and the keys of those that always follow and precede them (0: none does)."""

    key: Keys
    following: Keys
    preceding: Keys


@dataclass(frozen=True)
class HotTexts:
    """The texts made of hot grams; for each its key, its length in rows and whether it is reported.

    The places of text t begin at the rows `row[first[t]:first[t + 1]]`, in reading order.
    """

    key: Keys
    length: Numbers
    is_reported: NDArray[np.bool_]
    first: Numbers
    row: Numbers


@dataclass(frozen=True)
class Repeats:
    """Texts in very many places: repeat r has the places [first[r], first[r + 1]), in reading order, rows [start, end) each."""

    first: Numbers
    start: Numbers
    end: Numbers

    def __len__(self) -> int:
        return len(self.first) - 1

    @classmethod
    def none(cls) -> Repeats:
        """Return no repeats."""
        return cls(np.zeros(1, np.int64), np.empty(0, np.int64), np.empty(0, np.int64))


def find_repeats(
    rows: Rows, flags: NDArray[np.uint8], limits: PassagesConfig, pairing: Pairing, cells: Cells | None
) -> Repeats:
    """Return the repeats of documents that are all available, given the flags of their rows."""
    hot = list_hot_places(rows, flags, limits)
    if len(hot.key) == 0:
        return Repeats.none()
    grouped = group_by_key(hot.key)
    links = agree_on_links(Links(hot.key, hot.following, hot.preceding), grouped)
    texts = join_windows(hot, grouped, links, rows)
    del hot, grouped
    repeats = group_places(texts, cells, rows.document[texts.row], pairing)
    text = np.searchsorted(texts.first, repeats.rows[repeats.first[:-1]], side="right") - 1
    start = texts.row[repeats.rows]
    return Repeats(repeats.first, start, start + np.repeat(texts.length[text], np.diff(repeats.first)))


def list_hot_places(rows: Rows, flags: NDArray[np.uint8], limits: PassagesConfig) -> HotPlaces:
    """Return the places of hot grams, given the flags of rows."""
    kinds = kinds_of_grams(limits)
    first = starts_of([int(np.count_nonzero(flags & kind)) for kind in kinds])
    of_column: tuple[Any, ...] = (np.uint64, np.int64, np.int64, np.uint64, np.uint64, np.bool_)
    places = HotPlaces(*(np.empty(int(first[-1]), kind) for kind in of_column))
    for n, n_end, kind in zip(first[:-1], first[1:], kinds, strict=True):
        if n < n_end:
            kernels.list_hot_places(kind, flags, rows.columns, limits.min_sentences, n, places)
    return places


def group_by_key(keys: Keys) -> Postings:
    """Return the places of every key, also of keys with only one here, in the given order."""
    several = postings_of(keys)
    is_alone = np.ones(len(keys), np.bool_)
    is_alone[several.rows] = False
    alone = np.flatnonzero(is_alone).astype(np.int32)
    first = several.first[-1] + 1 + np.arange(len(alone))
    return Postings(np.concatenate([several.rows, alone]), np.concatenate([several.first, first]))


def agree_on_links(beside: Links, grouped: Postings) -> Links:
    """Return for every key what follows and precedes all its places; 0 if they have different neighbours.

    `beside` is given per place, in any order; the places of each key are `grouped`.
    """
    first = grouped.first[:-1]

    def agreed(of_place: Keys) -> Keys:
        of_place = of_place[grouped.rows]
        least, most = np.minimum.reduceat(of_place, first), np.maximum.reduceat(of_place, first)
        return np.where(least == most, most, np.uint64(0))

    links = Links(beside.key[grouped.rows[first]], agreed(beside.following), agreed(beside.preceding))
    order = np.argsort(links.key)
    return Links(*(column[order] for column in links))


def join_windows(hot: HotPlaces, grouped: Postings, links: Links, rows: Rows) -> HotTexts:
    """Return the texts of hot grams, windows joined where they are linked.

    A linked text is contiguous in each of its documents: where its first window is, all of it is. If a text overlaps itself,
    its earlier place is kept.
    """
    n = len(links.key)
    at = np.minimum(np.searchsorted(links.key, links.following), n - 1)
    is_linked = (
        (links.following != 0) & (links.key[at] == links.following) & (links.preceding[at] == links.key) & (at != np.arange(n))
    )
    # The windows of each chain are counted by doubling steps; number n is the end of every chain.
    after = np.append(np.where(is_linked, at, n), n)
    n_windows = np.append(np.ones(n, np.int64), 0)
    while (after < n).any():
        n_windows += n_windows[after]
        after = after[after]
    is_head = np.ones(n, np.bool_)
    is_head[at[is_linked]] = False

    sizes = np.diff(grouped.first)
    heads = grouped.rows[grouped.first[:-1]]
    link = np.searchsorted(links.key, hot.key[heads])
    chosen = is_head[link]
    places, first = grouped.rows[np.repeat(chosen, sizes)], starts_of(sizes[chosen])
    length = hot.length[heads[chosen]] + n_windows[link[chosen]] - 1
    is_reported = np.logical_or.reduceat(hot.is_reported[places], first[:-1])
    row = hot.row[places]
    keep = np.empty(len(row), np.bool_)
    kernels.keep_apart(first, length, row, rows.document, keep)
    if not keep.all():
        row, first = row[keep], starts_of(np.add.reduceat(keep.astype(np.int64), first[:-1]))
    return HotTexts(hot.key[heads[chosen]], length, is_reported, first, row)


def group_places(texts: HotTexts, cells: Cells | None, document: NDArray[np.int32], pairing: Pairing) -> Postings:
    """Return the places of each repeat, as numbers of the places of texts, which are in these documents.

    If cells may not match, a text of equal classes is split into repeats whose places match the first one: classes are chains
    of similar sentences, and their ends may have nothing in common. A repeat has at least two places that may be compared.
    """
    sizes = np.diff(texts.first)
    leader = np.repeat(np.where(texts.is_reported, texts.first[:-1], -1), sizes)
    if cells is not None and cells.limit[0] > 0:
        kernels.lead_places(texts.first, texts.length, texts.row, cells.columns, leader)
    places = np.flatnonzero(leader >= 0).astype(np.int32)
    leader = leader[places]
    if (leader[1:] < leader[:-1]).any():
        order = np.argsort(leader, kind="stable")
        places, leader = places[order], leader[order]
    first = np.append(np.flatnonzero(np.diff(leader, prepend=-1)), len(leader))
    allowed, sizes = pairing.allows(document[places], first), np.diff(first)
    return Postings(places[np.repeat(allowed, sizes)], starts_of(sizes[allowed]))
