"""The entry point of all readers: from sources to batches of documents."""

from __future__ import annotations

import dataclasses
import functools
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

import pyarrow as pa

from ibidem.config import Config, DocumentsConfig
from ibidem.config.keywords import carried_out_by
from ibidem.config.surface import named
from ibidem.config.word_source import GivenPath
from ibidem.errors import InputError
from ibidem.formats.arrow_records import arrow_batches
from ibidem.formats.byte_streams import CHANGED, READ_ERRORS, ByteStream
from ibidem.formats.file_encodings import AUTO, LOOKED_AT, detected_encoding
from ibidem.formats.inputs import Resolved, resolve
from ibidem.formats.jobs import ENCODING, UNUSED, Job, Outcome, ReadingRemark, run_jobs, skip_source
from ibidem.formats.known_fields import fields_of
from ibidem.formats.metadata import NONE
from ibidem.formats.python_inputs import Taken, Texts, refuse_open_file, refuse_texts_without_ids, settle
from ibidem.formats.python_records import read_object
from ibidem.formats.records import UnfitTableError, Wanted
from ibidem.formats.registry import FORMATS, HEAD_BYTES, load_format, sniff_format, unfit_reason
from ibidem.formats.sources import FileSource, ObjectSource, has_arrow
from ibidem.formats.text_files import read_files
from ibidem.model import Document, Skipped

MIN_BATCH_BYTES = 1 << 20


