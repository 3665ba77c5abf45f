"""Reports: the tables of a run, how they are written, and the summary for people."""

from __future__ import annotations

from ibidem.reports.duplicates import clusters_table, duplicates_table
from ibidem.reports.skipped import SkippedRecords
from ibidem.reports.tables import documents_table, in_reading_order, passages_table, repeats_table
from ibidem.reports.writing import write_result

__all__ = [
    "SkippedRecords",
    "clusters_table",
    "documents_table",
    "duplicates_table",
    "in_reading_order",
    "passages_table",
    "repeats_table",
    "write_result",
]
