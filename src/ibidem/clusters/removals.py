"""What goes out of a collection, and why: each removed thing with what it matched, and where."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.clusters import CutSpans
from ibidem.columns.collection import Collection, Documents
from ibidem.columns.components import number_clusters
from ibidem.columns.parted_tables import CHECK_NAMES
from ibidem.model import REMOVED
from ibidem.resemblance import Duplicates

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Removals:
    """Stretches of documents that go, in reading order, one entry each; `is_dropped` says by document that all of it goes.

    `matched` is the document that holds the same, and keeps it. `similarity` is not a number where it was not measured.
    """

    document: Numbers
    start: Numbers
    end: Numbers
    matched: Numbers
    matched_start: Numbers
    matched_end: Numbers
    n_sentences: Numbers
    similarity: NDArray[np.float64]
    is_dropped: NDArray[np.bool_]
    cluster: Numbers | None

    def __len__(self) -> int:
        return len(self.document)

    @property
    def n_chars(self) -> int:
        """Characters that go."""
        return int((self.end - self.start).sum())

    def table(self, documents: Documents, first: int = 0, count: int | None = None) -> pa.Table:
        """Return rows of `removed.jsonl`: all, or `count` of them from `first` on."""
        part = slice(first, None if count is None else first + count)
        document = self.document[part]
        n_sentences, similarity = self.n_sentences[part], self.similarity[part]
        columns = [
            documents.ids.take(pa.array(document)),
            documents.sources.take(pa.array(document)).cast(pa.string()),
            pa.array(documents.positions[document]),
            pa.array(np.where(self.is_dropped[document], "document", "passage").tolist(), pa.string()),
            pa.array(self.start[part]),
            pa.array(self.end[part]),
            pa.array(n_sentences, mask=n_sentences == 0),
            documents.ids.take(pa.array(self.matched[part])),
            documents.sources.take(pa.array(self.matched[part])).cast(pa.string()),
            pa.array(documents.positions[self.matched[part]]),
            pa.array(self.matched_start[part]),
            pa.array(self.matched_end[part]),
            pa.array(similarity, mask=np.isnan(similarity)),
        ]
        return pa.Table.from_arrays(columns, schema=REMOVED)

    def rows(self, documents: Documents, first: int = 0, count: int | None = None) -> pa.Table:
        """Return rows of `removed.jsonl`, each with the number of its document and the checks of its text."""
        table = self.table(documents, first, count)
        number = self.document[first : first + table.num_rows]
        return _with_checks(table.add_column(0, "document", pa.array(number)), documents, number)

    def members(self, documents: Documents) -> Numbers | None:
        """Return the documents of the inputs that are in a cluster, also those that stay; None if there are no clusters."""
        return None if self.cluster is None else np.flatnonzero(self.cluster[: documents.n_input] >= 0)

    def member_rows(self, documents: Documents, members: Numbers) -> pa.Table:
        """Return a row for each of some members of clusters: where it stands, its cluster, and who is kept for it."""
        assert self.cluster is not None
        kept = members.copy()
        place = np.searchsorted(self.document, members)
        is_gone = self.is_dropped[members]
        kept[is_gone] = self.matched[place[is_gone]]
        table = pa.table(
            {
                "document": members,
                "source": documents.sources.take(pa.array(members)).cast(pa.string()),
                "position": documents.positions[members],
                "cluster": self.cluster[members],
                "kept_document": kept,
                "kept_id": documents.ids.take(pa.array(kept)),
            }
        )
        return _with_checks(table, documents, members)


def _with_checks(table: pa.Table, documents: Documents, numbers: Numbers) -> pa.Table:
    """Return a table with the checks of the texts of the documents that its rows are about; rows of one are neighbours."""
    is_first = np.diff(numbers, prepend=-1) != 0
    _, checks = documents.text_checks(numbers[is_first])
    of_row = checks[np.cumsum(is_first) - 1]
    for column, name in enumerate(CHECK_NAMES):
        table = table.append_column(name, pa.array(np.ascontiguousarray(of_row[:, column])))
    return table


@dataclass(frozen=True)
class Clustered:
    """Duplicates among the documents that stand for identical ones; by document who does, and who stays."""

    duplicates: Duplicates
    representative: NDArray[np.int32]
    canonical: NDArray[np.int32]


def duplicate_removals(documents: Documents, clustered: Clustered) -> Removals:
    """Return the documents of the inputs that are not the canonical one of their cluster."""
    n = documents.n_documents
    canonical = clustered.canonical
    gone = np.flatnonzero((canonical != np.arange(n)) & (np.arange(n) < documents.n_input))
    kept = canonical[gone].astype(np.int64)
    similarity = similarity_to_kept(gone, kept, clustered.representative, clustered.duplicates)
    nothing = np.zeros(len(gone), np.int64)
    is_dropped = np.zeros(n, np.bool_)
    is_dropped[gone] = True
    n_chars = documents.n_chars
    return Removals(
        gone, nothing, n_chars[gone], kept, nothing, n_chars[kept], nothing, similarity, is_dropped, number_clusters(canonical)
    )


def similarity_to_kept(
    gone: Numbers, kept: Numbers, representative: NDArray[np.int32], found: Duplicates
) -> NDArray[np.float64]:
    """Return how alike documents are to those that stay for them; not a number where the two were not compared."""
    # It is known of the documents that stand for identical ones.
    a, b = representative[gone].astype(np.int64), representative[kept].astype(np.int64)
    similarity = np.full(len(gone), np.nan)
    similarity[a == b] = 1.0
    known = found.a.astype(np.int64) << 32 | found.b
    wanted = np.minimum(a, b) << 32 | np.maximum(a, b)
    if len(known):
        place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        hit = known[place] == wanted
        similarity[hit] = found.similarity[place[hit]]
    return similarity


def passage_removals(collection: Collection, spans: CutSpans) -> Removals:
    """Return the passages that go; a document of which nothing but space is left goes as a whole."""
    cut_chars = np.bincount(spans.document, spans.end_char - spans.start_char, minlength=collection.n_documents)
    # Spans reach up to the next sentence, so all that can be left is the space before the first one.
    first = np.minimum(collection.document_first[:-1], max(len(collection.start_char) - 1, 0))
    leading = collection.start_char[first] if len(collection.start_char) else np.zeros(collection.n_documents)
    is_dropped = (cut_chars > 0) & (cut_chars == collection.n_chars - leading)
    return Removals(
        spans.document.astype(np.int64),
        spans.start_char,
        spans.end_char,
        spans.source_document.astype(np.int64),
        spans.source_start_char,
        spans.source_end_char,
        spans.n_sentences,
        np.full(len(spans), np.nan),
        is_dropped,
        None,
    )
