"""The order in which documents stay: in memory and over partitions it is what the rules say."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.clusters.exchange.keep_rules import rank_keys
from ibidem.columns.collection import NO_TIME
from ibidem.columns.keep_rules import keep_order
from ibidem.errors import InputError
from ibidem.execution.flow import PartedTable, Sent
from ibidem.execution.layout import Layout
from tests.memory_flow import MemoryFlow

DOCUMENTS = pa.schema(
    [
        ("document", pa.int64()),
        ("n_chars", pa.int64()),
        ("time", pa.timestamp("us", tz="UTC")),
        ("group", pa.large_string()),
    ]
)

RULES = [
    "first", "longest", "earliest", "score:max", "score:min",
    "earliest,longest", "longest,score:min,earliest", "score:max,earliest,first",
]  # fmt: skip
values = st.sampled_from([None, "1", "1.0", "01e1", "-3", "9", "10", "9.50", "pear", "apple", "nan", "inf", "", "é"])
rows = st.tuples(st.integers(0, 3), st.one_of(st.none(), st.integers(-5, 5)), values)


def placed(flow: MemoryFlow, documents: pa.Table, layout: Layout) -> PartedTable:
    routes = layout.home(documents["document"].to_numpy())
    return flow.map(
        "documents", [documents], lambda tables: [Sent("documents", next(tables), routes)], {"documents": DOCUMENTS}
    )["documents"]


def number_of(value: str | None) -> Decimal | None:
    try:
        number = Decimal("nan" if value is None else value)
    except InvalidOperation:
        return None
    return None if number.is_nan() else number


def expected_order(rule: str, items: list[tuple[int, int | None, str | None]], n_input: int) -> list[int]:
    """Return documents in the order in which they stay, as the definition says."""
    values = [value for _, _, value in items if value is not None]
    as_numbers = 2 * sum(number_of(value) is not None for value in values) >= len(values)

    def known_of(rule: str, document: int) -> Any:
        n_chars, time, value = items[document]
        if ":" in rule:
            return number_of(value) if as_numbers else value
        return {"first": 0, "longest": -n_chars, "earliest": time}[rule]

    order = list(range(len(items)))
    for one in reversed(rule.split(",")):  # equal ones stay in the order of the later rules
        known = [document for document in order if known_of(one, document) is not None]
        unknown = [document for document in order if known_of(one, document) is None]
        known.sort(key=partial(known_of, one), reverse=one.endswith(":max"))
        order = [*known, *unknown]
    return [document for document in order if document >= n_input] + [document for document in order if document < n_input]


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=60, deadline=None)
@given(st.lists(rows, min_size=1, max_size=12), st.integers(1, 5), st.integers(0, 3), st.data())
def test_keys_are_in_the_order_in_which_documents_stay(
    rule: str, given_rows: list[tuple[int, int | None, str | None]], n_partitions: int, n_gaps: int, data: st.DataObject
) -> None:
    n = len(given_rows)
    n_input = data.draw(st.integers(1, n))
    # Records that were skipped leave gaps between the numbers.
    steps = [1 + data.draw(st.integers(0, 2)) if n_gaps else 1 for _ in range(n)]
    numbers = np.cumsum(steps) - steps[0]
    layout = Layout(int(numbers[-1]) + 1, int(numbers[n_input - 1]) + 1, n_partitions)
    n_chars, times, groups = zip(*given_rows, strict=True)
    table = pa.table([numbers, n_chars, list(times), list(groups)], schema=DOCUMENTS)
    flow = MemoryFlow(n_partitions)
    known: dict[str, Any] = {"earliest": times, "score:max": groups, "score:min": groups}
    if any(all(value is None for value in known.get(one, [0])) for one in rule.split(",")):
        with pytest.raises(InputError, match="no record has a"):
            rank_keys(flow, "keep", placed(flow, table, layout), layout, rule)
        return
    ranks = flow.collect(rank_keys(flow, "keep", placed(flow, table, layout), layout, rule)).to_pylist()
    assert sorted(row["document"] for row in ranks) == numbers.tolist()
    side = (np.arange(n) >= n_input).astype(np.int8) if n_input < n else np.empty(0, np.int8)
    moments = np.array([NO_TIME if time is None else time for time in times])
    local = keep_order(rule, np.array(n_chars), moments, pa.array(groups, pa.large_string()), side)
    assert np.argsort(local).tolist() == expected_order(rule, given_rows, n_input)
    expected = numbers[np.argsort(local)].tolist()
    assert [row["document"] for row in sorted(ranks, key=lambda row: (row["rank_key"], row["document"]))] == expected
