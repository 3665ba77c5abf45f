"""Times in all spellings."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem.formats.times import from_array, parse_time

UTC = timezone.utc
MOMENT = datetime(2020, 1, 31, 12, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2020-01-31T12:30:00Z", MOMENT),
        ("2020-01-31T12:30", MOMENT),
        ("2020-01-31 12:30:00", MOMENT),
        ("2020-01-31T14:30:00+02:00", MOMENT),
        ("2020-01-31T14:30:00+0200", MOMENT),
        ("2020-01-31T14:30+02", MOMENT),
        ("20200131T123000Z", MOMENT),
        (" 2020-01-31 12:30:00 UTC ", MOMENT),
        ("2020-01-31T12:30:00.123456789Z", MOMENT.replace(microsecond=123456)),
        ("2020-01-31", datetime(2020, 1, 31, tzinfo=UTC)),
        ("20200131", datetime(2020, 1, 31, tzinfo=UTC)),
        ("2020-01", datetime(2020, 1, 1, tzinfo=UTC)),
        ("2020", datetime(2020, 1, 1, tzinfo=UTC)),
        ("Fri, 31 Jan 2020 12:30:00 +0000", MOMENT),
        ("Fri, 31 Jan 2020 07:30:00 -0500", MOMENT),
        (1580473800, MOMENT),
        (1580473800.0, MOMENT),
        (1580473800000, MOMENT),
        ("1580473800", MOMENT),
        (-1.5, datetime(1969, 12, 31, 23, 59, 58, 500000, tzinfo=UTC)),
        (datetime(2020, 1, 31, 12, 30), MOMENT),
        (datetime(2020, 1, 31, 13, 30, tzinfo=timezone(timedelta(hours=1))), MOMENT),
        (date(2020, 1, 31), datetime(2020, 1, 31, tzinfo=UTC)),
        ("2020-13-31", None),
        ("yesterday", None),
        ("", None),
        (float("nan"), None),
        (float("inf"), None),
        (10**400, None),
        (True, None),
        ({}, None),
        (None, None),
    ],
)
def test_one_time(value: Any, expected: datetime | None) -> None:
    assert parse_time(value) == expected


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array(["2020-01-31T12:30:00Z", None]), [MOMENT, None]),
        (pa.array(["2020-01-31T12:30", "2020-01-31T12:30"]), [MOMENT, MOMENT]),
        (pa.array(["2020-01-31T12:30", "2020-01-31T12:30Z", "2020-01-31T13:30+01:00", "x"]), [MOMENT] * 3 + [None]),
        (pa.array(["2020-01-31T12:30Z"]).dictionary_encode(), [MOMENT]),
        (pa.array([1580473800, None]), [MOMENT, None]),
        (pa.array([1580473800.0]), [MOMENT]),
        (pa.array([MOMENT.replace(tzinfo=None)], pa.timestamp("ns")), [MOMENT]),
        (pa.array([MOMENT], pa.timestamp("s", "Europe/Berlin")), [MOMENT]),
        (pa.array([date(2020, 1, 31)]), [datetime(2020, 1, 31, tzinfo=UTC)]),
        (pa.array([[1]]), [None]),
        (pa.array([True]), [None]),
        (pa.nulls(2), [None, None]),
        (pa.chunked_array([["2020"], ["2021"]]), [datetime(2020, 1, 1, tzinfo=UTC), datetime(2021, 1, 1, tzinfo=UTC)]),
    ],
)
def test_a_column_of_times(column: Any, expected: list[datetime | None]) -> None:
    assert from_array(column).to_pylist() == expected


@given(st.lists(st.datetimes(timezones=st.sampled_from([None, UTC, timezone(timedelta(hours=-3, minutes=-30))])), min_size=1))
def test_a_column_is_read_like_its_values(moments: list[datetime]) -> None:
    written = [moment.isoformat() for moment in moments]
    assert from_array(pa.array(written)).to_pylist() == [parse_time(text) for text in written]
