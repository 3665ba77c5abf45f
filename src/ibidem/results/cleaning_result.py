"""What `dedup` returns: what is removed and why, what remains, and the cleaned collection."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.collection import Collection
from ibidem.columns.notebook import CONTEXT_CHARS, MOST_ROWS, SHOWN, counted, listed, quoted
from ibidem.columns.parted_tables import CHECK_NAMES
from ibidem.config import Config
from ibidem.config.sampling_plan import SamplingPlan
from ibidem.config.surface import named
from ibidem.errors import SettingsError
from ibidem.formats.python_inputs import original_of
from ibidem.model import Skipped
from ibidem.results.decisions import changes_of
from ibidem.results.overview import CleaningOverview, OftenRemoved, often_removed
from ibidem.results.result import RunResult
from ibidem.results.storage import TableT_co

RemainingT_co = TypeVar("RemainingT_co", covariant=True)
if TYPE_CHECKING:
    import typing_extensions

    # What is said of results with two parameters stays true.
    InputsT_co = typing_extensions.TypeVar("InputsT_co", covariant=True, default=Any)
else:
    InputsT_co = TypeVar("InputsT_co", covariant=True)


class Copies(Protocol[RemainingT_co]):
    """Makes cleaned copies, which read the inputs again."""

    @property
    def original(self) -> Any:
        """The inputs as they were given."""
        ...

    def remaining(self, config: Config) -> RemainingT_co:
        """Return what is left of the inputs."""
        ...

    def cleaned(self, config: Config) -> Any:
        """Return what is left of the inputs, in the form of the inputs."""
        ...

    def keep_mask(self) -> NDArray[np.bool_]:
        """Return for each row of the inputs whether it stays."""
        ...

    def write(
        self, folder: str | os.PathLike[str], config: Config, skipped: Sequence[Skipped],
        run: Callable[[], Mapping[str, Any]], on_bytes: Callable[[int], None] | None,
    ) -> list[Path]:  # fmt: skip
        """Write what is left of the inputs, `removed.jsonl`, `skipped.jsonl` and `run.json`."""
        ...


@dataclass(frozen=True, repr=False, eq=False)
class CleaningResult(RunResult[TableT_co], Generic[TableT_co, RemainingT_co, InputsT_co]):
    """What to remove from a collection. Nothing is changed: `cleaned`, `write` and `remaining` give what is left.

    They read the inputs again, and raise InputError if these have changed. `plan` is the sampling plan that was used, if any.
    """

    copies: Copies[RemainingT_co]
    plan: SamplingPlan | None = field(default=None, kw_only=True)

    def __len__(self) -> int:
        return self.backing.table("removed").n_rows

    def _sentence(self) -> str:
        found = self.overview()
        dropped = f"{found.n_dropped:,} of {counted(found.n_documents, 'document')}"
        return f"{dropped} and {counted(found.n_removed_chars, 'character')} removed"

    def _examples(self) -> Iterator[str]:
        rows = self.first_removed(MOST_ROWS)
        if rows:
            shown = [(row["id"], _place(row), row["matched_id"], _place(row, "matched_"), row["similarity"]) for row in rows]
            yield listed(("removed from", "at", "also in", "at", "similarity"), shown, len(self) - len(rows))
        documents = self.backing.documents
        if isinstance(documents, Collection):  # without them, there are no texts to show
            for row in rows[:SHOWN]:
                text, start, end = documents.text(row["document"]), row["start"], row["end"]
                begin = max(0, start - CONTEXT_CHARS)
                yield quoted(row["id"], start, end, text[begin : end + CONTEXT_CHARS], begin)

    @property
    def original(self) -> Any:
        """The inputs as they were given."""
        return original_of(self.copies.original)

    @property
    def removed(self) -> TableT_co:
        """What is removed, one row each: where it was, and what it matches."""
        return self.backing.native("removed")

    def run(self) -> dict[str, Any]:
        """Return what `run.json` contains: version, settings, inputs, counts and timings of the run, and its plan."""
        return {**super().run(), **({} if self.plan is None else {"plan": self.plan.to_dict()})}

    def overview(self) -> CleaningOverview:
        """Return what a summary says."""
        sizes = self.backing.sizes()
        return CleaningOverview(sizes.n_documents, sizes.n_chars, *self._removal_counts)

    def changes(self) -> Iterator[tuple[int, tuple[tuple[int, int], ...] | None]]:
        """Yield the documents that change, by number, in order, and what is cut out of each; None: all of it."""
        return ((change.document, change.cuts) for change in changes_of(self.backing.table("removed")))

    def often_removed(self, count: int = 10) -> list[OftenRemoved]:
        """Return the texts of which most copies are removed: where each stays, how many are removed, and their characters."""
        return often_removed(self.backing.table("removed").stored_batches(), count)

    def first_removed(self, count: int) -> list[dict[str, Any]]:
        """Return the first rows of what is removed, each with the number of its document."""
        rows: list[dict[str, Any]] = []
        for batch in self.backing.table("removed").stored_batches():
            shown = batch.select([name for name in batch.schema.names if name not in CHECK_NAMES])
            rows.extend(shown.slice(0, count - len(rows)).to_pylist())
            if len(rows) >= count:
                break
        return rows

    @property
    def keep_mask(self) -> NDArray[np.bool_]:
        """Which rows of the inputs stay: True or False for each, in their order, as `frame[result.keep_mask]` takes it.

        Rows that were skipped stay. Of files, it has an entry for each document that could be read.
        """
        return self.copies.keep_mask()

    def cleaned(self) -> InputsT_co:
        """Return the inputs without what is removed, in the form they were given in.

        A pandas frame or Series keeps its index and types, a Polars frame, Arrow table, dataset or list stays what it is; a
        generator becomes a list, any other Arrow stream a table, a list of several inputs a list. Cut texts are replaced in
        their column; everything else is unchanged. With `mark_only`, nothing is removed, and columns are added instead. Of
        files, `write` makes copies. On Spark, this is a data frame.
        """
        cleaned: InputsT_co = self.copies.cleaned(self.config)
        return cleaned

    def remaining(self) -> RemainingT_co:
        """Return what remains: an iterator of documents, their texts without what is cut; on Spark a data frame of records.

        The records of the data frame have all their columns, or are lines (`value`).
        """
        return self.copies.remaining(self.config)

    def write(
        self, folder: str | os.PathLike[str], on_bytes: Callable[[int], None] | None = None, *,
        mark_only: bool | None = None, overwrite: bool | None = None, **others: object,
    ) -> list[Path]:  # fmt: skip
        """Write the cleaned collection in the formats of its files, `removed.jsonl`, `skipped.jsonl` and `run.json`.

        Settings not given here are those of the run. The inputs must be files; they are read again, as streams. No file is
        replaced before everything is written: if writing fails until then, the folder is as before. If it fails later,
        `unfinished.json` says so, and files not yet in place are in `.cleaned`. It fails if an input has changed since it was
        read, or was too large to be read to its end.

        A folder elsewhere, such as s3://bucket/folder, is written to a temporary folder first; no paths are returned then. On
        Spark, `cleaned.jsonl` or `cleaned.parquet` contains all records, and no paths are returned.
        """
        if others:
            raise SettingsError([f"{named(name)} cannot be changed after the work" for name in sorted(others)])
        given = {"mark_only": mark_only, "overwrite": overwrite}
        config = Config.of(self.config, **{name: value for name, value in given.items() if value is not None})
        return self.copies.write(folder, config, self.skipped, self.run, on_bytes)

    @cached_property
    def _removal_counts(self) -> tuple[int, int, int, int, int]:
        return self.backing.removal_counts()

    def _count(self) -> dict[str, int]:
        n_dropped, _, _, n_removals, n_chars = self._removal_counts
        return {"removed_documents": n_dropped, "removed_characters": n_chars, "removals": n_removals}


def _place(row: Mapping[str, Any], side: str = "") -> str:
    return f"{row[f'{side}start']:,}:{row[f'{side}end']:,}"
