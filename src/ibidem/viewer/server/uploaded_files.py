"""Uploaded files: the text of a file that is one document, taken out by the reader that its name calls for."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory

from ibidem.errors import IbidemError
from ibidem.formats.reader import read
from ibidem.formats.registry import FORMATS, format_of
from ibidem.model import Skipped
from ibidem.viewer.server.api_errors import ApiError, invalid

_SUFFIX = re.compile(r"\.[a-z0-9]{1,10}")
_READABLE = "Send plain text, Markdown or HTML, or a file such as PDF or Word if its reader is installed."


def text_of_file(data: bytes, name: str, main_content: bool) -> str:
    """Return the text of a file called `name`; raise an ApiError that says why it has none."""
    suffix = PurePath(name).suffix.lower()
    kind = format_of(name) if _SUFFIX.fullmatch(suffix) else None
    if kind is None:
        raise ApiError(415, "invalid", f"files like {_shown(name)} cannot be read here", _READABLE)
    if not FORMATS[kind].is_document:
        next_step = "Send one text at a time, or run `ibidem index check` on the file."
        raise ApiError(415, "invalid", f"{_shown(name)} may contain many documents", next_step)
    skipped: list[Skipped] = []
    with TemporaryDirectory(prefix="ibidem-") as folder:
        path = Path(folder) / f"upload{suffix}"
        path.write_bytes(data)
        try:
            documents = list(islice(read(str(path), on_skip=skipped.append, main_content=main_content), 2))
        except IbidemError as error:
            raise invalid(error.message.replace(str(path), _shown(name)), error.next_step or _READABLE) from error
    if not documents:
        reason = skipped[0].reason if skipped else "it contains no text"
        raise invalid(f"{_shown(name)} cannot be checked: {reason}", _READABLE)
    return documents[0].text


def _shown(name: str) -> str:
    """Return a file name as messages show it."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in name)[:100]
