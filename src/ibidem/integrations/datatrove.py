"""Steps for pipelines of datatrove that ask an index: drop known documents, cut known passages, or mark both.

Each task opens the index itself, read-only, so any number of tasks may run at once. With an index of benchmark items and
`min_covered_share=0`, `DropKnown` drops every document that contains a passage of one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from datatrove.data import Document, DocumentsPipeline
from datatrove.pipeline.base import PipelineStep
from datatrove.pipeline.filters.base_filter import BaseFilter
from datatrove.pipeline.writers.disk_base import DiskWriter
from datatrove.utils.batching import batched
from datatrove.utils.typeshelper import StatHints

from ibidem.integrations.known_text import MIN_COVERED_SHARE, Known, KnownText

BATCH_SIZE = 200
_REASON = "known"


class DropKnown(BaseFilter):
    """Drops documents whose text the index knows.

    The `exclusion_writer` gets them with the marks `ibidem_known`, `ibidem_covered_share` and `ibidem_spans` in their metadata,
    which say where the text is known from. Settings are those of `Index.query`.
    """

    name = "ibidem: drop what is known"

    def __init__(
        self, index: str | os.PathLike[str], exclusion_writer: DiskWriter | None = None, *,
        min_covered_share: float = MIN_COVERED_SHARE, batch_size: int = BATCH_SIZE, **settings: Any,
    ) -> None:  # fmt: skip
        super().__init__(exclusion_writer, batch_size)
        self.known = KnownText(index, min_covered_share=min_covered_share, **settings)

    def filter(self, doc: Document) -> bool | tuple[bool, str]:
        """Return whether a document stays, and otherwise the reason."""
        return self.filter_batch([doc])[0]

    def filter_batch(self, batch: list[Document]) -> list[bool | tuple[bool, str]]:
        """Return of each document whether it stays, and otherwise the reason."""
        found = self.known.look_up([doc.text for doc in batch])
        for doc, each in zip(batch, found, strict=True):
            if each.is_known:
                doc.metadata.update(each.marks())
        return [(False, _REASON) if each.is_known else True for each in found]


class _Step(PipelineStep):
    """What changes documents, batch by batch."""

    needs_cuts = False

    def __init__(
        self, index: str | os.PathLike[str], *, min_covered_share: float = MIN_COVERED_SHARE, batch_size: int = BATCH_SIZE,
        **settings: Any,
    ) -> None:  # fmt: skip
        super().__init__()
        self.known = KnownText(index, min_covered_share=min_covered_share, **settings)
        self.batch_size = batch_size
        if self.needs_cuts:
            self.known.check_texts()

    def run(self, data: DocumentsPipeline, rank: int = 0, world_size: int = 1) -> DocumentsPipeline:
        """Yield the documents after the step."""
        for batch in batched(data, self.batch_size):
            with self.track_time("batch"):
                found = self.known.look_up([doc.text for doc in batch], cuts=self.needs_cuts)
            for doc, each in zip(batch, found, strict=True):
                self.stat_update(StatHints.total)
                for changed in self.change(doc, each):
                    self.stat_update(StatHints.forwarded)
                    self.update_doc_stats(changed)
                    yield changed

    def change(self, doc: Document, found: Known) -> Iterator[Document]:
        """Yield the changed document, or nothing."""
        raise NotImplementedError


class CutKnown(_Step):
    """Cuts the sentences that the index has word for word, in passages that it knows.

    Their words are compared with the kept text of a document of the index before they are cut. A document of which nothing is
    left is dropped.
    """

    type = "✂️ - FORMAT"
    name = "ibidem: cut what is known"
    needs_cuts = True

    def change(self, doc: Document, found: Known) -> Iterator[Document]:
        """Yield the document with what remains of its text, if anything does."""
        if found.cuts:
            self.stat_update("cut_documents")
            self.stat_update("cut_chars", value=sum(end - start for start, end in found.cuts), unit="doc")
            doc.text = found.remaining(doc.text)
        if found.cuts and not doc.text:
            self.stat_update(StatHints.dropped)
        else:
            yield doc


class MarkKnown(_Step):
    """Adds the marks `ibidem_known`, `ibidem_covered_share` and `ibidem_spans` to the metadata; every document stays."""

    type = "🏷️ - ANNOTATE"
    name = "ibidem: mark what is known"

    def change(self, doc: Document, found: Known) -> Iterator[Document]:
        """Yield the document with its marks."""
        doc.metadata.update(found.marks())
        if found.spans:
            self.stat_update("with_known_passages")
        yield doc
