"""What `dedup` gives back: what goes and why, what remains, and the cleaned collection on disk."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ibidem.cleaning import check_cuts_possible, output_paths, rewrite
from ibidem.cleaning.decisions import without_spans
from ibidem.collection import Documents
from ibidem.config import Config
from ibidem.documents import read, resolve_inputs
from ibidem.errors import OutputExistsError
from ibidem.model import Document
from ibidem.removals import Removals
from ibidem.reports.writing import write_result
from ibidem.result import RunResult


@dataclass(frozen=True, repr=False)
class CleaningResult(RunResult):
    """What was decided about a collection. Nothing is changed: `write` and `remaining` give what is left of it."""

    removals: Removals
    documents: Documents
    original: Any

    def __len__(self) -> int:
        return len(self.removals)

    def __repr__(self) -> str:
        counts = self._result_counts()
        return (
            f"<CleaningResult: {counts['removed_documents']} of {self.documents.n_input} documents and "
            f"{counts['removed_characters']} characters go>"
        )

    @property
    def removed(self) -> pa.Table:
        """What goes, one row each: where it stands, and what it matches."""
        return self.removals.table(self.documents)

    def remaining(self) -> Iterator[Document]:
        """Yield the documents that remain, what is cut taken out of their texts; the inputs are read once more."""
        cuts = self.removals.cuts()
        fields = dataclasses.asdict(self.config.documents)
        for number, document in enumerate(read(self.original, on_skip=lambda record: None, **fields)):
            if not self.removals.is_dropped[number]:
                spans = cuts.get(number)
                yield dataclasses.replace(document, text=without_spans(document.text, spans)) if spans else document

    def write(
        self, folder: str | os.PathLike[str], on_bytes: Callable[[int], None] | None = None, **settings: Any
    ) -> list[Path]:
        """Write the cleaned collection in the formats of its files, `removed.jsonl`, `skipped.jsonl` and `run.json`.

        Settings: `mark_only`, `overwrite`. The inputs must be files; they are read once more, as streams.
        """
        config = Config.of(self.config, **settings)
        path = Path(folder)
        check_cleaning(self.original, path, config)
        _remove_earlier(path)
        mark_only = config.cleaning.mark_only
        columns = self.removals.mark_columns if mark_only else None
        damaged = {record.source for record in self.skipped if record.position == 0}
        decisions = self.removals.decisions(self.documents, mark_only)
        sources = resolve_inputs(self.original)
        written = rewrite(sources, decisions, path, config.documents, columns, on_bytes, damaged)
        run = self.run() | {"written": [str(file.relative_to(path)) for file in written]}
        return written + write_result(path, {"removed": self.removed}, self.skipped, run, "jsonl", clear=False)

    def _result_counts(self) -> dict[str, int]:
        return {
            "removed_documents": int(np.count_nonzero(self.removals.is_dropped)),
            "removed_characters": self.removals.n_chars,
            "removals": len(self.removals),
        }


def check_cleaning(inputs: Any, folder: Path, config: Config) -> None:
    """Raise unless a cleaned copy of the inputs can be written into the folder; called before the work, and before writing."""
    if folder.exists() and not folder.is_dir():
        raise OutputExistsError(f"{folder} is a file, not a folder", "Give another folder with -o.")
    if folder.exists() and any(folder.iterdir()):
        if _earlier_files(folder) is None:
            raise OutputExistsError(f"{folder} holds other files than a cleaned collection", "Give another folder with -o.")
        if not config.output.overwrite:
            raise OutputExistsError(f"{folder} holds results already", "Give another folder, or --overwrite to replace them.")
    sources = resolve_inputs(inputs)
    output_paths(sources, folder)
    if config.cleaning.level != "document" and not config.cleaning.mark_only:
        check_cuts_possible(sources, config.documents)


def _earlier_files(folder: Path) -> list[Path] | None:
    """Return the files of an earlier cleaning, or None if the folder holds anything else."""
    try:
        written = json.loads((folder / "run.json").read_text("utf-8"))["written"]
        return [folder / name for name in written]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _remove_earlier(folder: Path) -> None:
    for file in _earlier_files(folder) or ():
        file.unlink(missing_ok=True)
