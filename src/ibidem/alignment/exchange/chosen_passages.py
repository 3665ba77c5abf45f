"""Passages chosen by their differences, over partitions: their texts come from the homes of both documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pyarrow as pa

from ibidem.alignment.chosen_passages import choose
from ibidem.config import Config
from ibidem.execution.flow import Flow, PartedTable, Sent
from ibidem.model import DIFFERENCES, TEXT_FIELDS
from ibidem.passages.exchange.texts import with_texts


def choose_in_partitions(flow: Flow, passages: PartedTable, texts: PartedTable, config: Config) -> PartedTable:
    """Return the chosen passages with their kinds of differences."""
    schema = pa.schema([*passages.schema, DIFFERENCES])
    joined = with_texts(flow, passages, texts, flow.layout, "chosen")

    def choose_here(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        table = tables["passages"]
        for batch in table.to_batches():
            both = zip(*(batch[field.name].to_pylist() for field in TEXT_FIELDS), strict=True)
            chosen = choose(pa.Table.from_batches([batch]).drop_columns([f.name for f in TEXT_FIELDS]), both, config)
            yield Sent("passages", chosen.cast(schema), partition)

    return flow.reduce("chosen", {"passages": joined}, choose_here, {"passages": schema})["passages"]
