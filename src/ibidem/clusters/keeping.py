"""Which document of a cluster stays: an order of all documents, the first of a cluster being the one."""

from __future__ import annotations

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
    if len(side):
        keys.append(1 - side.astype(np.int64))
    order = np.lexsort(keys)
    rank = np.empty(n, np.int64)
    rank[order] = np.arange(n)
    return rank


def _numbers(values: pa.LargeStringArray) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return which values are there, and numbers in their order: their own, or their places in the alphabet if one is none."""
    known = values.is_valid().to_numpy(zero_copy_only=False)
    try:
        return known, values.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        texts = values.fill_null("").to_numpy(zero_copy_only=False)
        return known, np.unique(texts.astype(str), return_inverse=True)[1].astype(np.float64)
