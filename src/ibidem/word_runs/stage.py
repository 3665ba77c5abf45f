"""Runs of words: in memory over all documents at once, in partitions over the windows that meet at the homes of their keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

from ibidem.columns.collection import Collection
from ibidem.columns.parted_tables import table_of
from ibidem.config import Config
from ibidem.execution.flow import AnyFlow, InMemory, Parts, Sent
from ibidem.model import RUNS
from ibidem.sentences.hashed_words import hash_collection, locate_in_collection, point_of, seed_of_words
from ibidem.sentences.ignored_text import load_ignored
from ibidem.word_runs.core import WindowRule, find_runs
from ibidem.word_runs.exchange import Pieces, TextWords, located_flow, runs_at, runs_flow


def run_table(flow: AnyFlow, sentences: Parts[Collection], config: Config) -> Parts[pa.Table]:
    """Return the table of runs: every place of so many words that also occur before, and where they occur first."""
    seed, size = seed_of_words(config.sentences.hash_seed), config.passages.min_run_words
    ignored = load_ignored(config.sentences.ignore)
    if not isinstance(flow, InMemory):
        seed = max(config.sentences.hash_seed, 1)  # nothing is removed, and every seed finds the same
        texts = sentences.table("texts")
        found = runs_flow(flow, texts, None, size, seed, ignored)
        located = located_flow(flow, texts, {"runs": found["runs"]}, _whole_runs, seed, ignored)

        def shape(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
            table = tables["located"].sort_by([("document", "ascending"), ("start", "ascending")])
            columns = [table[name] for name in _LOCATED_NAMES]
            yield Sent("runs", table_of(columns, _STORED), partition)

        return Parts(tables={**flow.reduce("runs-table", {"located": located}, shape, {"runs": _STORED})})
    collection, run_tasks = sentences.look(), flow.run_tasks
    words = hash_collection(collection, seed, run_tasks, ignored)
    n_reference = collection.n_documents - collection.n_input
    position = (np.arange(collection.n_documents) - collection.n_input) % max(1, collection.n_documents)  # the reference first
    runs = find_runs(words, position, n_reference, WindowRule(size, point_of(seed)), run_tasks)
    document = words.documents(runs.start)
    word, last = runs.start - words.first[document], runs.n_words - 1
    sides = (document, word), (runs.source_document, runs.source_word)
    places = [
        (locate_in_collection(collection, of, at, run_tasks)[0], locate_in_collection(collection, of, at + last, run_tasks)[1])
        for of, at in sides
    ]
    ids = collection.ids
    columns = [ids.take(pa.array(document)), *places[0], runs.n_words, ids.take(pa.array(runs.source_document)), *places[1]]
    return Parts(table_of([_named(column) for column in columns], RUNS))


_LOCATED_NAMES = ("id", "start", "end", "n_words", "source_id", "source_start", "source_end")
_STORED = pa.schema(
    [pa.field(field.name, field.type.value_type if pa.types.is_dictionary(field.type) else field.type) for field in RUNS]
)


def _named(column: object) -> object:
    return column.dictionary_encode() if isinstance(column, pa.LargeStringArray) else column


def _whole_runs(here: TextWords, tables: Mapping[str, pa.Table]) -> Pieces:
    """Return all runs of a home."""
    runs, rows = runs_at(tables["runs"], here)
    return Pieces(rows, runs.start - here.words.first[rows], runs.n_words, runs.source_document, runs.source_word)
