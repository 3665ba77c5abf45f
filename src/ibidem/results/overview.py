"""What summaries say about a run, computed from tables that are read batch by batch, wherever they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_LARGEST = 5
_CLOSEST = 5
_COPY_SHARE = 0.5  # of its documents, that a group must share to be called a copy
Batches = Callable[[Sequence[str]], Iterable[pa.RecordBatch]]


@dataclass(frozen=True)
class PassageOverview:
    """Passages by kind, repeats, and documents that share text with another document.

    `most_words` of a sentence and `most_sentences` of a document say why nothing was found; None: they are not known.
    """

    kinds: Mapping[str, int]
    n_repeats: int
    n_documents: int
    n_reused: int
    most_words: int | None = None
    most_sentences: int | None = None

    @property
    def n_passages(self) -> int:
        """Number of passages."""
        return sum(self.kinds.values())


def kinds_of(batches: Iterable[pa.RecordBatch]) -> dict[str, int]:
    """Return how many passages of each kind there are."""
    counts: Counter[str] = Counter()
    for batch in batches:
        for entry in pc.value_counts(batch["kind"].cast(pa.string())).to_pylist():
            counts[entry["values"]] += entry["counts"]
    return dict(counts)


def longest_of(batches: Iterable[pa.RecordBatch], count: int) -> list[pa.RecordBatch]:
    """Return the longest passages, by characters of both sides together, each as a batch; equal ones in reading order."""
    best: list[tuple[int, int, pa.RecordBatch]] = []  # (minus length, row of all, the row)
    n_before = 0
    for batch in batches:
        a_start, a_end, b_start, b_end = (batch[name].to_numpy() for name in ("a_start", "a_end", "b_start", "b_end"))
        lengths = a_end - a_start + b_end - b_start
        least = np.partition(lengths, -count)[-count] if count < len(lengths) else 0
        rows = np.flatnonzero(lengths >= least).tolist()  # few; a sort of all would take as long as finding them
        # Slices, not `take`: that would copy the dictionary of all ids.
        best.extend((-int(lengths[row]), n_before + row, batch.slice(row, 1)) for row in rows)
        best = sorted(best, key=lambda entry: entry[:2])[:count]
        n_before += batch.num_rows
    return [row for _, _, row in best]


def reused_of(batches: Iterable[pa.RecordBatch]) -> int:
    """Return how many documents share text with another document."""
    return sum(pc.sum(pc.greater(batch["reused_share"], 0)).as_py() or 0 for batch in batches)


@dataclass(frozen=True)
class MirrorOverview:
    """How many pairs of groups share documents, in how many of them each shares half of its own, and the closest pairs."""

    n_pairs: int
    n_copies: int
    closest: Sequence[Mapping[str, Any]]


def mirrors_of(batches: Iterable[pa.RecordBatch]) -> MirrorOverview:
    """Return what is said of groups that share documents. The closest pairs share most of the larger one of the two."""
    n_pairs = n_copies = 0
    closest: list[dict[str, Any]] = []
    for batch in batches:
        shares = np.minimum(batch["a_share"].to_numpy(), batch["b_share"].to_numpy())
        n_pairs, n_copies = n_pairs + batch.num_rows, n_copies + int(np.count_nonzero(shares >= _COPY_SHARE))
        best = np.lexsort((-batch["a_shared"].to_numpy() - batch["b_shared"].to_numpy(), -shares))[:_CLOSEST]
        closest = sorted([*closest, *batch.take(pa.array(best)).to_pylist()], key=_distance)[:_CLOSEST]
    return MirrorOverview(n_pairs, n_copies, closest)


def _distance(pair: Mapping[str, Any]) -> tuple[float, int]:
    return -min(pair["a_share"], pair["b_share"]), -pair["a_shared"] - pair["b_shared"]


@dataclass(frozen=True)
class ClusterOverview:
    """Numbers of clusters and members, and the largest clusters: their size, the kept document, some that could be removed."""

    n_pairs: int
    n_clusters: int
    n_members: int
    n_documents: int
    largest: Sequence[tuple[int, str, Sequence[str]]] = field(default_factory=tuple)
    mirrors: MirrorOverview | None = None


def largest_clusters(batches: Batches) -> tuple[int, list[tuple[int, str, list[str]]]]:
    """Return the number of clusters, and the largest of them."""
    sizes = np.zeros(0, np.int64)
    for batch in batches(["cluster"]):
        counted = np.bincount(batch["cluster"].to_numpy())
        sizes = np.pad(sizes, (0, max(0, len(counted) - len(sizes))))
        sizes[: len(counted)] += counted
    chosen = np.argsort(-sizes, kind="stable")[:_LARGEST]
    members: dict[int, list[Mapping[str, Any]]] = {int(number): [] for number in chosen}
    if len(chosen):
        for batch in batches(["cluster", "id", "canonical"]):
            wanted = batch.filter(pa.array(np.isin(batch["cluster"].to_numpy(), chosen)))
            for member in wanted.to_pylist():
                members[member["cluster"]].append(member)
    largest = []
    for number, found in members.items():
        canonical = next(str(member["id"]) for member in found if member["canonical"])
        largest.append((int(sizes[number]), canonical, [str(member["id"]) for member in found if not member["canonical"]]))
    return int(np.count_nonzero(sizes)), largest


@dataclass(frozen=True)
class CleaningOverview:
    """What is removed from a collection: whole documents, parts of others, and characters, with the totals.

    `n_cuts` counts the stretches cut out of documents that stay; `n_removals` also those that whole documents consist of.
    """

    n_documents: int
    n_chars: int | None  # None: not known
    n_dropped: int
    n_cut_documents: int
    n_cuts: int
    n_removals: int
    n_removed_chars: int


@dataclass(frozen=True)
class OftenRemoved:
    """A text of which several copies are removed: where it stays, how many are removed, and where the first of them was."""

    id: str
    start: int
    end: int
    n_copies: int
    n_chars: int  # of the removed copies together
    example: Mapping[str, Any]


_PLACE = ("matched_id", "matched_source", "matched_position", "matched_start", "matched_end")


def often_removed(batches: Iterable[pa.RecordBatch], count: int) -> list[OftenRemoved]:
    """Return the texts of which most copies are removed, two at least; of equally many, those with more characters first.

    Given are rows of `removed.jsonl`, each with its `document`. What is removed next to several places counts for each.
    """
    parts, n_before = [], 0
    for batch in batches:
        size = pc.subtract(batch["end"], batch["start"])
        row = np.arange(n_before, n_before + batch.num_rows)
        places = {name: batch[name] for name in _PLACE}
        others = {name: batch[name] for name in ("document", "start", "end")}
        parts.append(pa.table({**places, **others, "n_chars": size, "row": row}))
        n_before += batch.num_rows
    if not n_before:
        return []
    table = pa.concat_tables(parts)
    sums = [("row", "count"), ("n_chars", "sum"), ("row", "min")]
    found = table.group_by(_PLACE).aggregate(sums).filter(pc.field("row_count") > 1)
    order = [("row_count", "descending"), ("n_chars_sum", "descending"), ("row_min", "ascending")]
    rows = found.sort_by(order).slice(0, count).to_pylist()
    return [
        OftenRemoved(
            row["matched_id"], row["matched_start"], row["matched_end"], row["row_count"], row["n_chars_sum"],
            table.slice(row["row_min"], 1).select(["document", "start", "end"]).to_pylist()[0],
        )
        for row in rows
    ]  # fmt: skip


def removed_of(batches: Iterable[pa.RecordBatch]) -> tuple[int, int, int, int, int]:
    """Return, of rows of `removed.jsonl` in reading order, each with its `document`, the last five of a CleaningOverview."""
    n_dropped = n_cut = n_cuts = n_removals = n_chars = 0
    last = -1
    for batch in batches:
        document = batch["document"].to_numpy()
        is_new = np.diff(document, prepend=last) != 0
        is_whole = pc.equal(batch["removed"], "document").to_numpy(zero_copy_only=False)
        n_dropped += int(np.count_nonzero(is_new & is_whole))
        n_cut += int(np.count_nonzero(is_new & ~is_whole))
        n_cuts += int(np.count_nonzero(~is_whole))
        n_removals += batch.num_rows
        n_chars += int((batch["end"].to_numpy() - batch["start"].to_numpy()).sum())
        last = int(document[-1]) if len(document) else last
    return n_dropped, n_cut, n_cuts, n_removals, n_chars
