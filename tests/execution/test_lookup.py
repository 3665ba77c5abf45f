"""Questions at the homes of their keys: every partition gets the answers to its own questions, and no others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ibidem.execution.disk.disk_flow import DiskFlow
from ibidem.execution.disk.stage_store import StageStore
from ibidem.execution.disk.stage_writer import StageWriter
from ibidem.execution.flow import ASKER, Answer, Flow, Inputs, PartedTable, Reducer, Sent, lookup
from ibidem.execution.layout import Layout
from ibidem.execution.progress import Progress
from tests.memory_flow import MemoryFlow

ASKED = pa.schema([("key", pa.int64()), ("place", pa.int64()), ASKER])
KNOWN = pa.schema([("key", pa.int64()), ("value", pa.int64())])
ANSWERS = pa.schema([("place", pa.int64()), ("value", pa.int64())])
PARTITIONS = [1, 2, 5]

Questions = Sequence[Sequence[int]]  # the keys that each partition asks for


class SentFlow(MemoryFlow):
    """Sends what answers as Spark does: by pickling it, with all that it captures."""

    def reduce(self, stage: str, inputs: Inputs, reducer: Reducer, outputs: Mapping[str, pa.Schema]) -> dict[str, PartedTable]:
        if stage == "answers":
            cloudpickle = pytest.importorskip("pyspark.cloudpickle")
            reducer = cloudpickle.loads(cloudpickle.dumps(reducer))
        return super().reduce(stage, inputs, reducer, outputs)


def values_of(questions: pa.Table, known: Mapping[str, pa.Table]) -> pa.Table:
    """Answer all questions: the value of the key, or -1."""
    at = pc.index_in(questions["key"], known["known"]["key"].combine_chunks())
    return pa.table([questions["place"], known["known"]["value"].take(at).fill_null(-1)], schema=ANSWERS)


def known_values(questions: pa.Table, known: Mapping[str, pa.Table]) -> tuple[pa.Table, NDArray[np.int64]]:
    """Answer questions whose key is known, the last one first."""
    every = values_of(questions, known)
    chosen = np.flatnonzero(every["value"].to_numpy() >= 0)[::-1]
    return every.take(pa.array(chosen)), chosen


def votes(questions: pa.Table, known: Mapping[str, pa.Table]) -> pa.Table:
    """Answer how many questions have the same key."""
    assert known == {}
    _, which, counts = np.unique(questions["key"].to_numpy(), return_inverse=True, return_counts=True)
    return pa.table([questions["place"], counts[which]], schema=ANSWERS)


def asked_of(flow: Flow, questions: Questions) -> PartedTable:
    """Send the keys that each partition asks for to their homes."""
    rows = [(key, place, asker) for asker, keys in enumerate(questions) for place, key in enumerate(keys)]
    columns = zip(*rows, strict=True) if rows else ([], [], [])
    return sent_home(flow, "asked", pa.table([*columns], schema=ASKED))


def sent_home(flow: Flow, stage: str, table: pa.Table) -> PartedTable:
    if isinstance(flow, DiskFlow):
        begun = flow.store.begin(stage, {stage: table.schema})
        assert isinstance(begun, StageWriter)
        begun.add(Sent(stage, table, table["key"].to_numpy() % flow.n_partitions))
        return begun.finish().tables[stage]

    def send(tables: Iterator[pa.Table]) -> Iterator[Sent]:
        yield from (Sent(stage, one, one["key"].to_numpy() % flow.n_partitions) for one in tables)

    return flow.map(stage, [table], send, {stage: table.schema})[stage]


def looked_up(flow: Flow, questions: Questions, known: Mapping[int, int] | None, answer: Answer) -> list[dict[int, list[int]]]:
    """Return the answers that reach each partition, by the place of their question."""
    asked = asked_of(flow, questions)
    inputs = {} if known is None else {"known": known_of(flow, known)}
    answers = lookup(flow, "answers", asked, inputs, answer, ANSWERS)
    found: list[dict[int, list[int]]] = [{} for _ in questions]

    def gather(partition: int, tables: Mapping[str, pa.Table]) -> list[Sent]:
        for place, value in zip(*(tables["answers"][name].to_pylist() for name in ANSWERS.names), strict=True):
            found[partition].setdefault(place, []).append(value)
        return []

    flow.reduce("gather", {"answers": answers}, gather, {})
    return found


def known_of(flow: Flow, known: Mapping[int, int]) -> PartedTable:
    return sent_home(flow, "known", pa.table([list(known), list(known.values())], schema=KNOWN))


def expected(questions: Questions, value_of: Mapping[int, int]) -> list[dict[int, list[int]]]:
    """Look up by hand; keys without a value have no answer."""
    return [{place: [value_of[key]] for place, key in enumerate(keys) if key in value_of} for keys in questions]


@st.composite
def some_questions(draw: st.DrawFn) -> Questions:
    n_partitions = draw(st.sampled_from(PARTITIONS))
    keys = st.lists(st.integers(0, 12), max_size=8)  # so few that keys repeat, in one partition and over several
    return draw(st.lists(keys, min_size=n_partitions, max_size=n_partitions))


values = st.dictionaries(st.integers(0, 12), st.integers(0, 99))


@settings(max_examples=150)
@given(some_questions(), values, st.integers(0, 9))
def test_every_question_is_answered_where_it_was_asked(questions: Questions, known: dict[int, int], seed: int) -> None:
    found = looked_up(MemoryFlow(len(questions), seed), questions, known, values_of)
    assert found == expected(questions, {key: known.get(key, -1) for key in range(13)})


@settings(max_examples=150)
@given(some_questions(), values, st.integers(0, 9))
def test_questions_may_stay_without_an_answer(questions: Questions, known: dict[int, int], seed: int) -> None:
    found = looked_up(MemoryFlow(len(questions), seed), questions, known, known_values)
    assert found == expected(questions, known)


@settings(max_examples=150)
@given(some_questions(), st.integers(0, 9))
def test_with_nothing_known_the_questions_of_all_partitions_answer_one_another(questions: Questions, seed: int) -> None:
    found = looked_up(MemoryFlow(len(questions), seed), questions, None, votes)
    assert found == expected(questions, Counter(key for keys in questions for key in keys))


@pytest.mark.parametrize("n_partitions", PARTITIONS)
def test_on_disk_the_answers_are_the_same(n_partitions: int, tmp_path: Path) -> None:
    questions = [[3, 1, 3, 12], [], [7, 3], [1], [12, 12]][:n_partitions]
    known = {1: 10, 3: 30, 4: 40, 12: 120}
    flow = DiskFlow(StageStore(tmp_path, 1 << 20), Layout(n_partitions, n_partitions, n_partitions), 2, 1 << 30, Progress())
    assert looked_up(flow, questions, known, known_values) == expected(questions, known)


def test_without_questions_nobody_is_asked_for_an_answer() -> None:
    def fail(questions: pa.Table, known: Mapping[str, pa.Table]) -> pa.Table:
        raise AssertionError("there is nothing to answer")

    flow = MemoryFlow(5)
    assert looked_up(flow, [[], [], [], [], []], {1: 10, 2: 20}, fail) == [{}, {}, {}, {}, {}]
    assert flow.stages == ["asked", "known", "answers", "gather"]


def test_questions_of_several_tables_are_answered_together() -> None:
    flow = MemoryFlow(2)
    asked = asked_of(flow, [[4], [4, 5]])
    more = sent_home(flow, "more", pa.table([[5], [7], [0]], schema=ASKED))
    answers = flow.collect(lookup(flow, "answers", [asked, more], {}, votes, ANSWERS))
    assert sorted(zip(*answers.to_pydict().values(), strict=True)) == [(0, 2), (0, 2), (1, 2), (7, 2)]


def test_what_answers_travels_without_its_flow() -> None:
    questions = [[3, 1], [3]]
    assert looked_up(SentFlow(2), questions, {3: 30}, known_values) == expected(questions, {3: 30})
