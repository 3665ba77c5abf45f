"""The first stage: documents as read, numbered, each in its home partition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ibidem.columns.page_columns import PageMarks
from ibidem.columns.parted_tables import NUMBERED
from ibidem.columns.texts import text_buffers
from ibidem.execution.disk.stage_store import FinishedStage, StageStore
from ibidem.execution.flow import PartedTable, Sent, Stream
from ibidem.execution.layout import Layout
from ibidem.formats.jobs import ReadingRemark, SkippedRecords
from ibidem.model import Skipped

# Source names are not dictionary-encoded: chunks are joined, and their dictionaries differ.
READ = pa.schema([f if f.name != "source" else pa.field("source", pa.large_string(), nullable=False) for f in NUMBERED])
# Documents of one home and of a group of later homes meet in one task: small groups need little memory, but many groups take
# much work.
_LEAST_HOMES_PER_REGION, _MOST_GROUPS = 4, 32
_BYTES_A_DOCUMENT = 128  # besides its text: many tiny documents take more than their texts


@dataclass(frozen=True)
class ReadDocuments:
    """All documents of a run on disk, the home of each, and the messages about the inputs."""

    documents: PartedTable
    layout: Layout
    skipped: list[Skipped]
    remarks: list[ReadingRemark]
    n_input_chars: int
    has_cleaned_texts: bool
    page_marks: PageMarks


def store_documents(
    store: StageStore,
    documents: Stream,
    home_bytes: int,
    skipped: SkippedRecords,
    remarks: list[ReadingRemark],
) -> ReadDocuments:
    """Store the documents of both sides; a partition gets `home_bytes` of text, or one larger document.

    The readers fill `skipped` and `remarks`.
    """
    begun = store.begin("inputs", {"documents": READ})
    if not isinstance(begun, FinishedStage):
        homes = _Homes(home_bytes)
        n_documents, n_input = 0, None
        n_chars, has_cleaned, marks = 0, False, PageMarks()
        try:
            for side in (documents.batches, documents.reference):
                for batch in side:
                    numbers = np.arange(n_documents, n_documents + batch.num_rows)
                    columns = [column.cast(kind) for column, kind in zip(batch.columns, READ.types[1:], strict=True)]
                    table = pa.Table.from_arrays([pa.array(numbers), *columns], schema=READ)
                    for home, begin, end in homes.place(batch, n_documents):
                        begun.add(Sent("documents", table.slice(begin, end - begin), home))
                    n_documents += batch.num_rows
                    n_chars += (pc.sum(pc.utf8_length(batch["text"])).as_py() or 0) if n_input is None else 0
                    has_cleaned = has_cleaned or bool(pc.any(batch["cleaned"]).as_py())
                    marks |= PageMarks.of(batch["text"])
                n_input = n_documents if n_input is None else n_input
            begun = begun.finish(
                {
                    "n_documents": n_documents,
                    "n_input": n_input,
                    "n_input_chars": n_chars,
                    "has_cleaned_texts": has_cleaned,
                    "page_marks": asdict(marks),
                    "first_of_home": homes.first,
                    "skipped": [asdict(record) for record in skipped.records],
                    "remarks": [asdict(remark) for remark in remarks],
                }
            )
        finally:
            if not isinstance(begun, FinishedStage):
                begun.close()
    return _read_documents(begun.tables["documents"], begun.metadata)


def _read_documents(documents: PartedTable, metadata: Mapping[str, Any]) -> ReadDocuments:
    first = np.array(metadata["first_of_home"], np.int64)
    homes_per_region = max(_LEAST_HOMES_PER_REGION, -(-len(first) // _MOST_GROUPS))
    layout = Layout(metadata["n_documents"], metadata["n_input"], max(1, len(first)), first, homes_per_region)
    skipped = [Skipped(**record) for record in metadata["skipped"]]
    remarks = [ReadingRemark(**{**remark, "all": tuple(remark["all"])}) for remark in metadata["remarks"]]
    n_chars, has_cleaned = metadata["n_input_chars"], metadata["has_cleaned_texts"]
    return ReadDocuments(documents, layout, skipped, remarks, n_chars, has_cleaned, PageMarks(**metadata.get("page_marks", {})))


class _Homes:
    """Fills one partition after the other."""

    def __init__(self, home_bytes: int) -> None:
        self.first: list[int] = []
        self._home_bytes = home_bytes
        self._n_before = 0  # bytes of all documents so far

    def place(self, batch: pa.RecordBatch, n_documents: int) -> list[tuple[int, int, int]]:
        """Return (home, first row, end) of the rows of a batch; they are the documents from `n_documents` on."""
        _, offsets = text_buffers(batch.column("text"))
        sizes: NDArray[np.int64] = np.diff(offsets).astype(np.int64) + _BYTES_A_DOCUMENT
        before = self._n_before + np.cumsum(sizes) - sizes
        turn = before // self._home_bytes
        is_first = np.diff(turn, prepend=(self._n_before - 1) // self._home_bytes if self._n_before else -1) > 0
        self._n_before += int(sizes.sum())
        starts = np.flatnonzero(is_first)
        bounds = np.unique(np.concatenate([[0], starts, [batch.num_rows]])).tolist()
        placed = []
        for begin, end in pairwise(bounds):
            if is_first[begin]:
                self.first.append(n_documents + begin)
            placed.append((len(self.first) - 1, begin, end))
        return placed
