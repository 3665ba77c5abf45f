"""Passages with their texts: each side is cut at the home of its document, and the cuts go back to the passage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from ibidem.columns.parted_tables import cut_texts, in_order, table_of
from ibidem.execution.flow import Blocks, Emitted, Flow
from ibidem.execution.layout import Layout
from ibidem.passages.exchange.pairs import FOUND

_SIDE_TEXT = pa.schema([("number", pa.int64()), ("home", pa.int64()), ("text", pa.large_string())])
_WITH_TEXTS = pa.schema([*FOUND, ("a_text", pa.large_string()), ("b_text", pa.large_string())])
_SPAN = pa.schema(
    [("number", pa.int64()), ("home", pa.int64()), ("document", pa.int64()), ("start", pa.int64()), ("end", pa.int64())]
)


def with_texts(flow: Flow, passages: Blocks, texts: Blocks, layout: Layout) -> Blocks:
    """Return the passages, `pairing.FOUND`, with the texts of both sides, `a_text` and `b_text`, in their order."""

    def ask(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Emitted]:
        table = tables["passages"]
        for side in "ab":
            document = table[f"{side}_document"].to_numpy()
            columns = [
                table["number"],
                np.full(len(document), partition),
                document,
                table[f"{side}_start"],
                table[f"{side}_end"],
            ]
            yield Emitted(side, table_of(columns, _SPAN), layout.home(document))

    def cut(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Emitted]:
        documents = in_order(tables["texts"])
        numbers = documents["document"].to_numpy()
        for side in "ab":
            spans = tables[side]
            at = np.searchsorted(numbers, spans["document"].to_numpy())
            cuts = cut_texts(documents["text"], at, spans["start"].to_pylist(), spans["end"].to_pylist())
            yield Emitted(side, table_of([spans["number"], spans["home"], cuts], _SIDE_TEXT), spans["home"].to_numpy())

    def join(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Emitted]:
        def ordered(table: pa.Table) -> pa.Table:
            return table.take(pa.array(np.argsort(table["number"].to_numpy())))

        texts = [ordered(tables[side])["text"] for side in "ab"]
        yield Emitted("passages", table_of([*ordered(tables["passages"]).columns, *texts], _WITH_TEXTS), partition)

    spans = flow.reduce("passages-spans", {"passages": passages}, ask, {"a": _SPAN, "b": _SPAN})
    cuts = flow.reduce("passages-cut", {"texts": texts, **spans}, cut, {"a": _SIDE_TEXT, "b": _SIDE_TEXT})
    return flow.reduce("passages-texts", {"passages": passages, **cuts}, join, {"passages": _WITH_TEXTS})["passages"]
