"""Fields inside of fields: `doc.text` is a field of an object, `messages[].content` one of each element of a list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

_EACH = "[]"
_BETWEEN = "\n\n"  # the texts of a list are paragraphs of one text


def is_path(name: str) -> bool:
    """Return whether a name may lead into a field."""
    return "." in name or _EACH in name


def root_of(name: str) -> str:
    """Return the outermost field of a path."""
    return name.partition(".")[0].removesuffix(_EACH)


def value_at(record: Mapping[str, Any], name: str) -> Any:
    """Return what a name means in a record; a field with just that name comes first. None if there is nothing.

    The texts of a list are one text, a paragraph each.
    """
    if name in record or not is_path(name):
        return record.get(name)
    found: list[Any] = [record]
    is_list = False
    for step in name.split("."):
        field = step.removesuffix(_EACH)
        found = [each.get(field) for each in found if isinstance(each, Mapping)]
        for _ in range(step.count(_EACH)):
            is_list = True
            found = [item for each in found if isinstance(each, (list, tuple)) for item in each]
    found = [each for each in found if each is not None]
    if not found:
        return None
    if not is_list:
        return found[0]
    texts = [each for each in found if isinstance(each, str)]
    return _BETWEEN.join(texts) if texts else found[0]


def with_paths(record: Mapping[str, Any], names: Iterable[str]) -> Mapping[str, Any]:
    """Return a record with the values of paths as fields of their own."""
    paths = {name: value_at(record, name) for name in names if is_path(name) and name not in record}
    return {**record, **{name: value for name, value in paths.items() if value is not None}} if paths else record


def with_path_columns(rows: Any, names: Iterable[str]) -> Any:
    """Return a table or batch with the values of paths as columns of their own, where their outermost fields are there."""
    for name in names:
        root = root_of(name)
        if not is_path(name) or name in rows.schema.names or root not in rows.schema.names:
            continue
        values = [value_at({root: value}, name) for value in rows.column(root).to_pylist()]
        try:
            column = pa.array(values)
        except (pa.ArrowException, UnicodeError):
            column = pa.array([value if isinstance(value, str) else None for value in values], pa.large_string())
        rows = rows.append_column(name, column.cast(pa.large_string()) if pa.types.is_string(column.type) else column)
    return rows


def names_of_all(records: Iterable[Mapping[Any, Any]]) -> list[str]:
    """Return the names of the fields of records, each once, as they first occur."""
    return list(dict.fromkeys(str(name) for record in records for name in record))
