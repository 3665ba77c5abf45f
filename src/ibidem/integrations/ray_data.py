"""Datasets of Ray: drop, cut or mark what an index knows, in actors that each open the index once.

All nodes must reach the index by the same path.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import ray.data

from ibidem.integrations.batches import BatchStep, CutKnown, DropKnown, MarkKnown

BATCH_SIZE = 1000


def drop_known(
    dataset: ray.data.Dataset, index: str | os.PathLike[str], *, concurrency: int | tuple[int, int] = 1,
    batch_size: int = BATCH_SIZE, **settings: Any,
) -> ray.data.Dataset:  # fmt: skip
    """Return the dataset without the rows whose text the index knows.

    `concurrency` is the number of actors, or the fewest and the most. Settings are `text_field`, `min_covered_share` and those
    of `Index.query`.
    """
    return _mapped(dataset, DropKnown, index, concurrency, batch_size, settings)


def cut_known(
    dataset: ray.data.Dataset, index: str | os.PathLike[str], *, concurrency: int | tuple[int, int] = 1,
    batch_size: int = BATCH_SIZE, **settings: Any,
) -> ray.data.Dataset:  # fmt: skip
    """Return the dataset without the passages that the index has word for word; rows with nothing left are dropped."""
    return _mapped(dataset, CutKnown, index, concurrency, batch_size, settings)


def mark_known(
    dataset: ray.data.Dataset, index: str | os.PathLike[str], *, concurrency: int | tuple[int, int] = 1,
    batch_size: int = BATCH_SIZE, **settings: Any,
) -> ray.data.Dataset:  # fmt: skip
    """Return the dataset with the columns `ibidem_known`, `ibidem_covered_share` and `ibidem_spans`."""
    return _mapped(dataset, MarkKnown, index, concurrency, batch_size, settings)


def _mapped(
    dataset: ray.data.Dataset, step: type[BatchStep], index: str | os.PathLike[str], concurrency: int | tuple[int, int],
    batch_size: int, settings: dict[str, Any],
) -> ray.data.Dataset:  # fmt: skip
    path = Path(index).absolute()  # actors may run in another folder
    step(path, **settings).known.close()  # what is wrong with the path or the settings shows now, not in an actor
    return dataset.map_batches(
        step, fn_constructor_args=[str(path)], fn_constructor_kwargs=settings, concurrency=concurrency, batch_size=batch_size,
        batch_format="pyarrow", zero_copy_batch=True,
    )  # fmt: skip
