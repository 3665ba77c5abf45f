"""The records that were left out, kept for the user to see."""

from __future__ import annotations

from ibidem.errors import SkippedRecordsError
from ibidem.model import Skipped


class SkippedRecords:
    """Collects skipped records; in strict mode the first one is an error."""

    def __init__(self, strict: bool) -> None:
        self.strict = strict
        self.records: list[Skipped] = []

    def add(self, record: Skipped) -> None:
        """Keep a record."""
        if self.strict:
            place = f"{record.source}:{record.position}" if record.position else record.source
            raise SkippedRecordsError(f"{place}: {record.reason}", "Mend the record, or run without --strict to skip it.")
        self.records.append(record)

    def explain(self) -> str:
        """Say why there is nothing to work on, and what to do."""
        if not self.records:
            return "Known formats: txt, md, html, jsonl, json, csv, tsv, parquet, warc, each also .gz or .zst."
        first = self.records[0]
        place = f"{first.source}:{first.position}" if first.position else first.source
        text = f"{len(self.records):,} skipped; the first, {place}: {first.reason}."
        return text + (" If the text is in another field, name it with --text-field." if "no field" in first.reason else "")
