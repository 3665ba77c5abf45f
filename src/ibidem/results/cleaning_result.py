"""What `dedup` gives back: what goes and why, what remains, and the cleaned collection on disk."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ibidem.clusters.removals import Removals
from ibidem.columns.collection import Documents, text_key
from ibidem.config import Config
from ibidem.errors import InputError, OutputExistsError, ResourceError, SettingsError
from ibidem.execution.durable_files import make_folder, replace_file, sync_folder
from ibidem.formats import read, resolve_inputs
from ibidem.formats.copies import check_cuts_possible, rewrite
from ibidem.formats.copy_names import MARKS_FILE, STAGED_FOLDER, UNFINISHED_FILE, output_paths
from ibidem.formats.decisions import Decisions, without_spans
from ibidem.formats.edits import changed, changed_input
from ibidem.formats.expansion_limit import is_unfolded
from ibidem.formats.file_states import FileState, file_states, first_change
from ibidem.formats.inputs import FileSource, Source, read_written
from ibidem.model import Document, Skipped
from ibidem.results.overview import CleaningOverview
from ibidem.results.result import RunResult
from ibidem.results.table_files import WORK_FOLDER, check_is_folder, told_settings, write_result


@dataclass(frozen=True, repr=False)
class AnyCleaningResult(RunResult):
    """What was decided about a collection. Nothing is changed: `write` and `remaining` give what is left of it.

    Both read the inputs once more, and raise an InputError if these are not what was decided about. `states` are those of the
    files before they were read.
    """

    original: Any
    states: Mapping[str, FileState]

    def __len__(self) -> int:
        return self.overview().n_removals

    def __repr__(self) -> str:
        found = self.overview()
        return (
            f"<{type(self).__name__}: {found.n_dropped} of {found.n_documents} documents and "
            f"{found.n_removed_chars} characters go>"
        )

    @property
    def removed(self) -> pa.Table:
        """What goes, one row each: where it stands, and what it matches."""
        raise NotImplementedError

    def overview(self) -> CleaningOverview:
        """Return what a summary tells."""
        raise NotImplementedError

    def changes(self) -> Iterator[tuple[int, tuple[tuple[int, int], ...] | None]]:
        """Yield the documents that change, by number, in order, and what is cut out of each; None: all of it goes."""
        raise NotImplementedError

    def known_texts(self) -> Iterator[tuple[int, tuple[int, int]]]:
        """Yield the documents that change, by number, in order, and the checks of their texts."""
        raise NotImplementedError

    def first_removed(self, count: int) -> list[dict[str, Any]]:
        """Return the first rows of what goes, each with the number of its document."""
        raise NotImplementedError

    def decisions(self, mark_only: bool) -> Decisions:
        """Return what happens to the records of the input files."""
        raise NotImplementedError

    @property
    def mark_columns(self) -> pa.Schema:
        """The columns that records get where nothing is removed."""
        raise NotImplementedError

    def removed_rows(self) -> pa.Table | pa.RecordBatchReader:
        """Return what goes, for one reading."""
        return self.removed

    def remaining(self) -> Iterator[Document]:
        """Yield the documents that remain, what is cut taken out of their texts; the inputs are read once more."""
        changes = zip(self.changes(), self.known_texts(), strict=True)
        next_change = next(changes, None)
        fields, key = dataclasses.asdict(self.config.documents), text_key(self.config.sentences.hash_seed)
        self._check_unchanged()
        for number, document in enumerate(read(self.original, on_skip=lambda record: None, **fields)):
            if next_change is None or next_change[0][0] != number:
                yield document
                continue
            (_, cuts), (_, check) = next_change
            if tuple(key.of_texts(pa.array([document.text], pa.large_string()))[0].tolist()) != check:
                raise changed_input(f"the document {document.id}")
            if cuts is not None:
                yield dataclasses.replace(document, text=without_spans(document.text, cuts))
            next_change = next(changes, None)
        self._check_unchanged()
        if next_change is not None:
            raise changed_input("an input")

    def write(
        self, folder: str | os.PathLike[str], on_bytes: Callable[[int], None] | None = None, **settings: Any
    ) -> list[Path]:
        """Write the cleaned collection in the formats of its files, `removed.jsonl`, `skipped.jsonl` and `run.json`.

        Settings: `mark_only`, `overwrite`. The inputs must be files; they are read once more, as streams. Nothing takes its
        place before everything is written: if it fails until then, what was there before is there still, and nothing else. If
        it fails later, `unfinished.json` says so, and files that have no place yet are in `.cleaned`. It fails if an input has
        changed since it was read, or was too large to be read to its end.
        """
        unknown = set(settings) - {"mark_only", "overwrite"}
        if unknown:
            raise SettingsError([f"{name} cannot be changed after the work" for name in sorted(unknown)])
        config = Config.of(self.config, **settings)
        path = Path(folder)
        sources = check_cleaning(self.original, path, config)
        mark_only = config.cleaning.mark_only
        columns = self.mark_columns if mark_only else None
        damaged = {record.source for record in self.skipped if record.position == 0}
        for record in self.skipped:
            if record.position == 0 and is_unfolded(record.reason):
                message = f"{record.source} unfolds too far to be read to its end; a cleaned copy would lack the rest"
                raise InputError(message, "Decompress it first, or leave it out.")
        self._check_unchanged(sources)
        staged, was_there = path / STAGED_FOLDER, path.exists()
        shutil.rmtree(staged, ignore_errors=True)  # of a run that was killed
        try:
            written = rewrite(sources, self.decisions(mark_only), staged, config.documents, columns, on_bytes, damaged)
            run = self.run() | {
                "settings": told_settings(config),
                "written": [str(file.relative_to(staged)) for file in written],
                "not_copied": unread_sources(sources, self.skipped),
            }
            written += write_result(staged, {"removed": self.removed_rows()}, self.skipped, run, "jsonl", clear=False)
            self._check_unchanged()
            return _take_places(staged, path, [str(file.relative_to(staged)) for file in written])
        finally:
            if not (path / UNFINISHED_FILE).exists():  # else some of the new files may be nowhere else
                shutil.rmtree(staged, ignore_errors=True)
            if not was_there:
                with suppress(OSError):
                    path.rmdir()  # it was made for this; it is not empty unless nothing came of it

    def _check_unchanged(self, sources: Sequence[Source] | None = None) -> None:
        """Raise InputError if a file is not what it was before it was read."""
        change = first_change(self.states, file_states(resolve_inputs(self.original) if sources is None else sources))
        if change is not None:
            raise changed(change)

    def _result_counts(self) -> dict[str, int]:
        found = self.overview()
        return {
            "removed_documents": found.n_dropped,
            "removed_characters": found.n_removed_chars,
            "removals": found.n_removals,
        }


@dataclass(frozen=True, repr=False)
class CleaningResult(AnyCleaningResult):
    """What was decided about a collection that is in memory."""

    removals: Removals
    documents: Documents

    @property
    def removed(self) -> pa.Table:
        """What goes, one row each: where it stands, and what it matches."""
        return self.removals.table(self.documents)

    def overview(self) -> CleaningOverview:
        """Return what a summary tells."""
        n_dropped = int(np.count_nonzero(self.removals.is_dropped))
        n_cut = len(np.unique(self.removals.document)) - n_dropped
        n_input = self.documents.n_input
        n_chars = int(self.documents.n_chars[:n_input].sum())
        return CleaningOverview(n_input, n_chars, n_dropped, n_cut, len(self.removals), self.removals.n_chars)

    def changes(self) -> Iterator[tuple[int, tuple[tuple[int, int], ...] | None]]:
        """Yield the documents that change, by number, in order, and what is cut out of each; None: all of it goes."""
        cuts = self.removals.cuts()
        for number in np.unique(self.removals.document).tolist():
            yield number, None if self.removals.is_dropped[number] else cuts[number]

    def known_texts(self) -> Iterator[tuple[int, tuple[int, int]]]:
        """Yield the documents that change, by number, in order, and the checks of their texts."""
        numbers = np.unique(self.removals.document)
        _, checks = self.documents.text_checks(numbers)
        yield from zip(numbers.tolist(), map(tuple, checks.tolist()), strict=True)

    def first_removed(self, count: int) -> list[dict[str, Any]]:
        """Return the first rows of what goes, each with the number of its document."""
        numbers = self.removals.document[:count].tolist()
        rows = self.removals.table(self.documents, 0, count).to_pylist()
        return [row | {"document": number} for row, number in zip(rows, numbers, strict=True)]

    def decisions(self, mark_only: bool) -> Decisions:
        """Return what happens to the records of the input files."""
        return self.removals.decisions(self.documents, mark_only)

    @property
    def mark_columns(self) -> pa.Schema:
        """The columns that records get where nothing is removed."""
        return self.removals.mark_columns


def check_cleaning(inputs: Any, folder: Path | None, config: Config) -> list[Source]:
    """Raise unless a cleaned copy of the inputs can be written into the folder; called before the work, and before writing.

    Without a folder, only what concerns the inputs is checked. Returns what the inputs stand for.
    """
    sources = resolve_inputs(inputs)
    if folder is not None:
        check_is_folder(folder)
        earlier = _earlier_files(folder)
        passing = (WORK_FOLDER, STAGED_FOLDER, f"{UNFINISHED_FILE}.part")
        if folder.exists() and any(path.name not in passing for path in folder.iterdir()):
            if earlier is None:
                raise OutputExistsError(f"{folder} holds other files than a cleaned collection", "Give another folder with -o.")
            if not config.output.overwrite:
                what = "an unfinished run" if (folder / UNFINISHED_FILE).exists() else "results already"
                raise OutputExistsError(f"{folder} holds {what}", "Give another folder, or --overwrite to replace them.")
        names = {os.path.realpath(source.path) for source in sources if isinstance(source, FileSource)}
        if any(os.path.realpath(file) in names for file in earlier or ()):
            raise OutputExistsError(f"inputs are among the results that {folder} holds", "Give another folder with -o.")
    output_paths(sources, folder or Path("cleaned"))
    if config.cleaning.level != "document" and not config.cleaning.mark_only:
        check_cuts_possible(sources, config.documents)
    return sources


def _earlier_files(folder: Path) -> list[Path] | None:
    """Return the files of an earlier cleaning, finished or not, or None if the folder holds none."""
    for name in (UNFINISHED_FILE, "run.json"):
        written = read_written(folder / name)
        if written is not None:
            return [folder / file for file in written]
    return None


def _remove_listed(folder: Path) -> None:
    """Remove what the folder says was written, or will be; `run.json` first, for it says that all is there."""
    files = _earlier_files(folder) or []
    (folder / "run.json").unlink(missing_ok=True)
    for file in files:
        if folder.resolve() in file.resolve().parents:
            file.unlink(missing_ok=True)
            file.with_name(file.name + ".part").unlink(missing_ok=True)


def _take_places(staged: Path, folder: Path, names: list[str]) -> list[Path]:
    """Move files, the last of which says that all are there, to where they belong, in place of those of an earlier cleaning.

    Meanwhile a file lists what lies there of both, so that it can be told from files of the user's. It is on disk before
    anything else changes, and removed when everything else is on disk.
    """
    earlier = [str(file.relative_to(folder)) for file in _earlier_files(folder) or ()]
    listed = sorted({*earlier, *names, MARKS_FILE, "removed.jsonl", "skipped.jsonl"} - {"run.json"})
    try:
        aside = folder / f"{UNFINISHED_FILE}.part"
        aside.write_text(json.dumps({"written": listed}), encoding="utf-8")
        replace_file(aside, folder / UNFINISHED_FILE)
        _remove_listed(folder)
        for name in names:
            make_folder((folder / name).parent)
            os.replace(staged / name, folder / name)
        for place in sorted({(folder / name).parent for name in (*earlier, *names)}):
            with suppress(FileNotFoundError):
                sync_folder(place)
        (folder / UNFINISHED_FILE).unlink()
        sync_folder(folder)
    except OSError as error:
        message = f"cannot write to {folder}: {error.strerror or error}"
        raise ResourceError(message, "Is there room, and may you write there?") from error
    return [folder / name for name in names]


def unread_sources(sources: Iterable[Source], skipped: Iterable[Skipped]) -> list[str]:
    """Return the names of inputs that cannot even be opened, of which there can be no copy."""
    told = {record.source for record in skipped if record.position == 0}
    suspects = [source for source in sources if isinstance(source, FileSource) and source.name in told]
    return [source.name for source in suspects if not os.access(source.path, os.R_OK)]
