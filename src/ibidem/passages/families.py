"""Passage families: one passage in all places where it appears, with its wordings.

Passages name places, and each passage a little differently: spans of one document that are nearly the same are one *place*. A
family begins at its *base*, the earliest place, and follows the passages that lead away from it. So a place belongs to a family
because of what it shares with the base, never because it overlaps another member.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ibidem.columns.collection import NO_TIME, Collection
from ibidem.columns.ragged import starts_of
from ibidem.columns.texts import read_only
from ibidem.execution.tasks import RunTasks, in_turn
from ibidem.model import FAMILIES, FAMILY
from ibidem.passages.kernels import families as kernels
from ibidem.passages.wordings import PlaceTexts, digests_at, number_variants, similarity_to_first

Numbers = NDArray[np.int64]
_LAST = np.iinfo(np.int64).max


class Places(NamedTuple):
    """Places as columns, in reading order, and how many passages name each."""

    document: Numbers
    start: Numbers
    end: Numbers
    n_passages: Numbers


class Spans(NamedTuple):
    """Passages as columns: the numbers of their documents, where they are in both, and how similar the two sides are."""

    a: Numbers
    b: Numbers
    a_start: Numbers
    a_end: Numbers
    b_start: Numbers
    b_end: Numbers
    similarity: NDArray[np.float64]


class Links(Spans):
    """The same as links between places, whose numbers take the place of the documents'."""


class Families(NamedTuple):
    """Families, those in most documents first, then those whose base is longest, then by id and place of the base.

    `first` has the row of each family's first place, and last the number of rows; `places` are their numbers, earliest first.
    `of_place` is the family of every place, also of those left out because another one of the family overlaps them; it is -1
    for a place that no passage links to another.
    """

    first: Numbers
    places: Numbers
    of_place: Numbers
    n_documents: Numbers

    def __len__(self) -> int:
        return len(self.first) - 1


def places_of(document: Numbers, start: Numbers, end: Numbers) -> tuple[Places, Numbers]:
    """Return the places that spans name, and the place of each span.

    Two spans are the same if they share three quarters of the longer one. The span that most passages name (then the longest,
    then the first) represents its place, and the place has all free spans that are the same as this one.
    """
    order = np.lexsort((end, document << 32 | start))  # a text has less than 4 GB
    document, start, end = document[order], start[order], end[order]
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (document[1:] != document[:-1]) | (start[1:] != start[:-1]) | (end[1:] != end[:-1])
    heads = np.flatnonzero(is_new)
    n_passages = np.diff(np.append(heads, len(order)))
    document, start, end = document[heads], start[heads], end[heads]
    leader = np.full(len(heads), -1, np.int64)
    kernels.place_spans(np.lexsort((start, start - end, -n_passages, document)), document, start, end, leader)
    leads = leader == np.arange(len(leader))
    number = (np.cumsum(leads) - 1)[leader]
    of_span = np.empty(len(order), np.int64)
    of_span[order] = number[np.cumsum(is_new) - 1]
    places = Places(document[leads], start[leads], end[leads], np.bincount(number, n_passages).astype(np.int64))
    return places, of_span


