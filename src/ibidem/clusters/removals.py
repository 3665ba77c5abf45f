"""What is removed from a collection, and why: each removed stretch of text with what it matched, and where."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.clusters.cuts import Cuts
from ibidem.columns.collection import Collection, Documents
from ibidem.columns.components import number_clusters
from ibidem.columns.distinct import find, firsts
from ibidem.columns.parted_tables import CHECK_NAMES, table_of
from ibidem.columns.ragged import ranges
from ibidem.columns.rows import Rows
from ibidem.model import RECEIPT, REMOVED
from ibidem.resemblance import Duplicates

Numbers = NDArray[np.int64]
Truths = NDArray[np.bool_]

# A row of `removed.jsonl`, with the number of its document and the checks of its text.
GONE = pa.schema([("document", pa.int64()), *REMOVED, *((name, pa.uint64()) for name in CHECK_NAMES)])
# Removed stretches of text, as sent between partitions: columns of `Removals`.
_NUMBERS = ("document", "start", "end", "matched", "matched_start", "matched_end", "n_sentences")
SPANS = pa.schema([*((name, pa.int64()) for name in _NUMBERS), ("is_dropped", pa.bool_())])
# The same with the similarity of edited copies; not a number for others.
SCORED_SPANS = pa.schema([*SPANS, ("similarity", pa.float64())])
READING_ORDER = [("document", "ascending"), ("start", "ascending")]
_KINDS = pa.array(["passage", "document"])


@dataclass(frozen=True)
class Receipts:
    """Where the words of removed rows remain: stretches, by row, and the same words in a document that stays."""

    row: Numbers
    start: Numbers
    end: Numbers
    document: Numbers
    matched_start: Numbers
    matched_end: Numbers

    def lists(self, ids: pa.LargeStringArray, first: int, count: int) -> pa.ListArray:
        """Return those of `count` rows from `first` on, as a list for each row."""
        offsets = np.searchsorted(self.row, np.arange(first, first + count + 1))
        part = slice(offsets[0], offsets[-1])
        columns = [self.start, self.end, ids.take(pa.array(self.document[part])), self.matched_start, self.matched_end]
        arrays = [column if isinstance(column, pa.Array) else pa.array(column[part]) for column in columns]
        structs = pa.StructArray.from_arrays(arrays, fields=list(RECEIPT.type.value_type))
        return pa.ListArray.from_arrays(pa.array((offsets - offsets[0]).astype(np.int32)), structs)


@dataclass(frozen=True)
class Removals:
    """Removed stretches of documents, one entry each, in reading order; those of one document do not overlap.

    `start` to `end` is what to cut out of the text: sentences and the space after them. `matched` is the document that keeps
    the same text; its place is given without the space after it. `n_sentences` counts the matching sentences, 0 for whole
    documents. `is_dropped` says that nothing of the document remains. `similarity` is NaN if it was not measured. For whole
    documents, `cluster` is the cluster of every document, -1 for none.
    """

    document: Numbers
    start: Numbers
    end: Numbers
    matched: Numbers
    matched_start: Numbers
    matched_end: Numbers
    n_sentences: Numbers
    is_dropped: Truths
    similarity: NDArray[np.float64]
    cluster: Numbers | None = None
    receipts: Receipts | None = None

    @classmethod
    def of_documents(
        cls,
        document: Numbers,
        n_chars: Numbers,
        kept: Numbers,
        kept_chars: Numbers,
        similarity: NDArray[np.float64],
        cluster: Numbers | None = None,
    ) -> Removals:
        """Return whole documents, each with the one that is kept instead."""
        nothing, is_dropped = np.zeros(len(document), np.int64), np.ones(len(document), np.bool_)
        return cls(document, nothing, n_chars, kept, nothing, kept_chars, nothing, is_dropped, similarity, cluster)

    @classmethod
    def of_spans(cls, spans: pa.Table) -> Removals:
        """Return stretches of texts, given as rows of `SPANS` or `SCORED_SPANS`."""
        columns = {name: spans[name].to_numpy() for name in spans.column_names}
        return cls(**{"similarity": np.full(spans.num_rows, np.nan), **columns})

    def spans(self, schema: pa.Schema = SPANS) -> pa.Table:
        """Return the same as rows of `SPANS` or `SCORED_SPANS`."""
        return table_of([getattr(self, name) for name in schema.names], schema)

    @property
    def columns(self) -> dict[str, Any]:
        """The columns with an entry for each row."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name not in ("cluster", "receipts")}

    def __len__(self) -> int:
        return len(self.document)

    @property
    def n_chars(self) -> int:
        """The number of removed characters."""
        return int((self.end - self.start).sum())

    @property
    def dropped(self) -> Numbers:
        """The documents of which nothing remains."""
        return np.unique(self.document[self.is_dropped])

    def removed(self, own: pa.Table, matched: pa.Table) -> pa.Table:
        """Return rows of `removed.jsonl`, given the id, source and position of both documents, one row per entry."""
        columns = [
            own["id"], own["source"], own["position"], _KINDS.take(pa.array(self.is_dropped.astype(np.int8))),
            self.start, self.end, pa.array(self.n_sentences, mask=self.n_sentences == 0),
            matched["id"], matched["source"], matched["position"], self.matched_start, self.matched_end,
            pa.array(self.similarity, mask=np.isnan(self.similarity)),
        ]  # fmt: skip
        return table_of(columns, REMOVED)

    def gone(self, own: pa.Table, matched: pa.Table) -> pa.Table:
        """Return the same as rows of `GONE`; `own` also has the checks of the texts."""
        return table_of([self.document, *self.removed(own, matched).columns, *(own[name] for name in CHECK_NAMES)], GONE)

    def table(self, documents: Documents) -> pa.Table:
        """Return all rows of `removed.jsonl`, given the documents of the run."""
        return self.removed(_names(documents, self.document), _names(documents, self.matched))

    def rows(self, documents: Documents, first: int = 0, count: int | None = None) -> pa.Table:
        """Return rows of `GONE`, given the documents of the run: all, or `count` of them from `first` on."""
        part = slice(first, None if count is None else first + count)
        some = Removals(**{name: column[part] for name, column in self.columns.items()})
        table = some.gone(_with_checks(_names(documents, some.document), documents), _names(documents, some.matched))
        if self.receipts is not None:
            table = table.append_column(RECEIPT, self.receipts.lists(documents.ids, first, len(some)))
        return table

    def members(self, documents: Documents) -> Numbers | None:
        """Return the input documents in clusters, including the kept ones; None if there are no clusters."""
        return None if self.cluster is None else np.flatnonzero(self.cluster[: documents.n_input] >= 0)

    def member_rows(self, documents: Documents, members: Numbers) -> pa.Table:
        """Return one row per given member of a cluster: its source, its cluster, and the document kept instead."""
        assert self.cluster is not None
        at, is_gone = find(members, self.document)
        kept = np.where(is_gone, self.matched[at] if len(self) else members, members)
        own = self.cluster[members]
        copies = np.bincount(self.cluster[self.cluster >= 0])[own]
        decided = {"cluster": own, "copies": copies, "kept_document": kept, "kept_id": _names(documents, kept)["id"]}
        table = _with_checks(_names(documents, members), documents)
        for name, column in decided.items():
            table = table.append_column(name, column if isinstance(column, pa.ChunkedArray) else pa.array(column))
        return table


