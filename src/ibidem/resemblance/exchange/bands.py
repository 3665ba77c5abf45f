"""MinHash: documents whose signatures agree in all components of a band become pairs to compare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.hashes import SEED, mix
from ibidem.columns.parted_tables import table_of
from ibidem.columns.ragged import ranges
from ibidem.config import Config
from ibidem.execution.flow import Flow, PartedTable, Sent, route_by_hash
from ibidem.execution.layout import Layout
from ibidem.resemblance.exchange.shingle_counts import SampleRatios, WantedDocuments
from ibidem.resemblance.exchange.shingle_pairs import CANDIDATES, SENDING, send_candidates
from ibidem.resemblance.sketches import minhash

# A band of a document, where documents that agree in it meet.
BANDS = pa.schema([("band", pa.uint64()), ("document", pa.int64())])

Numbers = NDArray[np.int64]


def pair_by_bands(
    flow: Flow, at_home: Mapping[str, PartedTable], ratios: SampleRatios, layout: Layout
) -> dict[str, PartedTable]:
    """Return `candidates` and `sending` for the pairs from bands; see `resemblance.sketches.band_pairs`."""
    config = ratios.config

    def cut(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        wanted = WantedDocuments.of(tables, ratios)
        signatures = minhash(wanted.sets, config.resemblance.permutations)
        for keys in _band_keys(signatures, config):
            yield Sent("bands", table_of([keys, wanted.document], BANDS), route_by_hash(keys, layout.n_partitions))

    def pair(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        band, document = (tables["bands"][name].to_numpy() for name in BANDS.names)
        order = np.lexsort((document, band))
        documents, rows = np.unique(document[order], return_inverse=True)
        first = np.flatnonzero(np.diff(band[order], prepend=~band[order][:1], append=~band[order][-1:]))
        packed = _pairs_of_groups(rows, first, config.resemblance.max_shingle_documents)
        a, b = packed >> 32, packed & 0xFFFFFFFF
        if layout.has_reference:
            is_pair = (documents[a] < layout.n_input) != (documents[b] < layout.n_input)
            a, b = a[is_pair], b[is_pair]
        yield from send_candidates(documents, a, b, 0, layout)

    bands = flow.reduce("bands", at_home, cut, {"bands": BANDS})
    return flow.reduce("band-pairs", bands, pair, {"candidates": CANDIDATES, "sending": SENDING})


def _band_keys(signatures: NDArray[np.uint32], config: Config) -> Iterator[NDArray[np.uint64]]:
    fold: Any = mix.py_func  # over a whole array at once
    n_rows = signatures.shape[1] // config.resemblance.bands
    for band in range(config.resemblance.bands):
        keys = np.full(len(signatures), np.uint64(band))
        for column in range(band * n_rows, (band + 1) * n_rows):
            keys = fold(keys, signatures[:, column].astype(np.uint64))
        yield fold(keys, SEED)


def _pairs_of_groups(rows: Numbers, first: Numbers, max_members: int) -> Numbers:
    """Return all pairs within each group, packed, each once; for larger groups, only those with the first member."""
    sizes = np.diff(first)
    found = np.empty(0, np.int64)
    for size in np.unique(sizes[(sizes > 1) & (sizes <= max_members)]).tolist():
        starts = first[:-1][sizes == size]
        # A few groups at a time: near copies agree in many bands and are merged at once.
        step = max(1, (1 << 22) // size**2)
        low, high = np.triu_indices(size, 1)
        for begin in range(0, len(starts), step):
            some = starts[begin : begin + step, None]
            found = np.union1d(found, (rows[some + low] << 32 | rows[some + high]).ravel())
    large = np.flatnonzero(sizes > max_members)
    leaders = np.repeat(rows[first[large]], sizes[large] - 1)
    return np.union1d(found, leaders << 32 | rows[ranges(first[large] + 1, sizes[large] - 1)])
