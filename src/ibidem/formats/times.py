"""Times in every common format, as microseconds in UTC; what cannot be parsed is null, never an error."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from email.utils import parsedate_to_datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ibidem.formats.written_dates import AUTO, written_date

TIMESTAMP = pa.timestamp("us", tz="UTC")
ACCEPTED = "2031-09-13T04:00:00Z, 2031-09-13, 2031, 13 Sep 2031, 'Sat, 13 Sep 2031 04:00:00 GMT', seconds since 1970"
# From here on a number counts milliseconds: as seconds it would be beyond the year 5138.
MIN_MILLISECONDS = 1e11
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECONDS = {"us": 1, "ms": 1000, "s": 10**6, "day": 86_400 * 10**6}
_FIRST, _LAST = (
    (moment.replace(tzinfo=timezone.utc) - _EPOCH) // timedelta(microseconds=1) for moment in (datetime.min, datetime.max)
)
_ISO = re.compile(
    r"(?P<year>\d{4})(?:-?(?P<month>\d{2})(?:-?(?P<day>\d{2})"
    r"(?:[T ](?P<hour>\d{2})(?::?(?P<minute>\d{2})(?::?(?P<second>\d{2})(?:[.,](?P<fraction>\d+))?)?)?"
    r" ?(?P<zone>Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?)?)?)?",
    re.IGNORECASE,
)


def from_array(column: Any, form: str = AUTO) -> Any:
    """Return any Arrow column as timestamps in UTC; times without a zone are taken as UTC. `form` is that of dates in text."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if column.null_count == len(column):
        return pa.nulls(len(column), TIMESTAMP)
    if column.type == TIMESTAMP:
        return _without_impossible(column, 1)
    if pa.types.is_nested(column.type) or pa.types.is_duration(column.type) or pa.types.is_time(column.type):
        return pa.nulls(len(column), TIMESTAMP)
    # Each spelling is read once: days, months and years are in many records.
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    return _from_distinct(encoded.dictionary, form).take(encoded.indices)


def _from_distinct(values: Any, form: str) -> Any:
    # Times further away would overflow when converted.
    if pa.types.is_timestamp(values.type) or pa.types.is_date(values.type):
        unit = values.type.unit if pa.types.is_timestamp(values.type) else "day" if pa.types.is_date32(values.type) else "ms"
        if unit in _MICROSECONDS:
            values = _without_impossible(values, _MICROSECONDS[unit])
    is_text = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
    if pa.types.is_temporal(values.type) or (is_text and "%" not in form):
        # Two tries by column before going value by value: Arrow wants either all zones or none.
        for kind in (pa.timestamp("us"), TIMESTAMP):
            try:
                return _without_impossible(values.cast(kind, safe=False).cast(TIMESTAMP), 1)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                continue
    return from_values(values.to_pylist(), form)


def shown(value: Any) -> str:
    """Return a value of an Arrow column of times as it is shown to people."""
    try:
        return repr(value.as_py())
    except (ValueError, OverflowError):  # a time that Python does not have
        return f"{value.value} ({value.type})"


def _without_impossible(moments: Any, n_microseconds: int) -> Any:
    """Return a column of times, null outside the years 1 to 9999, which neither Python nor people write.

    `n_microseconds` is its unit.
    """
    numbers = moments.cast(pa.int32()).cast(pa.int64()) if pa.types.is_date32(moments.type) else moments.cast(pa.int64())
    first, last = -(-_FIRST // n_microseconds), _LAST // n_microseconds
    bounds = pc.min_max(numbers).as_py()
    if bounds["min"] is None or (first <= bounds["min"] and bounds["max"] <= last):
        return moments
    is_possible = pc.and_(pc.greater_equal(numbers, first), pc.less_equal(numbers, last))
    return pc.if_else(is_possible, moments, pa.scalar(None, moments.type))


def from_values(values: Sequence[Any], form: str = AUTO) -> Any:
    """Return Python values as timestamps in UTC."""
    return pa.array([parse_time(value, form) for value in values], TIMESTAMP)


def parse_time(value: Any, form: str = AUTO) -> datetime | None:
    """Return one time in UTC: a datetime, a date, a string, or seconds (milliseconds) since 1970.

    Strings are ISO 8601, RFC 2822 or dates as people write them; with a `form` of strptime, that is tried first.
    """
    try:
        if isinstance(value, bool) or value is None:
            return None
        if isinstance(value, datetime):
            return _in_utc(value)
        if isinstance(value, date):
            return datetime(value.year, value.month, value.day, tzinfo=timezone.utc)
        if isinstance(value, (int, float, Decimal)):
            return _from_number(float(value))
        if isinstance(value, str):
            written = written_date(value.strip(), form) if "%" in form else None
            return _in_utc(written) if written is not None else _from_string(value.strip(), form)
    except (ValueError, TypeError, OverflowError):
        pass
    return None


def _in_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=timezone.utc) if moment.tzinfo is None else moment.astimezone(timezone.utc)


def _from_number(number: float) -> datetime | None:
    if not math.isfinite(number):
        return None
    return _EPOCH + timedelta(seconds=number / 1000 if abs(number) > MIN_MILLISECONDS else number)


def _from_string(text: str, form: str) -> datetime | None:
    found = _ISO.fullmatch(text)
    if found is None:
        # Numbers in CSV files arrive as strings; four, six and eight digits are a year, month or day and matched above.
        if re.fullmatch(r"-?\d+(\.\d*)?", text):
            return _from_number(float(text))
        if (written := written_date(text, form)) is not None:
            return _in_utc(written)
        return _in_utc(parsedate_to_datetime(text))
    part = found.groupdict()
    return _in_utc(
        datetime(
            int(part["year"]),
            int(part["month"] or 1),
            int(part["day"] or 1),
            int(part["hour"] or 0),
            int(part["minute"] or 0),
            int(part["second"] or 0),
            int((part["fraction"] or "0").ljust(6, "0")[:6]),
            _zone(part["zone"]),
        )
    )


def _zone(text: str | None) -> timezone:
    if text is None or text[0] not in "+-":
        return timezone.utc
    digits = text[1:].replace(":", "")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:] or 0))
    return timezone(-offset if text[0] == "-" else offset)
