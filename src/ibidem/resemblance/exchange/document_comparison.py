"""Pairs of documents compared in full: both are sent to the home of one of them, and only documents in pairs are sent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.components_exchange import EDGES
from ibidem.columns.parted_tables import distinct_pairs, table_of
from ibidem.columns.ragged import as_lists
from ibidem.columns.sets import HashSets
from ibidem.config import Config, is_compared_in_full
from ibidem.execution.flow import Flow, Inputs, PartedTable, Sent, lookup
from ibidem.execution.layout import Layout
from ibidem.execution.tasks import in_turn
from ibidem.resemblance import Comparer, Corpus, Duplicates, Found
from ibidem.resemblance.candidates import estimated
from ibidem.resemblance.comparison import joined, set_overlaps
from ibidem.resemblance.exchange.identical import BY_COMMON, FOUND, node_homes, send_found
from ibidem.resemblance.exchange.shingle_counts import SampleRatios
from ibidem.resemblance.exchange.shingles import SETS, documents_with_sets, sets_of, taken
from ibidem.resemblance.samples import judged, resemblance_limit, shingle_limits
from ibidem.resemblance.sketches import agreement, minhash


def send_documents(flow: Flow, sets: PartedTable, sending: Sequence[PartedTable], stage: str = "sent-documents") -> PartedTable:
    """Return the shingles of documents, each at all homes that need them."""

    def send(asked: pa.Table, known: Mapping[str, pa.Table]) -> tuple[pa.Table, NDArray[np.int64]]:
        chosen = distinct_pairs(asked["document"].to_numpy(), asked["asker"].to_numpy())
        wanted = asked["document"].to_numpy()[chosen]
        rows = np.flatnonzero(np.isin(known["sets"]["document"].to_numpy(), wanted))
        documents, known_by = documents_with_sets(known["sets"].take(pa.array(rows)))
        sent = taken(known_by, np.searchsorted(documents, wanted))
        return table_of([wanted, as_lists(sent.hashes, np.diff(sent.first), pa.uint64())], SETS), chosen

    return lookup(flow, stage, sending, {"sets": sets}, send, SETS)


def compare_documents(
    flow: Flow,
    candidates: Sequence[PartedTable],
    sent: PartedTable,
    ratios: SampleRatios,
    layout: Layout,
    full: tuple[PartedTable, Config] | None = None,
) -> dict[str, PartedTable]:
    """Return the pairs that are duplicates, `found`, and as `edges`; see `resemblance.find_duplicates`.

    `by_common` are documents paired by a sketch, which does not find all pairs. If pairs are found by something else than they
    are compared by, `full` is what the same documents are compared by, and the settings for it.
    """

    def compare(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        documents, known_by = documents_with_sets(tables["sent"])
        if tables["candidates"].num_rows == 0:
            return
        pairs = [np.searchsorted(documents, tables["candidates"][side].to_numpy()) for side in ("a", "b")]
        low, high = np.minimum(*pairs), np.maximum(*pairs)
        packed, chosen = np.unique(low << 32 | high, return_index=True)
        numbers = tables["candidates"]["ratio"].to_numpy()[chosen]
        comparer = comparer_of(known_by, ratios.config)
        a, b = (packed >> 32).astype(np.int32), (packed & 0xFFFFFFFF).astype(np.int32)
        if ratios.config.resemblance.method == "minhash":
            guessed = _by_minhash(a, b, documents, comparer, ratios, layout)
            found, paired = guessed.duplicates, documents[guessed.by_common]
            yield Sent("by_common", table_of([paired], BY_COMMON), node_homes(paired, layout))
        else:
            found = joined(
                [_by_shingles(n, a[numbers == n], b[numbers == n], comparer, ratios) for n in np.unique(numbers).tolist()]
            )
        in_full = is_compared_in_full(ratios.config) and (ratios.every == 1).all()
        if full is not None:
            comparer = comparer_of(documents_with_sets(tables["full"])[1], full[1])
        if not in_full and ratios.config.resemblance.verify:
            found = comparer.compare(found.a, found.b)
        scores = [found.similarity, found.containment_a, found.containment_b]
        yield from send_found(documents[found.a], documents[found.b], scores, layout)

    inputs: Inputs = {"candidates": candidates, "sent": sent, **({"full": full[0]} if full else {})}
    return flow.reduce("compared-documents", inputs, compare, {"found": FOUND, "edges": EDGES, "by_common": BY_COMMON})


def comparer_of(known_by: HashSets, config: Config) -> Comparer:
    """Return how pairs of documents are compared in full."""
    sequences = known_by if config.resemblance.measure == "order" else None
    return Comparer(sets_of(known_by, config), sequences, config, in_turn)


def _by_shingles(
    ratio: int, a: NDArray[np.int32], b: NDArray[np.int32], comparer: Comparer, ratios: SampleRatios
) -> Duplicates:
    """Return the pairs that share enough of the shingles sampled at a ratio."""
    sets = ratios.sample(ratio, comparer.sets, np.ones(len(comparer.sets.first) - 1, np.bool_))
    sizes = np.diff(sets.first)
    every, verify = int(ratios.every[ratio]), ratios.config.resemblance.verify
    overlaps = set_overlaps(sets, a, b, shingle_limits(ratios.config, every, verify, int(sizes.max(initial=0))))
    good = overlaps >= 0
    return judged(sets, comparer.sets, a[good], b[good], overlaps[good], ratios.config, verify)


def _by_minhash(
    a: NDArray[np.int32],
    b: NDArray[np.int32],
    documents: NDArray[np.int64],
    comparer: Comparer,
    ratios: SampleRatios,
    layout: Layout,
) -> Found:
    """Return the pairs that are duplicates by their signatures, or all if they will be compared in full."""
    settings = ratios.config.resemblance
    everyone = np.ones(len(documents), np.bool_)
    side = layout.side(documents)
    corpus = Corpus(comparer.sets, None, everyone, side, everyone.astype(np.int64))
    limit = 0.0 if settings.verify else float(resemblance_limit(ratios.config))
    return estimated(corpus, a, b, agreement(minhash(comparer.sets, settings.permutations), a, b), limit)