def find_families(places: Places, links: Links, times: Numbers, ids: Numbers) -> Families:
    """Return the families of places. For each place, `times` has its time (NO_TIME: none), `ids` the rank of its id.

    The base of a family is the earliest place that belongs to no earlier family. Places without a time come last; places of one
    time are ordered by id, then by position. A place belongs to the family if

    - a passage leads there from the base,
    - or passages lead there from place to place, and three quarters of the base's words still arrive: what remains of it after
      each passage, by extent and similarity. What arrives must share three quarters of the longer one with the place,
    - or it would be alone: all places that passages link it with belong to earlier families. It joins that of the earliest.
    """
    n = len(places.start)
    order = np.lexsort((places.document, places.end, places.start, ids, np.where(times == NO_TIME, _LAST, times)))
    base = _bases(places, links, order)
    rows = order[_shown(places, base)[order]]  # earliest first
    bases, family, sizes = np.unique(base[rows], return_inverse=True, return_counts=True)
    several = sizes > 1  # one place alone: a text in one document that overlaps itself
    rows, family = rows[several[family]], family[several[family]]
    rows = rows[np.argsort(family, kind="stable")]
    bases, sizes = bases[several], sizes[several]
    heads = rows[starts_of(sizes)[:-1]]
    n_documents = _n_documents(np.repeat(np.arange(len(sizes)), sizes), places.document[rows])
    n_chars = places.end[heads] - places.start[heads]
    by_size = np.lexsort((places.document[heads], places.start[heads], ids[heads], -n_chars, -n_documents))
    number = np.empty(len(sizes), np.int64)
    number[by_size] = np.arange(len(sizes))
    rows = rows[np.argsort(np.repeat(number, sizes), kind="stable")]
    of_base = np.full(n + 1, -1, np.int64)  # the last one is for places without a base
    of_base[bases] = number
    return Families(starts_of(sizes[by_size]), rows, of_base[base], n_documents[by_size])


def _bases(places: Places, links: Links, order: Numbers) -> Numbers:
    """Return the base of the family of each place, -1 for a place without a link; `order` has the earliest places first."""
    n = len(order)
    rank = np.empty(n, np.int64)
    rank[order] = np.arange(n)
    a, b = rank[links.a], rank[links.b]
    # Row r is link r seen from a, row len(a) + r the same seen from b.
    keys = np.concatenate([a * n + b, b * n + a])
    rows = np.argsort(keys)
    _order_ties(rows, keys, links)
    keys = keys[rows] // max(1, n)
    first = np.searchsorted(keys, np.arange(n + 1))
    del keys
    base, room = np.full(n, -1, np.int64), (np.empty((n, 2)), np.empty(n), np.empty(n, np.int64))
    given = [read_only(column) for column in (a, b, *links[2:], places.start[order], places.end[order])]
    kernels.follow_copies(first, rows, *given, base, *room)
    of_place = np.empty(n, np.int64)
    of_place[order] = np.where(base >= 0, order[base], -1)
    return of_place


def _order_ties(rows: Numbers, keys: Numbers, links: Links) -> None:
    """Order rows of one key, which are few, by where the link is on the near side, then on the far one."""
    is_tied = np.zeros(len(rows), np.bool_)
    is_tied[1:] = keys[rows[1:]] == keys[rows[:-1]]
    is_tied[:-1] |= is_tied[1:]
    tied = rows[is_tied]
    link, from_a = tied % max(1, len(links.a)), tied < len(links.a)
    of_a, of_b = (np.stack([start[link], end[link]]) for start, end in (links[2:4], links[4:6]))
    near, far = np.where(from_a, of_a, of_b), np.where(from_a, of_b, of_a)
    rows[is_tied] = tied[np.lexsort((*far[::-1], *near[::-1], keys[tied]))]


def _shown(places: Places, base: Numbers) -> NDArray[np.bool_]:
    """Return which places are shown: all with a base but those that another one of their family overlaps by half."""
    shown = base >= 0
    rows = np.lexsort((places.end, places.start, places.document, base))
    kernels.keep_one_of_overlapping(rows, base, *map(read_only, places), shown)
    return shown


def _n_documents(family: Numbers, document: Numbers) -> Numbers:
    """Return in how many documents each family is; families are numbered from 0, and their rows follow one another."""
    order = np.lexsort((document, family))
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (np.diff(family[order]) != 0) | (np.diff(document[order]) != 0)
    return np.bincount(family[order][is_new]).astype(np.int64)