def _names(documents: Documents, numbers: Numbers) -> pa.Table:
    """Return number, id, source and position of documents, one row each."""
    chosen = pa.array(numbers)
    columns = {"document": chosen, "id": documents.ids.take(chosen), "source": documents.sources.take(chosen).cast(pa.string())}
    return pa.table(columns | {"position": documents.positions[numbers]})


def _with_checks(named: pa.Table, documents: Documents) -> pa.Table:
    """Return the same with the checks of the documents' texts; rows of one document are neighbours."""
    numbers = named["document"].to_numpy()
    is_first = np.diff(numbers, prepend=-1) != 0
    _, checks = documents.text_checks(numbers[is_first])
    of_row = checks[np.cumsum(is_first) - 1]
    for column, name in enumerate(CHECK_NAMES):
        named = named.append_column(name, pa.array(np.ascontiguousarray(of_row[:, column])))
    return named


@dataclass(frozen=True)
class Clustered:
    """Duplicates among representatives of identical documents; for each document its representative, and the kept one."""

    duplicates: Duplicates
    representative: NDArray[np.int32]
    canonical: NDArray[np.int32]


def duplicate_removals(documents: Documents, clustered: Clustered, n_copies: int = 1) -> Removals:
    """Return the input documents that are not canonical in their cluster, nor among the first `n_copies` of it."""
    n = documents.n_documents
    canonical = clustered.canonical
    others = np.flatnonzero(canonical != np.arange(n))
    gone = others[copy_numbers(canonical[others], others) >= n_copies]
    gone = gone[gone < documents.n_input]
    kept = canonical[gone].astype(np.int64)
    similarity = similarity_to_kept(gone, kept, clustered.representative, clustered.duplicates)
    n_chars = documents.n_chars
    return Removals.of_documents(gone, n_chars[gone], kept, n_chars[kept], similarity, number_clusters(canonical))


