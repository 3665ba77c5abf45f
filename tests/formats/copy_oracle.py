"""Cleaning in plain Python: read, decide, apply; and what a copy gives when it is read."""

from __future__ import annotations

import bz2
import gzip
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from ibidem.config import DocumentsConfig
from ibidem.formats import read, read_batches
from ibidem.formats.copies import rewrite
from ibidem.formats.decisions import Decision, Marks, SourceDecisions
from ibidem.formats.inputs import resolve_inputs
from ibidem.model import Document, Skipped

COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "": lambda data: data,
    ".gz": lambda data: gzip.compress(data, mtime=0),
    ".bz2": bz2.compress,
    ".zst": lambda data: pa.Codec("zstd").compress(data, asbytes=True),
}


def decompressed(path: Path) -> bytes:
    data = path.read_bytes()
    if path.suffix == ".gz":
        return gzip.decompress(data)
    if path.suffix == ".bz2":
        return bz2.decompress(data)
    if path.suffix == ".zst":
        with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
            return bytes(stream.read())
    return data


def texts(inputs: Any, **settings: Any) -> dict[tuple[str, int], str]:
    """Return the texts of all documents by source and position."""
    batches = read_batches(inputs, DocumentsConfig(**settings), lambda _: None)
    return {(row["source"], row["position"]): row["text"] for batch in batches for row in batch.to_pylist()}


class ListedDecisions:
    """Decisions by source name and position."""

    def __init__(self, found: Mapping[tuple[str, int], Decision] | None = None) -> None:
        self._found = found or {}

    def of_source(self, source: str) -> SourceDecisions:
        found = {position: decision for (name, position), decision in self._found.items() if name == source}
        return SourceDecisions(np.empty(0, np.int64), found)


def clean(
    inputs: Any, found: Mapping[tuple[str, int], Decision], folder: Path, marks: pa.Schema | None = None, **settings: Any
) -> list[Path]:
    damaged = settings.pop("damaged", ())
    sources = resolve_inputs(inputs)
    seen: list[int] = []
    config = DocumentsConfig(**settings)
    written = rewrite(
        sources, ListedDecisions(found), folder, config, None if marks is None else Marks(marks), seen.append, damaged
    )
    assert sum(seen) == sum(source.n_bytes or 0 for source in sources)  # type: ignore[union-attr]
    assert not list(folder.rglob("*.part"))
    assert sorted(path for path in folder.rglob("*") if path.is_file()) == sorted(written)
    return written


def read_all(inputs: Any, **settings: Any) -> tuple[dict[tuple[str, int], Document], list[str]]:
    """Return documents by place, without the ids that were made of it, and the reasons of what was skipped."""
    skipped: list[Skipped] = []
    places = texts(inputs, **settings)
    found = read(inputs, on_skip=skipped.append, **settings)
    return (
        {
            (source, position): replace(document, id="" if document.id in (f"{source}:{position}", source) else document.id)
            for document, (source, position) in zip(found, places, strict=True)
        },
        # After a break the reader says how many records it read before, and where it is.
        [re.sub(r"after \d+ records?|in line \d+, character \d+,", "", record.reason) for record in skipped],
    )


def documents(inputs: Any, **settings: Any) -> tuple[list[Document], list[str]]:
    """Return what is in files, in order."""
    found, skipped = read_all(inputs, **settings)
    return list(found.values()), skipped


def apply(before: Mapping[tuple[str, int], Document], found: Mapping[tuple[str, int], Decision]) -> list[Document]:
    """Return what must remain of documents."""
    decisions = [(document, found.get(place, Decision())) for place, document in before.items()]
    return [replace(document, text=cut(document.text, decision)) for document, decision in decisions if not decision.drop]


def cut(text: str, decision: Decision) -> str:
    gone = {place for start, end in decision.cuts for place in range(start, end)}
    return "".join(sign for place, sign in enumerate(text) if place not in gone)


def check_copy(path: Path, found: Mapping[tuple[str, int], Decision], folder: Path, **settings: Any) -> Path:
    """Clean one file and compare with plain Python; return the copy."""
    before, skipped = read_all(path, **settings)
    (copy,) = clean(path, found, folder, **settings)
    assert copy == folder / path.name
    assert documents(copy, **settings) == (apply(before, found), skipped)
    return copy


@st.composite
def decided(draw: Callable[[Any], Any], places: Mapping[tuple[str, int], str], with_cuts: bool = True) -> Any:
    """Draw decisions about some of the documents; nothing is left blank."""
    found: dict[tuple[str, int], Decision] = {}
    for place, text in places.items():
        kind = draw(st.sampled_from(["keep", "drop", "cut"] if with_cuts else ["keep", "drop"]))
        if kind == "drop":
            found[place] = Decision(drop=True)
        elif kind == "cut":
            bounds = sorted(draw(st.lists(st.integers(0, len(text)), max_size=6)))
            decision = Decision(cuts=tuple(zip(bounds[::2], bounds[1::2], strict=False)))
            found[place] = decision if cut(text, decision).strip() else Decision(drop=True)
    return found


@contextmanager
def folders(block_bytes: int = 4 << 20) -> Iterator[tuple[Path, Path]]:
    """Give an input and an output folder; files are read in blocks of the given size."""
    with (
        tempfile.TemporaryDirectory() as name,
        patch("ibidem.formats.line_streams.BLOCK_BYTES", block_bytes),
        patch("ibidem.formats.json_files.READ_BYTES", block_bytes),
    ):
        inputs = Path(name) / "in"
        inputs.mkdir()
        yield inputs, Path(name) / "out"
