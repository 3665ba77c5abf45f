"""What `dedup` returns: what is removed and why, what remains, and the cleaned collection."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from ibidem.columns.parted_tables import CHECK_NAMES
from ibidem.config import Config
from ibidem.errors import SettingsError
from ibidem.model import Skipped
from ibidem.results.decisions import changes_of
from ibidem.results.overview import CleaningOverview
from ibidem.results.result import RunResult
from ibidem.results.storage import TableT_co

RemainingT_co = TypeVar("RemainingT_co", covariant=True)


class Copies(Protocol[RemainingT_co]):
    """Makes cleaned copies, which read the inputs again."""

    @property
    def original(self) -> Any:
        """The inputs as they were given."""
        ...

    def remaining(self, config: Config) -> RemainingT_co:
        """Return what is left of the inputs."""
        ...

    def write(
        self, folder: str | os.PathLike[str], config: Config, skipped: Sequence[Skipped],
        run: Callable[[], Mapping[str, Any]], on_bytes: Callable[[int], None] | None,
    ) -> list[Path]:  # fmt: skip
        """Write what is left of the inputs, `removed.jsonl`, `skipped.jsonl` and `run.json`."""
        ...


@dataclass(frozen=True, repr=False, eq=False)
class CleaningResult(RunResult[TableT_co], Generic[TableT_co, RemainingT_co]):
    """What to remove from a collection. Nothing is changed: `write` and `remaining` give what is left.

    Both read the inputs again, and raise InputError if these have changed.
    """

    copies: Copies[RemainingT_co]

    def __len__(self) -> int:
        return self.backing.table("removed").n_rows

    def __repr__(self) -> str:
        found = self.overview()
        dropped, chars = f"{found.n_dropped} of {found.n_documents} documents", f"{found.n_removed_chars} characters"
        return f"<CleaningResult: {dropped} and {chars} removed>"

    @property
    def original(self) -> Any:
        """The inputs as they were given."""
        return self.copies.original

    @property
    def removed(self) -> TableT_co:
        """What is removed, one row each: where it was, and what it matches."""
        return self.backing.native("removed")

    def overview(self) -> CleaningOverview:
        """Return what a summary says."""
        sizes = self.backing.sizes()
        return CleaningOverview(sizes.n_documents, sizes.n_chars, *self._removal_counts)

    def changes(self) -> Iterator[tuple[int, tuple[tuple[int, int], ...] | None]]:
        """Yield the documents that change, by number, in order, and what is cut out of each; None: all of it."""
        return ((change.document, change.cuts) for change in changes_of(self.backing.table("removed")))

    def first_removed(self, count: int) -> list[dict[str, Any]]:
        """Return the first rows of what is removed, each with the number of its document."""
        rows: list[dict[str, Any]] = []
        for batch in self.backing.table("removed").stored_batches():
            shown = batch.select([name for name in batch.schema.names if name not in CHECK_NAMES])
            rows.extend(shown.slice(0, count - len(rows)).to_pylist())
            if len(rows) >= count:
                break
        return rows

    def remaining(self) -> RemainingT_co:
        """Return what remains: an iterator of documents, their texts without what is cut; on Spark a data frame of records.

        The records of the data frame have all their columns, or are lines (`value`).
        """
        return self.copies.remaining(self.config)

    def write(
        self, folder: str | os.PathLike[str], on_bytes: Callable[[int], None] | None = None, **settings: Any
    ) -> list[Path]:
        """Write the cleaned collection in the formats of its files, `removed.jsonl`, `skipped.jsonl` and `run.json`.

        Settings: `mark_only`, `overwrite`. The inputs must be files; they are read again, as streams. No file is replaced
        before everything is written: if writing fails until then, the folder is as before. If it fails later, `unfinished.json`
        says so, and files not yet in place are in `.cleaned`. It fails if an input has changed since it was read, or was too
        large to be read to its end.

        On Spark, `cleaned.jsonl` or `cleaned.parquet` contains all records, and no paths are returned.
        """
        unknown = set(settings) - {"mark_only", "overwrite"}
        if unknown:
            raise SettingsError([f"{name} cannot be changed after the run" for name in sorted(unknown)])
        return self.copies.write(folder, Config.of(self.config, **settings), self.skipped, self.run, on_bytes)

    @cached_property
    def _removal_counts(self) -> tuple[int, int, int, int]:
        return self.backing.removal_counts()

    def _count(self) -> dict[str, int]:
        n_dropped, _, n_removals, n_chars = self._removal_counts
        return {"removed_documents": n_dropped, "removed_characters": n_chars, "removals": n_removals}
