"""Which of several documents is kept: the one with the smallest key, and the first in reading order among equal keys."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.collection import NO_TIME, Documents
from ibidem.config import Config, DocumentsConfig
from ibidem.config.surface import named
from ibidem.errors import NoValueError

UNKNOWN = 1 << 60  # the key of a document without a time or value, which comes last; above any time before 38,000 AD
ALWAYS_KNOWN = ("first", "longest")  # rules that use what every document has
_REFERENCE = -(1 << 62)  # comes first, whatever else the key says

Numbers = NDArray[np.int64]


def keep_order(keep: str, n_chars: Numbers, times: Numbers, values: pa.LargeStringArray, side: NDArray[np.int8]) -> Numbers:
    """Return the rank of every document by rules, the first of them first: first, longest, earliest, FIELD:max or FIELD:min.

    Unknown `times` are the smallest number; `values` are those of the FIELD. Reading order breaks ties; documents without a
    time or value come last. Documents of the reference, by `side`, come before all others.
    """
    rules = rules_of(keep)
    keys = [direct_keys(rule, n_chars, times) if is_direct(rule) else _keys_of_values(rule, values) for rule in rules]
    keys = [-side.astype(np.int64), *keys] if len(side) else keys
    return _positions(np.lexsort(keys[::-1]))


def rules_of(keep: str) -> list[str]:
    """Return the rules of a list; those that come first decide first."""
    return keep.split(",")


def field_of(keep: str) -> str:
    """Return the FIELD that the rules use; empty if they use none."""
    return next((rule.rpartition(":")[0] for rule in rules_of(keep) if ":" in rule), "")


def containers_first(rank: Numbers, sizes: Numbers, side: NDArray[np.int8]) -> Numbers:
    """Return a rank by which larger documents come first, those of the reference before all: if one document contains another,
    the container is kept, whatever the rank says.
    """
    return _positions(np.lexsort((rank, -sizes, -side) if len(side) else (rank, -sizes)))


def ranks(keys: Numbers) -> Numbers:
    """Return the rank of every document, given the keys of documents in reading order."""
    return _positions(np.argsort(keys, kind="stable"))


def is_direct(keep: str) -> bool:
    """Return whether there is one rule, by which the key of a document depends on the document alone."""
    return ":" not in keep and "," not in keep


def direct_keys(rule: str, n_chars: Numbers, times: Numbers) -> Numbers:
    """Return the keys of documents by a rule that needs no other documents; unknown `times` are the smallest number."""
    if rule == "longest":
        return -n_chars
    if rule == "earliest":
        return np.where(times == NO_TIME, UNKNOWN, np.clip(times, -UNKNOWN, UNKNOWN - 1))
    return np.zeros(len(n_chars), np.int64)


def value_keys(rule: str, texts: Sequence[str], counts: Numbers) -> Numbers:
    """Return the key of each different value of a FIELD.

    Values are ordered as numbers or else alphabetically; `counts` says how many documents have each one. If most are numbers,
    the others count as missing.
    """
    numbers = [_number(text) for text in texts]
    is_known = np.array([number is not None for number in numbers], np.bool_)
    if 2 * counts[is_known].sum() >= counts.sum():
        # Positions in the order, not the numbers themselves: decimals of any length stay distinct.
        places = _places([number or Decimal(0) for number in numbers])
    else:
        is_known, places = np.ones(len(texts), np.bool_), _places(texts)
    return np.where(is_known, -places if rule.endswith(":max") else places, UNKNOWN)


def reference_first(keys: Numbers, is_reference: NDArray[np.bool_]) -> Numbers:
    """Return keys by which the documents of the reference come before all others."""
    return np.where(is_reference, keys + _REFERENCE, keys)


def fields_for_keeping(config: Config) -> DocumentsConfig:
    """Return how documents are read so that the deciding field is available: as their group, which is otherwise unused."""
    field = field_of(config.clusters.keep)
    return dataclasses.replace(config.documents, group_field=field) if field else config.documents


def check_keeping(documents: Documents, config: Config) -> None:
    """Raise InputError if no document has the field or time that decides which one is kept."""
    for rule in rules_of(config.clusters.keep):
        is_known = documents.times != NO_TIME if is_direct(rule) else np.asarray(documents.groups.is_valid())
        check_known(rule, int(np.count_nonzero(is_known)))


def check_known(rule: str, n_known: int) -> None:
    """The same, given how many documents have what the rule uses: a time, or a value of the FIELD."""
    if n_known or rule in ALWAYS_KNOWN:
        return
    field, separator, _ = rule.rpartition(":")
    if separator:
        raise NoValueError(f"no record has a field '{field}' with a value", f"Check {named('keep')}.")
    raise NoValueError(
        "no record has a time, so no document is the earliest",
        f"Check {named('time_field')}, or choose another {named('keep')}.",
    )


def check_groups(n_known: int, config: Config) -> None:
    """Raise InputError where groups are compared and no document has one."""
    if n_known == 0:
        name = config.documents.group_field
        message = f"no record has a field '{name}' with a value, so there are no groups"
        raise NoValueError(message, f"Check {named('group_field')}.")


def _keys_of_values(rule: str, values: pa.LargeStringArray) -> Numbers:
    different = values.dictionary_encode()
    texts = different.dictionary.to_pylist()
    codes: NDArray[np.int32] = different.indices.fill_null(len(texts)).to_numpy(zero_copy_only=False)
    keys = value_keys(rule, texts, np.bincount(codes, minlength=len(texts))[: len(texts)])
    return np.append(keys, UNKNOWN)[codes]


def _positions(order: Numbers) -> Numbers:
    positions = np.empty(len(order), np.int64)
    positions[order] = np.arange(len(order))
    return positions


def _number(text: str) -> Decimal | None:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return None if number.is_nan() else number


def _places(values: Sequence[Any]) -> Numbers:
    place = {value: number for number, value in enumerate(sorted(set(values)))}
    return np.array([place[value] for value in values], np.int64)
