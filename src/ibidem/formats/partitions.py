"""What the folders of a file say: `year=2031/lang=en` are fields of all its records, as Hive, Spark and Arrow write them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc

from ibidem.config import DocumentsConfig
from ibidem.config.addresses import file_part
from ibidem.formats import times

# What a time is called where no setting names its field.
DATES = ("date", "published", "publication_date", "datetime", "timestamp", "year")
_PARTITION = re.compile(r"([^=]+)=(.*)")
_NULL = "__HIVE_DEFAULT_PARTITION__"


class FromFolders(NamedTuple):
    """What the folders of one file say about its records."""

    fields: Mapping[str, str]
    time: str | None
    group: str | None


@lru_cache(maxsize=4096)
def fields_of_folders(source: str) -> Mapping[str, str]:
    """Return the fields that the folders of a file name.

    >>> fields_of_folders("news/year=2031/city=New%20York/part-0.parquet")
    {'year': '2031', 'city': 'New York'}
    """
    if "=" not in source:
        return {}
    found = (_PARTITION.fullmatch(part) for part in file_part(source).replace("\\", "/").split("/")[:-1])
    return {each[1]: unquote(each[2]) for each in found if each is not None and each[2] != _NULL}


def from_folders(source: str, config: DocumentsConfig) -> FromFolders | None:
    """Return what the folders of a file say, with the meaning that settings give it; None if they say nothing."""
    fields = fields_of_folders(source)
    if not fields:
        return None
    names = config.time_field, *(DATES if config.time_field == DocumentsConfig().time_field else ())
    name = next((name for name in names if name in fields), None)
    time = None if name is None else _date(fields) if name == "year" else fields[name]
    return FromFolders(fields, time, fields.get(config.group_field))


def _date(fields: Mapping[str, str]) -> str:
    """Return a year, with the month and the day if there are folders of them too."""
    parts = [fields["year"].zfill(4)]
    for name in ("month", "day"):
        if not fields.get(name, "").isdecimal():
            break
        parts.append(fields[name].zfill(2))
    return "-".join(parts)


def filled(moments: Any, group: Any, sources: str | Sequence[str], config: DocumentsConfig) -> tuple[Any, Any]:
    """Return times and groups of records, where they have none those of their folders."""
    told = [from_folders(source, config) for source in ([sources] if isinstance(sources, str) else sources)]
    if not any(told):
        return moments, group
    n_rows = len(moments)

    def column(name: str) -> Any:
        values = pa.array([None if each is None else getattr(each, name) for each in told], pa.large_string())
        return pa.repeat(values[0], n_rows) if isinstance(sources, str) else values

    known = pc.coalesce(moments, times.from_array(column("time"), config.date_format))
    return known, column("group") if group is None else pc.coalesce(group, column("group"))