def families_of(spans: Spans, times: Numbers, ids: Numbers) -> tuple[Places, Families, Numbers]:
    """Return the families of passages: the places they name, the families, and the family of every passage.

    `times` and `ids` are those of documents. If the two places of a passage belong to two families, the passage belongs to the
    larger one; it belongs to none (-1) if both are the same place.
    """
    sides = ((spans.a, spans.b), (spans.a_start, spans.b_start), (spans.a_end, spans.b_end))
    places, of_span = places_of(*(np.concatenate(side) for side in sides))
    at_a, at_b = np.split(of_span, 2)
    families = find_families(places, Links(at_a, at_b, *spans[2:]), times[places.document], ids[places.document])
    family = np.sort(np.stack([families.of_place[at_a], families.of_place[at_b]]), axis=0)
    return places, families, np.where(at_a == at_b, -1, np.where(family[0] < 0, family[1], family[0]))


def family_table(passages: pa.Table, collection: Collection, run_tasks: RunTasks = in_turn) -> tuple[pa.Table, pa.Table]:
    """Return the families of all passages of a collection in the schema FAMILIES, and the passages with their FAMILY."""
    a, b = (_codes(passages[f"{side}_id"]) for side in "ab")
    spans = Spans(a, b, *(passages[name].to_numpy() for name in Spans._fields[2:]))
    places, families, of_passage = families_of(spans, collection.times, ranks_of(collection.ids))
    document, start, end = (column[families.places] for column in places[:3])
    texts = pa.chunked_array([batch.column("text") for batch in collection.batches], pa.large_string())
    placed = PlaceTexts(texts, document, start, end)
    digests = digests_at(placed, collection.hash_seed, run_tasks)
    ids = pa.DictionaryArray.from_arrays(pa.array(document.astype(np.int32)), collection.ids)
    groups = collection.groups.take(pa.array(document))
    variants = number_variants(families.first, digests)
    similarity = similarity_to_first(placed, families.first, variants[0], collection.hash_seed, run_tasks)
    table = family_columns(families, ids, start, end, collection.times[document], groups, variants, similarity)
    return table, with_family(passages, of_passage + 1)


def with_family(passages: pa.Table, family: Numbers) -> pa.Table:
    """Return passages with the numbers of their families, from 1; 0 for none."""
    return passages.append_column(FAMILY, pa.array(family, mask=family == 0))


def family_columns(
    families: Families, ids: pa.Array, start: Numbers, end: Numbers, times: Numbers, groups: pa.Array,
    variants: tuple[Numbers, Numbers], similarity: NDArray[np.float64],
) -> pa.Table:  # fmt: skip
    """Return the rows of families, whose places are given as columns, in the schema FAMILIES."""
    sizes = np.diff(families.first)
    variant, n_variants = variants
    is_first = np.zeros(len(start), np.bool_)
    is_first[families.first[:-1]] = True
    family = np.arange(1, len(sizes) + 1)
    of_family = [np.repeat(column, sizes) for column in (sizes, families.n_documents, n_variants)]
    columns = [np.repeat(family, sizes), ids, start, end, moments(times), groups, variant, *of_family, is_first, similarity]
    arrays = [column if isinstance(column, pa.Array) else pa.array(column) for column in columns]
    return pa.Table.from_arrays(arrays, schema=FAMILIES)


def moments(times: Numbers) -> pa.Array:
    """Return times as text, to the second in UTC: it sorts by time, and is the same in every format."""
    words = np.datetime_as_string((times // 1_000_000).astype("datetime64[s]"), timezone="UTC")
    return pa.array(words, pa.large_string(), mask=times == NO_TIME)


def ranks_of(ids: pa.Array) -> Numbers:
    """Return the rank of each id among all, from 1; equal ids have one rank."""
    return pc.rank(ids, sort_keys="ascending", tiebreaker="dense").to_numpy().astype(np.int64)  # type: ignore[no-any-return]


def _codes(ids: pa.ChunkedArray) -> Numbers:
    """Return the numbers of documents behind a column of ids."""
    return np.concatenate([np.empty(0, np.int64), *(chunk.indices.to_numpy() for chunk in ids.chunks)])
