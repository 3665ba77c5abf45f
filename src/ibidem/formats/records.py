"""Records as columns, made by every reader, and the one place where they are checked and become documents."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ibidem.config import DocumentsConfig
from ibidem.config.surface import given, named
from ibidem.errors import InputError, SettingsError
from ibidem.formats import times
from ibidem.formats.byte_streams import MAX_RECORD_BYTES
from ibidem.formats.field_paths import is_path
from ibidem.formats.file_encodings import AUTO
from ibidem.formats.jobs import UNMATCHED, WITHOUT_ROW, Outcome, ReadingRemark
from ibidem.formats.metadata import NONE, Additions
from ibidem.formats.partitions import fields_of_folders, filled
from ibidem.formats.written_dates import check_form
from ibidem.model import DOCUMENT_BATCH, Skipped

MAX_BATCH_BYTES = 16 << 20
_CHARACTERS_A_CONTROL = 20  # at least, in text
_CONTROL = re.compile("[\0-\x08\x0e-\x1a\x7f-\x84\x86-\x9f]")
EMPTY_TEXT = "empty text"  # why a record is not used
_LAST_SPACE, _LAST_VISIBLE = 0x20, 0x7E  # of ASCII
_MOST_NAMES, _MOST_NAME_CHARS = 40, 80  # of columns, where they are shown
# Made once: Arrow takes a tenth of a millisecond to convert a Python value, which single documents would notice.
_ZERO, _FALSE, _NO_ID = pa.scalar(0, pa.int64()), pa.scalar(False), pa.scalar("", pa.large_string())


@dataclass(frozen=True)
class Wanted:
    """What to read: the settings, and whether all other fields are wanted too.

    What was met so far over all files of a reading: `seen_urls` in web archives, where ids must not repeat; `id_fields_met`
    says for records whether they had the field that ids are to be taken from; `unfit_tables` had no texts.
    """

    config: DocumentsConfig
    other_fields: bool = False
    seen_urls: set[str] = field(default_factory=set)
    id_fields_met: set[bool] = field(default_factory=set)
    unfit_tables: list[InputError] = field(default_factory=list)
    additions: Additions = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "additions", Additions(self.config))
        if (allowed := check_form(self.config.date_format)) is not None:
            raise SettingsError([f"{named('date_format')} must be {allowed}, not '{self.config.date_format}'"])
        try:
            codecs.lookup(self.config.encoding if self.config.encoding != AUTO else "utf-8")
        except LookupError:
            known = "auto, or one that Python knows, such as utf-8 or latin-1"
            raise SettingsError([f"{named('encoding')} must be {known}, not '{self.config.encoding}'"]) from None

    @property
    def names(self) -> tuple[str, str, str, str]:
        """Names of the fields for text, id, time and group."""
        config = self.config
        return config.text_field, config.id_field, config.time_field, config.group_field

    def in_encoding(self, encoding: str) -> Wanted:
        """Return the same for a file in some encoding."""
        wanted = replace(self, config=replace(self.config, encoding=encoding))
        object.__setattr__(wanted, "additions", self.additions)  # which counts over all files
        return wanted

    @property
    def has_paths(self) -> bool:
        """Whether any name may lead into a field."""
        return any(map(is_path, self.names))

    def only_wanted(self, record: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return a record without unused values, which may be large; a record without text keeps its field names."""
        if self.other_fields:
            return record
        names = self.names if self.config.text_field in record else record
        return {name: record[name] if name in self.names else None for name in names if name in record}

    def others(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of a record that have no meaning here."""
        return {name: value for name, value in record.items() if name not in self.names}


@dataclass
class Records:
    """Columns of some records in reading order, not yet checked; a column that is None is absent everywhere.

    `source` is one name for all, or one for each record. `html` asks for the text to be taken out of HTML,
    `cleaned` says for each record that this was done already. `problems` says of some rows why they cannot be used.
    `has_own_ids` says that ids are not taken from a field, `is_valid` that all columns of strings are known to be UTF-8.
    """

    text: Any
    position: Any
    source: str | list[str]
    id: Any = None
    time: Any = None
    group: Any = None
    html: bool = False
    has_own_ids: bool = False
    is_valid: bool = False
    cleaned: Any = None
    problems: dict[int, str] = field(default_factory=dict)
    others: list[dict[str, Any]] | None = None
    unread_times: list[tuple[int, Any]] = field(default_factory=list)  # rows, and what is there instead

    def source_of(self, row: int) -> str:
        """Return the name of the source that a row comes from."""
        return self.source if isinstance(self.source, str) else self.source[row]


def too_long(what: str) -> str:
    """Return the reason for a record that is too long."""
    return f"a {what} of more than {MAX_RECORD_BYTES >> 20:,} MB; split it into several documents"


def missing_text(wanted: Wanted, fields: Iterable[Any]) -> str:
    """Return the reason for a record that has no text, given the names of its fields."""
    return missing_field(wanted.config.text_field, fields)


def missing_field(name: str, fields: Iterable[Any]) -> str:
    """Return the reason for a record that has nothing in a field, given the names of those it has."""
    names = list(map(str, fields))
    if name in names:
        return f"field '{name}' is null"
    return f"no field '{name}'; its fields are {shown_names(names)}" if names else f"no field '{name}', nor any other"


def shown_names(names: Sequence[str]) -> str:
    """Return the names of fields or columns as they are shown to people."""
    # A file that is no table at all has a first line of any length and of any bytes.
    shown = [name.encode("utf-8", "backslashreplace").decode()[:_MOST_NAME_CHARS] for name in names[:_MOST_NAMES]]
    more = f", and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    return (", ".join(shown) or "none") + more


class UnfitTableError(InputError):
    """A table without texts. Other inputs may still be used; if there are none, this error is raised."""

    def __init__(self, source: str, message: str, next_step: str) -> None:
        super().__init__(message, next_step)
        self.reason = f"{message.removeprefix(source).lstrip(': ')}; {next_step[0].lower()}{next_step[1:].rstrip('.')}"


def missing_column(source: str, names: Sequence[str], wanted: Wanted) -> UnfitTableError:
    """Return the error for a table that has no column for the text."""
    return UnfitTableError(
        source,
        f"{source} has no column '{wanted.config.text_field}'; its columns are {shown_names(names)}",
        f"Name the text column with {given('text_field', 'NAME')}.",
    )


def check(records: Records, wanted: Wanted, n_bytes: int = 0) -> Outcome:
    """Turn records into documents: every row ends up either in a batch or in `skipped`."""
    problems = records.problems
    text = _as_strings(records.text, wanted.config.text_field, problems, records.is_valid)
    if records.html:
        from ibidem.formats.html_text import extract_texts

        text = extract_texts(text, wanted.config.main_content)
    doc_ids = None if records.id is None else _as_strings(records.id, wanted.config.id_field, problems, records.is_valid)
    _find_unusable_texts(text, wanted, problems, records.has_own_ids)
    n_rows = len(text)
    if n_rows and not records.has_own_ids:
        wanted.id_fields_met.add(doc_ids is not None and doc_ids.null_count < n_rows)
    doc_ids = _make_missing_ids(doc_ids, records)
    group = None if records.group is None else _as_strings(records.group, "", {}, records.is_valid)
    moments = pa.nulls(n_rows, DOCUMENT_BATCH.field("time").type)
    if records.time is not None:
        moments = times.from_array(records.time, wanted.config.date_format)
    remarks = _unread_times(records, moments)
    others = records.others
    if isinstance(records.source, list) or "=" in records.source:
        moments, group = filled(moments, group, records.source, wanted.config)
        others = None if others is None else [_with_folders(records, row, fields) for row, fields in enumerate(others)]
    if wanted.additions.is_any:
        moments, group, others, more = _with_additions(records, doc_ids, moments, group, wanted)
        remarks += more
    columns = [
        doc_ids,
        text,
        moments,
        pa.nulls(n_rows, pa.large_string()) if group is None else group,
        _source_column(records.source, n_rows),
        pa.array(records.position, pa.int64()),
        pa.array(np.full(n_rows, records.html) if records.cleaned is None else records.cleaned, pa.bool_()),
    ]
    skipped = [
        Skipped(records.source_of(row), columns[5][row].as_py(), problems[row], _known_id(records, doc_ids, row))
        for row in sorted(problems)
    ]
    if problems:
        good = np.ones(n_rows, dtype=bool)
        good[list(problems)] = False
        columns = [column.filter(pa.array(good)) for column in columns]
        others = None if others is None else [fields for fields, keep in zip(others, good, strict=True) if keep]
    batches = _cut(columns)
    return Outcome(batches, skipped, n_bytes, others, remarks)


def _with_folders(records: Records, row: int, fields: dict[str, Any]) -> dict[str, Any]:
    return {**fields_of_folders(records.source_of(row)), **fields}


def _with_additions(
    records: Records, doc_ids: Any, moments: Any, group: Any, wanted: Wanted
) -> tuple[Any, Any, list[dict[str, Any]] | None, list[ReadingRemark]]:
    """Return times, groups and other fields with what metadata and paths say, which counts more; and what to tell."""
    additions, form = wanted.additions, wanted.config.date_format
    names = doc_ids.to_pylist()
    times_known, groups = moments.to_pylist(), [None] * len(names) if group is None else group.to_pylist()
    others = None if records.others is None else list(records.others)
    unread, without = [], []
    unmatched: dict[str, list[str]] = {}
    for number, name in enumerate(names):
        if number in records.problems:
            continue
        source = records.source_of(number)
        row = additions.row(name or "", source)
        if row is None and additions.table is not None:
            without.append(name)
        value = additions.time(row, source)
        moment = None if value is None else times.parse_time(value, form)
        if value is not None and moment is None:
            unread.append((value, name))
        times_known[number] = times_known[number] if moment is None else moment
        found = additions.group(row, source)
        groups[number] = found or groups[number]
        for setting, known in (("time_from", value), ("group_from", found)):
            if known is None and getattr(wanted.config, setting) != NONE:
                unmatched.setdefault(setting, []).append(source)
        if others is not None:
            others[number] = {**others[number], **additions.others(row)}
    remarks = [ReadingRemark(len(unread), f"{unread[0][0]!r:.60} for {unread[0][1]}")] if unread else []
    remarks += [ReadingRemark(len(without), str(without[0]), WITHOUT_ROW)] if without else []
    remarks += [ReadingRemark(len(paths), paths[0], UNMATCHED, (setting,)) for setting, paths in unmatched.items()]
    return pa.array(times_known, times.TIMESTAMP), strings(groups, "group", {}), others, remarks


def _unread_times(records: Records, moments: Any) -> list[ReadingRemark]:
    """Say how many times are there and not known, if any."""
    if not records.unread_times and (records.time is None or moments.null_count == records.time.null_count):
        return []
    if records.unread_times:
        count, (row, value) = len(records.unread_times), records.unread_times[0]
        shown = repr(value)
    else:
        rows = np.flatnonzero(pc.and_(moments.is_null(), pc.is_valid(records.time)).to_numpy(zero_copy_only=False))
        count, row = len(rows), int(rows[0])
        shown = times.shown(records.time[row])
    return [ReadingRemark(count, f"{shown:.60} in {records.source_of(row)}:{pa.array(records.position)[row].as_py()}")]


def strings(values: Sequence[str | None], name: str, problems: dict[int, str]) -> Any:
    """Return Python strings as an Arrow column; rows with lone surrogates become null and a problem."""
    try:
        return pa.array(values, pa.large_string())
    except UnicodeEncodeError:
        usable: list[str | None] = []
        for row, value in enumerate(values):
            surrogate = None if value is None else surrogate_in(value)
            usable.append(value if surrogate is None else None)
            if surrogate is not None:
                problems.setdefault(row, _explain_surrogate(surrogate, name))
        return pa.array(usable, pa.large_string())


def _explain_surrogate(surrogate: int, name: str) -> str:
    # Python decodes an invalid byte as U+DC00 + byte, if asked to continue.
    if 0xDC80 <= surrogate <= 0xDCFF:
        return f"invalid byte 0x{surrogate - 0xDC00:02x} in field '{name}'; {named('encoding')} sets another encoding, or auto"
    return f"lone surrogate \\u{surrogate:04x} in field '{name}'"


def surrogate_in(value: str) -> int | None:
    """Return the first code point of a string that UTF-8 cannot write, if there is one."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        return ord(value[error.start])
    return None


def _as_strings(column: Any, name: str, problems: dict[int, str], is_valid: bool) -> Any:
    """Return any scalar column as valid large strings; what is no text becomes null, and a problem of its row."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_dictionary(column.type):
        if str(column.type.value_type) in ("string_view", "binary_view"):  # of Polars; Arrow takes no values of views
            column = pa.DictionaryArray.from_arrays(column.indices, column.dictionary.cast(pa.large_binary()))
        column = column.dictionary_decode()
    try:
        column = column.cast(pa.large_string())
        if not is_valid:
            column.validate(full=True)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, UnicodeDecodeError):
        return _as_strings_one_by_one(column, name, problems)
    return column


def _as_strings_one_by_one(column: Any, name: str, problems: dict[int, str]) -> Any:
    try:
        values = column.cast(pa.large_binary()).to_pylist()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        for row in range(len(column)):
            if column[row].is_valid:
                problems.setdefault(row, f"field '{name}' contains {column.type}, neither text nor a number")
        return pa.nulls(len(column), pa.large_string())
    usable: list[str | None] = []
    for row, value in enumerate(values):
        try:
            usable.append(None if value is None else value.decode("utf-8"))
        except UnicodeDecodeError as error:
            usable.append(None)
            problems.setdefault(row, f"invalid UTF-8 in field '{name}', at byte {error.start} of the field")
    return pa.array(usable, pa.large_string())


def _find_unusable_texts(text: Any, wanted: Wanted, problems: dict[int, str], is_file: bool) -> None:
    if text.null_count:
        for row in np.flatnonzero(text.is_null().to_numpy(zero_copy_only=False)).tolist():
            problems.setdefault(row, missing_text(wanted, [wanted.config.text_field]))
    if _may_be_blank(text):
        blank = pc.or_(pc.equal(pc.binary_length(text), _ZERO), pc.utf8_is_space(text)).fill_null(_FALSE)
        for row in np.flatnonzero(blank.to_numpy(zero_copy_only=False)).tolist():
            problems.setdefault(row, EMPTY_TEXT)
    # The smallest byte of all texts together is far cheaper to find than a substring in each row.
    if len(text) and (data := _text_bytes(text)).size and data.min() == 0:
        # A stray one is a mark between words like any other; of text in a wrong encoding every other character is one. Of a
        # file that is no text at all, every fifth is some control character.
        nuls = pc.count_substring(text, "\0").fill_null(0).to_pylist()
        for row in np.flatnonzero(nuls).tolist():
            found = text[row].as_py()
            count = len(_CONTROL.findall(found)) if is_file else nuls[row]
            if count * _CHARACTERS_A_CONTROL > len(found):
                problems.setdefault(row, nul_reason(found.index("\0")))


def _may_be_blank(text: Any) -> bool:
    """Return whether some text may have nothing but spaces; of most columns, the first byte of every text rules that out."""
    offsets, data = _text_offsets(text), text.buffers()[2]
    if data is None or text.null_count or not (offsets[1:] > offsets[:-1]).all():
        return len(text) > 0
    first = np.frombuffer(data, np.uint8)[offsets[:-1]]
    return bool(((first <= _LAST_SPACE) | (first > _LAST_VISIBLE)).any())


def _text_bytes(text: Any) -> Any:
    """Return the bytes of a column of large strings, without those before and after a slice."""
    offsets, data = _text_offsets(text), text.buffers()[2]
    return np.frombuffer(data, np.uint8)[offsets[0] : offsets[-1]] if data is not None else np.empty(0, np.uint8)


def _text_offsets(text: Any) -> Any:
    return np.frombuffer(text.buffers()[1], np.int64)[text.offset :][: len(text) + 1]


def nul_reason(where: int) -> str:
    """Return the reason for a text with many NUL characters in it."""
    return f"NUL characters, the first at character {where}: probably binary data or UTF-16"


def _make_missing_ids(doc_ids: Any, records: Records) -> Any:
    if doc_ids is not None:
        offsets = _text_offsets(doc_ids) if len(doc_ids) else np.zeros(1, np.int64)
        if not doc_ids.null_count and (offsets[1:] > offsets[:-1]).all():
            return doc_ids
        missing = pc.or_kleene(doc_ids.is_null(), pc.equal(doc_ids, _NO_ID))
    positions = pa.array(records.position, pa.int64()).cast(pa.large_string())
    several = not isinstance(records.source, str)
    sources = (pa.array if several else pa.scalar)(records.source, pa.large_string())
    made = pc.binary_join_element_wise(sources, positions, pa.scalar(":", pa.large_string()))
    return made if doc_ids is None else pc.if_else(missing, made, doc_ids)


def _known_id(records: Records, doc_ids: Any, row: int) -> str | None:
    if records.id is None or not records.id[row].is_valid:
        return None
    return doc_ids[row].as_py() or None


def _source_column(source: str | list[str], n_rows: int) -> Any:
    if isinstance(source, str):
        return pa.DictionaryArray.from_arrays(pa.array(np.zeros(n_rows, np.int32)), pa.array([source], pa.string()))
    return pa.array(source, pa.string()).dictionary_encode()


def _cut(columns: list[Any]) -> list[Any]:
    """Return columns as a batch, cut so that no part has more than MAX_BATCH_BYTES of text, unless it is one document."""
    batch = pa.RecordBatch.from_arrays(columns, schema=DOCUMENT_BATCH)
    if not batch.num_rows:
        return []
    offsets = _text_offsets(batch.column("text"))
    if offsets[-1] - offsets[0] <= MAX_BATCH_BYTES and not any(column.offset for column in columns):
        return [batch]
    parts, start = [], 0
    while start < batch.num_rows:
        end = max(start + 1, int(np.searchsorted(offsets, offsets[start] + MAX_BATCH_BYTES, side="right")) - 1)
        # Taken, not sliced: a slice would keep the whole batch in memory, its buffers would not start with its rows.
        parts.append(batch.take(pa.array(np.arange(start, end))))
        start = end
    return parts
