"""What `decontaminate` returns: which items of benchmarks are in the training data, where, and the data without them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Generic

import pyarrow as pa
import pyarrow.compute as pc

from ibidem.columns.notebook import counted, listed
from ibidem.contamination.decisions import ALL_PARTS
from ibidem.contamination.items import Items
from ibidem.errors import OutputExistsError
from ibidem.results.cleaning_result import CleaningResult, InputsT_co, RemainingT_co
from ibidem.results.contamination_page import GENERATOR, contamination_page, found_how
from ibidem.results.remote_folder import file_sent_to
from ibidem.results.storage import TableT_co

_SHOWN_ITEMS, _ITEMS_ON_PAGE = 5, 500
_MOST_CHARS = 200


@dataclass(frozen=True, repr=False, eq=False)
class ContaminationResult(CleaningResult[TableT_co, RemainingT_co, InputsT_co], Generic[TableT_co, RemainingT_co, InputsT_co]):
    """Which items of benchmarks were found in the training data, where, and what to remove because of them.

    `benchmarks` says how much of each benchmark was found, `found_items` which items, the worst first, and `item_places` where
    each of them is. `removed`, `cleaned`, `write` and `remaining` are those of a `CleaningResult`.
    """

    benchmarks: pa.Table = field(kw_only=True)
    found_items: pa.Table = field(kw_only=True)
    items: Items = field(kw_only=True)

    @property
    def item_places(self) -> TableT_co:
        """Where items are, one row for each stretch, in the order of the documents."""
        return self.backing.native("item_places")

    @property
    def shares(self) -> dict[str, float]:
        """The share of each benchmark's items that were found, whole or in part."""
        whole = self.benchmarks.filter(pc.field("part") == ALL_PARTS)
        return dict(zip(whole["benchmark"].to_pylist(), whole["share"].to_pylist(), strict=True))

    def exceeding(self, max_share: float | Fraction) -> list[str]:
        """Return the names of the benchmarks of which a larger share of the items was found."""
        return [name for name, share in self.shares.items() if share > max_share]

    def worst(self, benchmark: str, count: int = 3) -> list[dict[str, Any]]:
        """Return the first of the found items of a benchmark, that are not common text, each with its `text`."""
        wanted = self.found_items.filter((pc.field("benchmark") == benchmark) & ~pc.field("is_common"))
        rows = wanted.slice(0, count).to_pylist()
        return [{**row, "text": self.text_of(row)} for row in rows]

    def text_of(self, row: dict[str, Any]) -> str:
        """Return the text of the field that a row of `found_items` or `item_places` is about."""
        of_item: str = self.items.text_of(row["benchmark"], row["item"], row["field"])
        return of_item

    def to_html(
        self, path: str | os.PathLike[str], *, title: str | None = None, max_pairs: int | None = None, overwrite: bool = False
    ) -> Path:
        """Write a page with the tables of benchmarks and of the items that were found; return its path.

        `max_pairs` bounds how many items it shows (500). An existing file that is not such a page is replaced only with
        `overwrite`.
        """
        with file_sent_to(path) as place:
            if place.exists() and not overwrite and GENERATOR not in place.read_text("utf-8", "replace")[:2000]:
                raise OutputExistsError(f"{place} already exists, and is no report", "Give another name.")
            rows = self.found_items.slice(0, _ITEMS_ON_PAGE if max_pairs is None else max_pairs).to_pylist()
            page = contamination_page(
                title or "Benchmark items in training data", self._sentence(), self.benchmarks.to_pylist(),
                [(row, self._excerpt(row)) for row in rows], self.found_items.num_rows - len(rows),
            )  # fmt: skip
            place.write_text(page, encoding="utf-8")
        return Path(path)

    def _sentence(self) -> str:
        whole = self.benchmarks.filter(pc.field("part") == ALL_PARTS)
        n_items, n_found = (pc.sum(whole["n_items"]).as_py() or 0, self._n_found())
        found = self.overview()
        removed = f"{counted(found.n_dropped, 'document')} and {counted(found.n_removed_chars, 'character')} to remove"
        return f"{n_found:,} of {counted(n_items, 'benchmark item')} found; {removed}"

    def _n_found(self) -> int:
        whole = self.benchmarks.filter(pc.field("part") == ALL_PARTS)
        return sum(pc.sum(whole[name]).as_py() or 0 for name in ("n_whole", "n_part"))

    def _examples(self) -> Iterator[str]:
        names = ("benchmark", "part", "items", "whole", "in part", "common", "too short", "share of characters", "documents")
        columns = ("benchmark", "part", "n_items", "n_whole", "n_part", "n_common", "n_short", "share_chars", "n_documents")
        yield listed(names, ([row[name] for name in columns] for row in self.benchmarks.to_pylist()))
        rows = self.found_items.slice(0, _SHOWN_ITEMS).to_pylist()
        if rows:
            shown = ((*(row[name] for name in ("benchmark", "item", "field")), found_how(row), row["n_documents"],
                      f"{row['id']} [{row['start']:,}:{row['end']:,}]", self._excerpt(row)) for row in rows)  # fmt: skip
            heads = ("benchmark", "item", "field", "found", "documents", "most of it in", "text")
            yield listed(heads, shown, self.found_items.num_rows - len(rows))

    def _excerpt(self, row: dict[str, Any]) -> str:
        text = " ".join(self.text_of(row).split())
        return text if len(text) <= _MOST_CHARS else text[: _MOST_CHARS - 1] + "…"

    def _count(self) -> dict[str, int]:
        items = self.benchmarks.filter(pc.field("part") == ALL_PARTS)
        numbers = {f"items_{name[2:]}": int(pc.sum(items[name]).as_py() or 0) for name in ("n_whole", "n_part", "n_common")}
        return {"benchmark_items": int(pc.sum(items["n_items"]).as_py() or 0), **numbers, **super()._count()}
