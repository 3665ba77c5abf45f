"""Standard input, which can be read once only, as a file that can be read again."""

from __future__ import annotations

import os
from pathlib import Path

from ibidem.errors import ResourceError
from ibidem.execution.disk_limit import DiskBudget
from ibidem.formats.byte_streams import COMPRESSIONS, STDIN, standard_input
from ibidem.formats.copy_files import COPY_BYTES, compression_of, format_of_source
from ibidem.formats.inputs import HTML, JSON, JSONL, PARQUET, TEXT, WARC, FileSource

_EXTENSIONS = {TEXT: ".txt", HTML: ".html", JSONL: ".jsonl", JSON: ".json", PARQUET: ".parquet", WARC: ".warc"}


def spool_stdin(folder: Path, disk: DiskBudget) -> FileSource:
    """Store standard input in a folder, as a file called `stdin` with the extensions of its format and compression.

    More of it than `disk` allows is a ResourceError.

    The source that is returned is read instead of `-` and keeps this name; its copy is called `stdin` as the file is.
    """
    path = folder / "stdin.part"
    try:
        with open(path, "wb") as file:
            while data := standard_input().buffer.read(COPY_BYTES):
                disk.take("standard input", len(data))
                file.write(data)
        kind = format_of_source(FileSource(str(path), STDIN, None))
        suffixes = {compression: suffix for suffix, compression in COMPRESSIONS.items()}
        stored = path.with_name("stdin" + _EXTENSIONS[kind] + suffixes.get(compression_of(path) or "", ""))
        os.replace(path, stored)
    except OSError as error:
        raise ResourceError(
            f"cannot store standard input in {folder}: {error.strerror or error}", "Is there room, and may you write there?"
        ) from error
    return FileSource(STDIN, STDIN, kind, str(stored))