def copy_numbers(canonical: NDArray[Any], others: NDArray[Any]) -> Numbers:
    """Return which copy in its cluster each document is, in reading order: 0 is the canonical one, and not among them."""
    order = np.lexsort((others, canonical))
    heads = firsts(canonical[order])
    numbers = np.empty(len(others), np.int64)
    numbers[order] = 1 + ranges(0, np.diff(np.append(heads, len(order))))
    return numbers


def similarity_to_kept(
    gone: Numbers, kept: Numbers, representative: NDArray[np.int32], found: Duplicates
) -> NDArray[np.float64]:
    """Return the similarity of documents to those kept instead; NaN if the two were not compared."""
    # It is known for the representatives of identical documents.
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


def cut_spans(collection: Collection, rows: Rows, cuts: Cuts) -> Removals:
    """Return the text that is removed with the cut rows. A document with nothing but space left is removed as a whole.

    Sentences without a row are kept: as far as is known, they occur nowhere else.
    """
    row, source_row = cuts.row.astype(np.int64), cuts.source_row.astype(np.int64)
    document, sentence = rows.document[row].astype(np.int64), rows.sentence[row]
    matched, matched_sentence = rows.document[source_row], rows.sentence[source_row]
    heads, lasts = passages_of_rows(document, sentence, matched, source_row)
    start, end = collection.start_char[sentence[heads]].astype(np.int64), ends_with_space(collection, sentence[lasts])
    document = document[heads]
    return Removals(
        document,
        start,
        end,
        matched[heads].astype(np.int64),
        collection.start_char[matched_sentence[heads]].astype(np.int64),
        collection.end_char[matched_sentence[lasts]].astype(np.int64),
        lasts - heads + 1,
        is_all_cut(document, start, end, text_chars(collection, document)),
        np.full(len(heads), np.nan),
    )


def passages_of_rows(
    document: NDArray[Any], sentence: NDArray[Any], matched: NDArray[Any], matched_row: Numbers
) -> tuple[Numbers, Numbers]:
    """Return the first and the last row of each cut passage, given the cut rows, in order, and what each matches.

    Neighbouring sentences whose sources are neighbouring rows of one document are one passage.
    """
    apart = np.ones(len(sentence) + 1, np.bool_)
    apart[1:-1] = (np.diff(sentence) != 1) | (np.diff(matched_row) != 1)
    apart[1:-1] |= (np.diff(document) != 0) | (np.diff(matched) != 0)
    bounds = np.flatnonzero(apart)
    return bounds[:-1], bounds[1:] - 1


def ends_with_space(collection: Collection, sentence: NDArray[Any]) -> Numbers:
    """Return the ends of sentences including the space after them: the start of the next sentence, or the end of the text."""
    document = collection.document[sentence]
    after = sentence.astype(np.int64) + 1
    follows = after < collection.document_first[document + 1]
    ends: Numbers = collection.n_chars[document]
    ends[follows] = collection.start_char[after[follows]]
    return ends


def text_chars(collection: Collection, document: NDArray[Any]) -> Numbers:
    """Return the characters of documents without the space before their first sentence; each has one."""
    chars: Numbers = collection.n_chars[document] - collection.start_char[collection.document_first[document]]
    return chars


def is_all_cut(document: Numbers, start: Numbers, end: Numbers, n_chars: Numbers) -> Truths:
    """Return for each stretch whether those of its document together cover all its `n_chars`. Stretches are in order."""
    if len(document) == 0:
        return np.empty(0, np.bool_)
    heads = firsts(document)
    counts = np.diff(np.append(heads, len(document)))
    is_all: Truths = np.repeat(np.add.reduceat(end - start, heads), counts) == n_chars
    return is_all
