"""Which document of a cluster stays: an order of all documents, the first of a cluster being the one."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def keep_order(
    rule: str,
    n_chars: NDArray[np.int64],
    times: NDArray[np.int64],
    values: pa.LargeStringArray,
    side: NDArray[np.int8],
) -> NDArray[np.int64]:
    """Return the rank of every document by a rule: first, longest, earliest, FIELD:max or FIELD:min.

    `times` are smallest where unknown, `values` are those of the FIELD. Reading order settles ties; documents without a time
    or a value come last. Documents of the reference come before all others.
    """
    n = len(n_chars)
    keys: list[NDArray[Any]] = [np.arange(n)]
    if rule == "longest":
        keys.append(-n_chars)
    elif rule == "earliest":
        keys += [times, times == np.iinfo(np.int64).min]
    elif rule != "first":
        known, numbers = _numbers(values)
        keys += [-numbers if rule.endswith(":max") else numbers, ~known]
    return _ranks(keys, side)


def containers_first(rank: NDArray[np.int64], sizes: NDArray[np.int64], side: NDArray[np.int8]) -> NDArray[np.int64]:
    """Return a rank by which larger documents come first, those of the reference before all: of a document that stands in
    another one it is the other that stays, whatever the rank says.
    """
    return _ranks([rank, -sizes], side)


def _ranks(keys: list[NDArray[Any]], side: NDArray[np.int8]) -> NDArray[np.int64]:
    """Return the rank of every document by keys, the last one counting first; the reference comes before all others."""
    order = np.lexsort([*keys, -side] if len(side) else keys)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank


def _numbers(values: pa.LargeStringArray) -> tuple[NDArray[np.bool_], NDArray[Any]]:
    """Return which values are there, and numbers in their order; see `value_places`."""
    known = values.is_valid().to_numpy(zero_copy_only=False)
    different = values.dictionary_encode()
    codes = different.indices.fill_null(0).to_numpy(zero_copy_only=False)
    texts = different.dictionary.to_pylist()
    counts = np.bincount(codes[known], minlength=len(texts))
    is_known, places = value_places(texts, counts)
    if len(texts):
        known = known & is_known[codes]
    # Those that are not there are all alike: reading order settles their ties.
    return known, np.where(known, places[codes], 0) if len(texts) else np.zeros(len(values), np.int64)


def value_places(texts: Sequence[str], counts: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Return which of different values count, and their places in order: as numbers, or else in the alphabet.

    `counts` says how often each one stands there. Where most are numbers the others count as missing.
    """
    own = [_number(text) for text in texts]
    is_number = np.array([number is not None for number in own], np.bool_)
    if 2 * counts[is_number].sum() >= counts.sum():
        # Places in their order, not the numbers: decimals of any length are told apart.
        return is_number, _places([Decimal(0) if number is None else number for number in own])
    return np.ones(len(texts), np.bool_), _places(texts)


def _number(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return None if number.is_nan() else number


def _places(values: Sequence[Any]) -> NDArray[np.int64]:
    place = {value: number for number, value in enumerate(sorted(set(values)))}
    return np.array([place[value] for value in values], np.int64)
