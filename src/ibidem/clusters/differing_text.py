"""How much text `dedup` drops that the copy kept instead does not have: words that are in no gram that both have.

Documents are removed because they are similar, not because they are equal. This counts what such a document alone has, compared
with the one that is kept; other documents may have it, too. So it is at least as much as is lost.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ibidem.columns.distinct import firsts_of_equal
from ibidem.columns.hashes import draw_seed
from ibidem.columns.parted_tables import portions
from ibidem.columns.ragged import ranges
from ibidem.execution.tasks import RunTasks
from ibidem.sentences.hashed_words import HashedWords, gram_keys, hash_texts, locate_texts, point_of

Numbers = NDArray[np.int64]

_MOST_BYTES = 1 << 21  # of the documents that one task compares


def differing_chars(texts: pa.ChunkedArray, removed: Numbers, kept: Numbers, size: int, run_tasks: RunTasks) -> int:
    """Return how many characters of removed texts are not in those kept instead; both are given by their rows."""
    order = np.argsort(kept, kind="stable")
    removed, kept = removed[order], kept[order]
    n_bytes = pc.binary_length(texts).to_numpy().astype(np.int64)
    costs = n_bytes[removed] + np.where(np.diff(kept, prepend=-1) != 0, n_bytes[kept], 0)
    parts = list(portions(costs, _MOST_BYTES))
    ends = np.cumsum([len(chunk) for chunk in texts.chunks])

    def count(number: int) -> int:
        begin, end = parts[number]
        others, which = np.unique(kept[begin:end], return_inverse=True)
        return _count(_taken(texts, ends, removed[begin:end]), _taken(texts, ends, others), which, size)

    return sum(run_tasks(count, range(len(parts))))


def _taken(texts: pa.ChunkedArray, ends: Numbers, rows: Numbers) -> pa.LargeStringArray:
    """Return some rows, given where chunks end. Arrow's `take` of a chunked column copies all of it first."""
    chunk = np.searchsorted(ends, rows, side="right")
    order = np.argsort(chunk, kind="stable")
    numbers, first = np.unique(chunk[order], return_index=True)
    starts = ends - np.diff(ends, prepend=0)
    taken = [
        texts.chunk(number).take(pa.array(rows[places] - starts[number])).cast(pa.large_string())
        for number, places in zip(numbers.tolist(), np.split(order, first[1:]), strict=True)
    ]
    back = np.empty(len(rows), np.int64)
    back[order] = np.arange(len(rows))
    return pa.concat_arrays(taken).take(pa.array(back))


def _count(removed: pa.LargeStringArray, kept: pa.LargeStringArray, which: Numbers, size: int) -> int:
    """Return the same for texts, given which one is kept instead of each."""
    seed = draw_seed()
    words, others = hash_texts(removed, seed), hash_texts(kept, seed)
    keys, known = gram_keys(words, size, point_of(seed)), gram_keys(others, size, point_of(seed))
    rows, known_rows = (np.repeat(np.arange(len(one.first) - 1), np.diff(one.first)) for one in (words, others))
    there = np.flatnonzero(known)
    is_common = firsts_of_equal((which[rows], keys), (known_rows[there], known[there]))[1] & (keys != 0)
    return chars_without(removed, words, np.flatnonzero(is_common), size)


def chars_without(texts: pa.LargeStringArray, words: HashedWords, common: Numbers, size: int) -> int:
    """Return how many characters of texts are in no common gram, given where these begin: from word to word."""
    n = len(words.hashes)
    is_own = np.ones(n, np.bool_)
    is_own[ranges(common, np.full(len(common), size))] = False
    own = np.flatnonzero(is_own)
    if not len(own):
        return 0
    row = words.documents(own)
    begins = np.ones(len(own), np.bool_)
    begins[1:] = (np.diff(own) != 1) | (np.diff(row) != 0)
    heads = np.flatnonzero(begins)
    lasts = np.append(heads[1:], len(own)) - 1
    starts = locate_texts(texts, row[heads], own[heads] - words.first[row[heads]])[0]
    ends = locate_texts(texts, row[lasts], own[lasts] - words.first[row[lasts]])[1]
    return int((ends - starts).sum())
