"""Passages refined word by word, and edited copies added: in memory, or in the buckets where documents meet."""

from __future__ import annotations

import pyarrow as pa

from ibidem.alignment.chosen_passages import choose, texts_of_passages
from ibidem.alignment.exchange.aligned_pairs import align_pairs, choose_pairs, fetch_words
from ibidem.alignment.exchange.aligned_passages import put_in
from ibidem.alignment.exchange.chosen_passages import choose_in_partitions
from ibidem.alignment.exchange.located import locate_sides
from ibidem.alignment.exchange.marks import meet, send_marks
from ibidem.alignment.exchange.words import find_closed, find_common
from ibidem.alignment.places import aligned_table
from ibidem.alignment.refinement import align_passages, pair_by_pair
from ibidem.columns.collection import Collection
from ibidem.config import Config, passage_limits
from ibidem.execution.flow import AnyFlow, Flow, InMemory, PartedTable, Parts
from ibidem.execution.progress import Progress
from ibidem.matches.core import Classed
from ibidem.passages.stage import FoundPassages


def refine(
    flow: AnyFlow,
    sentences: Parts[Collection],
    classed: Parts[Classed],
    found: Parts[FoundPassages],
    config: Config,
    progress: Progress,
) -> None:
    """Move the ends of passages to where words differ, and add passages that only words find."""
    if not isinstance(flow, InMemory):
        _exchange(flow, sentences, classed, found, config, progress)
        return
    whole, collection = found.look(), sentences.look()
    rows = whole.rows
    whole.passages, aligned = align_passages(
        whole.passages, rows, whole.types, collection, whole.pairing, config, flow.run_tasks, progress
    )
    whole.aligned = aligned_table(aligned, collection, passage_limits(config).min_sentences)
    whole.covering = pair_by_pair(whole.passages, aligned, rows)


def choose_passages(flow: AnyFlow, sentences: Parts[Collection], passages: Parts[pa.Table], config: Config) -> Parts[pa.Table]:
    """Return the passages that differ in nothing but what is wanted, with the kinds of their differences."""
    if isinstance(flow, InMemory):
        table = passages.take()
        return Parts(choose(table, texts_of_passages(table, sentences.look()), config))
    texts = sentences.table("texts")
    return Parts(tables={"passages": choose_in_partitions(flow, passages.take_table("passages"), texts, config)})


def _exchange(
    flow: Flow,
    sentences: Parts[Collection],
    classed: Parts[Classed],
    found: Parts[FoundPassages],
    config: Config,
    progress: Progress,
) -> None:
    layout = flow.layout
    stems = sentences.take_table("stems")
    states = sentence_states(flow, classed)
    aligned = align_in_buckets(flow, stems, states, sentences.take_table("stem_counts"), found, config, progress)
    documents, texts = sentences.table("documents"), sentences.table("texts")
    located = locate_sides(flow, aligned.pop("asked"), stems, states, documents, texts, config, layout)
    del stems, states
    by_sentences = {name: found.take_table(name) for name in ("passages", "names", "copies")}
    refined = put_in(flow, by_sentences, aligned.pop("outcomes"), located, config, layout)
    found.tables["passages"] = refined["passages"]
    found.tables["coverage"] = [*found.take_several("coverage"), refined["coverage"]]
    found.tables["edges"] = [*found.take_several("edges"), refined["edges"]]


def sentence_states(flow: Flow, classed: Parts[Classed]) -> list[PartedTable]:
    """Return the states of sentences (`words.STATES`), at the homes of their documents."""
    return [classed.take_table("states"), find_closed(flow, classed.take_table("digests"), flow.layout)]


def align_in_buckets(
    flow: Flow, stems: PartedTable, states: list[PartedTable], stem_counts: PartedTable, found: Parts[FoundPassages],
    config: Config, progress: Progress, to_cut: bool = False,
) -> dict[str, PartedTable]:  # fmt: skip
    """Return what `align_pairs` gives for all pairs of documents worth aligning; with `to_cut` also the `others`: passages of
    pairs that are not. What was found is consumed.
    """
    layout, n_documents = flow.layout, progress.counts["documents"]
    common = find_common(flow, stem_counts, n_documents, config)
    marks = send_marks(flow, stems, states, found.take_table("sides"), common, n_documents, config, layout)
    places = marks.pop("places")
    meetings = meet(flow, marks, layout)
    del marks
    chosen = choose_pairs(flow, meetings, found.take_table("spans"), places, layout, to_cut)
    del meetings, places
    words = fetch_words(flow, stems, chosen.pop("wanted"))
    others = {"others": chosen.pop("passages")} if to_cut else {}
    aligned = align_pairs(flow, chosen, words, config, layout, to_cut)
    progress.count(aligned_places=int(flow.collect(aligned["counts"])["n_places"].to_numpy().sum()))
    return aligned | others
