"""The table of documents: how much of each appears elsewhere, and clusters of documents that are copies of one another.

Two documents are copies only if the passages of that very pair cover most of both. Partial reuse never joins documents:
otherwise everything would be connected.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.collection import Collection
from ibidem.columns.components import connected, number_clusters
from ibidem.columns.parted_tables import table_of
from ibidem.columns.postings import postings_of
from ibidem.columns.rows import Rows
from ibidem.model import DOCUMENTS
from ibidem.passages import PassageRows, Repeats
from ibidem.passages.coverage import Coverage, Edges
from ibidem.passages.kernels.windows import whole_text_keys


def documents_table(passages: Iterable[PassageRows], repeats: Repeats, rows: Rows, collection: Collection) -> pa.Table:
    """Return one row per input document in the schema DOCUMENTS; see `document_rows`.

    Time decides which place is earlier if both have one, otherwise reading order; with `against`, the reference comes before
    the inputs.
    """
    coverage = Coverage(collection)
    edges = [_identical_documents(collection.digest, collection.document_first)]
    edges.append(coverage.add_passages(passages, rows, a_is_first=not collection.has_reference))
    edges.append(coverage.add_repeats(repeats, rows, collection.n_input if collection.has_reference else 0))
    copies_a, copies_b = (np.concatenate(ends) for ends in zip(*edges, strict=True))
    cluster = number_clusters(connected(copies_a, copies_b, collection.n_documents))
    return document_rows(collection, coverage, cluster)


def document_rows(collection: Collection, coverage: Coverage, cluster: NDArray[np.int64]) -> pa.Table:
    """Return one row per input document in the schema DOCUMENTS, given what is covered, and clusters (-1: none).

    Shares are of the characters of all sentences: *reused* also appears in another place, *first* is the part of that which
    appears nowhere earlier.
    """
    reused, first = coverage.shares()
    n_sentences = np.diff(collection.document_first)
    columns = [collection.ids, collection.n_chars, n_sentences, reused, first, pa.array(cluster, mask=cluster < 0)]
    return table_of([column[: collection.n_input] for column in columns], DOCUMENTS)


def _identical_documents(digests: NDArray[np.uint64], document_first: NDArray[np.int64]) -> Edges:
    """Return pairs that connect all documents with exactly the same sentences."""
    keys = np.empty(len(digests), np.uint64)
    whole_text_keys(digests, document_first, len(digests) + 1, keys)
    groups = postings_of(keys)
    documents = (np.searchsorted(document_first, groups.rows, side="right") - 1).astype(np.int32)
    first = np.repeat(documents[groups.first[:-1]], np.diff(groups.first))
    return first, documents
