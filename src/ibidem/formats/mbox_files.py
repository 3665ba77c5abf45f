"""Mailboxes: a file of messages, each after a line that begins with `From `.

The position of a message is its number in the file. In copies a mailbox stays as it is: nothing can be cut out of it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from ibidem.formats.byte_streams import MAX_RECORD_BYTES, READ_ERRORS, ByteStream
from ibidem.formats.copy_files import InputFile, OutputFile
from ibidem.formats.edits import Edits
from ibidem.formats.extracted_texts import Extracted, ExtractedRow, UnreadableError, documents_of_extracted
from ibidem.formats.jobs import Job, Outcome, weighed
from ibidem.formats.mail_text import message_text
from ibidem.formats.records import Wanted, too_long
from ibidem.formats.sources import FileSource

MAX_JOB_BYTES = 8 << 20
_READ_BYTES = 1 << 20
# After the first, such a line has a time: "From the beginning" is part of a letter.
_BEGIN = re.compile(rb"\AFrom [^\n]*\n|(?:(?<=\n\n)|(?<=\n\r\n))From \S[^\n]*\d:\d\d[^\n]*\n")
_LONGEST_BEGIN = 1000
_QUOTED = re.compile(rb"^>(>*From )", re.MULTILINE)


def read(stream: ByteStream, source: FileSource, wanted: Wanted) -> Iterator[Job]:
    """Yield a job for each handful of messages."""
    messages: list[tuple[int, bytes | None]] = []
    n_bytes = 0
    try:
        for number, message in enumerate(_messages(stream), 1):
            messages.append((number, message))
            n_bytes += len(message or b"")
            if n_bytes >= MAX_JOB_BYTES:
                yield weighed(functools.partial(_documents, messages, source.name, wanted, stream.take_count()), n_bytes)
                messages, n_bytes = [], 0
    except READ_ERRORS:
        yield weighed(functools.partial(_documents, messages, source.name, wanted, stream.take_count()), n_bytes)
        raise
    yield weighed(functools.partial(_documents, messages, source.name, wanted, stream.take_count()), n_bytes)


def _messages(stream: ByteStream) -> Iterator[bytes | None]:
    """Yield the messages, without the line before them; None for one that is too long. OSError if it is no mailbox."""
    waiting, n_searched, is_begun, is_long = bytearray(), 0, False, False
    while True:
        data = stream.read(_READ_BYTES)
        waiting += data
        while found := _BEGIN.search(waiting, n_searched):
            if not is_begun and found.start() > 0:
                break
            if is_begun:
                yield None if is_long else bytes(waiting[1 : found.start()])
            # The end of this line stays: after an empty message, the next one begins behind two ends of lines.
            del waiting[: found.end() - 1]
            n_searched, is_begun, is_long = 1, True, False
        if not is_begun and (len(waiting) > _LONGEST_BEGIN or not data):
            if waiting.strip():
                raise OSError("not a mailbox: it does not begin with a line 'From …'")
            return
        if not data:
            yield None if is_long else bytes(waiting[1:])
            return
        # A beginning may be cut in two; it needs the lines before it.
        n_searched = max(1, len(waiting) - _LONGEST_BEGIN) if is_begun else 0
        if len(waiting) > MAX_RECORD_BYTES:
            is_long = True
            del waiting[:-_LONGEST_BEGIN]
            n_searched = 1


def _documents(messages: list[tuple[int, bytes | None]], source: str, wanted: Wanted, n_bytes: int) -> Outcome:
    rows = [ExtractedRow(source, number, None, _extracted(message, wanted)) for number, message in messages]
    return documents_of_extracted(rows, wanted, n_bytes)


def _extracted(message: bytes | None, wanted: Wanted) -> Extracted | str:
    if message is None:
        return too_long("message")
    try:
        return message_text(_QUOTED.sub(rb"\1", message), wanted)
    except UnreadableError as error:
        return str(error)


def rewrite(file: InputFile, output: OutputFile, edits: Edits) -> None:
    """Refuse: callers check this before."""
    raise edits.changed()
