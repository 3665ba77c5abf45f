"""Pairs of matching sentences over partitions: sentences of one class meet at the home of the class.

A class that has too many places in one batch already sends one row that says how many: no partition gets more than
`max_places` rows of a class from each batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.parted_tables import distinct_pairs, table_of
from ibidem.columns.postings import postings_of
from ibidem.columns.ragged import as_lists, flat, lengths, starts_of, take_ranges
from ibidem.columns.rows import Pairing
from ibidem.config import SET_SIGNATURES, Config
from ibidem.execution.flow import Flow, PartedTable, Sent, route_by_hash
from ibidem.execution.layout import Layout
from ibidem.matches.sentence_pairs import pair_rows
from ibidem.matches.sets import Cells, SortedSets
from ibidem.model import SENTENCE_PAIRS

# A sentence with a class. `name` is the same for equal sentences; `n_places` is 1, or how many rows it represents.
_ROWS = pa.schema(
    [
        ("class", pa.uint64()),
        ("name", pa.uint64()),
        ("document", pa.int64()),
        ("sentence", pa.int32()),
        ("id", pa.large_string()),
        ("group", pa.large_string()),
        ("n_places", pa.int64()),
    ]
)
_SETS = pa.schema([("name", pa.uint64()), ("set", pa.list_(pa.uint64()))])
_COUNTS = pa.schema([("n_hot", pa.int64())])
# As SENTENCE_PAIRS, ids as they are; with the numbers of the documents, which say where a pair belongs.
_FOUND = pa.schema(
    [
        ("a_document", pa.int64()),
        ("b_document", pa.int64()),
        *(
            pa.field(field.name, field.type.value_type if pa.types.is_dictionary(field.type) else field.type, nullable=False)
            for field in SENTENCE_PAIRS
        ),
    ]
)
_ORDER = ("b_sentence", "b_document", "a_sentence", "a_document")


def pair_sentences(flow: Flow, documents: PartedTable, config: Config) -> tuple[PartedTable, int]:
    """Return the pairs of matching sentences in reading order, and how many sentences have too many places to be paired."""
    layout, most = flow.layout, config.passages.max_places
    by_sets = config.signatures.signature in SET_SIGNATURES
    limit = config.matches.min_similarity.as_integer_ratio() if by_sets else (0, 1)

    def send(tables: Iterator[pa.Table]) -> Iterator[Sent]:
        for table in tables:
            yield from _sent(table.combine_chunks(), config, layout)

    def pair(partition: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        table = tables["rows"]
        order = np.lexsort((table["sentence"].to_numpy(), table["document"].to_numpy()))
        table = table.take(pa.array(order))
        classes, which = np.unique(table["class"].to_numpy(), return_inverse=True)
        n_places = np.bincount(which, table["n_places"].to_numpy(), len(classes)).astype(np.int64)
        yield Sent("counts", table_of([[int(n_places[n_places > most].sum())]], _COUNTS), 0)
        table = table.filter(pa.array((n_places <= most)[which])).combine_chunks()
        numbers, document = np.unique(table["document"].to_numpy(), return_inverse=True)
        names = table["name"].to_numpy()
        cells = None if tables["sets"].num_rows == 0 else Cells(names, *_sets_of(tables["sets"], names, limit))
        allowed = Pairing(config.passages.same_document, layout.side(numbers), _group_numbers(table, document, len(numbers)))
        groups = postings_of(table["class"].to_numpy())
        for found in pair_rows(groups, document.astype(np.int32), cells, allowed):
            a, b = (table.take(pa.array(side)) for side in (found.a, found.b))
            columns = [a["document"], b["document"], a["id"], a["sentence"], b["id"], b["sentence"], found.similarity]
            yield Sent("sentence_pairs", table_of(columns, _FOUND), layout.home(a["document"].to_numpy()))

    def put_in_order(home: int, tables: Mapping[str, pa.Table]) -> Iterator[Sent]:
        pairs = tables["sentence_pairs"]
        yield Sent("sentence_pairs", pairs.take(pa.array(np.lexsort([pairs[name].to_numpy() for name in _ORDER]))), home)

    sent = flow.map("sentences-of-classes", documents, send, {"rows": _ROWS, "sets": _SETS})
    met = flow.reduce("sentence-pairs", sent, pair, {"sentence_pairs": _FOUND, "counts": _COUNTS})
    n_hot = int(flow.collect(met["counts"])["n_hot"].to_numpy().sum())
    given, gives = {"sentence_pairs": met["sentence_pairs"]}, {"sentence_pairs": _FOUND}
    return flow.reduce("sentence-pairs-ordered", given, put_in_order, gives)["sentence_pairs"], n_hot


def _sent(table: pa.Table, config: Config, layout: Layout) -> Iterator[Sent]:
    """Yield the sentences of documents that have a class, and the sets of those that are compared."""
    names = flat(table, "digest")
    classes = flat(table, "classes") if "classes" in table.column_names else names
    counts = lengths(table, "digest")
    first = starts_of(counts)
    document = np.repeat(np.arange(len(counts)), counts)
    groups = postings_of(classes)
    sizes = np.diff(groups.first)
    n_places = (classes != 0).astype(np.int64)
    is_hot = sizes > config.passages.max_places
    n_places[groups.rows[np.repeat(is_hot, sizes)]] = 0
    n_places[groups.rows[groups.first[:-1]][is_hot]] = sizes[is_hot]
    chosen = np.flatnonzero(n_places)
    at = pa.array(document[chosen])
    n_chosen = len(chosen)
    group = table["group"].take(at) if config.passages.skip_same_group else pa.nulls(n_chosen, pa.large_string())
    columns = [
        classes[chosen],
        names[chosen],
        table["document"].take(at),
        chosen - first[document[chosen]],
        table["id"].take(at),
    ]
    rows = table_of([*columns, group, n_places[chosen]], _ROWS)
    yield Sent("rows", rows, route_by_hash(classes[chosen], layout.n_partitions))
    if "compared" not in table.column_names:
        return
    compared = flat(table, "compared") + np.repeat(first[:-1], lengths(table, "compared"))
    set_sizes = flat(table, "set_sizes").astype(np.int64)
    set_first = starts_of(set_sizes)
    kept = distinct_pairs(names[compared], classes[compared])
    kept = kept[n_places[compared[kept]] > 0]
    sets = as_lists(take_ranges(flat(table, "sets"), set_first[kept], set_sizes[kept]), set_sizes[kept], pa.uint64())
    to = route_by_hash(classes[compared[kept]], layout.n_partitions)
    yield Sent("sets", table_of([names[compared[kept]], sets], _SETS), to)


def _sets_of(
    table: pa.Table, names: NDArray[np.uint64], limit: tuple[int, int]
) -> tuple[SortedSets, tuple[int, int], NDArray[np.int32]]:
    """Return the sets of sentences, the limit, and which set each has; the last one is empty, for those that need none."""
    known, at = np.unique(table["name"].to_numpy(), return_index=True)
    chosen = table.take(pa.array(at)).combine_chunks()
    sizes = np.append(lengths(chosen, "set"), 0)
    place = np.minimum(np.searchsorted(known, names), len(known) - 1)
    set_of_row = np.where(known[place] == names, place, len(known)).astype(np.int32)
    return SortedSets(starts_of(sizes)[:-1], sizes.astype(np.int32), flat(chosen, "set")), limit, set_of_row


def _group_numbers(table: pa.Table, document: NDArray[np.int64], n_documents: int) -> NDArray[np.int32]:
    """Return the number of each document's group, -1 for none; nothing where groups do not matter."""
    if table["group"].null_count == table.num_rows:
        return np.empty(0, np.int32)
    codes = table["group"].combine_chunks().dictionary_encode().indices.fill_null(-1).to_numpy(zero_copy_only=False)
    numbers = np.empty(n_documents, np.int32)
    numbers[document] = codes
    return numbers
