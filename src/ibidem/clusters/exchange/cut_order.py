"""Places of rows, and the order of all rows: the document first by rank, then by number, then by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.distinct import firsts

Numbers = NDArray[np.int64]
Names = NDArray[np.uint64]
Truths = NDArray[np.bool_]

PLACE: list[tuple[str, Any]] = [("rank", pa.int64()), ("document", pa.int64()), ("row", pa.int64())]


@dataclass(frozen=True)
class Places:
    """Rows, by the rank and number of their document and their own number in it. Document -1 is no place at all."""

    rank: Numbers
    document: Numbers
    row: Numbers

    def __len__(self) -> int:
        return len(self.document)

    @classmethod
    def of(cls, table: pa.Table, prefix: str = "") -> Places:
        """Return the places of a table whose columns begin with the prefix."""
        return cls(*(table[prefix + name].to_numpy() for name, _ in PLACE))

    @classmethod
    def none(cls, count: int) -> Places:
        """Return so many places that are none."""
        return cls(np.zeros(count, np.int64), np.full(count, -1, np.int64), np.zeros(count, np.int64))

    def take(self, chosen: NDArray[Any]) -> Places:
        """Return some of the places."""
        return Places(self.rank[chosen], self.document[chosen], self.row[chosen])

    def put(self, chosen: NDArray[Any], others: Places) -> Places:
        """Return the places with some of them replaced."""
        columns = [self.rank.copy(), self.document.copy(), self.row.copy()]
        for column, values in zip(columns, (others.rank, others.document, others.row), strict=True):
            column[chosen] = values
        return Places(*columns)

    def columns(self) -> list[Numbers]:
        """Return the columns as `PLACE` names them."""
        return [self.rank, self.document, self.row]

    def joined(self, others: Places) -> Places:
        """Return these places and the others after them."""
        pairs = zip(self.columns(), others.columns(), strict=True)
        return Places(*(np.concatenate(pair) for pair in pairs))


def first_of_each(names: Names, places: Places) -> NDArray[np.int64]:
    """Return for each different name, rising, the index of its first place in the order of rows."""
    order = np.lexsort((places.row, places.document, places.rank, names))
    return order[firsts(names[order])]
