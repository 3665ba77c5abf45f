"""Passages chosen by what differs between their two sides, and the kinds of their differences as a column."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

import pyarrow as pa

from ibidem.alignment.difference_kinds import kinds_in, typed_differences
from ibidem.columns.collection import Collection as Sentences
from ibidem.config import Config
from ibidem.config.quantities import listed_kinds
from ibidem.model import DIFFERENCES

_ENDS = ("start", "end")


def are_kinds_wanted(config: Config) -> bool:
    """Return whether anything depends on the kinds of differences."""
    return config.alignment.difference_kinds or bool(listed_kinds(config.alignment.only_differences))


def is_chosen(kinds: Collection[str], wanted: Collection[str]) -> bool:
    """Return whether a passage with differences of these kinds differs, and only in what is wanted."""
    return not wanted or (bool(kinds) and set(kinds) <= set(wanted))


def choose(passages: pa.Table, texts: Iterator[tuple[str, str]], config: Config) -> pa.Table:
    """Return the chosen rows of a table of passages, with their kinds of differences; `texts` are both sides of each row."""
    wanted = listed_kinds(config.alignment.only_differences)
    kinds = [kinds_of(a, b) for a, b in texts]
    rows = [row for row, own in enumerate(kinds) if is_chosen(own, wanted)]
    return passages.take(pa.array(rows, pa.int64())).append_column(DIFFERENCES, _column([kinds[row] for row in rows]))


def texts_of_passages(passages: pa.Table, collection: Sentences) -> Iterator[tuple[str, str]]:
    """Yield both sides of passages in memory, whose ids are numbers of documents by their codes."""
    text_of = lru_cache(maxsize=64)(collection.text)
    sides = [
        zip(
            passages[f"{s}_id"].combine_chunks().indices.to_pylist(),
            *(passages[f"{s}_{n}"].to_pylist() for n in _ENDS),
            strict=True,
        )
        for s in "ab"
    ]
    for (a, a_start, a_end), (b, b_start, b_end) in zip(*sides, strict=True):
        yield text_of(a)[a_start:a_end], text_of(b)[b_start:b_end]


def kinds_of(a: str, b: str) -> list[str]:
    """Return the kinds of differences of two texts."""
    return [] if a == b else kinds_in(typed_differences(a, b))


def _column(kinds: Sequence[Sequence[str]]) -> pa.Array:
    return pa.array(kinds, DIFFERENCES.type)
