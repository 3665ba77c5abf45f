"""Runs of words over many partitions: the same windows, sources and runs as `word_runs.core` finds.

The anchors of all windows meet at the homes of their keys, which answer which of them are repeated. Only windows with a
repeated anchor meet then, at the homes of theirs, which answer where each one is first. From each partition, a key has one row,
however many places it has there. Runs form at the homes of their documents; where their sources are is asked there, with a
check of the words: windows meet by hashes, but nothing counts as equal because of a hash alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.distinct import find, firsts, numbered
from ibidem.columns.hashes import draw_seed
from ibidem.columns.parted_tables import in_order, table_of
from ibidem.columns.ragged import starts_of, take_ranges
from ibidem.columns.text_checks import CheckKey, Checks
from ibidem.execution.flow import ASKER, Flow, Inputs, PartedTable, Sent, lookup, route_by_hash
from ibidem.sentences.hashed_words import HashedWords, hash_counted, locate_texts, point_of
from ibidem.sentences.ignored_text import IgnoredText
from ibidem.word_runs.core import Runs, WindowRule, anchors_of, linked_runs, windows_at

Numbers = NDArray[np.int64]

_ANCHORS = pa.schema([("key", pa.uint64()), ("n", pa.int8()), ASKER])
_KEYS = pa.schema([("key", pa.uint64())])
_PLACES = pa.schema([("document", pa.int64()), ("word", pa.int64()), ("key", pa.uint64())])
_WINDOWS = pa.schema(
    [("key", pa.uint64()), ("rank", pa.int64()), ("document", pa.int64()), ("word", pa.int64()), ("n", pa.int64()), ASKER]
)
_SOURCES = pa.schema([("key", pa.uint64()), ("document", pa.int64()), ("word", pa.int64())])
# Runs, at home; and windows that others have as their source, at home, too.
FOUND = pa.schema([(name, pa.int64()) for name in ("document", "word", "n_words", "source_document", "source_word")])
PROTECTED = pa.schema([("document", pa.int64()), ("word", pa.int64())])
_SOURCE: list[tuple[str, pa.DataType]] = [(name, pa.int64()) for name in ("source_document", "source_word", "n_words")]
_CHECKS: list[tuple[str, pa.DataType]] = [("check_a", pa.uint64()), ("check_b", pa.uint64())]
_ASKED = pa.schema([*_SOURCE, ASKER])
_ANSWERS = pa.schema(
    [*_SOURCE, ("source_id", pa.large_string()), ("source_start", pa.int64()), ("source_end", pa.int64()), *_CHECKS]
)
_OPEN = pa.schema(
    [
        ("document", pa.int64()),
        ("id", pa.large_string()),
        ("start", pa.int64()),
        ("end", pa.int64()),  # of the last word
        ("next", pa.int64()),  # where the next word begins
        ("is_all", pa.bool_()),  # nothing of the document is in no run
        *_SOURCE,
        *_CHECKS,
    ]
)
# Runs with their places and those of their sources.
LOCATED = pa.schema(
    [field for field in _OPEN if not field.name.startswith("check")]
    + [_ANSWERS.field(name) for name in ("source_id", "source_start", "source_end")]
)


@dataclass(frozen=True)
class TextWords:
    """The words of the documents at a home, in order."""

    documents: Numbers
    words: HashedWords
    texts: pa.LargeStringArray
    ids: pa.Array

    @classmethod
    def of(cls, texts: pa.Table, hash_seed: int, ignored: IgnoredText | None, only: Numbers | None = None) -> TextWords:
        """Return the words of all documents in a table of texts, or of some."""
        if only is not None:
            texts = texts.filter(pa.array(np.isin(texts["document"].to_numpy(), only)))
        texts = in_order(texts.select(["document", "id", "text"]))
        column = texts["text"].combine_chunks()
        column = column if isinstance(column, pa.LargeStringArray) else pa.concat_arrays(column.chunks)
        documents = texts["document"].to_numpy()
        return cls(documents, hash_counted(column, documents, hash_seed, ignored), column, texts["id"].combine_chunks())

    def rows(self, documents: Numbers) -> Numbers:
        """Return which of these documents each given one is; all of them are here."""
        return find(documents, self.documents)[0]

    def checks(self, rows: Numbers, word: Numbers, n_words: Numbers, key: CheckKey) -> Checks:
        """Return the checks of stretches of words."""
        return key.of_tokens(take_ranges(self.words.hashes, self.words.first[rows] + word, n_words), starts_of(n_words))


class Pieces(NamedTuple):
    """Stretches of runs: rows of documents, first words, numbers of words, and the places of their sources."""

    rows: Numbers
    word: Numbers
    n_words: Numbers
    source_document: Numbers
    source_word: Numbers


_SEED = pa.schema([("seed", pa.int64())])


def draw_in_parts(flow: Flow, stage: str, given: PartedTable) -> int:
    """Return a secret seed. It is drawn by a stage, so a run that is resumed has the same one; `given` is any small table."""

    def draw(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        yield Sent("seed", table_of([[draw_seed()]], _SEED), 0)

    drawn = flow.reduce(stage, {"given": given}, draw, {"seed": _SEED})["seed"]
    return int(flow.collect(drawn)["seed"].to_numpy().min())


def runs_flow(
    flow: Flow, texts: PartedTable, ranks: PartedTable | None, size: int, hash_seed: int, ignored: IgnoredText | None
) -> dict[str, PartedTable]:
    """Return `runs` (FOUND) and `protected` windows (PROTECTED), at home.

    `ranks` has (document, rank_key): the source of a window is its first place by that, or by the numbers of documents.
    """
    layout, rule = flow.layout, WindowRule(size, point_of(hash_seed))

    def send_anchors(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        here = TextWords.of(tables["texts"], hash_seed, ignored)
        chosen, keys = anchors_of(here.words, rule)
        distinct, counts = np.unique(keys[np.unique(chosen[chosen >= 0])], return_counts=True)
        table = table_of([distinct, np.minimum(counts, 2), np.full(len(distinct), partition)], _ANCHORS)
        yield Sent("asked", table, route_by_hash(distinct, layout.n_partitions))

    def answer_repeated(asked: pa.Table, known: Mapping[str, pa.Table]) -> tuple[pa.Table, Numbers]:
        keys = asked["key"].to_numpy()
        _, which = np.unique(keys, return_inverse=True)
        chosen = np.flatnonzero((np.bincount(which, asked["n"].to_numpy()) >= 2)[which])
        return table_of([keys[chosen]], _KEYS), chosen

    def send_windows(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        here = TextWords.of(tables["texts"], hash_seed, ignored)
        chosen, keys = anchors_of(here.words, rule)
        is_repeated = np.zeros(len(keys), np.bool_)
        anchors = np.unique(chosen[chosen >= 0])
        is_repeated[anchors] = np.isin(keys[anchors], tables["repeated"]["key"].to_numpy())
        del keys, chosen
        places, keys = windows_at(here.words, is_repeated, rule)
        rows = here.words.documents(places)
        document, word = here.documents[rows], places - here.words.first[rows]
        yield Sent("places", table_of([document, word, keys], _PLACES), partition)
        rank = np.where(here.documents < layout.n_input, 0, -1)  # the reference first
        if "ranks" in tables:
            order = np.argsort(tables["ranks"]["document"].to_numpy())
            rank = tables["ranks"]["rank_key"].to_numpy()[order]
        order = np.lexsort((places, rank[rows], keys))
        heads = firsts(keys[order])
        first = order[heads]
        counts = np.diff(np.append(heads, len(order)))
        columns = [keys[first], rank[rows[first]], document[first], word[first], counts, np.full(len(first), partition)]
        yield Sent("asked", table_of(columns, _WINDOWS), route_by_hash(keys[first], layout.n_partitions))

    def answer_sources(asked: pa.Table, known: Mapping[str, pa.Table]) -> tuple[pa.Table, Numbers]:
        key, rank, document, word, n = (asked[name].to_numpy() for name in _WINDOWS.names[:5])
        order = np.lexsort((word, document, rank, key))
        heads = firsts(key[order])
        which = np.empty(len(key), np.int64)
        which[order] = np.repeat(np.arange(len(heads)), np.diff(np.append(heads, len(order))))
        first = order[heads]
        is_source = np.bincount(which, n, len(heads)) >= 2
        if layout.has_reference:
            is_source &= document[first] >= layout.n_input
        chosen = np.flatnonzero(is_source[which])
        first = first[which[chosen]]
        return table_of([key[chosen], document[first], word[first]], _SOURCES), chosen

    def link(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        places, sources = tables["places"], tables["sources"]
        order = np.lexsort((places["word"].to_numpy(), places["document"].to_numpy()))
        document, word, key = (places[name].to_numpy()[order] for name in _PLACES.names)
        by_key = np.argsort(sources["key"].to_numpy())
        at, is_known = find(key, sources["key"].to_numpy()[by_key])
        document, word, at = document[is_known], word[is_known], at[is_known]
        source_document, source_word = (sources[name].to_numpy()[by_key][at] for name in ("document", "word"))
        is_source = (source_document == document) & (source_word == word)
        is_linked = ~is_source & (document < layout.n_input if layout.has_reference else True)
        runs = linked_runs(word, document, source_document, source_word, is_linked, size)
        of_run = document[_starts(word, document, source_document, source_word, is_linked)]
        columns = [of_run, runs.start, runs.n_words, runs.source_document, runs.source_word]
        yield Sent("runs", table_of(columns, FOUND), partition)
        chosen = is_source & (document < layout.n_input)
        yield Sent("protected", table_of([document[chosen], word[chosen]], PROTECTED), partition)

    asked = flow.reduce("run-anchors", {"texts": texts}, send_anchors, {"asked": _ANCHORS})["asked"]
    repeated = lookup(flow, "run-anchors-met", asked, {}, answer_repeated, _KEYS)
    del asked
    inputs: dict[str, PartedTable] = {"texts": texts, "repeated": repeated}
    inputs |= {} if ranks is None else {"ranks": ranks}
    met = flow.reduce("run-windows", inputs, send_windows, {"places": _PLACES, "asked": _WINDOWS})
    del inputs, repeated
    sources = lookup(flow, "run-windows-met", met.pop("asked"), {}, answer_sources, _SOURCES)
    given = {"places": met.pop("places"), "sources": sources}
    return flow.reduce("runs", given, link, {"runs": FOUND, "protected": PROTECTED})


def _starts(
    word: Numbers, document: Numbers, source_document: Numbers, source_word: Numbers, is_linked: NDArray[np.bool_]
) -> Numbers:
    """Return at which windows runs begin."""
    follows = np.zeros(len(word), np.bool_)
    follows[1:] = is_linked[:-1] & (word[1:] == word[:-1] + 1) & (document[1:] == document[:-1])
    follows[1:] &= (source_document[1:] == source_document[:-1]) & (source_word[1:] == source_word[:-1] + 1)
    return np.flatnonzero(is_linked & ~follows)


def runs_at(table: pa.Table, here: TextWords) -> tuple[Runs, Numbers]:
    """Return the runs of a home in reading order, counted over all words there, and the row of each one's document."""
    order = np.lexsort((table["word"].to_numpy(), table["document"].to_numpy()))
    document, word, n_words, source_document, source_word = (table[name].to_numpy()[order] for name in FOUND.names)
    rows = here.rows(document)
    return Runs(here.words.first[rows] + word, n_words, source_document, source_word, np.empty(0, np.int64)), rows


