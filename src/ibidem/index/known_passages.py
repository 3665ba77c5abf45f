"""Passages that new documents share with documents of the index, as `find` would report them.

The documents that may share a passage are looked up; together with the new ones they form a small collection, which goes
through the stages of `find`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.collection import Collection
from ibidem.columns.distinct import distinct
from ibidem.columns.hashes import FACTOR
from ibidem.columns.kernels.union_find import flatten, unite_pairs
from ibidem.columns.ragged import ranges
from ibidem.columns.rows import Pairing, Rows, rows_of
from ibidem.config import Config, extends_ends, passage_limits
from ibidem.execution.tasks import RunTasks, in_turn
from ibidem.index.aligned_passages import align_known, extend_known
from ibidem.index.arrivals import Arrivals, QueryTypes
from ibidem.index.elements import has_key
from ibidem.index.kernels import places as kernels
from ibidem.index.places import Numbers
from ibidem.index.segment import Segment, SegmentSettings
from ibidem.index.similar_types import Similar, matches_among
from ibidem.index.source_texts import SourceTexts
from ibidem.index.vocabulary import WordCounts
from ibidem.index.word_pairs import sentences_by_pairs
from ibidem.matches import Cells, TypeSets
from ibidem.model import PASSAGES
from ibidem.passages import Meeting, PassageRows, find_in
from ibidem.passages.extension import EndWords
from ibidem.passages.grams import hot_flags
from ibidem.passages.kernels.chains import A_FIRST, B_FIRST
from ibidem.passages.tables import passages_table
from ibidem.signatures import collapse_sentences

_UNMATCHED = np.uint64(1 << 62)
_SPREAD = np.uint64(FACTOR)


@dataclass(frozen=True)
class _Known:
    """Documents of a segment that may share passages with new ones, and the relevant sentences."""

    segment: Segment
    documents: Numbers
    size: Numbers  # the number of these sentences, per document
    sentences: Numbers
    first_sentence: Numbers  # the number of the first of them in its document, by document
    of_sentence: Numbers  # the document of each, in the segment
    types: Numbers  # the type of each among the relevant ones, -1 if it matches nothing
    is_known: NDArray[np.bool_]  # whether each has elements; those without are skipped


def locate_passages(
    arrivals: Arrivals,
    queries: QueryTypes,
    known_by: QueryTypes,
    similar: Sequence[Similar],
    counts: WordCounts,
    settings: SegmentSettings,
    config: Config,
    own_serials: Numbers,
    among_themselves: bool,
    run_tasks: RunTasks = in_turn,
) -> tuple[pa.Table, SourceTexts]:
    """Return the passages that arrivals share with documents of the index, in the schema PASSAGES; arrivals are side a.

    With them come the texts of the documents that they name.

    `queries` are their types by words, `known_by` by what the index's signature knows them by, which may be the same.

    Promised: every passage of `min_sentences` that goes through a sentence of at most `max_places` places, and every shorter
    one that goes through such a sentence of `min_quote_words` words, or is all of two short texts; such passages are complete.
    Places are counted in the index and among earlier arrivals. With `among_themselves`, also the passages that they share with
    one another; then the later document is side a. `own_serials` are those of the arrivals' ids in the index: a document is not
    compared with itself.
    """
    limits = passage_limits(config)
    collection = arrivals.collection
    order = np.arange(collection.n_documents)[::-1] if among_themselves else np.arange(collection.n_documents)
    n_places = _places_before(arrivals, queries, similar, among_themselves)
    anchors = _anchor_types(arrivals, n_places, known_by.sizes > 0, config)
    earlier = np.empty((0, 2), np.int64)
    shared = [earlier for _ in similar]
    is_aligned = config.alignment.align and settings.texts
    if is_aligned:
        parts = [(part.segment, part.kept) for part in similar]
        shared, earlier = sentences_by_pairs(arrivals, queries, parts, counts, limits.max_places, among_themselves)
    if not anchors.any() and not among_themselves and not any(map(len, shared)):
        return PASSAGES.empty_table(), SourceTexts(collection, order[:0])
    documents = [_documents_of(part, anchors) for part in similar]
    if is_aligned:
        by_pairs = (part.segment.documents_of(rows[:, 1]) for part, rows in zip(similar, shared, strict=True))
        documents = [np.union1d(mine, others) for mine, others in zip(documents, by_pairs, strict=True)]
    similar = [
        matches_among(part, mine, known_by, settings, limits.max_places, run_tasks)
        for part, mine in zip(similar, documents, strict=True)
    ]
    n_types, number = _named_types(queries, similar)
    known, of_match = [], number[len(queries) :]
    for part, chosen in zip(similar, documents, strict=True):
        mine, of_match = of_match[: len(part.matches)], of_match[len(part.matches) :]
        if len(chosen):
            known.append(_trimmed(part, chosen, mine))
    mine = ranges(collection.document_first[order], np.diff(collection.document_first)[order])
    my_types = number[arrivals.types.of_sentence[mine]]
    small, types = _small_collection(collection, order, my_types, mine, known, config.passages.skip_same_group)
    exact = config.signatures.signature == "exact"
    of_type = arrivals.join(counts, settings) if among_themselves and not exact else None
    classes = _classes(len(queries), similar, number, n_types, of_type, exact)
    unmatched = np.arange(len(types), dtype=np.uint64) + _UNMATCHED
    of_sentence = np.where(types >= 0, classes[types].astype(np.uint64) + np.uint64(1), unmatched)
    if not exact:
        of_mine = known_by.sizes[arrivals.types.of_sentence[mine]] > 0
        of_sentence[~np.concatenate([of_mine, *(part.is_known for part in known)])] = 0
    rows = _numbered(rows_of(small, of_sentence, limits.max_gap_sentences), small, known)
    is_known = np.arange(small.n_documents) >= collection.n_documents
    side, group_numbers = np.empty(0, np.int8), np.empty(0, np.int32)
    if among_themselves:
        group_numbers = np.where(is_known, 0, -1).astype(np.int32)  # documents of the index are not compared with one another
    else:
        side = is_known.astype(np.int8)
    pairing = Pairing(limits.same_document and among_themselves, side, group_numbers)
    # A class is hot if all its sentences among the arrivals are.
    fewest = np.full(n_types, np.iinfo(np.int64).max)
    np.minimum.at(fewest, classes[types[: len(mine)]], n_places[mine])
    is_hot = (types >= 0) & (fewest[classes[types]] > limits.max_places)
    hot = hot_flags(is_hot[rows.sentence], limits.min_sentences, rows) if is_hot.any() else None
    is_cold = n_places[mine][rows.sentence[rows.sentence < len(mine)]] <= limits.max_places
    cells = None
    if not exact:
        # Equal keys match whatever their words; the words only tell how alike they are.
        by_key = has_key(settings.elements)
        sets = _sets(queries if by_key else known_by, similar, number, n_types, by_key)
        limit = (0, 1) if by_key else settings.min_similarity.as_integer_ratio()
        cells = Cells(types[rows.sentence].astype(np.int32), sets, limit)
    # Places are counted in the index: only some of them are here, and are not counted.
    found = find_in(Meeting(small, rows, cells, pairing, hot, is_cold), replace(limits, max_places=10**9), run_tasks)
    serials = np.concatenate([own_serials[order], *(part.segment.serials[part.documents] for part in known)])
    texts = SourceTexts(collection, order, [(part.segment, part.documents) for part in known])
    admitted = [part.chosen(_is_admitted(_documents_in(part, rows), small, serials, config)) for part in found.passages]
    if is_aligned:
        places = _numbered_places(shared, earlier, collection, order, similar, documents)
        places = places[_is_admitted(places[:, ::2], small, serials, config)]
        return align_known(admitted, rows, small, texts, places, config, run_tasks), texts
    if extends_ends(config) and settings.texts:
        in_small = (part.segment.end_words(part.sentences) for part in known)
        words = EndWords.joined([arrivals.end_words.chosen(mine), *in_small])
        return extend_known(admitted, rows, small, texts, words, config, run_tasks), texts
    return passages_table(admitted, rows, small, limits.min_sentences, run_tasks), texts


def _places_before(arrivals: Arrivals, queries: QueryTypes, similar: Sequence[Similar], among_themselves: bool) -> Numbers:
    """Return for every sentence of the arrivals how many places it has in the index and among earlier arrivals.

    If there are more than `max_places`, the result may be too low, but is also more than that.
    """
    by_type = np.zeros(len(queries), np.int64)
    for part in similar:
        by_type += part.n_places
    of_sentence = arrivals.types.of_sentence
    n_places = by_type[of_sentence]
    if among_themselves:
        order = np.argsort(of_sentence, kind="stable")
        first = np.searchsorted(of_sentence[order], np.arange(len(queries) + 1))
        n_places[order] += np.arange(len(order)) - first[of_sentence[order]]
    return n_places


def _anchor_types(arrivals: Arrivals, n_places: Numbers, is_known: NDArray[np.bool_], config: Config) -> NDArray[np.bool_]:
    """Return which types of the arrivals lead to documents; `is_known` says which of them are known by anything."""
    limits, collection, of_sentence = passage_limits(config), arrivals.collection, arrivals.types.of_sentence
    if config.signatures.signature != "exact":
        n_places = np.where(is_known[of_sentence], n_places, -1)
    is_anchor = np.empty(len(n_places), np.bool_)
    kernels.choose_anchors(
        collection.document_first, collection.n_words, n_places, limits.min_sentences, limits.min_quote_words,
        limits.max_places, is_anchor,
    )  # fmt: skip
    anchors = np.zeros(len(arrivals.types), np.bool_)
    anchors[of_sentence[is_anchor]] = True
    return anchors


def _documents_of(part: Similar, anchors: NDArray[np.bool_]) -> Numbers:
    """Return the documents in which the anchors' matches are."""
    segment, matches = part.segment, part.matches
    led_to = distinct(matches.type[anchors[matches.query]])
    if not len(led_to):
        return led_to
    first = segment.occurrence_first[led_to].astype(np.int64)
    places = segment.occurrences[ranges(first, segment.place_counts(led_to))]
    documents: Numbers = distinct(segment.documents_of(places))
    return documents[part.kept[documents]]


