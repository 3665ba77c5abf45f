"""The whole grid that `tune` measures: precision and recall by similarity limit, sampling ratio and document size."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa

from ibidem.resemblance import SizeGroup

GRID = pa.schema(
    [
        pa.field("min_similarity", pa.float64(), nullable=False),
        pa.field("every", pa.int64(), nullable=False),
        pa.field("from_shingles", pa.int64()),
        pa.field("to_shingles", pa.int64()),
        pa.field("documents", pa.int64(), nullable=False),
        pa.field("shingles", pa.int64(), nullable=False),
        pa.field("pairs", pa.int64(), nullable=False),
        pa.field("accepted", pa.float64(), nullable=False),
        pa.field("right", pa.float64(), nullable=False),
        pa.field("precision", pa.float64()),
        pa.field("recall", pa.float64()),
        pa.field("samples", pa.int64(), nullable=False),
    ]
)
GRID_FILES = (".csv", ".json")
_WIDTH = 80
_CELL = "0.00 0.00"


def grid_table(by_limit: Mapping[Fraction, Sequence[SizeGroup]]) -> pa.Table:
    """Return one row for each limit, ratio and size, and one for all sizes together, which has no `from_shingles`.

    `to_shingles` is the largest size of a group; the last group has none.
    """
    return pa.Table.from_pylist(list(_rows(by_limit)), schema=GRID)


def size_names(groups: Sequence[SizeGroup]) -> list[str]:
    """Return what the groups are called: their sizes in shingles."""
    return [_size_name(*bounds) for bounds in _bounds(groups)]


def _bounds(groups: Sequence[SizeGroup]) -> list[tuple[int, int | None]]:
    lows = [group.from_shingles for group in groups]
    return [*((low, high - 1) for low, high in pairwise(lows)), (lows[-1], None)]


def _size_name(low: int | None, high: int | None) -> str:
    return "all" if low is None else f"{low:,}+" if high is None else f"{low:,}-{high:,}"


def grid_text(grid: pa.Table) -> str:
    """Return the grid as tables of at most 80 columns, one or more for each limit."""
    rows = [{**row, "size": _size_name(row["from_shingles"], row["to_shingles"])} for row in grid.to_pylist()]
    return "\n".join(_text_lines(rows))


def write_grid(grid: pa.Table, path: Path) -> None:
    """Write the grid as CSV, or as a JSON list if the file is called so."""
    rows = grid.to_pylist()
    if path.suffix.lower() == ".json":
        path.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, grid.column_names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _rows(by_limit: Mapping[Fraction, Sequence[SizeGroup]]) -> Iterator[dict[str, Any]]:
    for limit, groups in by_limit.items():
        all_bounds: list[tuple[int | None, int | None]] = [*_bounds(groups), (None, None)]
        for place in range(1, len(groups[0].trials)):
            trials = [group.trials[place] for group in groups]
            figures = [
                (group.n_documents, group.n_shingles, trial.true, trial.accepted, trial.right)
                for group, trial in zip(groups, trials, strict=True)
            ]
            figures.append(tuple(map(sum, zip(*figures, strict=True))))  # type: ignore[arg-type]
            for (low, high), (documents, shingles, true, accepted, right) in zip(all_bounds, figures, strict=True):
                yield {
                    "min_similarity": float(limit), "every": trials[0].every, "from_shingles": low, "to_shingles": high,
                    "documents": documents, "shingles": shingles, "pairs": true, "accepted": accepted, "right": right,
                    "precision": right / accepted if accepted else None, "recall": right / true if true else None,
                    "samples": trials[0].n_samples,
                }  # fmt: skip


def _text_lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for limit in dict.fromkeys(row["min_similarity"] for row in rows):
        of_limit = [row for row in rows if row["min_similarity"] == limit]
        ratios, sizes = (list(dict.fromkeys(row[name] for row in of_limit)) for name in ("every", "size"))
        cells = {(row["every"], row["size"]): _cell(row) for row in of_limit}
        first = {row["size"]: row for row in of_limit}
        left = [("shingles", "documents", "pairs")]
        left += [(size, f"{first[size]['documents']:,}", f"{first[size]['pairs']:,}") for size in sizes]
        widths = [max(map(len, column)) for column in zip(*left, strict=True)]
        per_block = max(1, (_WIDTH - sum(widths) - 2 * (len(widths) - 1)) // (len(_CELL) + 2))
        yield f"precision and recall at similarity {limit:g}"
        for begin in range(0, len(ratios), per_block):
            block = ratios[begin : begin + per_block]
            right = [[f"1/{every}" for every in block], *([cells[every, size] for every in block] for size in sizes)]
            for names, figures in zip(left, right, strict=True):
                padded = [*(name.rjust(width) for name, width in zip(names, widths, strict=True))]
                yield "  ".join([*padded, *(figure.rjust(len(_CELL)) for figure in figures)])
    yield "precision: share of the pairs a sample accepts that are right; recall: share of"
    yield "all pairs that it accepts; averaged over the remainders that were tried"


def _cell(row: Mapping[str, Any]) -> str:
    return " ".join("-" if row[name] is None else f"{row[name]:.2f}" for name in ("precision", "recall"))
