"""Which category pairs of documents and their passages belong to."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from ibidem.errors import InputError
from ibidem.evaluation.document_numbers import Numbered, Numbers
from ibidem.evaluation.overlaps import Meetings

NONE = -1


class Categories(NamedTuple):
    """Names in alphabetical order, and the number of the category of each pair and passage; -1 for none."""

    names: list[str]
    of_pair: Numbers
    of_truth: Numbers
    of_found: Numbers


def assign_categories(numbered: Numbered, truth: pa.Table, pairs: pa.Table | None, meetings: Meetings) -> Categories:
    """Return the categories that the list of pairs says, or if it says none, the truth.

    A found passage belongs to the first true one it meets; if it meets none, to its pair, and that to its first true passage.
    """
    of_pair = np.full(numbered.n_pairs, NONE, np.int64)
    if pairs is not None and "category" in pairs.column_names:
        names, of_row = category_numbers(pairs)
        of_pair[numbered.listed] = of_row
        check_one_category(pairs, of_row, of_pair[numbered.listed])
        of_truth = of_pair[numbered.truth.pair]
    else:
        names, of_truth = category_numbers(truth)
        named = of_truth != NONE
        # Of numbers that are written to one place the last one stays: from the end on, the first true passage of the pair.
        of_pair[numbered.truth.pair[named][::-1]] = of_truth[named][::-1]
    of_found = of_pair[numbered.found.pair]
    of_found[meetings.found[::-1]] = of_truth[meetings.truth[::-1]]
    return Categories(names, of_pair, of_truth, of_found)


def category_numbers(table: pa.Table) -> tuple[list[str], Numbers]:
    """Return the categories of a table in alphabetical order, and the number of each row's."""
    if "category" not in table.column_names:
        return [], np.full(table.num_rows, NONE, np.int64)
    column = table["category"].to_pylist()
    names = sorted({name for name in column if name is not None})
    number = {name: k for k, name in enumerate(names)}
    return names, np.array([number.get(name, NONE) for name in column], np.int64)


def check_one_category(pairs: pa.Table, of_row: Numbers, kept: Numbers) -> None:
    """Raise if a pair of documents is listed in two categories; `kept` is the category of each row's pair."""
    if len(rows := np.flatnonzero(of_row != kept)):
        a_id, b_id = (pairs[f"{side}_id"][int(rows[0])].as_py() for side in "ab")
        raise InputError(f"the list of pairs has {a_id} and {b_id} in two categories", "Give every pair one category.")
