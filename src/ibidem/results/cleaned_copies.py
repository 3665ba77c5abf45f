"""The cleaned copy of a collection: as documents, or as files in the formats of the inputs."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.text_checks import text_key
from ibidem.config import Config
from ibidem.config.addresses import is_remote
from ibidem.config.cleaning_settings import CleaningConfig
from ibidem.config.surface import given, in_shell
from ibidem.errors import InputError, OutputExistsError, ResourceError
from ibidem.execution.durable_files import make_folder, replace_file, sync_folder
from ibidem.execution.output_folder import WORK_FOLDER, check_is_folder
from ibidem.formats import read, resolve_inputs
from ibidem.formats.byte_streams import is_unfolded
from ibidem.formats.copies import check_cuts_possible, rewrite
from ibidem.formats.decisions import without_spans
from ibidem.formats.edits import changed, changed_input
from ibidem.formats.file_access import read_written
from ibidem.formats.file_names import MARKS_FILE, STAGED_FOLDER, UNFINISHED_FILE, output_paths
from ibidem.formats.sources import FileSource, FileState, Source, file_states, first_change, place_of
from ibidem.model import Document, Skipped
from ibidem.results.cleaned_objects import are_objects, clean_inputs, kept_rows
from ibidem.results.decisions import Snippets, TableDecisions, changes_of, marks_of
from ibidem.results.remote_folder import among_results, check_cleaned_folder, check_copies_replace_none, copies_sent_to
from ibidem.results.storage import DecidedTable, as_stream
from ibidem.results.table_files import settings_by_stage, write_result

if TYPE_CHECKING:
    from ibidem.results.disk_storage import DiskBacking
    from ibidem.results.memory_storage import MemoryBacking


@dataclass(frozen=True)
class LocalCopies:
    """Reads the inputs again; raises InputError if they have changed since the decision.

    `states` are those of the files before they were read. The backing has a table of what is removed and, where whole
    documents are, one of the members of all clusters. `tables` are written, too, as is the X.
    """

    original: Any
    states: Mapping[str, FileState]
    backing: MemoryBacking | DiskBacking
    tables: Mapping[str, pa.Table] = field(default_factory=dict)

    def remaining(self, config: Config) -> Iterator[Document]:
        """Yield the remaining documents, without what is cut from their texts."""
        changes = changes_of(self.backing.table("removed"))
        next_change = next(changes, None)
        fields, key = dataclasses.asdict(config.documents), text_key(config.sentences.hash_seed)
        self._check_unchanged()
        for number, document in enumerate(read(self.original, on_skip=lambda record: None, **fields)):
            if next_change is None or next_change.document != number:
                yield document
                continue
            if tuple(key.of_texts(pa.array([document.text], pa.large_string()))[0].tolist()) != next_change.check:
                raise changed_input(f"the document {document.id}")
            if next_change.cuts is not None:
                yield dataclasses.replace(document, text=without_spans(document.text, next_change.cuts))
            next_change = next(changes, None)
        self._check_unchanged()
        if next_change is not None:
            raise changed_input("an input")

    def cleaned(self, config: Config) -> Any:
        """Return the objects that the inputs are, without what is removed; UsageError if these are files."""
        marks = marks_of(config.cleaning, self._members is not None)
        return clean_inputs(self.original, self._decisions(config), config.documents, marks)

    def keep_mask(self) -> NDArray[np.bool_]:
        """Return for each row of the inputs whether it stays; of files, for each document that was read."""
        if are_objects(self.original):
            return kept_rows(self.original, self._decisions(None))
        keep = np.ones(self.backing.sizes().n_documents, np.bool_)
        keep[[change.document for change in changes_of(self.backing.table("removed")) if change.cuts is None]] = False
        return keep

    def _decisions(self, config: Config | None, snippets: Snippets | None = None) -> TableDecisions:
        """Return what happens to each record; without settings, what is removed."""
        key = text_key(0 if config is None else config.sentences.hash_seed)
        cleaning = CleaningConfig() if config is None else config.cleaning
        return TableDecisions(self.backing.decided("removed"), self._members, cleaning, key, snippets)

    def write(
        self, folder: str | os.PathLike[str], config: Config, skipped: Sequence[Skipped],
        run: Callable[[], Mapping[str, Any]], on_bytes: Callable[[int], None] | None,
    ) -> list[Path]:  # fmt: skip
        """Write the cleaned files, `removed.jsonl`, `skipped.jsonl` and `run.json`; return the paths."""
        if isinstance(folder, str) and is_remote(folder):
            check_cleaning(self.original, folder, config)
            with copies_sent_to(folder, config.engine.tmp_folder) as place:
                self.write(place, config, skipped, run, on_bytes)
            return []
        path = Path(folder)
        sources = check_cleaning(self.original, path, config)
        marks = marks_of(config.cleaning, self._members is not None)
        damaged = {record.source for record in skipped if record.position == 0}
        for record in skipped:
            if record.position == 0 and is_unfolded(record.reason):
                message = f"{record.source} expands too far to be read to its end; a cleaned copy would lack the rest"
                raise InputError(message, "Decompress it first, or leave it out.")
        self._check_unchanged(sources)
        snippets = Snippets(self.backing.decided("removed"))
        decisions = self._decisions(config, snippets)
        staged, was_there = path / STAGED_FOLDER, path.exists()
        shutil.rmtree(staged, ignore_errors=True)  # left by a killed run
        try:
            written = rewrite(sources, decisions, staged, config.documents, marks, on_bytes, damaged)
            described = {
                **run(),
                "settings": settings_by_stage(config),
                "written": [str(file.relative_to(staged)) for file in written],
                "not_copied": unread_sources(sources, skipped),
            }
            tables: dict[str, Any] = {"removed": snippets.stream(), **self.tables}
            if self.backing.has("item_places"):
                tables["item_places"] = as_stream(self.backing.table("item_places"))
            written += write_result(staged, tables, skipped, described, "jsonl", clear=False)
            self._check_unchanged()
            return _take_places(staged, path, [str(file.relative_to(staged)) for file in written])
        finally:
            if not (path / UNFINISHED_FILE).exists():  # otherwise some of the new files may be nowhere else
                shutil.rmtree(staged, ignore_errors=True)
            if not was_there:
                with suppress(OSError):
                    path.rmdir()  # created for this; it is empty only if nothing was written

    @property
    def _members(self) -> DecidedTable | None:
        return self.backing.decided("members") if self.backing.has("members") else None

    def _check_unchanged(self, sources: Sequence[Source] | None = None) -> None:
        """Raise InputError if a file is not what it was before it was read."""
        change = first_change(self.states, file_states(resolve_inputs(self.original) if sources is None else sources))
        if change is not None:
            raise changed(change)


def check_cleaning(inputs: Any, folder: Path | str | None, config: Config) -> list[Source]:
    """Raise unless a cleaned copy of the inputs can be written into the folder; called before the work, and before writing.

    Without a folder, only what concerns the inputs is checked. Returns the resolved inputs.
    """
    sources = resolve_inputs(inputs)
    if isinstance(folder, str):  # elsewhere
        below = Path("cleaned")
        copies = [path.relative_to(below).as_posix() for path in output_paths(sources, below)]
        check_copies_replace_none(copies, sources, folder)
        check_cleaned_folder(folder, config.output.overwrite)
        folder = None
    if folder is not None:
        check_is_folder(folder)
        earlier = _earlier_files(folder)
        passing = (WORK_FOLDER, STAGED_FOLDER, f"{UNFINISHED_FILE}.part")
        if folder.exists() and any(path.name not in passing for path in folder.iterdir()):
            if earlier is None:
                raise OutputExistsError(
                    f"{folder} contains other files than a cleaned collection", f"Give another folder{in_shell(' with -o')}."
                )
            if not config.output.overwrite:
                what = "an unfinished run" if (folder / UNFINISHED_FILE).exists() else "results"
                raise OutputExistsError(
                    f"{folder} already contains {what}", f"Give another folder, or {given('overwrite', True)} to replace them."
                )
        names = {place_of(source) for source in sources if isinstance(source, FileSource)}
        if any(os.path.realpath(file) in names for file in earlier or ()):
            raise among_results(folder)
    output_paths(sources, folder or Path("cleaned"))
    if config.cleaning.level != "document" and not config.cleaning.mark_only:
        check_cuts_possible(sources, config.documents)
    return sources


def _earlier_files(folder: Path) -> list[Path] | None:
    """Return the files of an earlier cleaning, finished or not, or None if the folder has none."""
    for name in (UNFINISHED_FILE, "run.json"):
        written = read_written(folder / name)
        if written is not None:
            return [folder / file for file in written]
    return None


def _remove_listed(folder: Path) -> None:
    """Remove the listed files, written or not; `run.json` first, because it says that the results are complete."""
    files = _earlier_files(folder) or []
    (folder / "run.json").unlink(missing_ok=True)
    for file in files:
        if folder.resolve() in file.resolve().parents:
            file.unlink(missing_ok=True)
            file.with_name(file.name + ".part").unlink(missing_ok=True)


def _take_places(staged: Path, folder: Path, names: list[str]) -> list[Path]:
    """Move files, the last of which marks the results as complete, to their places, replacing those of an earlier cleaning.

    During this, a file lists the files of both, so that they can be distinguished from the user's files. It is on disk before
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
        raise ResourceError(message, "Check disk space and permissions.") from error
    return [folder / name for name in names]


def unread_sources(sources: Iterable[Source], skipped: Iterable[Skipped]) -> list[str]:
    """Return the names of inputs that cannot even be opened, and so cannot be copied."""
    unread = {record.source for record in skipped if record.position == 0}
    suspects = [source for source in sources if isinstance(source, FileSource) and source.name in unread]
    return [source.name for source in suspects if not _can_be_opened(source.path)]


def _can_be_opened(path: str) -> bool:
    return is_remote(path) or os.access(path, os.R_OK)  # where it cannot be read, a run ends
