"""Plain text and HTML files: a file is a document. Texts can be cut; HTML is only copied or removed as a whole."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator

import pyarrow as pa

from ibidem.config.addresses import extension_of
from ibidem.config.surface import named
from ibidem.formats.byte_streams import BOM, CHANGED, COMPRESSIONS, MAX_RECORD_BYTES, READ_ERRORS, ByteStream, is_utf8
from ibidem.formats.copy_files import InputFile, OutputFile
from ibidem.formats.edits import Edits
from ibidem.formats.file_encodings import AUTO, detected_encoding
from ibidem.formats.jobs import ENCODING, Job, Outcome, ReadingRemark, weighed
from ibidem.formats.records import Records, Wanted, check, nul_reason, too_long
from ibidem.formats.registry import HEAD_BYTES, HTML, TEXT, unfit_reason
from ibidem.formats.sources import FileSource
from ibidem.model import Skipped

MAX_JOB_BYTES = 8 << 20
MAX_JOB_FILES = 512
_READ_BYTES = 1 << 20


def read_files(sources: Iterable[FileSource], wanted: Wanted) -> Iterator[Job]:
    """Yield a job for each handful of neighbouring files; all of them are HTML, or none is."""
    handful: list[FileSource] = []
    n_bytes = 0
    for source in sources:
        # The expanded size of a compressed file is not known before: it is a job of its own.
        size = MAX_JOB_BYTES if extension_of(source.path) in COMPRESSIONS else source.n_bytes or 0
        if handful and (len(handful) == MAX_JOB_FILES or n_bytes + size > MAX_JOB_BYTES or source.format != handful[0].format):
            yield weighed(functools.partial(_read_files, handful, wanted), n_bytes)
            handful, n_bytes = [], 0
        handful.append(source)
        n_bytes += size
    if handful:
        yield weighed(functools.partial(_read_files, handful, wanted), n_bytes)


def read(stream: ByteStream, source: FileSource, wanted: Wanted) -> Iterator[Job]:
    """Yield the job for one open stream that is a document as a whole."""
    data = read_whole(stream)
    yield weighed(functools.partial(_to_documents, [source], [(source, data)], [], wanted, stream.take_count()), len(data))


def read_whole(stream: ByteStream) -> bytes:
    """Return all that is left; OSError if that is more than a document may have."""
    pieces: list[bytes] = []
    n_bytes = 0
    while data := stream.read(_READ_BYTES):
        n_bytes += len(data)
        if n_bytes > MAX_RECORD_BYTES:
            raise OSError(too_long("text"))
        pieces.append(data)
    return b"".join(pieces)


def documents_of_files(contents: list[tuple[FileSource, bytes]], wanted: Wanted) -> Outcome:
    """Return the documents that files are, given what they contain."""
    return _to_documents([source for source, _ in contents], contents, [], wanted, sum(len(data) for _, data in contents))


def _read_files(sources: list[FileSource], wanted: Wanted) -> Outcome:
    contents: list[tuple[FileSource, bytes]] = []
    skipped: list[Skipped] = []
    n_bytes = 0
    for source in sources:
        try:
            with ByteStream(source.path) as stream:
                try:
                    contents.append((source, read_whole(stream)))
                except READ_ERRORS as error:
                    skipped.append(Skipped(source.name, 0, f"cannot be read: {stream.explain(error)}"))
                n_bytes += stream.take_count()
                if stream.is_changed:
                    skipped.append(Skipped(source.name, 0, CHANGED))
        except READ_ERRORS as error:
            skipped.append(Skipped(source.name, 0, f"cannot be read: {getattr(error, 'strerror', None) or error}"))
    return _to_documents(sources, contents, skipped, wanted, n_bytes)


def _to_documents(
    sources: list[FileSource],
    contents: list[tuple[FileSource, bytes]],
    skipped: list[Skipped],
    wanted: Wanted,
    n_bytes: int,
) -> Outcome:
    html = bool(contents) and contents[0][0].format == HTML
    texts: list[str | None] = []
    problems: dict[int, str] = {}
    remarks: list[ReadingRemark] = []
    for row, (source, data) in enumerate(contents):
        encoding = wanted.config.encoding
        if encoding == AUTO:
            encoding = "utf-8" if html else detected_encoding(data)
            remarks += [ReadingRemark(1, source.name, ENCODING, (encoding,))] if encoding != "utf-8" else []
        if reason := unfit_reason(data[:HEAD_BYTES], HTML if html else TEXT, False, encoding):
            texts.append(None)
            problems[row] = reason
            continue
        try:
            texts.append(_decode_html(data) if html else _decode(data, encoding))
        except UnicodeDecodeError as error:
            texts.append(None)
            problems[row] = (
                f"not {error.encoding}: {error.reason} at byte {error.start}; "
                f"{named('encoding')} sets another encoding, or auto"
                if b"\0" not in data[:1024]
                else nul_reason(data.index(b"\0"))
            )
    records = Records(
        pa.array(texts, pa.large_string()),
        [0] * len(texts),
        [source.name for source, _ in contents],
        pa.array([source.doc_id for source, _ in contents], pa.large_string()),
        html=html,
        has_own_ids=True,
        problems=problems,
        others=[{} for _ in texts] if wanted.other_fields else None,
    )
    outcome = check(records, wanted, n_bytes)
    outcome.remarks += remarks
    order = {source.name: number for number, source in enumerate(sources)}
    outcome.skipped = sorted(outcome.skipped + skipped, key=lambda record: order[record.source])
    return outcome


def _decode(data: bytes, encoding: str) -> str:
    return data.removeprefix(BOM).decode("utf-8") if is_utf8(encoding) else data.decode(encoding)


def _decode_html(data: bytes) -> str:
    from ibidem.formats.html_text import decode_html

    return decode_html(data)


def rewrite(file: InputFile, output: OutputFile, edits: Edits) -> None:
    """Write what remains of a text, in its encoding and with its byte order mark."""
    decision = edits.at(0)
    data = b"".join(file.raw_chunks())
    if file.damage is not None or decision is None:
        raise edits.changed() from file.damage
    try:
        text = _decode(data, file.encoding)
    except UnicodeDecodeError as error:
        raise edits.changed() from error
    output.write_mark()
    output.write_text(edits.remaining(text, decision))
