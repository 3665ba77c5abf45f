"""Blocks of JSON lines as columns, in one of two ways; what neither reads is read line by line (`jsonl_files`).

All ways give the same documents (tested). In large files, a kernel reads what nearly all consist of: an object on each line
with fields that are strings or null, ids and groups also whole numbers. Arrow reads what else it is known to read as
`json.loads` does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.json as pj
from numpy.typing import NDArray

from ibidem.columns.texts import read_only
from ibidem.formats import kernels
from ibidem.formats.records import Wanted

# Arrow's parser counts in 32 bits.
MAX_FAST_BYTES = 1 << 30
# The first blocks of a file are read by Arrow: for some 30 MB, compiling the kernel would take longer.
N_ARROW_BLOCKS = 8
_NEWLINE, _RETURN, _OPEN, _CLOSE = b"\n\r{}"


class Columns(NamedTuple):
    """The objects of a block: in which lines they are (from 0), where they begin, and text, id, time and group of each."""

    lines: NDArray[np.int64]
    starts: NDArray[np.int64]
    values: list[pa.Array]


class FieldTypes:
    """Arrow types to ask for, learnt from earlier records; a wrong guess costs time, never a result.

    `n_blocks` is how many blocks of the file were asked for.
    """

    def __init__(self, wanted: Wanted) -> None:
        self.n_blocks = 0
        text, doc_id, time, group = wanted.names
        self._wanted = wanted
        self._types: dict[str, Any] = dict.fromkeys((group, time, doc_id, text), pa.large_string())

    def learn(self, record: dict[str, Any]) -> None:
        """Take the types of one record."""
        text, doc_id, time, group = self._wanted.names
        for name in (group, time, doc_id):
            value = record.get(name)
            if name == text or value is None or isinstance(value, bool):
                continue
            if isinstance(value, str):
                self._types[name] = pa.large_string()
            elif isinstance(value, (int, float)):
                self._types[name] = pa.float64() if name == time and name not in (doc_id, group) else pa.int64()

    def schema(self) -> Any:
        """Return the schema to parse with."""
        return pa.schema(list(self._types.items()))


def n_breaks(block: bytes) -> int:
    """Return the number of line breaks. This is four times as fast as `block.count`, and lets other threads run meanwhile."""
    return int(np.count_nonzero(np.frombuffer(block, np.uint8) == _NEWLINE))


def read_columns(block: bytes, wanted: Wanted, types: FieldTypes) -> Columns | None:
    """Return the columns of a block, or None if it has to be read line by line."""
    found = None
    types.n_blocks += 1
    if types.n_blocks > N_ARROW_BLOCKS and len(set(wanted.names)) == len(wanted.names):
        found = read_plain(block, wanted.names)
    return read_with_arrow(block, wanted.names, types) if found is None else found


def read_plain(block: bytes, names: tuple[str, str, str, str]) -> Columns | None:
    """Return the columns of a block that has nothing unusual in it; otherwise None. The names must be different."""
    n_lines = n_breaks(block) + 1
    encoded = [name.encode("utf-8", "surrogateescape") for name in names]
    name_ends = np.cumsum([len(name) for name in encoded])
    texts = np.empty(len(block) + kernels.ROOM_BYTES, np.uint8)
    others = np.empty(3 * len(block) + kernels.ROOM_BYTES, np.uint8)
    first, is_known = np.empty((4, n_lines + 1), np.int64), np.empty((4, n_lines), np.bool_)
    lines, starts = np.empty(n_lines, np.int64), np.empty(n_lines, np.int64)
    n = kernels.read_objects(
        np.frombuffer(block, np.uint8), read_only(np.frombuffer(b"".join(encoded), np.uint8)), read_only(name_ends), texts,
        others, first, is_known, lines, starts,
    )  # fmt: skip
    if n <= 0:
        return None
    texts.resize(int(first[kernels.TEXT, n]), refcheck=False)  # the rest of the room is released
    values = [_strings(texts, first[kernels.TEXT, : n + 1], is_known[kernels.TEXT, :n])]
    for field in (kernels.ID, kernels.TIME, kernels.GROUP):
        begin = (field - 1) * len(block)
        data = others[begin : begin + int(first[field, n])].copy()
        values.append(_strings(data, first[field, : n + 1], is_known[field, :n]))
    try:
        for column in values:
            column.validate(full=True)
    except pa.ArrowInvalid:
        return None
    return Columns(lines[:n], starts[:n], values)


def _strings(data: NDArray[np.uint8], first: NDArray[np.int64], is_known: NDArray[np.bool_]) -> pa.LargeStringArray:
    n_unknown = len(is_known) - int(np.count_nonzero(is_known))
    known = pa.py_buffer(np.packbits(is_known, bitorder="little")) if n_unknown else None
    return pa.LargeStringArray.from_buffers(len(is_known), pa.py_buffer(first.copy()), pa.py_buffer(data), known, n_unknown)


def read_with_arrow(block: bytes, names: tuple[str, str, str, str], types: FieldTypes) -> Columns | None:
    """Return the columns of a block, or None if Arrow may read it differently from Python, or not at all.

    Arrow ignores lines: it accepts consecutive objects, and a leading `null` makes it crash (seen in pyarrow 26). If every line
    starts with { and ends with }, and there are as many rows as lines, then each line is one object: inside an object, a { can
    only follow a colon, comma or bracket.
    """
    if not 0 < len(block) <= MAX_FAST_BYTES:
        return None
    data = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(data == _NEWLINE)
    if not len(ends) or ends[-1] != len(data) - 1:
        ends = np.append(ends, len(data))
    starts = np.concatenate(([0], ends[:-1] + 1))
    ends = ends - ((ends > starts) & (data[ends - 1] == _RETURN))
    lines = np.flatnonzero(ends > starts)
    starts, ends = starts[lines], ends[lines]
    if not len(lines) or (data[starts] != _OPEN).any() or (data[ends - 1] != _CLOSE).any():
        return None
    try:
        table = pj.read_json(
            pa.BufferReader(block),
            read_options=pj.ReadOptions(use_threads=False, block_size=len(block) + 64),
            parse_options=pj.ParseOptions(explicit_schema=types.schema(), unexpected_field_behavior="ignore"),
        )
        table.validate(full=True)
    except pa.ArrowException:
        return None
    if table.num_rows != len(lines):
        return None
    return Columns(lines, starts, [table[name].combine_chunks() for name in names])
