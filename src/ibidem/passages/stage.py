"""Passages: in memory over all rows at once, in partitions over the documents that meet in a bucket; and repeated text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.collection import Collection
from ibidem.columns.distinct import numbered
from ibidem.columns.rows import Pairing, Rows
from ibidem.config import Config, extends_ends, passage_limits
from ibidem.execution.flow import AnyFlow, Flow, InMemory, PartedTable, Parts
from ibidem.execution.progress import Progress
from ibidem.matches.core import Classed
from ibidem.passages import Meeting, PassageRows, Repeats, find_in
from ibidem.passages.exchange import families as families_exchange
from ibidem.passages.exchange import repeats as repeats_exchange
from ibidem.passages.exchange.excerpts import place_documents
from ibidem.passages.exchange.extension import extend_in_partitions
from ibidem.passages.exchange.grams import meet
from ibidem.passages.exchange.pairs import find_pairs, put_in_order
from ibidem.passages.exchange.reported import report_in_partitions
from ibidem.passages.families import family_table
from ibidem.passages.reported import Limits, Spans, are_reported
from ibidem.passages.tables import in_reading_order, passages_table, repeats_table


@dataclass
class FoundPassages:
    """Passages of a whole collection, and the texts with too many places to be paired. `types`: which rows are equal.

    After alignment, `aligned` is the table of passages aligned word by word, and `covering` are all passages, by pair.
    """

    passages: list[PassageRows]
    repeats: Repeats
    rows: Rows
    types: NDArray[np.int32] | None
    pairing: Pairing
    aligned: pa.Table | None = None
    covering: list[PassageRows] | None = None


def find_passages(flow: AnyFlow, sentences: Parts[Collection], classed: Parts[Classed], config: Config) -> Parts[FoundPassages]:
    """Find every passage of two documents that may be compared."""
    limits = passage_limits(config)
    if isinstance(flow, InMemory):
        collection, (rows, cells, _) = sentences.look(), classed.look()
        meeting = Meeting.of_all(collection, rows, cells, config)
        found_here = find_in(meeting, limits, flow.run_tasks)
        types = None if cells is None else cells.types
        return Parts(FoundPassages(found_here.passages, found_here.repeats, rows, types, meeting.pairing))
    texts = sentences.table("texts") if extends_ends(config) else None
    return Parts(tables=_exchange(flow, classed, texts, config, only_spans=False))


def find_spans(flow: Flow, classed: Parts[Classed], config: Config) -> Parts[FoundPassages]:
    """Find passages in partitions as alignment needs them, and nothing else about them: their `spans` and `sides`."""
    found = _exchange(flow, classed, None, config, only_spans=True)
    return Parts(tables={name: found[name] for name in ("spans", "sides")})


def _exchange(
    flow: Flow, classed: Parts[Classed], texts: PartedTable | None, config: Config, only_spans: bool
) -> dict[str, PartedTable | Sequence[PartedTable]]:
    met = meet(flow, classed.take_table("grams"), config, flow.layout)
    flags = [classed.take_table("flags"), met.pop("flags")]
    placed = place_documents(flow, classed.table("documents"), flags, met.pop("members"), texts, config, flow.layout)
    del flags
    found = find_pairs(flow, placed.pop("placed"), config, flow.layout, only_spans)
    edges = [classed.take_table("edges"), met["edges"], *([found.pop("edges")] if "edges" in found else [])]
    return {**found, "edges": edges, "hot": placed["hot"]}


def find_repeats(
    flow: AnyFlow, sentences: Parts[Collection], classed: Parts[Classed], found: Parts[FoundPassages], config: Config
) -> Parts[Repeats]:
    """Find the texts in too many places to be paired: in memory they were found with the passages. The classes are consumed."""
    if isinstance(flow, InMemory):
        classed.take()
        return Parts(found.look().repeats)
    documents, hot, texts = classed.take_table("documents"), found.take_table("hot"), sentences.table("texts")
    return Parts(tables={**repeats_exchange.find_repeats(flow, documents, hot, texts, config, flow.layout)})


def move_ends(flow: AnyFlow, sentences: Parts[Collection], found: Parts[FoundPassages], config: Config) -> None:
    """Move the ends of passages outwards while the texts say the same. In memory that waits until they become a table; with
    alignment, which does it, so do passages in partitions.
    """
    if isinstance(flow, InMemory) or config.alignment.align:
        return
    if extends_ends(config):
        known = {name: found.take_table(name) for name in ("passages", "open", "asked", "names")}
        documents, texts = sentences.table("documents"), sentences.table("texts")
        found.tables["passages"] = extend_in_partitions(flow, known, documents, texts, config)
    else:
        found.tables["passages"] = put_in_order(flow, found.take_table("passages"), found.take_table("names"))


def passage_table(flow: AnyFlow, sentences: Parts[Collection], found: Parts[FoundPassages], config: Config) -> Parts[pa.Table]:
    """Return the table of passages. What was found is consumed."""
    if not isinstance(flow, InMemory):
        return Parts(tables={"passages": found.take_table("passages")})
    whole, collection = found.take(), sentences.look()
    min_sentences, extend = passage_limits(config).min_sentences, extends_ends(config)
    table = passages_table(whole.passages, whole.rows, collection, min_sentences, flow.run_tasks, extend)
    return Parts(table if whole.aligned is None else in_reading_order([table, whole.aligned]))


def report_passages(
    flow: AnyFlow, sentences: Parts[Collection], passages: Parts[pa.Table], config: Config, progress: Progress
) -> Parts[pa.Table]:
    """Return the passages within the limits of what is reported, and count the others."""
    limits = Limits.of(config)
    if limits == Limits():
        return passages
    if isinstance(flow, InMemory):
        table = passages.take()
        sides = [table[f"{side}_id"].combine_chunks().indices.to_numpy().astype(np.int64) for side in "ab"]
        pair, example = numbered(*sides)
        n_chars = np.stack([sentences.look().n_chars[side[example]] for side in sides], axis=1)
        chosen = are_reported(Spans.of(table, pair), n_chars, limits)
        progress.count(passages_below_limits=int(np.count_nonzero(~chosen)))
        return Parts(table.filter(pa.array(chosen)))
    found = passages.take_table("passages")
    reported = report_in_partitions(flow, found, sentences.table("texts"), limits)
    progress.count(passages_below_limits=flow.count(found) - flow.count(reported))
    return Parts(tables={"passages": reported})


def repeat_table(
    flow: AnyFlow, sentences: Parts[Collection], found: Parts[FoundPassages], repeats: Parts[Repeats]
) -> Parts[pa.Table]:
    """Return the table of repeats; in partitions in no order."""
    if not isinstance(flow, InMemory):
        return Parts(tables={"repeats": repeats.take_table("repeats")})
    return Parts(repeats_table(repeats.take(), found.look().rows, sentences.look()))


def find_families(
    flow: AnyFlow, sentences: Parts[Collection], passages: Parts[pa.Table], config: Config
) -> dict[str, Parts[pa.Table]]:
    """Return the table of families, all places of each passage that appears in several places; and the passages with their
    families.
    """
    if isinstance(flow, InMemory):
        families, known = family_table(passages.take(), sentences.look(), flow.run_tasks)
        return {"families": Parts(families), "passages": Parts(known)}
    texts, found = sentences.table("texts"), passages.take_table("passages")
    parted = families_exchange.find_in_partitions(flow, found, texts, config)
    return {name: Parts(tables={name: table}) for name, table in zip(("families", "passages"), parted, strict=True)}