def _named_types(queries: QueryTypes, similar: Sequence[Similar]) -> tuple[int, Numbers]:
    """Return the number of distinct types of queries and matches, and the number of each among them: queries come first."""
    with_matches = [part for part in similar if len(part.matches)]
    if len(with_matches) == 1:  # then the numbers of its types tell them apart, and no digest has to be read
        (part,) = with_matches
        equal = part.segment.types_of(queries.digests)
        names = np.concatenate([np.where(equal < 0, part.segment.n_types + np.arange(len(equal)), equal), part.matches.type])
        digests = names.astype(np.uint64) * _SPREAD
    else:
        digests = np.concatenate([queries.digests, *(part.segment.digests[part.matches.type] for part in with_matches)])
    named = collapse_sentences(digests)
    return len(named), named.of_sentence.astype(np.int64)


def _trimmed(part: Similar, documents: Numbers, number: Numbers) -> _Known:
    """Return documents, reduced to the stretch with matches; `number` names the type of each match."""
    segment, matches = part.segment, part.matches
    matched, at = np.unique(matches.type, return_index=True)
    begins, ends = np.empty(len(documents), np.int64), np.empty(len(documents), np.int64)
    element_sizes = segment.elements.sizes
    kernels.trim_documents(documents, segment.document_first, segment.types, element_sizes, matched, begins, ends)
    size = np.maximum(ends - begins, 0)  # documents that only pairs of words lead to may have no match
    sentences = ranges(begins, size)
    types = segment.types[sentences].astype(np.int64)
    names = np.full(len(types), -1, np.int64)
    if len(matched):
        place = np.minimum(np.searchsorted(matched, types), len(matched) - 1)
        names = np.where(matched[place] == types, number[at][place], -1)
    first_sentence, is_known = begins - segment.document_first[documents], element_sizes[types] > 0
    return _Known(segment, documents, size, sentences, first_sentence, np.repeat(documents, size), names, is_known)


