"""Passages, pairs of documents and categories as numbers; the two sides of a pair have the same order everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.errors import InputError

Numbers = NDArray[np.int64]
PLACES = ("a_id", "a_start", "a_end", "b_id", "b_start", "b_end")
# No text is longer, so that a number and an offset fit into one word.
MAX_CHARS = 1 << 32
NONE = -1  # the number of no category


class Passages(NamedTuple):
    """Passages by columns: the number of the pair of documents, and where they begin and end on side 0 and on side 1."""

    pair: Numbers
    starts: Numbers
    ends: Numbers

    @property
    def n_chars(self) -> Numbers:
        """The characters of each, both sides together."""
        lengths: Numbers = (self.ends - self.starts).sum(axis=0)
        return lengths

    def take(self, chosen: NDArray[Any]) -> Passages:
        """Return some of the passages, by row or by mask."""
        return Passages(self.pair[chosen], self.starts[:, chosen], self.ends[:, chosen])


class Numbered(NamedTuple):
    """Truth and found passages over the same numbers of pairs; `listed` is the pair of each row of the list of pairs."""

    truth: Passages
    found: Passages
    listed: Numbers | None
    n_pairs: int


def passage_table(passages: pa.Table | Iterable[Sequence[Any]]) -> pa.Table:
    """Return passages as a table; rows have a_id, a_start, a_end, b_id, b_start and b_end in this order."""
    if isinstance(passages, pa.Table):
        return passages
    columns = list(zip(*passages, strict=True)) or [()] * len(PLACES)
    types = [pa.large_string() if name.endswith("_id") else pa.int64() for name in PLACES]
    return pa.table([pa.array(column, kind) for column, kind in zip(columns, types, strict=True)], names=list(PLACES))


def misplaced_rows(table: pa.Table) -> Numbers:
    """Return the rows that are no stretches of two texts: begun before the text, ended before the beginning, or too long."""
    wrong = np.zeros(table.num_rows, np.bool_)
    for side in "ab":
        start, end = (_offsets(table, f"{side}_{end}") for end in ("start", "end"))
        wrong |= (start < 0) | (end < start) | (end > MAX_CHARS)
    return np.flatnonzero(wrong)


def number_passages(truth: pa.Table, found: pa.Table, pairs: pa.Table | None) -> Numbered:
    """Number the pairs of documents of all tables, and bring the sides of every passage into the order of its pair."""
    for table in (truth, found):
        if len(rows := misplaced_rows(table)):
            raise InputError(f"passage {table.slice(rows[0], 1).select(PLACES).to_pylist()[0]} is not inside two texts")
    sides, (of_truth, of_found), listed, n_pairs = number_pairs(truth, found, pairs)
    return Numbered(
        _in_order(truth, of_truth, sides[0] > sides[1], sides[0] == sides[1]),
        _in_order(found, of_found, sides[2] > sides[3], sides[2] == sides[3]),
        listed,
        n_pairs,
    )


class NumberedPairs(NamedTuple):
    """Documents by table and side (a, b, a, b, …), the pair of each row of truth and found, and of the list of pairs."""

    sides: list[Numbers]
    of_row: list[Numbers]
    listed: Numbers | None
    n_pairs: int


def number_pairs(truth: pa.Table, found: pa.Table, pairs: pa.Table | None) -> NumberedPairs:
    """Number the documents that tables name as a_id and b_id, and the pairs that they are, whichever side is a."""
    tables = [truth, found] if pairs is None else [truth, found, pairs]
    names = [chunk for table in tables for side in "ab" for chunk in table[f"{side}_id"].cast(pa.large_string()).chunks]
    codes = pa.chunked_array(names, pa.large_string()).combine_chunks().dictionary_encode()
    documents = np.asarray(codes.indices.to_numpy(zero_copy_only=False), np.int64)
    sides = np.split(documents, np.cumsum([table.num_rows for table in tables for _ in "ab"])[:-1])
    a, b = np.concatenate(sides[0::2]), np.concatenate(sides[1::2])
    keys, pair = np.unique(np.minimum(a, b) * len(codes.dictionary) + np.maximum(a, b), return_inverse=True)
    of_row = np.split(np.asarray(pair, np.int64).reshape(-1), np.cumsum([table.num_rows for table in tables])[:-1])
    return NumberedPairs(sides, of_row[:2], None if pairs is None else of_row[2], len(keys))


def category_numbers(table: pa.Table) -> tuple[list[str], Numbers]:
    """Return the categories of a table in alphabetical order, and the number of each row's."""
    if "category" not in table.column_names:
        return [], np.full(table.num_rows, NONE, np.int64)
    column = table["category"].to_pylist()
    names = sorted({name for name in column if name is not None})
    number = {name: k for k, name in enumerate(names)}
    return names, np.array([number.get(name, NONE) for name in column], np.int64)


def check_one_category(pairs: pa.Table, of_row: Numbers, of_pair: Numbers) -> None:
    """Raise if a pair of documents is listed in two categories; `of_pair` is the category of each row's pair."""
    if len(rows := np.flatnonzero(of_row != of_pair)):
        a_id, b_id = (pairs[f"{side}_id"][int(rows[0])].as_py() for side in "ab")
        raise InputError(f"the list of pairs has {a_id} and {b_id} in two categories", "Give each pair one category.")


def _in_order(table: pa.Table, pair: Numbers, swapped: NDArray[np.bool_], is_one: NDArray[np.bool_]) -> Passages:
    """The order of a pair is that of its documents' numbers; of two places in one document the first one comes first."""
    starts, ends = (np.stack([_offsets(table, f"{side}_{end}") for side in "ab"]) for end in ("start", "end"))
    is_later = (starts[0] > starts[1]) | ((starts[0] == starts[1]) & (ends[0] > ends[1]))
    swapped = swapped | (is_one & is_later)
    return Passages(pair, np.where(swapped, starts[::-1], starts), np.where(swapped, ends[::-1], ends))


def _offsets(table: pa.Table, name: str) -> Numbers:
    return np.asarray(table[name].to_numpy(), np.int64)
