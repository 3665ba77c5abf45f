"""What is wrong with a collection as a whole, found out where it lies and said before the work goes on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from ibidem.blocks import Blocks, Emitted, Flow
from ibidem.checking import check_known_fields
from ibidem.config import DocumentsConfig
from ibidem.distributed.layout import Layout
from ibidem.distributed.splitting import IDS
from ibidem.documents.repeated import repeated_id_error
from ibidem.errors import NoDocumentsError
from ibidem.progress import Progress


def check_counts(counts: pa.Table, fields: DocumentsConfig, layout: Layout, progress: Progress) -> None:
    """Raise where a side has no documents, or no record has a field that the user named; keep the numbers."""
    n_documents, n_reference, n_sentences, n_times, n_groups = (int(column.to_numpy().sum()) for column in counts.columns)
    if n_documents == n_reference:
        raise NoDocumentsError("the inputs hold no documents")
    if layout.has_reference and n_reference == 0:
        raise NoDocumentsError("the reference holds no documents")
    progress.add_documents(n_documents, n_sentences)
    check_known_fields(n_times > 0, n_groups > 0, fields)


def check_ids(flow: Flow, ids: Blocks) -> None:
    """Raise where two documents of one side carry the same id."""

    def find_repeated(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Emitted]:
        table = tables["ids"]
        keys = table["key"].to_numpy()
        _, which, counts = np.unique(keys, return_inverse=True, return_counts=True)
        repeated = table.take(pa.array(np.flatnonzero(counts[which] > 1)))
        order = np.lexsort((repeated["document"].to_numpy(), repeated["key"].to_numpy()))
        yield Emitted("repeated", repeated.take(pa.array(order)).slice(0, 1000), 0)

    found = flow.collect(flow.reduce("ids", {"ids": ids}, find_repeated, {"repeated": IDS})["repeated"])
    if found.num_rows:
        raise repeated_id_error(found)
