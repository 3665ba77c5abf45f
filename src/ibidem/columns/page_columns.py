"""The pages of passages as columns: `a_page b_page`, and `a_region b_region` where pages have regions.

Tables have them only if a text of theirs has pages; rows whose text has none have null.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ibidem.columns.page_marks import PAGE, REGION, PageMap
from ibidem.columns.texts import text_buffers

_MOST_MAPS = 256
_MARK_BYTE = ord(PAGE)


def rows_with_pages(data: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return which texts have pages, given their bytes and offsets."""
    filled: NDArray[np.int64] = np.flatnonzero(offsets[1:] > offsets[:-1])
    return np.asarray(filled[data[offsets[filled]] == _MARK_BYTE])


@dataclass(frozen=True)
class PageMarks:
    """Whether texts have pages, and pages regions."""

    has_pages: bool = False
    has_regions: bool = False

    def __or__(self, other: PageMarks) -> PageMarks:
        return PageMarks(self.has_pages or other.has_pages, self.has_regions or other.has_regions)

    @classmethod
    def of(cls, texts: pa.Array) -> PageMarks:
        """Return what a column of texts has; those without pages cost one byte each."""
        if not len(rows_with_pages(*text_buffers(texts))):
            return cls()
        marked = texts.filter(pc.starts_with(texts, PAGE))
        return cls(True, bool(pc.any(pc.match_substring(marked, REGION)).as_py()))

    @property
    def fields(self) -> list[pa.Field]:
        """The columns that a table of passages has because of them."""
        names = ["page"] * self.has_pages + ["region"] * self.has_regions
        return [pa.field(f"{side}_{name}", pa.int32()) for name in names for side in "ab"]

    def columns(self, sides: Sequence[Iterable[tuple[int, int]]], text_of: Callable[[int], str]) -> list[pa.Array]:
        """Return these columns, given numbers of documents and places in them, for a and for b."""
        page_map = lru_cache(maxsize=_MOST_MAPS)(lambda number: PageMap(text_of(number)))
        found = [[page_map(number).place(start) for number, start in side] for side in sides]
        kinds = range(self.has_pages + self.has_regions)
        return [pa.array([place[kind] for place in side], pa.int32()) for kind in kinds for side in found]
