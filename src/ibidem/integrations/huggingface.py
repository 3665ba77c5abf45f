"""Datasets of Hugging Face: drop, cut or mark what an index knows. Streamed datasets stay streamed.

With `num_proc`, each process opens the index itself. Results are cached as usual, and computed again when the index has grown.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import datasets

from ibidem.errors import UsageError
from ibidem.integrations.batches import BatchStep, CutKnown, IsNew, MarkKnown
from ibidem.integrations.known_text import MARKS
from ibidem.results.cleaned_objects import with_format_of

Data = TypeVar("Data", datasets.Dataset, datasets.IterableDataset, datasets.DatasetDict, datasets.IterableDatasetDict)
BATCH_SIZE = 1000


def drop_known(
    dataset: Data, index: str | os.PathLike[str], *, num_proc: int | None = None, batch_size: int = BATCH_SIZE, **settings: Any
) -> Data:
    """Return the dataset without the rows whose text the index knows.

    Settings are `text_field`, `min_covered_share` and those of `Index.query`. `num_proc` is for datasets that are not streamed.
    """
    is_new = IsNew(index, **settings)

    def filtered(rows: Any) -> Any:
        return with_format_of(rows, rows.with_format(None).filter(is_new, **_options(rows, num_proc, batch_size)))

    return _on_each(dataset, filtered)


def cut_known(
    dataset: Data, index: str | os.PathLike[str], *, num_proc: int | None = None, batch_size: int = BATCH_SIZE, **settings: Any
) -> Data:
    """Return the dataset without the passages that the index has word for word; rows with nothing left are dropped."""
    return _mapped(dataset, CutKnown(index, **settings), num_proc, batch_size)


def mark_known(
    dataset: Data, index: str | os.PathLike[str], *, num_proc: int | None = None, batch_size: int = BATCH_SIZE, **settings: Any
) -> Data:
    """Return the dataset with the columns `ibidem_known`, `ibidem_covered_share` and `ibidem_spans`."""
    return _mapped(dataset, MarkKnown(index, **settings), num_proc, batch_size)


def _mapped(dataset: Any, step: BatchStep, num_proc: int | None, batch_size: int) -> Any:
    def mapped(rows: Any) -> Any:
        features = rows.features
        if features is not None:
            step.check_names(list(features))
            if step.adds:  # named beforehand: a batch without any span does not tell what a span is
                features = type(features)({**features, **type(features).from_arrow_schema(MARKS)})
        changed = rows.with_format(None).map(step, features=features, **_options(rows, num_proc, batch_size))
        return with_format_of(rows, changed)

    return _on_each(dataset, mapped)


def _on_each(dataset: Any, change: Callable[[Any], Any]) -> Any:
    """Change a dataset, or each split of several."""
    if isinstance(dataset, (datasets.DatasetDict, datasets.IterableDatasetDict)):
        return type(dataset)({name: change(split) for name, split in dataset.items()})
    return change(dataset)


def _options(dataset: Any, num_proc: int | None, batch_size: int) -> dict[str, Any]:
    is_stream = isinstance(dataset, datasets.IterableDataset)
    if is_stream and num_proc is not None:
        raise UsageError("a streamed dataset is read by one process", "Leave out num_proc.")
    return {"batched": True, "batch_size": batch_size, **({} if is_stream else {"num_proc": num_proc})}
