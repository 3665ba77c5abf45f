"""`dedup` over all tasks of a datatrove pipeline, in three stages: collect the texts, decide in one task, remove.

The three share a folder that all tasks reach. The first and the last stage have the same reader and number of tasks: each task
finds its own documents again, and compares them with what was collected before anything is removed.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Iterator
from itertools import groupby, zip_longest
from pathlib import Path
from typing import Any

import pyarrow as pa
from datatrove.data import Document, DocumentsPipeline
from datatrove.pipeline.base import PipelineStep
from datatrove.pipeline.writers.disk_base import DiskWriter
from datatrove.utils.typeshelper import StatHints

from ibidem.api import dedup
from ibidem.errors import InputError, UsageError
from ibidem.formats.decisions import without_spans

_TEXTS, _REMOVED, _ENDING = "texts", "removed", ".jsonl.zst"


class DedupCollect(PipelineStep):
    """First stage: stores the texts of each task in a folder. Nothing comes after it in its pipeline.

    `fields` names metadata that deciding needs: `time`, `group`, or the field of a rule such as `keep="score:max"`.
    """

    type = "🫂 - DEDUP"
    name = "ibidem: collect texts"

    def __init__(self, folder: str | os.PathLike[str], *, fields: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.folder, self.fields = Path(folder).absolute(), fields

    def run(self, data: DocumentsPipeline, rank: int = 0, world_size: int = 1) -> None:
        """Write the documents of a task, all of them or no file."""
        with _new_file(self.folder / _TEXTS / _file_name(rank)) as file:
            for position, doc in enumerate(data, 1):
                self.stat_update(StatHints.total)
                self.update_doc_stats(doc)
                with self.track_time():
                    chosen = {name: doc.metadata[name] for name in self.fields if name in doc.metadata}
                    file.write(_line({**chosen, "id": _id_of(rank, position, doc.id), "text": doc.text}))
            _forget_decisions(self.folder)  # they were about other texts


class DedupDecide(PipelineStep):
    """Second stage, one task: finds what is removed. `level` and all other settings are those of `ibidem.dedup`."""

    type = "🫂 - DEDUP"
    name = "ibidem: decide"

    def __init__(self, folder: str | os.PathLike[str], *, level: str = "document", **settings: Any) -> None:
        super().__init__()
        self.folder, self.settings = Path(folder).absolute(), {"level": level, **settings}

    def run(self, data: DocumentsPipeline = None, rank: int = 0, world_size: int = 1) -> None:
        """Write what is removed for each task of the other stages."""
        if world_size != 1:
            raise UsageError(f"deciding needs all texts in one task, not in {world_size}", "Run this stage with tasks=1.")
        paths = _collected(self.folder)
        _forget_decisions(self.folder)  # with half of them old and half new, no copy might remain
        with self.track_time(), dedup([str(path) for path in paths], **self.settings) as result:
            left = {path.name for path in paths}
            for name, rows in groupby(_rows(result), lambda row: Path(row["source"]).name):
                left.remove(name)
                removed = None  # the position of the last whole document: it may have several rows
                with _new_file(self.folder / _REMOVED / name) as file:
                    for row in rows:
                        is_document = row["removed"] == "document"
                        if not is_document or row["position"] != removed:
                            self.stat_update(f"removed_{row['removed']}s")
                        removed = row["position"] if is_document else removed
                        file.write(_line(row))
            for name in left:  # nothing is removed there
                with _new_file(self.folder / _REMOVED / name):
                    pass


class DedupFilter(PipelineStep):
    """Third stage: removes what was decided, with the reader and the number of tasks of the first stage.

    With `mark_only`, everything stays, and the metadata gets `ibidem_duplicate_of` (the id of the document that is kept) or
    `ibidem_cuts`. The `exclusion_writer` gets dropped documents, with `ibidem_duplicate_of`.
    """

    type = "🫂 - DEDUP"
    name = "ibidem: remove"

    def __init__(
        self, folder: str | os.PathLike[str], exclusion_writer: DiskWriter | None = None, *, mark_only: bool = False
    ) -> None:
        super().__init__()
        self.folder, self.exclusion_writer, self.mark_only = Path(folder).absolute(), exclusion_writer, mark_only

    def run(self, data: DocumentsPipeline, rank: int = 0, world_size: int = 1) -> DocumentsPipeline:
        """Yield what remains."""
        n_tasks = len(_collected(self.folder))
        if n_tasks != world_size:
            raise UsageError(
                f"the texts were collected by {n_tasks} tasks, and this stage has {world_size}", "Use the same number of tasks."
            )
        removed = self.folder / _REMOVED / _file_name(rank)
        if not removed.exists():
            raise InputError(f"there is no {removed}", "Run the stage with DedupDecide first.")
        decided = {int(key): list(rows) for key, rows in groupby(_lines(removed), lambda row: row["position"])}
        with self.exclusion_writer or contextlib.nullcontext() as writer:
            for doc, position in self._same_documents(data, rank):
                self.stat_update(StatHints.total)
                with self.track_time():
                    is_kept = self._change(doc, decided.get(position, []))
                if is_kept:
                    self.stat_update(StatHints.forwarded)
                    self.update_doc_stats(doc)
                    yield doc
                else:
                    self.stat_update(StatHints.dropped)
                    if writer is not None:
                        writer.write(doc, rank)

    def _same_documents(self, data: DocumentsPipeline, rank: int) -> Iterator[tuple[Document, int]]:
        """Yield the documents with their positions; raise if one is not what was collected there."""
        collected = _lines(self.folder / _TEXTS / _file_name(rank))
        for position, (doc, known) in enumerate(zip_longest(data, collected), 1):
            if doc is None or known is None or (known["id"], known["text"]) != (_id_of(rank, position, doc.id), doc.text):
                raise InputError(
                    f"document {position} of task {rank} is not the one that was collected",
                    "Use the same reader and steps before this one as for DedupCollect, or run all three stages again.",
                )
            yield doc, position

    def _change(self, doc: Document, rows: list[dict[str, Any]]) -> bool:
        """Change a document as was decided; return whether it stays."""
        if not rows:
            return True
        if any(row["removed"] == "document" for row in rows):
            doc.metadata["ibidem_duplicate_of"] = _own_id(rows[0]["matched_id"])
            return self.mark_only
        if self.mark_only:
            doc.metadata["ibidem_cuts"] = [
                {"start": row["start"], "end": row["end"], "id": _own_id(row["matched_id"])} for row in rows
            ]
        else:
            self.stat_update("cut_documents")
            self.stat_update("cut_chars", value=sum(row["end"] - row["start"] for row in rows), unit="doc")
            doc.text = without_spans(doc.text, [(row["start"], row["end"]) for row in rows])
        return True


def _forget_decisions(folder: Path) -> None:
    for path in (folder / _REMOVED).glob(f"*{_ENDING}"):
        path.unlink(missing_ok=True)


def _rows(result: Any) -> Iterator[dict[str, Any]]:
    for batch in result.backing.table("removed").batches(["source", "position", "removed", "start", "end", "matched_id"]):
        yield from batch.to_pylist()


def _id_of(rank: int, position: int, doc_id: str) -> str:
    """Return an id that no other document has, whatever theirs are."""
    return f"{rank}/{position}/{doc_id}"


def _own_id(stored: str) -> str:
    return stored.split("/", 2)[2]


def _file_name(rank: int) -> str:
    return f"{rank:05d}{_ENDING}"


def _collected(folder: Path) -> list[Path]:
    paths = sorted((folder / _TEXTS).glob(f"*{_ENDING}"))
    if not paths:
        raise InputError(f"there are no texts in {folder}", "Run the stage with DedupCollect first, with the same folder.")
    return paths


@contextlib.contextmanager
def _new_file(path: Path) -> Iterator[Any]:
    """Write a file that gets its name when it is complete."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with pa.CompressedOutputStream(str(unfinished), "zstd") as file:
            yield file
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, default=str).encode() + b"\n"


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with pa.input_stream(str(path), compression="zstd") as stream:
        for line in io.BufferedReader(stream):
            yield json.loads(line)
