"""Times in every common spelling, as microseconds in UTC; what is not understood is null, never an error."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from email.utils import parsedate_to_datetime
from typing import Any

import pyarrow as pa

TIMESTAMP = pa.timestamp("us", tz="UTC")
# From here on a number counts milliseconds: as seconds it would lie beyond the year 5138.
MIN_MILLISECONDS = 1e11
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_ISO = re.compile(
    r"(?P<year>\d{4})(?:-?(?P<month>\d{2})(?:-?(?P<day>\d{2})"
    r"(?:[T ](?P<hour>\d{2})(?::?(?P<minute>\d{2})(?::?(?P<second>\d{2})(?:[.,](?P<fraction>\d+))?)?)?"
    r" ?(?P<zone>Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?)?)?)?",
    re.IGNORECASE,
)


def from_array(column: Any) -> Any:
    """Return any Arrow column as timestamps in UTC; times without a zone are taken as UTC."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if column.type == TIMESTAMP:
        return column
    if pa.types.is_nested(column.type):
        return pa.nulls(len(column), TIMESTAMP)
    # Each spelling is read once: days, months and years stand in many records.
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    return _from_distinct(encoded.dictionary).take(encoded.indices)


def _from_distinct(values: Any) -> Any:
    if pa.types.is_temporal(values.type) or pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        # Two tries by column before going value by value: Arrow wants either all zones or none.
        for kind in (pa.timestamp("us"), TIMESTAMP):
            try:
                return values.cast(kind, safe=False).cast(TIMESTAMP)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                continue
    return from_values(values.to_pylist())


def from_values(values: Sequence[Any]) -> Any:
    """Return Python values as timestamps in UTC."""
    return pa.array([parse_time(value) for value in values], TIMESTAMP)


def parse_time(value: Any) -> datetime | None:
    """Return one time in UTC: a datetime, date, ISO 8601 or RFC 2822 string, or seconds (milliseconds) since 1970."""
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
            return _from_string(value.strip())
    except (ValueError, TypeError, OverflowError):
        pass
    return None


def _in_utc(moment: datetime) -> datetime:
    return moment.replace(tzinfo=timezone.utc) if moment.tzinfo is None else moment.astimezone(timezone.utc)


def _from_number(number: float) -> datetime | None:
    if not math.isfinite(number):
        return None
    return _EPOCH + timedelta(seconds=number / 1000 if abs(number) > MIN_MILLISECONDS else number)


def _from_string(text: str) -> datetime | None:
    found = _ISO.fullmatch(text)
    if found is None:
        # Numbers in CSV files arrive as strings; four, six and eight digits are a year, month or day and matched above.
        if re.fullmatch(r"-?\d+(\.\d*)?", text):
            return _from_number(float(text))
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
