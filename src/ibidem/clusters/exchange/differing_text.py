"""How much text `dedup` drops that the copy kept instead does not have, in partitions: kept texts are sent where copies are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from ibidem.clusters.differing_text import differing_chars
from ibidem.columns.parted_tables import in_order, table_of
from ibidem.execution.flow import ASKER, Flow, PartedTable, Sent, lookup
from ibidem.execution.tasks import in_turn

_ASKED = pa.schema([("document", pa.int64()), ASKER])
_TEXTS = pa.schema([("document", pa.int64()), ("text", pa.large_string())])
_COUNTED = pa.schema([("n_chars", pa.int64())])


def differing_flow(flow: Flow, texts: PartedTable, spans: PartedTable, size: int) -> int:
    """Return how many characters of documents in `spans` the documents that they match do not have."""
    layout = flow.layout

    def ask(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        kept = np.unique(_similar(tables["spans"])["matched"].to_numpy())
        yield Sent("asked", table_of([kept, np.full(len(kept), partition)], _ASKED), layout.home(kept))

    def answer(asked: pa.Table, known: Mapping[str, pa.Table]) -> pa.Table:
        texts, documents = in_order(known["texts"].select(_TEXTS.names)), asked["document"]
        rows = np.searchsorted(texts["document"].to_numpy(), documents.to_numpy())
        return table_of([documents, texts["text"].take(pa.array(rows))], _TEXTS)

    def count(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        spans = _similar(tables["spans"])
        if spans.num_rows == 0:
            return
        texts = pa.concat_tables([tables[name].select(_TEXTS.names).cast(_TEXTS) for name in ("kept", "texts")])
        known = texts["document"].to_numpy()
        order = np.argsort(known, kind="stable")
        removed, kept = (order[np.searchsorted(known[order], spans[name].to_numpy())] for name in ("document", "matched"))
        n_chars = differing_chars(texts["text"], removed, kept, size, in_turn)
        yield Sent("counted", table_of([[n_chars]], _COUNTED), 0)

    asked = flow.reduce("differing-asked", {"spans": spans}, ask, {"asked": _ASKED})["asked"]
    kept = lookup(flow, "differing-kept", asked, {"texts": texts}, answer, _TEXTS)
    given = {"spans": spans, "texts": texts, "kept": kept}
    counted = flow.reduce("differing", given, count, {"counted": _COUNTED})["counted"]
    return int(flow.collect(counted)["n_chars"].to_numpy().sum())


def _similar(spans: pa.Table) -> pa.Table:
    """Return the rows that are not known to be the same."""
    return spans.filter(pa.array(spans["similarity"].to_numpy() != 1))
