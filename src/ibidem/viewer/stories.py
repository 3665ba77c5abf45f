"""Families as stories: which places had a text first, who followed, and in which order stories are shown.

An *outlet* is the group of a document. Where no document has a group, each is its own outlet; where some have, the others are
places of a text, but no outlets. Families that begin in one document and are in the same outlets are one story: an article
printed in three parts is three families, and still one reprint. A story *began* in an outlet only if its earliest time is known
there and nowhere else: equal times give no precedence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.collection import NO_TIME

Numbers = NDArray[np.int64]
# How a family is shown: as a story, or folded away because it stays in one outlet or is boilerplate.
STORY, INSIDE, BOILERPLATE = 0, 1, 2
_LAST = np.iinfo(np.int64).max
_MANY_DOCUMENTS = 20  # a text in more of them, and in a tenth of all, is boilerplate
# Unless it is long, and about as many outlets have it as documents: that is news. Footers are in many documents of each outlet.
_MOST_DOCUMENTS_AN_OUTLET = 2
_LEAST_NEWS_CHARS = 200
_MOST_COUNTED_OUTLETS = 16
_MOST_DEPTH = 4
_LARGEST_FOLDER_SHARE = 0.35
_KEY_SEED = 20_250_101


@dataclass(frozen=True)
class Placed:
    """The places of families as columns; `is_repeat` marks text in too many places to list."""

    family: Numbers
    document: Numbers
    n_chars: Numbers
    is_repeat: NDArray[np.bool_]

    @classmethod
    def joined(cls, parts: Sequence[Placed]) -> Placed:
        """Return several as one."""
        empty = np.empty(0, np.int64)
        none = cls(empty, empty, empty, np.empty(0, np.bool_))
        return cls(*(np.concatenate([getattr(part, name) for part in (none, *parts)]) for name in cls.__dataclass_fields__))


@dataclass(frozen=True)
class Stories:
    """One row per story, in the order of `family`; outlets are numbers, -1 if not known.

    `family` is its longest family, `n_families` how many it has, and `n_chars` their characters together. `first_outlet` is
    where the story began. `seconds` is the time until another outlet followed, and `follower` is that outlet; -1 if none is
    known to have followed. `last_seconds` is the time between the first and the last place. `n_ends` counts documents that are
    no outlets as well.
    """

    family: Numbers
    n_families: Numbers
    fold: Numbers
    n_chars: Numbers
    n_documents: Numbers
    n_outlets: Numbers
    n_ends: Numbers
    first_outlet: Numbers
    follower: Numbers
    seconds: Numbers
    last_seconds: Numbers

    def in_order(self) -> Numbers:
        """Return the rows in the order in which they are shown: long texts in many outlets first, footers last.

        What has many more documents than outlets is the furniture of those outlets, not news.
        """
        spread = np.log2(1.0 + np.minimum(self.n_ends, _MOST_COUNTED_OUTLETS))
        crowded = np.maximum(1.0, self.n_documents / np.maximum(2.0 * np.minimum(self.n_ends, _MOST_COUNTED_OUTLETS / 2), 1.0))
        score = np.log1p(self.n_chars) * spread / np.sqrt(crowded)
        return np.lexsort((self.family, -score, self.fold)).astype(np.int64)


@dataclass(frozen=True)
class Flows:
    """Characters from the outlet where a story began to those that followed, one row per family and follower."""

    family: Numbers
    source: Numbers
    target: Numbers
    n_chars: Numbers

    def between_groups(self, n_groups: int) -> Flows:
        """Return what flows between groups, with all documents without one as the last end; nothing is said within that."""
        source, target = np.minimum(self.source, n_groups), np.minimum(self.target, n_groups)
        rows = source != target
        return Flows(self.family[rows], source[rows], target[rows], self.n_chars[rows])


def outlets_of(groups: Numbers) -> Numbers:
    """Return where each document is: its group or, numbered after all groups, the document itself."""
    n_groups = int(groups.max(initial=-1)) + 1
    return np.where(groups >= 0, groups, n_groups + np.arange(len(groups)))


def stories_of(placed: Placed, outlets: Numbers, times: Numbers) -> Numbers:
    """Return the story of each place, by the number of its longest family; a repeat is a story of its own."""
    numbers, family = np.unique(placed.family, return_inverse=True)
    n = len(numbers)
    n_chars, is_repeat = np.zeros(n, np.int64), np.zeros(n, np.bool_)
    np.maximum.at(n_chars, family, placed.n_chars)
    is_repeat[family] = placed.is_repeat
    time = times[placed.document]
    rows = np.lexsort((placed.document, np.where(time == NO_TIME, _LAST, time), family))
    base = placed.document[rows[_is_new(family[rows])]]
    # Families with the same outlets have the same sum of random numbers, and others, as good as certainly, do not.
    chance = np.random.default_rng(_KEY_SEED).integers(0, 1 << 62, int(outlets.max(initial=-1)) + 1, np.int64)
    outlet = outlets[placed.document]
    rows = np.lexsort((outlet, family))
    rows = rows[_is_new(family[rows], outlet[rows])]
    key = np.zeros(n, np.int64)
    np.add.at(key, family[rows], chance[outlet[rows]])
    single = np.where(is_repeat, np.arange(n) + 1, 0)
    order = np.lexsort((-n_chars, single, base, key))
    is_head = _is_new(key[order], base[order], single[order])
    head = np.empty(n, np.int64)
    head[order] = order[is_head][np.cumsum(is_head) - 1]
    return numbers[head][family]


def tell(placed: Placed, outlets: Numbers, times: Numbers, n_groups: int = 0) -> tuple[Stories, Flows]:
    """Return the stories of families and what flowed in them; `outlets` and `times` are those of documents.

    With groups, only the first `n_groups` outlets count as such.
    """
    numbers, story = np.unique(stories_of(placed, outlets, times), return_inverse=True)
    n = len(numbers)
    outlet, time = outlets[placed.document], times[placed.document]
    known = time != NO_TIME
    first, last = np.full(n, _LAST), np.full(n, NO_TIME)
    np.minimum.at(first, story[known], time[known])
    np.maximum.at(last, story[known], time[known])
    n_ends, n_documents = _distinct(story, outlet, n), _distinct(story, placed.document, n)
    is_outlet = outlet < n_groups if n_groups else np.ones(len(outlet), np.bool_)
    n_outlets = _distinct(story[is_outlet], outlet[is_outlet], n)
    is_repeat = np.zeros(n, np.bool_)
    is_repeat[story] = placed.is_repeat
    first_outlet = _only_outlet(story, outlet, known & (time == first[story]), n)
    follows = known & (time > first[story]) & (first_outlet[story] >= 0) & (outlet != first_outlet[story])
    # A story without a known follower began nowhere: there is nothing to tell apart.
    followed = np.zeros(n, np.bool_)
    followed[story[follows]] = True
    first_outlet = np.where(followed, first_outlet, -1)
    rows = np.flatnonzero(follows)
    heads = rows[np.lexsort((outlet[rows], time[rows], story[rows]))]
    heads = heads[_is_new(story[heads])]
    follower, seconds = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    follower[story[heads]] = outlet[heads]
    seconds[story[heads]] = (time[heads] - first[story[heads]]) // 1_000_000
    is_many = is_repeat | (n_documents > max(_MANY_DOCUMENTS, len(outlets) / 10))
    dated = last > NO_TIME
    spent = np.where(dated, (np.where(dated, last, 0) - np.where(dated, first, 0)) // 1_000_000, -1)
    longest = _longest(np.arange(len(story)), placed.family, placed.n_chars)
    n_families = np.bincount(story[longest], minlength=n)
    n_chars = np.bincount(story[longest], placed.n_chars[longest], n).astype(np.int64)
    is_news = (n_documents <= _MOST_DOCUMENTS_AN_OUTLET * n_outlets) & (n_chars >= _LEAST_NEWS_CHARS) & (n_groups > 0)
    fold = np.where(is_many & ~is_news, BOILERPLATE, np.where(n_ends > 1, STORY, INSIDE))
    stories = Stories(
        numbers, n_families, fold, n_chars, n_documents, n_outlets, n_ends, first_outlet, follower, seconds, spent
    )  # fmt: skip
    rows = _longest(rows[fold[story[rows]] == STORY], placed.family, placed.n_chars, outlet)
    return stories, Flows(numbers[story[rows]], first_outlet[story[rows]], outlet[rows], placed.n_chars[rows])


def _longest(rows: Numbers, family: Numbers, n_chars: Numbers, *keys: Numbers) -> Numbers:
    """Return the longest of the places that agree in family and keys."""
    rows = rows[np.lexsort((-n_chars[rows], *(key[rows] for key in keys), family[rows]))]
    return rows[_is_new(family[rows], *(key[rows] for key in keys))]


def _distinct(family: Numbers, value: Numbers, n: int) -> Numbers:
    """Return how many different values each family has."""
    order = np.lexsort((value, family))
    return np.bincount(family[order][_is_new(family[order], value[order])], minlength=n).astype(np.int64)


def _only_outlet(family: Numbers, outlet: Numbers, chosen: NDArray[np.bool_], n: int) -> Numbers:
    """Return the outlet of the chosen places of each family if they have only one, otherwise -1."""
    least, most = np.full(n, _LAST), np.full(n, -1, np.int64)
    np.minimum.at(least, family[chosen], outlet[chosen])
    np.maximum.at(most, family[chosen], outlet[chosen])
    return np.where(least == most, most, -1)


def _is_new(*columns: Numbers) -> NDArray[np.bool_]:
    """Return which rows differ from the row before them."""
    new = np.ones(len(columns[0]), np.bool_)
    new[1:] = np.logical_or.reduce([np.diff(column) != 0 for column in columns])
    return new


def folders_of(ids: Sequence[str]) -> list[str] | None:
    """Return the folder of each document, if ids are paths that sort documents into folders; otherwise None.

    What all ids begin with is left out. Folders are as deep as it takes until none has more than half of all documents.
    """
    split = [name.split("/")[:-1] for name in ids]
    if not split or not all(split):
        return None
    shared = 0
    while all(len(parts) > shared and parts[shared] == split[0][shared] for parts in split):
        shared += 1
    best: tuple[float, list[str]] | None = None
    for depth in range(1, _MOST_DEPTH + 1):
        named = ["/".join(parts[shared : shared + depth]) or "/".join(parts[-1:]) for parts in split]
        counts = Counter(named)
        if len(counts) < 2:
            continue
        if 2 * len(counts) > len(named):
            break
        largest = max(counts.values()) / len(named)
        if best is None or largest < best[0]:
            best = largest, named
        if largest <= _LARGEST_FOLDER_SHARE:
            break
    return None if best is None else best[1]


def described(stories: Stories) -> dict[str, Any]:
    """Return how many families there are of each kind, and how many stories began somewhere, as far as is known, or are in
    several outlets.
    """
    is_story = stories.fold == STORY
    return {
        "stories": int(is_story.sum()),
        "inside": int((stories.fold == INSIDE).sum()),
        "boilerplate": int((stories.fold == BOILERPLATE).sum()),
        "ordered": int((is_story & (stories.first_outlet >= 0)).sum()),
        "crossing": int((is_story & (stories.n_outlets > 1)).sum()),
    }
