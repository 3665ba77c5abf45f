"""Dates as people write them: 4 May 2031, 4. Mai 2031, May 4, 2031, 04.05.2031, 2031年5月4日; and in a form that is given.

What could be two dates, such as 4/5/2031, is no date unless the order of day and month is given.
"""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache

AUTO, DAY_FIRST, MONTH_FIRST = "auto", "day-first", "month-first"
_MONTHS = """
january february march april may june july august september october november december
januar februar märz april mai juni juli august september oktober november dezember
jänner feber maerz april mai juni juli august september oktober november dezember
janvier février mars avril mai juin juillet août septembre octobre novembre décembre
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro
januari februari maart april mei juni juli augustus september oktober november december
januari februari mars april maj juni juli augusti september oktober november december
januar februar marts april maj juni juli august september oktober november december
stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia
января февраля марта апреля мая июня июля августа сентября октября ноября декабря
січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня
ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık
يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر
"""
_NAME = r"(?P<month>[^\W\d_]+)\.?"
_WEEKDAY = r"(?:[^\W\d_]+\.?,?\s+(?:(?:den|le|the)\s+)?)?"
_CLOCK = r"(?:,?\s+(?:at\s+|um\s+)?(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}))?(?:\s+Uhr|\s*UTC|\s*Z)?)?"
_FORMS = [
    re.compile(form + _CLOCK, re.IGNORECASE)
    for form in (
        rf"{_WEEKDAY}(?P<day>\d{{1,2}})(?:\.|st|nd|rd|th|er|º)?\s+(?:de\s+|of\s+)?{_NAME},?\s+(?:de\s+)?(?P<year>\d{{4}})",
        rf"{_WEEKDAY}{_NAME}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>\d{{4}})",
        rf"{_NAME},?\s+(?P<year>\d{{4}})",
        r"(?P<year>\d{4})\s*[年년]\s*(?P<month>\d{1,2})\s*[月월]\s*(?P<day>\d{1,2})\s*[日일]",
        r"(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.\s?(?P<year>\d{4})",
        r"(?P<year>\d{4})(?P<sign>[/.])(?P<month>\d{1,2})(?P=sign)(?P<day>\d{1,2})",
    )
]
_EITHER = re.compile(r"(?P<first>\d{1,2})(?P<sign>[/.-])(?P<second_number>\d{1,2})(?P=sign)(?P<year>\d{4})" + _CLOCK)


def check_form(form: str) -> str | None:
    """Return what is wrong with a form of dates."""
    if form in (AUTO, DAY_FIRST, MONTH_FIRST):
        return None
    try:
        if "%" in form:
            datetime.strptime(datetime(2031, 5, 4).strftime(form), form)
            return None
    except ValueError:
        pass
    return f"{AUTO}, {DAY_FIRST}, {MONTH_FIRST}, or a form such as %d/%m/%Y"


def written_date(text: str, form: str = AUTO) -> datetime | None:
    """Return the date that a text is, without a zone; None if it is none, or could be two."""
    if "%" in form:
        try:
            return datetime.strptime(text, form)
        except ValueError:
            return None
    either = _EITHER.fullmatch(text)
    if either is not None and (form != AUTO or either["sign"] != "."):
        first, second = int(either["first"]), int(either["second_number"])
        if form == AUTO and max(first, second) <= 12 and first != second:
            return None
        is_day_first = form == DAY_FIRST or (form == AUTO and first > 12)
        day, month = (first, second) if is_day_first else (second, first)
        return _moment(either, int(either["year"]), month, day)
    for pattern in _FORMS:
        found = pattern.fullmatch(text)
        if found is not None:
            name = found["month"]
            month_number = int(name) if name.isdecimal() else _month(name.casefold())
            if month_number is not None:
                return _moment(found, int(found["year"]), month_number, int(found.groupdict().get("day") or 1))
    return None


def _moment(found: re.Match[str], year: int, month: int, day: int) -> datetime | None:
    try:
        hour, minute, second = (int(found[name] or 0) for name in ("hour", "minute", "second"))
        return datetime(year, month, day, hour, minute, second)
    except ValueError:
        return None


@lru_cache(maxsize=512)
def _month(name: str) -> int | None:
    """Return the number of a month by its name, or by three or more letters that no other month begins with."""
    numbers = {
        number
        for names in _MONTHS.split("\n")
        for number, month in enumerate(names.split(), 1)
        if month == name or (len(name) >= 3 and month.startswith(name))
    }
    return numbers.pop() if len(numbers) == 1 else None