def located_flow(
    flow: Flow, texts: PartedTable, given: Inputs, choose: Callable[[TextWords, Mapping[str, pa.Table]], Pieces],
    hash_seed: int, ignored: IgnoredText | None,
) -> PartedTable:  # fmt: skip
    """Return runs, or what was chosen of them, with their places and those of their sources: LOCATED, at home.

    Those whose words are not the words of their sources are left out.
    """
    layout, key = flow.layout, CheckKey(hash_seed ^ 1)

    def open_pieces(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        here = TextWords.of(tables["texts"], hash_seed, ignored)
        pieces = choose(here, tables)
        start, _ = locate_texts(here.texts, pieces.rows, pieces.word)
        _, end = locate_texts(here.texts, pieces.rows, pieces.word + pieces.n_words - 1)
        after, _ = locate_texts(here.texts, pieces.rows, pieces.word + pieces.n_words)
        n_cut = np.bincount(pieces.rows, pieces.n_words, len(here.documents)).astype(np.int64)
        is_all = (n_cut == np.diff(here.words.first))[pieces.rows]
        sources = pieces.source_document, pieces.source_word, pieces.n_words
        columns = [here.documents[pieces.rows], here.ids.take(pa.array(pieces.rows)), start, end, after, is_all, *sources]
        checks = here.checks(pieces.rows, pieces.word, pieces.n_words, key)
        yield Sent("open", table_of([*columns, *checks.T], _OPEN), partition)
        _, example = numbered(*sources)
        asked = [column[example] for column in sources]
        yield Sent("asked", table_of([*asked, np.full(len(example), partition)], _ASKED), layout.home(asked[0]))

    def answer(asked: pa.Table, known: Mapping[str, pa.Table]) -> pa.Table:
        document, word, n_words = (asked[name].to_numpy() for name, _ in _SOURCE)
        here = TextWords.of(known["texts"], hash_seed, ignored, np.unique(document))
        rows = here.rows(document)
        start, _ = locate_texts(here.texts, rows, word)
        _, end = locate_texts(here.texts, rows, word + n_words - 1)
        checks = here.checks(rows, word, n_words, key)
        return table_of([document, word, n_words, here.ids.take(pa.array(rows)), start, end, *checks.T], _ANSWERS)

    def finish(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        pieces, answers = tables["open"], tables["answers"]
        asked = [np.concatenate([pieces[name].to_numpy(), answers[name].to_numpy()]) for name, _ in _SOURCE]
        number, _ = numbered(*asked)
        place = np.empty(pieces.num_rows + answers.num_rows, np.int64)
        place[number[pieces.num_rows :]] = np.arange(answers.num_rows)
        chosen = answers.take(pa.array(place[number[: pieces.num_rows]]))
        same = np.ones(pieces.num_rows, np.bool_)
        for name, _ in _CHECKS:
            same &= pieces[name].to_numpy() == chosen[name].to_numpy()
        # A document that keeps any run is not dropped.
        document = pieces["document"].to_numpy()
        is_all = pieces["is_all"].to_numpy() & ~np.isin(document, document[~same])
        columns = {name: pieces[name] for name in pieces.column_names} | {"is_all": pa.array(is_all)}
        columns |= {name: chosen[name] for name in ("source_id", "source_start", "source_end")}
        located = table_of([columns[name] for name in LOCATED.names], LOCATED).filter(pa.array(same))
        yield Sent("located", located, partition)

    made = flow.reduce("run-pieces", {"texts": texts, **given}, open_pieces, {"open": _OPEN, "asked": _ASKED})
    answers = lookup(flow, "run-pieces-met", made.pop("asked"), {"texts": texts}, answer, _ANSWERS)
    return flow.reduce("runs-located", {"open": made["open"], "answers": answers}, finish, {"located": LOCATED})["located"]