@dataclass(frozen=True)
class _SmallCollection(Collection):
    """Documents without batches: what else is known of them is given as columns."""

    names: pa.LargeStringArray | None = None
    moments: Numbers = field(default_factory=lambda: np.empty(0, np.int64))
    given_groups: pa.LargeStringArray | None = None

    @cached_property
    def ids(self) -> pa.LargeStringArray:
        """The user's id of each document."""
        return self.names

    @cached_property
    def times(self) -> Numbers:
        """Microseconds since 1970 per document; the smallest number if there is no time."""
        return self.moments

    @cached_property
    def groups(self) -> pa.LargeStringArray:
        """The user's group of each document."""
        return self.given_groups


def _small_collection(
    arrivals: Collection, order: Numbers, types: Numbers, mine: Numbers, known: Sequence[_Known], with_groups: bool
) -> tuple[Collection, Numbers]:
    """Return the arrivals, in the given order, and the known documents as one collection, and the type of each sentence.

    `mine` are the arrivals' sentences in that order, `types` their types. There are no batches: nothing of them is needed.
    """
    size = np.diff(arrivals.document_first)[order]
    mine_first = arrivals.ids if len(order) == 1 else arrivals.ids.take(pa.array(order))
    ids = [mine_first, *(part.segment.ids(part.documents) for part in known)]
    n = arrivals.n_documents + sum(len(part.documents) for part in known)
    groups = None
    if with_groups:
        of_known = (part.segment.groups(part.documents) for part in known)
        groups = pa.chunked_array([arrivals.groups.take(pa.array(order)), *of_known], pa.large_string()).combine_chunks()
    sizes = np.concatenate([size, *(part.size for part in known)])
    known_ends = (part.segment.end_chars(part.sentences, part.of_sentence).astype(np.uint32) for part in known)
    n_words = [arrivals.n_words[mine], *(p.segment.word_counts(p.segment.types[p.sentences]) for p in known)]
    nothing = np.zeros(int(sizes.sum()), np.uint32)
    small = _SmallCollection(
        [],
        n_chars=np.concatenate([arrivals.n_chars[order], *(part.segment.n_chars[part.documents] for part in known)]),
        n_input=arrivals.n_documents,
        document=np.repeat(np.arange(n, dtype=np.int32), sizes),
        start_byte=nothing,
        end_byte=nothing,
        start_char=np.concatenate([arrivals.start_char[mine], *(p.segment.start_char[p.sentences] for p in known)]),
        end_char=np.concatenate([arrivals.end_char[mine], *known_ends]),
        n_words=np.concatenate(n_words),
        digest=nothing.astype(np.uint64),
        names=pa.concat_arrays(ids),
        moments=np.concatenate([arrivals.times[order], *(part.segment.times[part.documents] for part in known)]),
        given_groups=groups,
    )
    return small, np.concatenate([types, *(part.types for part in known)])


