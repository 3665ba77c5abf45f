"""The wordings of families: which places have the same words, and how similar each wording is to that of the first place."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.parted_tables import cut_texts, portions
from ibidem.columns.ragged import starts_of
from ibidem.execution.tasks import RunTasks, in_turn
from ibidem.passages.kernels.families import count_common
from ibidem.sentences import digest_tokens, tokenise_texts

Numbers = NDArray[np.int64]
Hashes = NDArray[np.uint64]
_MOST_CUT_CHARS = 4 << 20  # of texts whose words are looked at together


class PlaceTexts(NamedTuple):
    """Places in texts: characters [start, end) of the text in a row."""

    texts: pa.ChunkedArray
    row: Numbers
    start: Numbers
    end: Numbers

    def words(self, chosen: Numbers, hash_seed: int) -> tuple[Hashes, Numbers]:
        """Return the hashes of the words at some places, and where those of each begin."""
        cuts = cut_texts(self.texts, self.row[chosen], self.start[chosen].tolist(), self.end[chosen].tolist())
        return tokenise_texts(pa.array(cuts, pa.large_string()), hash_seed)

    def sorted_words(self, chosen: Numbers, hash_seed: int) -> tuple[Hashes, Numbers]:
        """Return the same with the words of each place in order, so that they can be compared."""
        words, first = self.words(chosen, hash_seed)
        return words[np.lexsort((words, np.repeat(np.arange(len(chosen)), np.diff(first))))], first


def digests_at(places: PlaceTexts, hash_seed: int, run_tasks: RunTasks = in_turn) -> Hashes:
    """Return the digest of the words at each place: the same for equal words."""
    digests = np.empty(len(places.row), np.uint64)
    order = np.argsort(places.row, kind="stable")

    def digest(rows: tuple[int, int]) -> None:
        some = order[slice(*rows)]
        digests[some] = digest_tokens(*places.words(some, hash_seed))

    for _ in run_tasks(digest, portions((places.end - places.start)[order] + 1, _MOST_CUT_CHARS)):
        pass
    return digests


def number_variants(first: Numbers, digests: Hashes) -> tuple[Numbers, Numbers]:
    """Return the variant at each place of each family, from 1 in the order of places, and how many variants a family has."""
    family = np.repeat(np.arange(len(first) - 1), np.diff(first))
    order = np.lexsort((digests, family))  # stable: of equal ones, the first place comes first
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (np.diff(family[order]) != 0) | (digests[order][1:] != digests[order][:-1])
    first_rows = order[is_new]
    number = np.empty(len(first_rows), np.int64)
    number[np.argsort(first_rows)] = np.arange(len(first_rows))  # by family, as rows are
    n_variants = np.bincount(family[first_rows], minlength=len(first) - 1).astype(np.int64)
    variant = np.empty(len(order), np.int64)
    variant[order] = (number - starts_of(n_variants)[family[first_rows]] + 1)[np.cumsum(is_new) - 1]
    return variant, n_variants


def other_wordings(family: Numbers, variant: Numbers) -> tuple[Numbers, Numbers]:
    """Return the first place of each wording except the first one of a family, and for every place which of these it has.

    Places of a family follow one another, and its first one has variant 1. -1: the wording of the first place.
    """
    rows = np.lexsort((variant, family))
    is_new = np.ones(len(rows), np.bool_)
    is_new[1:] = (np.diff(family[rows]) != 0) | (np.diff(variant[rows]) != 0)
    is_new &= variant[rows] > 1
    of_place = np.empty(len(rows), np.int64)
    of_place[rows] = np.cumsum(is_new) - 1
    of_place[variant == 1] = -1
    return rows[is_new], of_place


def similarity_to_first(
    places: PlaceTexts, first: Numbers, variant: Numbers, hash_seed: int, run_tasks: RunTasks = in_turn
) -> NDArray[np.float64]:
    """Return how similar each place is to the first one of its family, whose places are `first[f]` to `first[f + 1]`.

    It is the share of words that both have, each counted as often as it occurs: 1 if they have the same words.
    """
    family = np.repeat(np.arange(len(first) - 1), np.diff(first))
    rows, of_place = other_wordings(family, variant)
    heads = first[:-1][family[rows]]
    found = np.empty(len(rows) + 1)
    found[-1] = 1.0

    def compare(part: tuple[int, int]) -> None:
        some = slice(*part)
        different, at = np.unique(heads[some], return_inverse=True)
        mine, others = (places.sorted_words(chosen, hash_seed) for chosen in (rows[some], different))
        found[:-1][some] = shared_words(mine, others, at)

    for _ in run_tasks(compare, portions((places.end - places.start)[rows] + 1, _MOST_CUT_CHARS)):
        pass
    return found[of_place]


def shared_words(
    mine: tuple[Hashes, Numbers], others: tuple[Hashes, Numbers], other_of: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return which share of words each text has in common with another one, of which `other_of` has the numbers.

    Words are sorted; those of text i are words[first[i]:first[i + 1]].
    """
    common = np.empty(len(other_of), np.int64)
    count_common(*mine, *others, other_of.astype(np.int64), common)
    total = np.diff(mine[1]) + np.diff(others[1])[other_of]
    shares: NDArray[np.float64] = 2.0 * common / np.maximum(total, 1)
    return shares
