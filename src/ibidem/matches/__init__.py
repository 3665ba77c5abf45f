"""Matches: which sentence types are similar, and the classes that they form."""

from __future__ import annotations

from ibidem.matches.join import TypeClasses, join_types
from ibidem.matches.long_lists import MOST_POSTINGS
from ibidem.matches.sets import CellColumns, Cells, SortedSets, TypeSets, sort_sets

__all__ = ["MOST_POSTINGS", "CellColumns", "Cells", "SortedSets", "TypeClasses", "TypeSets", "join_types", "sort_sets"]