def read_batches(
    inputs: Any,
    config: DocumentsConfig,
    on_skip: Callable[[Skipped], None],
    on_bytes: Callable[[int], None] | None = None,
    on_remark: Callable[[ReadingRemark], None] | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield the documents of all inputs, in the order of the inputs, as batches of the schema DOCUMENT_BATCH.

    A batch has at most 16 MB of text unless it is one document. Records that cannot be used go to `on_skip`,
    raw bytes read are reported to `on_bytes`, times in no known form and the like to `on_remark`; all are called in
    the caller's thread. A path without files is an InputError at once.
    """
    outcomes = _read_outcomes(resolve(inputs), Wanted(config))
    reported = _report(outcomes, on_skip, on_bytes, on_remark)
    return _merge_small(batch for outcome in reported for batch in outcome.batches)


def _read(inputs: Any, *, on_skip: Callable[[Skipped], None] | None = None, **settings: Any) -> Iterator[Document]:
    config = Config.of(**settings).documents
    return _read_documents(_read_outcomes(resolve(inputs), Wanted(config, other_fields=True)), on_skip)


@carried_out_by(_read)
def read(
    inputs: Any, *, on_skip: Callable[[Skipped], None] | None = None,
    # settings of read
    text_field: str = "text", id_field: str = "id", time_field: str = "time", group_field: str = "group",
    date_format: str = "auto", metadata: GivenPath = "none", metadata_key: str = "auto", time_from: str = "none",
    group_from: str = "none", query: str = "none", html: bool = False, main_content: bool = False, text_path: str = "auto",
    encoding: str = "utf-8",
    # end of settings
) -> Iterator[Document]:  # fmt: skip
    """Yield the documents of all inputs one by one, with all further fields of their records in `fields`.

    Inputs are as for `find`. Without `on_skip`, one warning at the end says how many records were left out.

    >>> import ibidem
    >>> [(document.id, document.fields) for document in ibidem.read([{"id": 1, "body": "Hello.", "n": 3}], text_field="body")]
    [('1', {'n': 3})]
    """
    raise NotImplementedError


def as_stream(documents: Any, config: DocumentsConfig) -> Any:
    """Return inputs as records that can be taken one by one; a list or iterator of records is that already.

    Records of files that cannot be used are in it as `Skipped`. Texts need ids.
    """
    refuse_open_file(documents)
    if isinstance(documents, Iterator):
        return documents  # untouched: its first record may be long in coming
    if isinstance(documents, (list, tuple)):
        if not any(isinstance(item, (str, os.PathLike)) or has_arrow(item) for item in documents):
            return documents
    elif isinstance(documents, Sequence) and not isinstance(documents, (str, bytes)):
        return documents  # of our caller's own kind, untouched as well
    settled = settle(documents)
    refuse_texts_without_ids(settled)
    return _records_in(settled, config)


def _records_in(settled: list[Any], config: DocumentsConfig) -> Iterator[Any]:
    for item in settled:
        records = item.records if isinstance(item, Taken) else item
        if isinstance(records, Texts):
            yield from records.records(config.text_field, config.id_field)
        elif has_arrow(records):
            for batch in arrow_batches(records):
                yield from batch.to_pylist()
        elif isinstance(records, (str, os.PathLike)):
            skipped: list[Skipped] = []
            # Whoever takes the records extracts text from HTML fields.
            for document in _read(records, on_skip=skipped.append, **{**dataclasses.asdict(config), "html": False}):
                yield from skipped
                skipped.clear()
                yield document
            yield from skipped
        else:
            yield from records


def _merge_small(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Merge adjacent small batches: each one has a fixed cost."""
    waiting: list[pa.RecordBatch] = []
    n_waiting_bytes = 0
    for batch in batches:
        n_bytes = batch.column("text").nbytes
        if n_bytes < MIN_BATCH_BYTES:
            waiting.append(batch)
            n_waiting_bytes += n_bytes
        if waiting and max(n_bytes, n_waiting_bytes) >= MIN_BATCH_BYTES:
            yield pa.concat_batches(waiting)
            waiting, n_waiting_bytes = [], 0
        if n_bytes >= MIN_BATCH_BYTES:
            yield batch
    if waiting:
        yield pa.concat_batches(waiting)


def _read_documents(outcomes: Iterator[Outcome], on_skip: Callable[[Skipped], None] | None) -> Iterator[Document]:
    skipped: list[Skipped] = []
    n_skipped = 0

    def count(record: Skipped) -> None:
        nonlocal n_skipped
        n_skipped += 1
        if n_skipped == 1:
            skipped.append(record)

    for outcome in _report(outcomes, on_skip or count):
        others = iter(outcome.others or ())
        for batch in outcome.batches:
            columns = (batch.column(name).to_pylist() for name in ("id", "text", "time", "group"))
            for doc_id, text, time, group in zip(*columns, strict=True):
                yield Document(doc_id, text, time, group, next(others, {}))
    if skipped:
        first = skipped[0]
        warnings.warn(
            f"{n_skipped} records were skipped, the first at {first.source}:{first.position}: {first.reason}",
            stacklevel=2,
        )


def _report(
    outcomes: Iterator[Outcome],
    on_skip: Callable[[Skipped], None],
    on_bytes: Callable[[int], None] | None = None,
    on_remark: Callable[[ReadingRemark], None] | None = None,
) -> Iterator[Outcome]:
    for outcome in outcomes:
        for record in outcome.skipped:
            on_skip(record)
        if on_bytes is not None and outcome.n_bytes:
            on_bytes(outcome.n_bytes)
        for remark in outcome.remarks if on_remark is not None else ():
            on_remark(remark)  # type: ignore[misc]
        yield outcome


def _read_outcomes(resolved: Resolved, wanted: Wanted) -> Iterator[Outcome]:
    """Read everything, then raise InputError if that cannot be what the user meant."""
    resolved = resolved.without_repeated()
    if wanted.config.metadata != NONE:
        resolved = resolved.without_file(wanted.config.metadata)
    yield Outcome(skipped=resolved.skipped)
    n_documents = 0
    for outcome in _read_sources(resolved.sources, wanted):
        n_documents += sum(batch.num_rows for batch in outcome.batches)
        yield outcome
    if unused := wanted.additions.unused():
        yield Outcome(remarks=[ReadingRemark(len(unused), unused[0], UNUSED, tuple(unused))])
    if not n_documents and wanted.unfit_tables:
        raise wanted.unfit_tables[0]
    name = wanted.config.id_field
    if name != DocumentsConfig().id_field and wanted.id_fields_met == {False}:
        fields = fields_of(resolved.sources, wanted.config.encoding)
        raise InputError(f"no record has a field '{name}' with a value{fields}", f"Check {named('id_field')}.")


def _read_sources(sources: Iterable[FileSource | ObjectSource], wanted: Wanted) -> Iterator[Outcome]:
    """Read files in threads. Python objects stay in the caller's thread: a generator may be bound to it."""
    for is_file, group in groupby(sources, lambda source: isinstance(source, FileSource)):
        if is_file:
            yield from run_jobs(file_jobs(group, wanted))  # type: ignore[arg-type]
        else:
            for source in group:
                for job in read_object(source, wanted):  # type: ignore[arg-type]
                    yield job()


def file_jobs(sources: Iterable[FileSource], wanted: Wanted) -> Iterator[Job]:
    """Yield the jobs of files, one after the other."""
    for is_text, group in groupby(sources, _is_text_file):
        if is_text:
            yield from read_files(group, wanted)
        else:
            for source in group:
                yield from _read_file(source, wanted)


def _is_text_file(source: FileSource) -> bool:
    """Return whether a file is one text: such files may be many and small, and are read several at a time."""
    kind = None if source.format is None else FORMATS[source.format]
    return kind is not None and kind.is_document and not kind.is_binary


def _read_file(source: FileSource, wanted: Wanted) -> Iterator[Job]:
    """Yield the jobs of one file; if it cannot be read to its end, the last one says so."""
    try:
        with ByteStream(source.path) as stream:
            try:
                reason = "an empty file, not a compressed one" if stream.is_emptied() else None
                yield from _read_stream(stream, source, wanted)
                reason = CHANGED if stream.is_changed else reason
            except UnfitTableError as error:
                wanted.unfit_tables.append(error)
                reason = error.reason
            except READ_ERRORS as error:
                reason = f"cannot be read to its end: {stream.explain(error)}"
            skipped = [Skipped(source.name, 0, reason)] if reason else []
            rest = stream.take_count()
            yield lambda: Outcome(skipped=skipped, n_bytes=rest)
    except READ_ERRORS as error:
        reason = f"cannot be read: {getattr(error, 'strerror', None) or error}"
        yield lambda: skip_source(source.name, reason)


def _read_stream(stream: ByteStream, source: FileSource, wanted: Wanted) -> Iterator[Job]:
    kind = source.format or sniff_format(stream)
    head = stream.peek(HEAD_BYTES) if not FORMATS[kind].is_binary else b""
    is_text = not FORMATS[kind].is_binary and not FORMATS[kind].is_html
    if is_text and wanted.config.encoding == AUTO and not FORMATS[kind].is_document:
        encoding = detected_encoding(stream.peek(LOOKED_AT), is_whole=False)
        wanted = wanted.in_encoding(encoding)
        if encoding != "utf-8":
            remark = ReadingRemark(1, source.name, ENCODING, (encoding,))
            yield functools.partial(Outcome, remarks=[remark])
    if reason := unfit_reason(head, kind, source.format is None, wanted.config.encoding):
        yield functools.partial(skip_source, source.name, reason)
    else:
        yield from load_format(kind).read(stream, dataclasses.replace(source, format=kind), wanted)