def _numbered(rows: Rows, small: Collection, known: Sequence[_Known]) -> Rows:
    """Return rows that know the number of their sentence in its document, of which only some sentences are here."""
    left_out = [np.zeros(small.n_input, np.int64), *(part.first_sentence for part in known)]
    position = rows.sentence - (small.document_first[:-1] - np.concatenate(left_out))[rows.document]
    return replace(rows, position=position.astype(np.int32))


def _classes(
    n_queries: int,
    similar: Sequence[Similar],
    number: Numbers,
    n_types: int,
    of_type: NDArray[np.int32] | None,
    exact: bool,
) -> Numbers:
    """Return the class of every type: types of different classes do not match. `of_type` are those among the arrivals."""
    parent = np.arange(n_types, dtype=np.int32)
    if exact:
        return parent.astype(np.int64)
    query = np.concatenate([part.matches.query for part in similar] or [np.empty(0, np.int64)])
    a, b = number[query], number[n_queries:]
    if of_type is not None:
        is_known = np.flatnonzero(of_type >= 0)
        a, b = np.concatenate([a, number[is_known]]), np.concatenate([b, number[of_type[is_known]]])
    unite_pairs(a, b, parent)
    flatten(parent)
    return parent.astype(np.int64)


def _sets(queries: QueryTypes, similar: Sequence[Similar], number: Numbers, n_types: int, by_words: bool) -> TypeSets:
    """Return what every relevant that matters here is known by, or its words, in the numbers that the queries have for it."""
    start, size = np.zeros(n_types, np.int64), np.zeros(n_types, np.int32)
    values, filled = [], 0
    done = np.zeros(n_types, np.bool_)
    of_match = number[len(queries) :]
    for part in similar:
        mine, of_match = of_match[: len(part.matches)], of_match[len(part.matches) :]
        names, at = np.unique(mine, return_index=True)
        types = part.matches.type[at][~done[names]]
        names = names[~done[names]]
        done[names] = True
        elements = part.segment.words if by_words else part.segment.elements
        local = elements.numbers_of(queries.word_hashes) if by_words else part.local
        present = np.flatnonzero(local >= 0)
        present = present[np.argsort(local[present])]
        first = np.zeros(len(types) + 1, np.int64)
        room = np.empty(int(elements.counts(types).sum()), np.int32)
        source = (elements.lists, types, local[present], present)
        kernels.shared_words(*source, len(queries.word_hashes), room, first)
        start[names], size[names] = first[:-1] + filled, np.diff(first)
        values.append(room[: first[-1]])
        filled += int(first[-1])
    # The queries' own sets come last: types that are both get these.
    mine = number[: len(queries)]
    start[mine], size[mine] = queries.first[:-1] + filled, np.diff(queries.first)
    values.append(queries.sorted_words)
    return TypeSets(start, size, np.concatenate(values), np.empty(0, np.uint64), 0, 0)


