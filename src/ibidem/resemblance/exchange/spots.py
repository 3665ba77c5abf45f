"""Spots of whole documents: made at home of their words, as soon as it is known which words are frequent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa

from ibidem.columns.parted_tables import table_of
from ibidem.columns.ragged import as_lists, flat, lengths, starts_of
from ibidem.config import Config
from ibidem.execution.flow import Flow, PartedTable, Sent
from ibidem.execution.layout import Layout
from ibidem.resemblance.candidates import spot_sets
from ibidem.resemblance.exchange.shingles import KEYS, SETS, send_keys
from ibidem.resemblance.samples import resemblance_limit
from ibidem.signatures import TypeTokens
from ibidem.signatures.exchange.vocabulary import spot_words


def make_spots(
    flow: Flow, worded: PartedTable, words: PartedTable | None, config: Config, layout: Layout
) -> dict[str, PartedTable]:
    """Return the spots of documents as `sets` at home, and the `keys` of spots at which documents may meet."""
    told = spot_words(flow, words, config, 0)  # how many documents there are plays no part

    def make(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        table = tables["worded"]
        tokens = TypeTokens(flat(table, "words"), starts_of(lengths(table, "words")), config.sentences.hash_seed)
        spots = spot_sets(tokens, told.vocabulary(tokens), config)
        sizes = np.diff(spots.first)
        yield Sent("sets", table_of([table["document"], as_lists(spots.hashes, sizes, pa.uint64())], SETS), partition)
        yield send_keys(partition, spots, np.ones(len(sizes), np.int64), config, layout)

    return flow.reduce("spots", {"worded": worded}, make, {"sets": SETS, "keys": KEYS})


def spot_settings(config: Config) -> Config:
    """Return the settings by which spots are joined: sets as they are, and only by resemblance."""
    matches = replace(config.matches, min_similarity=resemblance_limit(config))
    return replace(
        config, matches=matches, resemblance=replace(config.resemblance, measure="resemblance", min_containment=Fraction(0))
    )
