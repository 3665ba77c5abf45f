"""Files that are one document each."""

from __future__ import annotations

from ibidem.formats.byte_streams import BOM, is_utf8
from ibidem.formats.copy_files import InputFile, OutputFile
from ibidem.formats.edits import Edits


def rewrite_text(file: InputFile, output: OutputFile, edits: Edits) -> None:
    """Write what stays of a text, in its encoding and with its byte order mark."""
    decision = edits.at(0)
    data = b"".join(file.raw_chunks())
    if file.damage is not None or decision is None:
        raise edits.changed() from file.damage
    try:
        text = data.removeprefix(BOM).decode("utf-8") if is_utf8(file.encoding) else data.decode(file.encoding)
    except UnicodeDecodeError as error:
        raise edits.changed() from error
    output.write_mark()
    output.write(edits.remaining(text, decision).encode("utf-8"))
