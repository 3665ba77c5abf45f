"""Callables over batches and single records that drop, cut or mark what an index knows.

A batch is a pandas or Polars frame, an Arrow table or record batch, or a dict of columns; what comes back has the same type. A
dict whose text is a single string is one record. They can be pickled, so that other processes open the index themselves.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from ibidem.config.surface import given
from ibidem.errors import InputError, UsageError
from ibidem.formats.python_inputs import Taken, Texts, column_names, is_null, settle
from ibidem.integrations.known_text import MARKS, MIN_COVERED_SHARE, Known, KnownText
from ibidem.model import Document
from ibidem.results.cleaned_objects import Changes, changed_object


class BatchStep:
    """What all steps have in common: the index, and where the texts are."""

    needs_cuts = False
    adds: Sequence[str] = ()

    def __init__(
        self, index: str | os.PathLike[str], *, text_field: str = "text", min_covered_share: float = MIN_COVERED_SHARE,
        **settings: Any,
    ) -> None:  # fmt: skip
        self.known = KnownText(index, min_covered_share=min_covered_share, **settings)
        self.text_field = text_field
        if self.needs_cuts:
            self.known.check_texts()

    def look_up(self, batch: Any) -> list[Known]:
        """Return what the index says about each row of a batch."""
        return self._of_texts(self._texts(batch if isinstance(batch, Mapping) else _taken(batch)))

    def _of_texts(self, texts: Sequence[str | None]) -> list[Known]:
        return self.known.look_up(texts, cuts=self.needs_cuts)

    def check_names(self, names: Sequence[str]) -> None:
        """Raise if a batch has no column with the text, or one already that the step would add."""
        taken = [name for name in self.adds if name in names]
        if taken:
            raise InputError(f"there is already a column '{taken[0]}'", "Rename it: ibidem adds a column of that name.")
        if names and self.text_field not in names:
            step = f"Name the one with the text: {given('text_field', 'NAME')}."
            raise InputError(f"there is no column '{self.text_field}', only {', '.join(map(str, names))}", step)

    def _texts(self, batch: Any) -> list[str | None]:
        records = batch.records if isinstance(batch, Taken) else batch
        if isinstance(records, Texts):
            return list(records.texts)
        self.check_names(list(records) if isinstance(records, Mapping) else column_names(records))
        if isinstance(records, (list, tuple)):
            return [each.text if isinstance(each, Document) else each.get(self.text_field) for each in records]
        column = records[self.text_field]
        values = column.to_pylist() if isinstance(column, (pa.Array, pa.ChunkedArray)) else list(column)
        return [None if is_null(value) else value for value in values]

    def _changes(self, found: Sequence[Known], texts: Sequence[str | None]) -> Changes:
        """Return what happens to the rows."""
        raise NotImplementedError

    def __call__(self, batch: Any) -> Any:
        """Return the batch, or the record, as it is after the step."""
        if isinstance(batch, Mapping):
            if isinstance(batch.get(self.text_field), str):
                return self._record(batch)
            texts = self._texts(batch)
            return _changed_columns(batch, self._changes(self._of_texts(texts), texts))
        item = _taken(batch)
        texts = self._texts(item)
        return changed_object(item, self._changes(self._of_texts(texts), texts))

    def _record(self, record: Mapping[str, Any]) -> dict[str, Any]:
        text = record[self.text_field]
        (found,) = self._of_texts([text])
        changes = self._changes([found], [text])
        marks = {name: values[0].as_py() for name, values in changes.marks.items()}
        return {**record, **({self.text_field: changes.texts[0]} if changes.texts else {}), **marks}


class IsNew(BatchStep):
    """Says of each row whether its text is new: what `filter` of Hugging Face datasets asks for."""

    def __call__(self, batch: Any) -> Any:
        """Return a list of truth values, or a single one for a single record."""
        if isinstance(batch, Mapping) and isinstance(batch.get(self.text_field), str):
            return not self._of_texts([batch[self.text_field]])[0].is_known
        return [not found.is_known for found in self.look_up(batch)]


class DropKnown(BatchStep):
    """Drops the rows whose text is known."""

    def _changes(self, found: Sequence[Known], texts: Sequence[str | None]) -> Changes:
        return Changes(np.array([not each.is_known for each in found], np.bool_), {}, {}, self.text_field)

    def _record(self, record: Mapping[str, Any]) -> dict[str, Any]:
        raise UsageError("a single record cannot be dropped here", "Pass batches, or filter with IsNew.")


class CutKnown(BatchStep):
    """Cuts the sentences that the index has word for word, in passages that it knows; rows with nothing left are dropped.

    The words of these sentences are compared with the kept text of a document of the index before they are cut. A single record
    stays, even if its text is empty afterwards.
    """

    needs_cuts = True

    def _changes(self, found: Sequence[Known], texts: Sequence[str | None]) -> Changes:
        new = {row: each.remaining(texts[row] or "") for row, each in enumerate(found) if each.cuts}
        keep = np.array([new.get(row) != "" for row in range(len(found))], np.bool_)
        return Changes(keep, new, {}, self.text_field)


class MarkKnown(BatchStep):
    """Adds the columns `ibidem_known`, `ibidem_covered_share` and `ibidem_spans`; everything else stays."""

    adds = MARKS.names

    def _changes(self, found: Sequence[Known], texts: Sequence[str | None]) -> Changes:
        return Changes(np.ones(len(found), np.bool_), {}, mark_columns(found), self.text_field)


def mark_columns(found: Sequence[Known]) -> dict[str, pa.Array]:
    """Return the columns that marking adds, typed, whatever is in them."""
    marks = [each.marks() for each in found]
    return {field.name: pa.array([values[field.name] for values in marks], field.type) for field in MARKS}


def _changed_columns(columns: Mapping[str, Any], changes: Changes) -> dict[str, Any]:
    """Return a dict of columns with its changes; lists stay lists, arrays arrays."""
    changed = {name: _kept(values, changes.keep) for name, values in columns.items()}
    places, texts = changes.kept_texts()
    column = changed[changes.text_field]
    for place, text in zip(places, texts, strict=True):
        column[place] = text
    return changed | {name: values.to_pylist() for name, values in changes.marks.items()}


def _kept(values: Any, keep: Any) -> Any:
    if isinstance(values, np.ndarray):
        return values[keep]
    return [value for value, stays in zip(values, keep.tolist(), strict=True) if stays]


def _taken(batch: Any) -> Taken:
    """Return a batch as an object that documents are read from."""
    settled = settle(batch)
    if len(settled) != 1 or not isinstance(settled[0], Taken) or isinstance(settled[0].records, pa.RecordBatchReader):
        raise UsageError("only one object in memory can be changed, not files or streams", "Pass a frame, a table or a list.")
    return settled[0]