def _numbered_places(
    shared: Sequence[Numbers], earlier: Numbers, collection: Collection, order: Numbers, similar: Sequence[Similar],
    documents: Sequence[Numbers],
) -> Numbers:  # fmt: skip
    """Return pairs of sentences as rows: number in the small collection of a's document, and of the sentence in that; the same
    for b. The small collection has arrivals in that order, then known documents.
    """
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))

    def of_arrivals(sentences: Numbers) -> tuple[Numbers, Numbers]:
        mine = collection.document[sentences]
        return place[mine], sentences - collection.document_first[mine]

    rows = [np.stack([*of_arrivals(earlier[:, 0]), *of_arrivals(earlier[:, 1])], axis=1)]
    first = len(order)
    for sentences, part, known in zip(shared, similar, documents, strict=True):
        others = part.segment.documents_of(sentences[:, 1])
        inside = sentences[:, 1] - part.segment.document_first[others]
        rows.append(np.stack([*of_arrivals(sentences[:, 0]), np.searchsorted(known, others) + first, inside], axis=1))
        first += len(known)
    return np.concatenate(rows)


def _documents_in(passages: PassageRows, rows: Rows) -> Numbers:
    """Return the documents of passages, a and b."""
    return rows.document[passages.table[:, [A_FIRST, B_FIRST]]].astype(np.int64)


def _is_admitted(pairs: Numbers, small: Collection, serials: Numbers, config: Config) -> NDArray[np.bool_]:
    """Return which pairs are not of a document and itself in the index, nor of one group if such are not wanted."""
    a, b = pairs.T
    keep: NDArray[np.bool_] = (a < small.n_input) & ((serials[a] != serials[b]) | (serials[a] < 0) | (a == b))
    if config.passages.skip_same_group:
        keep &= (a == b) | (small.group_numbers[a] != small.group_numbers[b]) | (small.group_numbers[a] < 0)
    return keep
