"""Merging: several consecutive segments become one, without removed documents.

Neighbours of similar size are merged, so that a sentence is rewritten only a few times, however many arrive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.columns.ragged import ranges, starts_of
from ibidem.columns.sets import HashSets
from ibidem.index.elements import has_key
from ibidem.index.kept_texts import merge_texts
from ibidem.index.segment import DocumentColumns, Segment, SegmentSettings, document_columns
from ibidem.index.segment_build import SentenceColumns, TypeColumns, build_segment
from ibidem.index.vocabulary import WordCounts
from ibidem.passages.extension import EndWords

Numbers = NDArray[np.int64]

FAN_OUT = 4
_SMALLEST_SENTENCES = 4096  # smaller segments count as this large


def due_merge(n_sentences: Sequence[int], max_sentences: int) -> slice | None:
    """Return the run of segments (given by size, in order) that should be merged, or None.

    Segments of tier t have about FAN_OUT**t times as many sentences as the smallest. As soon as the last FAN_OUT or more
    segments belong to a tier or lower ones, they are merged, unless one of them is more than two thirds of the total: few
    segments remain, and the cost of a merge is in proportion to what arrived since the last one. Nothing grows beyond
    `max_sentences`.
    """
    tiers = [_tier(n) for n in n_sentences]
    for tier in range(max(tiers, default=-1) + 1):
        begin = len(tiers)
        total = 0
        while begin > 0 and tiers[begin - 1] <= tier and total + n_sentences[begin - 1] <= max_sentences:
            begin -= 1
            total += n_sentences[begin]
        sizes = [max(size, _SMALLEST_SENTENCES) for size in n_sentences[begin:]]
        if len(sizes) >= FAN_OUT and sum(sizes) >= 1.5 * max(sizes):
            return slice(begin, len(tiers))
    return None


def groups_to_compact(n_sentences: Sequence[int], max_sentences: int) -> list[slice]:
    """Return the runs of segments that become one each when everything is compacted."""
    groups: list[slice] = []
    begin = total = 0
    for number, size in enumerate(n_sentences):
        if number > begin and total + size > max_sentences:
            groups.append(slice(begin, number))
            begin, total = number, 0
        total += size
    if begin < len(n_sentences):
        groups.append(slice(begin, len(n_sentences)))
    return groups


def _tier(n_sentences: int) -> int:
    tier, size = 0, _SMALLEST_SENTENCES
    while size * FAN_OUT <= n_sentences:
        size *= FAN_OUT
        tier += 1
    return tier


def merge_segments(
    segments: Sequence[Segment], kept: Sequence[NDArray[np.bool_]], counts: WordCounts, settings: SegmentSettings
) -> Segment:
    """Return one segment with the kept documents of all, in order; `kept` is per document of each segment."""
    with_elements = settings.elements is not None and not has_key(settings.elements)
    documents, sentences, types = columns_of(segments, kept, with_elements, settings.texts)
    texts = merge_texts([(segment.texts, np.flatnonzero(keep)) for segment, keep in zip(segments, kept, strict=True)])
    return build_segment(documents, sentences, types, counts, settings, texts)


def columns_of(
    segments: Sequence[Segment], kept: Sequence[NDArray[np.bool_]], with_elements: bool = False, with_texts: bool = False
) -> tuple[DocumentColumns, SentenceColumns, TypeColumns]:
    """Return the kept documents of segments, their sentences and their types, as `build_segment` takes them.

    `with_elements`: types are known by elements that cannot be made again of their words. `with_texts`: the texts are kept.
    """
    chosen = [np.flatnonzero(keep) for keep in kept]
    sizes = [segment.sentence_counts(rows) for segment, rows in zip(segments, chosen, strict=True)]
    spans = [_sentences_of(segment, rows) for segment, rows in zip(segments, chosen, strict=True)]
    types, of_sentence = _unite_types([(s, s.types[rows]) for s, rows in zip(segments, spans, strict=True)], with_elements)
    ends = []
    for segment, rows, span, size in zip(segments, chosen, spans, sizes, strict=True):
        ends.append(segment.end_chars(span, np.repeat(rows, size)))
    sentences = SentenceColumns(
        document_first=starts_of(np.concatenate(sizes)),
        types=of_sentence,
        start_char=np.concatenate([s.start_char[span] for s, span in zip(segments, spans, strict=True)]),
        end_char=np.concatenate(ends).astype(np.uint32),
        end_words=EndWords.joined([s.end_words(span) for s, span in zip(segments, spans, strict=True)]) if with_texts else None,
    )
    return _unite_documents(list(zip(segments, chosen, strict=True))), sentences, types


def _unite_documents(parts: Sequence[tuple[Segment, Numbers]]) -> DocumentColumns:
    def joined(name: str) -> Numbers:
        return np.concatenate([getattr(segment, name)[rows] for segment, rows in parts])

    ids = pa.chunked_array([segment.ids(rows) for segment, rows in parts], pa.large_string()).combine_chunks()
    groups = pa.chunked_array([segment.groups(rows) for segment, rows in parts], pa.large_string()).combine_chunks()
    return document_columns(joined("serials"), joined("n_chars"), joined("times"), ids, groups)


def _sentences_of(segment: Segment, documents: Numbers) -> Numbers:
    """Return the numbers of all sentences of these documents."""
    if len(documents) == segment.n_documents:
        return np.arange(segment.n_sentences)
    return ranges(segment.document_first[documents], segment.sentence_counts(documents))


def _unite_types(
    parts: Sequence[tuple[Segment, NDArray[np.uint32]]], with_elements: bool
) -> tuple[TypeColumns, NDArray[np.uint32]]:
    """Return the distinct types of the given sentences, and the type of each sentence among them."""
    used = []
    for segment, of_sentence in parts:
        is_used = np.zeros(segment.n_types, np.bool_)
        is_used[of_sentence] = True
        used.append(np.flatnonzero(is_used))
    digests, number = np.unique(
        np.concatenate([s.digests[types] for (s, _), types in zip(parts, used, strict=True)]), return_inverse=True
    )
    # Of types that several segments have, the first one's list is read.
    source = np.empty(len(digests), np.int64)
    source[number[::-1]] = np.arange(len(number))[::-1]
    bounds = starts_of([len(types) for types in used])
    hashes, word_number = np.unique(np.concatenate([s.word_hashes for s, _ in parts]), return_inverse=True)
    lists, sizes, of_all = [], [], []
    elements, element_sizes = [np.empty(0, np.uint64)], [np.empty(0, np.int32)]
    word_base = 0
    for k, ((segment, of_sentence), types) in enumerate(zip(parts, used, strict=True)):
        mine = number[bounds[k] : bounds[k + 1]]
        wanted = types[source[mine] == np.arange(bounds[k], bounds[k + 1])]
        words, lengths = segment.words.read(wanted)
        lists.append(word_number[words + word_base])
        sizes.append(lengths)
        if with_elements:
            numbers, lengths = segment.elements.read(wanted)
            elements.append(segment.elements.hashes[numbers])
            element_sizes.append(lengths)
        renumbered = np.empty(segment.n_types, np.uint32)
        renumbered[types] = mine
        of_all.append(renumbered[of_sentence])
        word_base += len(segment.word_hashes)
    in_order = np.argsort(source, kind="stable")
    first = starts_of(np.concatenate(sizes))
    place = np.empty(len(in_order), np.uint32)
    place[in_order] = np.arange(len(in_order), dtype=np.uint32)
    united = TypeColumns(digests[in_order], np.concatenate(lists).astype(np.int32), first, hashes)
    if with_elements:
        sets = HashSets(np.concatenate(elements), starts_of(np.concatenate(element_sizes)))
        united = replace(united, elements=sets)
    return united, place[np.concatenate(of_all)]
