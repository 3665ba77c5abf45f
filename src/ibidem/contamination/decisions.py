"""What follows from the places of items: which items are common text, what is removed, and the tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ibidem.clusters.removals import GONE
from ibidem.columns.distinct import firsts, numbered
from ibidem.columns.parted_tables import CHECK_NAMES, table_of
from ibidem.config import Config
from ibidem.contamination.items import ROLES, Items
from ibidem.model import BENCHMARKS, FOUND_ITEMS, ITEM_PLACES, ITEMS

WHOLE, PART = "whole", "part"
ALL_PARTS = "item"
_FOUND = pa.array([PART, WHOLE])

Numbers = NDArray[np.int64]
Truths = NDArray[np.bool_]

# In how many documents a field is that is looked for everywhere.
FIELD_COUNTS = pa.schema([("field", pa.int64()), ("n_documents", pa.int64())])
# Of a field that was found in some documents, as common text or not: in how many, and the place with most of it.
_BEST = ("document", "id", "start", "end", "is_whole", "share")
TALLIES = pa.schema(
    [
        ("field", pa.int64()),
        ("is_common", pa.bool_()),
        ("n_documents", pa.int64()),
        ("document", pa.int64()),
        ("id", pa.large_string()),
        ("start", pa.int64()),
        ("end", pa.int64()),
        ("is_whole", pa.bool_()),
        ("share", pa.float64()),
    ]
)
# In how many documents a benchmark is, by role; the last number is that of all of it.
PAGES = pa.schema([("benchmark", pa.int64()), ("part", pa.int64()), ("n_documents", pa.int64())])
REMOVED_ITEMS = pa.schema([*GONE, ITEMS])


def count_fields(hits: pa.Table) -> pa.Table:
    """Return in how many of some documents each field is, `FIELD_COUNTS`; short answers, which only follow others, are not."""
    field, cause, document = (hits[name].to_numpy() for name in ("field", "cause", "document"))
    is_found = field == cause
    _, example = numbered(field[is_found], document[is_found])
    return table_of(list(np.unique(field[is_found][example], return_counts=True)), FIELD_COUNTS)


def common_fields(counts: pa.Table, config: Config) -> Numbers:
    """Return the fields that are in so many documents that they are common text, given `FIELD_COUNTS` of parts of these."""
    most = config.contamination.max_item_pages
    if most == 0:
        return np.empty(0, np.int64)
    common: Numbers = np.flatnonzero(np.bincount(counts["field"].to_numpy(), counts["n_documents"].to_numpy()) > most)
    return common


def is_common(hits: pa.Table, common: Numbers) -> Truths:
    """Return which hits are common text; answers are, if what they follow is."""
    return np.isin(hits["cause"].to_numpy(), common)


def with_one_cause(hits: pa.Table, common: Numbers) -> pa.Table:
    """Return hits with each short answer once: if it follows several fields, the first of those that are not common text."""
    document, field, start, cause = (hits[name].to_numpy() for name in ("document", "field", "start", "cause"))
    follows = np.flatnonzero(cause != field)
    order = follows[np.lexsort((cause[follows], is_common(hits, common)[follows]))]
    stays = cause == field
    stays[order[numbered(document[order], field[order], start[order])[1]]] = True
    return hits.filter(pa.array(stays))


def tally(hits: pa.Table, common: Numbers) -> pa.Table:
    """Return the rows of `TALLIES` of some hits, by field: those that are not common text before those that are."""
    hits = hits.append_column("is_common", pa.array(is_common(hits, common)))
    field, common_text, document = (hits[name].to_numpy() for name in ("field", "is_common", "document"))
    _, example = numbered(field, common_text, document)
    counts = np.bincount(numbered(field[example], common_text[example])[0])
    chosen = hits.take(pa.array(_best_rows(hits)))
    return table_of([chosen["field"], chosen["is_common"], counts, *(chosen[name] for name in _BEST)], TALLIES)


def _best_rows(rows: pa.Table) -> Numbers:
    """Return the row with the largest share, the first of equal ones in reading order, of each field and `is_common`."""
    field, common_text, document, start = (rows[name].to_numpy() for name in ("field", "is_common", "document", "start"))
    order = np.lexsort((start, document, -rows["share"].to_numpy(), ~_truths(rows["is_whole"]), common_text, field))
    return order[firsts(2 * field[order] + common_text[order])] if len(order) else np.empty(0, np.int64)


def sum_tallies(tallies: pa.Table) -> pa.Table:
    """Return a row for each field, given those of parts of the documents: as common text, if it is nothing else anywhere."""
    field, common_text = tallies["field"].to_numpy(), tallies["is_common"].to_numpy()
    summed = np.bincount(numbered(field, common_text)[0], tallies["n_documents"].to_numpy()).astype(np.int64)
    chosen = tallies.take(pa.array(_best_rows(tallies))).set_column(2, "n_documents", pa.array(summed))
    return chosen.take(pa.array(firsts(chosen["field"].to_numpy()) if len(summed) else np.empty(0, np.int64)))


def place_table(hits: pa.Table, items: Items, common: Numbers) -> pa.Table:
    """Return hits as rows for people, in reading order."""
    field = pa.array(hits["field"].to_numpy())
    of_field = {name: items.fields[name].take(field) for name in ("name", "id", "field", "role")}
    columns = [
        *(hits[name] for name in ("id", "source", "position", "start", "end")), *of_field.values(),
        *(hits[name] for name in ("item_start", "item_end")), _found(hits),
        *(hits[name] for name in ("share", "similarity", "n_words")), is_common(hits, common),
    ]  # fmt: skip
    return table_of(columns, ITEM_PLACES)


def page_counts(hits: pa.Table, items: Items, common: Numbers) -> pa.Table:
    """Return in how many of some documents each benchmark is, `PAGES`."""
    hits = hits.filter(pa.array(~is_common(hits, common)))
    field, document = hits["field"].to_numpy(), hits["document"].to_numpy()
    benchmark = items.fields["benchmark"].to_numpy()[field]
    role = np.array([ROLES.index(role) for role in items.fields["role"].to_pylist()], np.int64)[field]
    parts = []
    for part in range(len(ROLES) + 1):
        chosen = np.ones(len(field), np.bool_) if part == len(ROLES) else role == part
        _, example = numbered(benchmark[chosen], document[chosen])
        counts = np.bincount(benchmark[chosen][example], minlength=len(items.names))
        parts.append(table_of([np.arange(len(counts)), np.full(len(counts), part), counts], PAGES))
    return pa.concat_tables(parts)


def removed_items(hits: pa.Table, items: Items, common: Numbers, config: Config) -> pa.Table:
    """Return what is removed, `REMOVED_ITEMS`, in reading order: stretches with items, or the documents that have any."""
    hits = hits.filter(pa.array(~is_common(hits, common)))
    if hits.num_rows == 0:
        return REMOVED_ITEMS.empty_table()
    document = hits["document"].to_numpy()
    if config.cleaning.level == "document":
        rows = _joined_rows(hits, firsts(document))
        start, end = np.zeros(len(rows), np.int64), hits["n_chars"].to_numpy()[[row[0] for row in rows]]
        is_dropped = np.ones(len(rows), np.bool_)
    else:
        order = np.lexsort((hits["cut_start"].to_numpy(), document))
        hits, document = hits.take(pa.array(order)), document[order]
        start, end = (hits[name].to_numpy() for name in ("cut_start", "cut_end"))
        heads = _first_of_stretches(document, start, end)
        rows = _joined_rows(hits, heads)
        start, end = start[heads], np.maximum.reduceat(end, heads)
        is_all = _all_words(hits)
        is_dropped = is_all[heads]
    best = pa.array(_best_of_rows(hits, rows))
    own, field = hits.take(best), pa.array(hits["field"].to_numpy()[best.to_numpy()])
    matched = {name: items.fields[name].take(field) for name in ("id", "source", "position")}
    kinds = pa.array(["passage", "document"]).take(pa.array(is_dropped.astype(np.int8)))
    nothing = pa.nulls(len(rows), pa.int64())
    columns = [
        own["document"], own["id"], own["source"], own["position"], kinds, start, end, nothing, *matched.values(),
        own["item_start"], own["item_end"], own["similarity"], *(own[name] for name in CHECK_NAMES), _listed(hits, items, rows),
    ]  # fmt: skip
    return table_of(columns, REMOVED_ITEMS)


def _joined_rows(hits: pa.Table, heads: Numbers) -> list[Numbers]:
    return np.split(np.arange(hits.num_rows), heads[1:])


def _first_of_stretches(document: Numbers, start: Numbers, end: Numbers) -> Numbers:
    """Return where stretches begin that overlap with none before; given are those of documents, by their starts."""
    heads, reached = [], -1
    for row, (number, begin, stop) in enumerate(zip(document.tolist(), start.tolist(), end.tolist(), strict=True)):
        if row == 0 or number != document[row - 1] or begin > reached:
            heads.append(row)
            reached = stop
        reached = max(reached, stop)
    return np.array(heads, np.int64)


def _all_words(hits: pa.Table) -> Truths:
    """Return for each hit whether the hits of its document have all its words: nothing would be left."""
    document, first, n_cut, n_page = (hits[name].to_numpy() for name in ("document", "first_word", "n_cut", "n_page"))
    is_all = np.zeros(len(document), np.bool_)
    for rows in np.split(np.arange(len(document)), firsts(document)[1:]):
        reached = covered = 0
        for row in rows[np.argsort(first[rows], kind="stable")].tolist():
            stop = first[row] + n_cut[row]
            covered += max(0, stop - max(first[row], reached))
            reached = max(reached, stop)
        is_all[rows] = covered == n_page[rows[0]]
    return is_all


def _best_of_rows(hits: pa.Table, rows: Sequence[Numbers]) -> Numbers:
    """Return the hit that says most of each group: whole before part, then the largest share, then the first."""
    weight = np.where(_truths(hits["is_whole"]), 2.0, 0.0) + hits["share"].to_numpy()
    n_words = hits["n_words"].to_numpy()
    return np.array([group[np.lexsort((group, -n_words[group], -weight[group]))[0]] for group in rows], np.int64)


def _listed(hits: pa.Table, items: Items, rows: Sequence[Numbers]) -> pa.Array:
    """Return the items in each group of hits, as the column `ITEMS`."""
    field = pa.array(hits["field"].to_numpy())
    names = [items.fields[name].take(field).combine_chunks() for name in ("name", "id", "field")]
    rest = [_found(hits), hits["share"], hits["start"], hits["end"]]
    arrays = [*names, *(column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column for column in rest)]
    kind = ITEMS.type.value_type
    structs = pa.StructArray.from_arrays(
        [array.cast(part.type) for array, part in zip(arrays, kind, strict=True)], fields=list(kind)
    )
    offsets = np.concatenate([[0], np.cumsum([len(group) for group in rows])]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), structs.take(pa.array(np.concatenate(rows))))


def _found(rows: pa.Table) -> pa.Array:
    return _FOUND.take(pa.array(_truths(rows["is_whole"]).astype(np.int8)))


def _truths(column: pa.ChunkedArray) -> Truths:
    values: Truths = column.to_numpy() if isinstance(column, pa.ChunkedArray) else column.to_numpy(zero_copy_only=False)
    return values.astype(np.bool_)


def item_table(tallies: pa.Table, items: Items) -> pa.Table:
    """Return the fields that were found, the worst first: found whole, then the largest share, then in most documents."""
    field = tallies["field"].to_numpy()
    whole, share, n_documents = _truths(tallies["is_whole"]), tallies["share"].to_numpy(), tallies["n_documents"].to_numpy()
    follows = items.distinct[field] < 0  # short answers, which come with their prompts
    order = np.lexsort((field, -n_documents, -share, ~whole, follows, _truths(tallies["is_common"])))
    tallies = tallies.take(pa.array(order))
    chosen = pa.array(field[order])
    names = [items.fields[name].take(chosen) for name in ("name", "id", "field", "role")]
    columns = [
        *names, _found(tallies), tallies["share"], tallies["n_documents"], tallies["is_common"], tallies["id"],
        tallies["start"], tallies["end"],
    ]  # fmt: skip
    return table_of(columns, FOUND_ITEMS)


def benchmark_table(tallies: pa.Table, pages: pa.Table, items: Items) -> pa.Table:
    """Return what was found of each benchmark: of its items, and of their prompts and answers where it has both."""
    field = tallies["field"].to_numpy()
    is_found = ~_truths(tallies["is_common"])
    share, is_whole, is_part = (np.zeros(len(items), kind) for kind in (np.float64, np.bool_, np.bool_))
    share[field[is_found]] = tallies["share"].to_numpy()[is_found]
    is_whole[field[is_found]] = _truths(tallies["is_whole"])[is_found]
    is_part[field[is_found]] = True
    is_common_text = np.zeros(len(items), np.bool_)
    is_common_text[field[~is_found]] = True
    item, benchmark = (items.fields[name].to_numpy() for name in ("item", "benchmark"))
    role = np.array(items.fields["role"].to_pylist(), object)
    n_chars = pc.utf8_length(items.texts).to_numpy(zero_copy_only=False)
    is_long = items.distinct >= 0
    rows: list[dict[str, Any]] = []
    for number, name in enumerate(items.names):
        for part, chosen in _parts_of(np.flatnonzero(benchmark == number), role):
            n_items, of_item = _renumbered(item[chosen])

            def any_of(
                truths: NDArray[Any], chosen: Numbers = chosen, of_item: Numbers = of_item, n_items: int = n_items
            ) -> Truths:
                truths_of_items: Truths = np.bincount(of_item, truths[chosen], n_items) > 0
                return truths_of_items

            whole, found = any_of(is_whole), any_of(is_part)
            pages_of = pages.filter((pc.field("benchmark") == number) & (pc.field("part") == _number_of(part)))
            total = int(n_chars[chosen].sum())
            rows.append(
                {
                    "benchmark": name, "part": part, "n_items": n_items, "n_short": int((~any_of(is_long)).sum()),
                    "n_whole": int(whole.sum()), "n_part": int((found & ~whole).sum()),
                    "n_common": int((any_of(is_common_text) & ~found).sum()),
                    "share": float(found.sum() / max(1, n_items)),
                    "share_chars": float((share[chosen] * n_chars[chosen]).sum() / max(1, total)),
                    "n_documents": int(pages_of["n_documents"].to_numpy().sum()),
                }
            )  # fmt: skip
    return pa.Table.from_pylist(rows, schema=BENCHMARKS)


def _parts_of(fields: Numbers, role: NDArray[Any]) -> Iterator[tuple[str, Numbers]]:
    yield ALL_PARTS, fields
    for name in ROLES:
        chosen = fields[role[fields] == name]
        if 0 < len(chosen) < len(fields):
            yield name, chosen


def _number_of(part: str) -> int:
    return len(ROLES) if part == ALL_PARTS else ROLES.index(part)


def _renumbered(values: Numbers) -> tuple[int, Numbers]:
    distinct, numbers = np.unique(values, return_inverse=True)
    return len(distinct), numbers.reshape(-1).astype(np.int64)
