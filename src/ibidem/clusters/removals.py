"""What goes out of a collection, and why: each removed thing with what it matched, and where."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.clusters import CutSpans
from ibidem.columns.collection import Collection, Documents
from ibidem.columns.components import number_clusters
from ibidem.formats.decisions import Decision, Decisions
from ibidem.formats.known_texts import KnownTexts
from ibidem.model import CUT_MARKS, DUPLICATE_MARKS, REMOVED
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

    def decisions(self, documents: Documents, mark_only: bool) -> Decisions:
        """Return what happens to the records of the input files."""
        decisions = Decisions()
        names = documents.sources.dictionary.to_pylist()
        codes = documents.sources.indices.to_numpy()
        if not mark_only:
            gone = np.flatnonzero(self.is_dropped)
            gone = gone[np.argsort(codes[gone], kind="stable")]
            bounds = np.flatnonzero(np.diff(codes[gone], prepend=-1, append=-1)).tolist()
            for begin, after in pairwise(bounds):
                decisions.drop(names[codes[gone[begin]]], documents.positions[gone[begin:after]])
        for number, cuts, marks in self._marks(documents) if mark_only else self._cuts():
            decisions.add(names[codes[number]], int(documents.positions[number]), Decision(cuts=cuts, marks=marks))
        self._say_what_they_were(decisions, documents, mark_only)
        return decisions

    def _say_what_they_were(self, decisions: Decisions, documents: Documents, mark_only: bool) -> None:
        """Hand on the checks of all texts that something was decided about."""
        changed = np.unique(self.document)
        if mark_only and self.cluster is not None:
            changed = np.flatnonzero(self.cluster[: documents.n_input] >= 0)
        key, checks = documents.text_checks(changed)
        names, codes = documents.sources.dictionary.to_pylist(), documents.sources.indices.to_numpy()[changed]
        order = np.argsort(codes, kind="stable")
        bounds = np.flatnonzero(np.diff(codes[order], prepend=-1, append=-1)).tolist()
        for begin, after in pairwise(bounds):
            chosen = order[begin:after]
            known = KnownTexts.of(key, documents.positions[changed[chosen]], checks[chosen])
            decisions.know(names[codes[chosen[0]]], known)

    @property
    def mark_columns(self) -> pa.Schema:
        """The columns that records get where nothing is removed."""
        return CUT_MARKS if self.cluster is None else DUPLICATE_MARKS

    def cuts(self) -> dict[int, tuple[tuple[int, int], ...]]:
        """Return what is cut out of documents that stay, by document."""
        return {number: spans for number, spans, _ in self._cuts()}

    def _cuts(self) -> Iterator[tuple[int, tuple[tuple[int, int], ...], Mapping[str, Any]]]:
        staying = np.flatnonzero(~self.is_dropped[self.document])
        document, start, end = self.document[staying], self.start[staying], self.end[staying]
        bounds = np.flatnonzero(np.diff(document, prepend=-1, append=-1)).tolist()
        for begin, after in pairwise(bounds):
            spans = tuple(zip(start[begin:after].tolist(), end[begin:after].tolist(), strict=True))
            yield int(document[begin]), spans, {}

    def _marks(self, documents: Documents) -> Iterator[tuple[int, tuple[tuple[int, int], ...], Mapping[str, Any]]]:
        if self.cluster is not None:
            matched = dict(zip(self.document.tolist(), self.matched.tolist(), strict=True))
            # All members of clusters are marked, those that stay too.
            for number in np.flatnonzero(self.cluster[: documents.n_input] >= 0).tolist():
                kept = matched.get(number)
                original = None if kept is None else documents.ids[kept].as_py()
                yield number, (), {"ibidem_cluster": int(self.cluster[number]), "ibidem_duplicate_of": original}
            return
        bounds = np.flatnonzero(np.diff(self.document, prepend=-1, append=-1)).tolist()
        kept_ids = documents.ids.take(pa.array(self.matched)).to_pylist()
        rows = list(zip(self.start.tolist(), self.end.tolist(), kept_ids, strict=True))
        for begin, after in pairwise(bounds):
            marks = [{"start": start, "end": end, "id": kept} for start, end, kept in rows[begin:after]]
            yield int(self.document[begin]), (), {"ibidem_cuts": marks}


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
