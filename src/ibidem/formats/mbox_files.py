"""Mailboxes: a file of messages, each after a line that begins with `From `.

The position of a message is its number in the file. Copies leave out whole messages; nothing can be cut out of one.
"""

from __future__ import annotations

import functools
import io
import re
from collections.abc import Callable, Iterator
from itertools import groupby
from operator import itemgetter

from ibidem.formats.byte_streams import MAX_RECORD_BYTES, READ_ERRORS, ByteStream
from ibidem.formats.copy_files import InputFile, OutputFile
from ibidem.formats.edits import Edits
from ibidem.formats.extracted_texts import Extracted, ExtractedRow, UnreadableError, documents_of_extracted
from ibidem.formats.jobs import Job, Outcome, weighed
from ibidem.formats.mail_text import message_text
from ibidem.formats.records import Wanted, too_long
from ibidem.formats.sources import FileSource
from ibidem.model import Skipped

MAX_JOB_BYTES = 8 << 20
_READ_BYTES = 1 << 20
# After the first, such a line has a time, and a header or nothing below: "From the beginning at 9:30" is part of a letter.
_FROM = rb"\AFrom [^\n]*\n|(?:(?<=\n\n)|(?<=\n\r\n))From \S[^\n]*\d:\d\d[^\n]*\n"
_BELOW = rb"\r?\n|>?From |[!-9;-~]{1,100}:"
_BEGIN, _BEGIN_AT_END = re.compile(rb"%b(?=%b)" % (_FROM, _BELOW)), re.compile(rb"%b(?=%b|\Z)" % (_FROM, _BELOW))
_LONGEST_BEGIN = 1000
_QUOTED = re.compile(rb"^>(>*From )", re.MULTILINE)


def read(stream: ByteStream, source: FileSource, wanted: Wanted) -> Iterator[Job]:
    """Yield a job for each handful of messages."""
    messages: list[tuple[int, bytes | None]] = []
    n_bytes = 0
    try:
        for number, message in enumerate(_messages(stream.read), 1):
            messages.append((number, message))
            n_bytes += len(message or b"")
            if n_bytes >= MAX_JOB_BYTES:
                yield weighed(functools.partial(_documents, messages, source.name, wanted, stream.take_count()), n_bytes)
                messages, n_bytes = [], 0
    except READ_ERRORS:
        yield weighed(functools.partial(_documents, messages, source.name, wanted, stream.take_count()), n_bytes)
        raise
    yield weighed(functools.partial(_documents, messages, source.name, wanted, stream.take_count()), n_bytes)


def count_messages(data: bytes) -> int:
    """Return how many messages a whole mailbox has; 0 if it is none."""
    try:
        return sum(1 for _ in groupby(_pieces(io.BytesIO(data).read), itemgetter(0)))
    except OSError:
        return 0


def documents_of_mailbox(data: bytes, source: str, wanted: Wanted) -> Outcome:
    """Return the documents of a whole mailbox."""
    try:
        return _documents(list(enumerate(_messages(io.BytesIO(data).read), 1)), source, wanted, 0)
    except OSError as error:
        return Outcome(skipped=[Skipped(source, 0, f"cannot be read to its end: {error}")])


def _messages(read: Callable[[int], bytes]) -> Iterator[bytes | None]:
    """Yield the messages, without the line before them; None for one that is too long. OSError if it is no mailbox."""
    for _, pieces in groupby(_pieces(read), itemgetter(0)):
        message, is_long = b"", False
        for _, piece in pieces:
            message, is_long = piece, bool(message)  # only a message that is too long has several pieces
        yield None if is_long else message.partition(b"\n")[2]


def _pieces(read: Callable[[int], bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield all bytes, each piece with the number of its message; OSError if it is no mailbox.

    A message begins with its line `From …`. It is one piece, or several if it is too long.
    """
    waiting, n_searched, number = bytearray(), 0, 0
    while True:
        data = read(_READ_BYTES)
        waiting += data
        while found := (_BEGIN if data else _BEGIN_AT_END).search(waiting, n_searched):
            if not number and found.start() > 0:
                break
            if number:
                yield number, bytes(waiting[: found.start()])
            del waiting[: found.start()]
            number, n_searched = number + 1, 1
        if not number and (len(waiting) > _LONGEST_BEGIN or not data):
            if waiting.strip():
                raise OSError("not a mailbox: it does not begin with a line 'From …'")
            return
        if not data:
            yield number, bytes(waiting)
            return
        # A beginning may be cut in two; it needs the lines before it.
        n_searched = max(1, len(waiting) - _LONGEST_BEGIN) if number else 0
        if len(waiting) > MAX_RECORD_BYTES:
            yield number, bytes(waiting[:-_LONGEST_BEGIN])
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
    """Copy everything except removed messages."""
    chunks = file.raw_chunks(_READ_BYTES)
    for number, pieces in groupby(_pieces(lambda _: next(chunks, b"")), itemgetter(0)):
        decision = edits.at(number)
        for _, piece in pieces:
            if decision is None or not decision.drop:
                output.write_raw(piece)
