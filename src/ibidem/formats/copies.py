"""Copies of all inputs."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path

from ibidem.config import DocumentsConfig
from ibidem.config.surface import given
from ibidem.errors import InputError, ResourceError
from ibidem.execution.durable_files import make_folder, sync_files
from ibidem.formats.byte_streams import READ_ERRORS, is_utf8
from ibidem.formats.copy_files import InputFile, OutputFile, encoding_of_source, format_of_source
from ibidem.formats.decisions import Decisions, Marks, to_json
from ibidem.formats.edits import Edits
from ibidem.formats.field_paths import is_path
from ibidem.formats.file_encodings import AUTO
from ibidem.formats.file_names import MARKS_FILE, output_paths
from ibidem.formats.reader import file_jobs
from ibidem.formats.registry import FORMATS, load_format
from ibidem.formats.sources import FileSource, Source


def rewrite(
    sources: Sequence[Source],
    decisions: Decisions,
    folder: Path,
    config: DocumentsConfig,
    marks: Marks | None = None,
    on_bytes: Callable[[int], None] | None = None,
    damaged: Collection[str] = (),
) -> list[Path]:
    """Write a copy of each source into a folder, changed as decided, and return the paths.

    Kept records keep their bytes in all formats except Parquet, in encodings that write each character in one way. With
    `marks`, no record is cut; each that stays gets these columns instead, and records without fields are listed in
    `marks.jsonl`. Bytes that were read are reported to `on_bytes`.

    `damaged` names the sources that the reader could not read to the end: what can be read of them is copied. Any other that
    cannot be read, or has changed since the decision, raises InputError. What can be checked is checked before a file is
    written; a file gets its name only when complete. When this returns, all contents are durable; the names are not, as they
    are not final.
    """
    paths = output_paths(sources, folder)
    files = [source for source in sources if isinstance(source, FileSource)]
    run = _Run(decisions, config, marks, on_bytes or _ignore, damaged)
    formats = [run.check(source) for source in files]
    unlike = [source for source, kind in zip(files, formats, strict=True) if kind is not None and not FORMATS[kind].has_fields]
    try:
        make_folder(folder)
        work = zip(files, formats, paths, strict=True)
        written = [path for source, kind, path in work if run.write(source, kind, path)]
        if run.marks is not None and unlike:
            written.append(run.list_marks(unlike, folder / MARKS_FILE))
        sync_files(written)
    except OSError as error:
        raise ResourceError(
            f"cannot write to {folder}: {error.strerror or error}", "Check disk space and permissions."
        ) from error
    return written


def check_cuts_possible(sources: Sequence[Source], config: DocumentsConfig) -> None:
    """Raise InputError if texts of a source cannot be cut because they are extracted from HTML, PDF or the like."""
    for source in sources:
        if isinstance(source, FileSource):
            try:
                kind = format_of_source(source)
            except READ_ERRORS:
                continue  # the reader will report it
            if FORMATS[kind].is_extracted:
                raise InputError(
                    f"{source.name}: passages cannot be cut out of {kind} files, whose text is extracted",
                    f"Use {given('mark_only', True)} or {given('level', 'document')}, or clean the extracted texts: find with "
                    f"{given('format', 'jsonl')} writes them to texts.jsonl.",
                )
            if FORMATS[kind].is_html or (config.html and FORMATS[kind].has_fields):
                raise InputError(
                    f"{source.name}: passages cannot be cut out of HTML",
                    f"Use {given('mark_only', True)} or {given('level', 'document')}, or extract the text from the HTML first.",
                )


def _ignore(n_bytes: int) -> None:
    """Report nothing."""


class _Run:
    """What all files of a run share."""

    def __init__(
        self,
        decisions: Decisions,
        config: DocumentsConfig,
        marks: Marks | None,
        on_bytes: Callable[[int], None],
        damaged: Collection[str],
    ) -> None:
        self.marks = marks
        self._decisions = decisions
        self._config = config
        self._on_bytes = on_bytes
        self._damaged = frozenset(damaged)

    def check(self, source: FileSource) -> str | None:
        """Return the format of a source, None if unknown; raise InputError if it cannot be rewritten."""
        try:
            kind = format_of_source(source)
            if self.marks is not None:
                self.marks.check(self._names(source, kind), source.name if FORMATS[kind].has_fields else MARKS_FILE)
        except READ_ERRORS as error:
            self._allow(source, error)
            return None
        if is_path(self._config.text_field) and FORMATS[kind].has_fields:
            self._check_field(source, kind)
        if self.marks is None and self._decisions.of_source(source.name).has_cuts:
            check_cuts_possible([source], self._config)
        return kind

    def write(self, source: FileSource, kind: str | None, path: Path) -> bool:
        """Write the copy of a source; return whether there is one."""
        decisions = self._decisions.of_source(source.name)
        encoding = self._config.encoding
        encoding = encoding_of_source(source, kind) if encoding == AUTO else encoding
        edits = Edits(source.name, replace(self._config, encoding=encoding), decisions, self.marks, is_utf8(encoding))
        lacks_fields = kind is not None and not FORMATS[kind].has_fields
        if lacks_fields and len(decisions):
            # Their writers do not look at texts.
            for job in file_jobs([source], edits.wanted):
                edits.meet_documents(job().batches)
            edits.check_all_met()
        is_marked = self.marks is not None and not lacks_fields
        as_it_is = self._is_unread(source) if is_marked else not (decisions.has_drops if self.marks else len(decisions))
        if not as_it_is and kind is not None and FORMATS[kind].is_document and (decision := decisions.at(0)):
            if decision.drop:
                self._on_bytes(source.n_bytes or 0)
                return False
            as_it_is = not decision.cuts
        try:
            file = InputFile(source, kind, encoding, self._on_bytes)
        except OSError as error:
            self._allow(source, error)
            return False
        with file, OutputFile(path, file) as output:
            if as_it_is or kind is None:
                file.damage = None
                for data in file.stored_chunks():
                    output.write_stored(data)
            else:
                load_format(kind).rewrite(file, output, edits)
                file.copy_rest(output)
            if file.damage is not None:
                self._allow(source, file.damage)
            if not as_it_is:
                edits.finish()
        return True

    def list_marks(self, sources: Sequence[FileSource], path: Path) -> Path:
        """Write the marks of records that have no fields."""
        assert self.marks is not None
        aside = path.with_name(path.name + ".part")
        try:
            with open(aside, "w", encoding="utf-8", errors="surrogatepass") as file:
                for source in sources:
                    decided = self._decisions.of_source(source.name).all()
                    for position, decision in ((position, one) for position, one in decided if not one.drop):
                        whole = {} if position else {"id": source.doc_id}
                        marks = zip(self.marks.names, self.marks.values(decision), strict=True)
                        file.write(to_json({"source": source.name, "position": position, **whole, **dict(marks)}) + "\n")
            os.replace(aside, path)
        finally:
            aside.unlink(missing_ok=True)
        return path

    def _names(self, source: FileSource, kind: str) -> Collection[str]:
        """Return the field names of the records of a source, as far as its beginning shows."""
        if not FORMATS[kind].has_fields:
            return ("source", "position", "id")
        file = InputFile(source, kind, self._config.encoding, _ignore)
        with file:
            return load_format(kind).field_names(file)

    def _check_field(self, source: FileSource, kind: str) -> None:
        """Raise InputError if texts are inside of other fields: they could not be written back there."""
        if len(self._decisions.of_source(source.name)) and self._config.text_field not in self._names(source, kind):
            name = self._config.text_field
            message = f"{source.name}: the text is inside of another field ('{name}'), and cannot be written back there"
            raise InputError(message, "Copy the text into a field of its own first.")

    def _is_unread(self, source: FileSource) -> bool:
        """Return whether the reader could read nothing of a source, so that there is nothing to mark either."""
        return source.name in self._damaged and not len(self._decisions.of_source(source.name))

    def _allow(self, source: FileSource, error: Exception) -> None:
        """Raise InputError unless it is known that a source cannot be read to its end."""
        if source.name not in self._damaged:
            reason = getattr(error, "strerror", None) or error
            message = f"{source.name} cannot be read to its end: {reason}"
            raise InputError(message, "Repair the file, or leave it out.") from error
