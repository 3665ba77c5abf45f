"""Distinct values of columns: where each begins, its number, and whether it occurs; and their order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
_TABLE_SIZE = 4  # entries for each number that is known or wanted
_MOST_BITS = 63


def firsts(values: NDArray[Any]) -> Numbers:
    """Return where each distinct value begins in sorted values."""
    changes = np.ones(len(values), np.bool_)
    changes[1:] = values[1:] != values[:-1]
    return np.flatnonzero(changes)


def distinct(values: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct values, of any shape, in order. Sorting is far faster than the hash table of `numpy.unique`."""
    in_turn = np.sort(values, axis=None)
    return in_turn[firsts(in_turn)]


def places_of(wanted: NDArray[Any], known: NDArray[Any]) -> Numbers:
    """Return where each wanted number is among increasing known ones, of which each must be one.

    If a table of all numbers between them is small, they are looked up there.
    """
    if len(known) == 0 or int(known[-1]) - int(known[0]) > _TABLE_SIZE * (len(known) + len(wanted)):
        return np.searchsorted(known, wanted)
    places = np.empty(int(known[-1]) - int(known[0]) + 1, np.int64)
    places[known - known[0]] = np.arange(len(known))
    found: Numbers = places[wanted - known[0]]
    return found


def stable_order(values: NDArray[Any]) -> Numbers:
    """Return the order in which values rise, equal ones as they come; several times as fast as sorting by merging."""
    order: Numbers = np.argsort(values)
    ordered = values[order]
    is_next: NDArray[np.bool_] = ordered[1:] == ordered[:-1]
    if is_next.any():
        tied = np.flatnonzero(np.append(is_next, False) | np.append(False, is_next))
        packed = np.append(0, np.cumsum(~is_next, dtype=np.int64))[tied] << 32 | order[tied]
        packed.sort()
        order[tied] = packed & 0xFFFFFFFF
    return order


def order_by(*columns: NDArray[Any]) -> Numbers:
    """Return the order of rows by columns, the first column first; equal rows come as they are.

    Columns of integers within few bits are sorted together.
    """
    if len(columns[0]) == 0 or any(column.dtype.kind not in "biu" for column in columns):
        return np.lexsort(columns[::-1])
    keys: list[Numbers] = []
    n_bits = _MOST_BITS + 1
    for column in columns:
        numbers = column.view(np.uint8) if column.dtype == np.bool_ else column
        low, high = numbers.min(), numbers.max()
        more_bits = (int(high) - int(low)).bit_length()
        if more_bits > _MOST_BITS:
            return np.lexsort(columns[::-1])
        n_bits += more_bits
        if n_bits > _MOST_BITS:
            keys.append(np.zeros(len(column), np.int64))
            n_bits = more_bits
        keys[-1] <<= more_bits
        # Differences of narrow numbers need not fit into their type.
        keys[-1] |= (numbers - low).astype(np.int64) if numbers.itemsize == 8 else numbers.astype(np.int64) - int(low)
    return stable_order(keys[0]) if len(keys) == 1 else np.lexsort(keys[::-1])


def packed(*columns: Numbers) -> Numbers:
    """Return one number for each row, in the order of the rows by their columns, the first column first."""
    lows = [int(column.min(initial=0)) for column in columns]
    bits = [(int(column.max(initial=0)) - low).bit_length() for column, low in zip(columns, lows, strict=True)]
    if sum(bits) > _MOST_BITS:
        return numbered(*columns)[0]
    numbers = np.zeros(len(columns[0]), np.int64)
    for column, low, n_bits in zip(columns, lows, bits, strict=True):
        numbers <<= n_bits
        numbers |= column - low
    return numbers


def numbered(*columns: NDArray[Any]) -> tuple[Numbers, Numbers]:
    """Number the distinct rows of some columns in sorted order, the first column first.

    Returns the number of each row, and one row for each number.
    """
    order = order_by(*columns)
    changes = np.zeros(len(order), np.bool_)
    changes[:1] = True
    for column in columns:
        ordered = column[order]
        changes[1:] |= ordered[1:] != ordered[:-1]
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.cumsum(changes) - 1
    return numbers, order[changes]


def find(wanted: NDArray[Any], known: NDArray[Any]) -> tuple[Numbers, NDArray[np.bool_]]:
    """Return where each wanted value is among sorted distinct ones, and whether it is there."""
    if len(known) == 0:
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), np.bool_)
    at = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return at, known[at] == wanted


def firsts_of_equal(asked: tuple[NDArray[Any], ...], known: tuple[NDArray[Any], ...]) -> tuple[Numbers, NDArray[np.bool_]]:
    """Return the first known row that equals each asked one in all columns, and whether there is one."""
    n_asked, n_known = len(asked[0]), len(known[0])
    number, _ = numbered(*(np.concatenate(both) for both in zip(asked, known, strict=True)))
    first = np.full(int(number.max(initial=-1)) + 1, n_known, np.int64)
    np.minimum.at(first, number[n_asked:], np.arange(n_known))
    at: Numbers = first[number[:n_asked]]
    return at, at < n_known
