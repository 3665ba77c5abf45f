"""Segments: what is merged is what would have been built at once; what is counted again, what would have been counted first."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from ibidem.columns.collection import NO_TIME
from ibidem.config import SignaturesConfig
from ibidem.index.array_files import check_arrays, write_arrays
from ibidem.index.folder import Place
from ibidem.index.index import Index
from ibidem.index.merge import FAN_OUT, due_merge, groups_to_compact, merge_segments
from ibidem.index.segment import Segment, SegmentSettings
from ibidem.index.snapshot import read_segment
from ibidem.index.vocabulary import WordCounts
from tests.index_twins import (
    WORD_HASHES,
    WORDS,
    Document,
    Frequencies,
    Record,
    Sentence,
    arrivals_of,
    temporary_folder,
    text_of,
)
from tests.texts import render

GAPS = ["\n\n", " ", " " * 253, " " * 254, " " * 255, " " * 256, " " * 70_000, "\n\n😀 — …\n\n"]
SENTENCE = st.one_of(
    st.lists(st.sampled_from(WORDS[:9]), min_size=1, max_size=6).map(tuple),
    st.sampled_from([(WORDS[0],), (WORDS[0], WORDS[0])]),
)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4).filter(lambda name: bool(name.strip()))
GROUPS = st.sampled_from([None, None, "a", "b", "ü 😀"])
TIMES = st.sampled_from([None, 0, 10**9, "1969-07-20T20:17:40Z"])
MADE = [
    SegmentSettings(64, 3, 0.6, Fraction(4, 5), False),
    SegmentSettings(16, 1, 0.1, Fraction(1), True),
    SegmentSettings(200, 4, 0.6, Fraction(4, 5), False),
    SegmentSettings(64, 3, 0.6, Fraction(1, 2), False, SignaturesConfig("shingles")),
    SegmentSettings(64, 3, 0.6, Fraction(1), False, SignaturesConfig("imatch", min_idf=0.3)),
    SegmentSettings(64, 3, 0.1, Fraction(1), False, SignaturesConfig("fingerprint", max_document_share=0.1)),
]


def spread(sentences: Sequence[tuple[Sentence, str]]) -> str:
    """Return a text with gaps of all lengths; without sentences, one of marks only."""
    return "".join(render(s) + gap for s, gap in sentences) or "***"


@st.composite
def collections(draw: st.DrawFn) -> list[Record]:
    """Records with any ids, some with times and groups, some without sentences."""
    pieces = st.lists(st.tuples(SENTENCE, st.sampled_from(GAPS)), max_size=5)
    names = draw(st.lists(NAMES, min_size=1, max_size=8, unique=True))
    records: list[Record] = []
    for name in names:
        record: Record = {"id": name, "text": spread(draw(pieces))}
        for key, value in (("group", draw(GROUPS)), ("time", draw(TIMES))):
            if value is not None:
                record[key] = value
        records.append(record)
    return records


def segment_of(records: Sequence[Record], serials: Sequence[int], counts: WordCounts, made: SegmentSettings) -> Segment:
    return arrivals_of(records).segment(np.array(serials, np.int64), counts, made)


def assert_same(found: Segment, expected: Segment) -> None:
    """Compare all columns, kinds of numbers included."""
    for name, column in expected.arrays().items():
        mine = found.arrays()[name]
        assert mine.dtype == column.dtype, name
        assert mine.tolist() == column.tolist(), name


def assert_holds(segment: Segment, records: Sequence[Record]) -> None:
    """Compare what a segment says about its documents with the documents."""
    everything = np.arange(segment.n_documents)
    collection = arrivals_of(records).collection
    assert segment.ids().to_pylist() == [record["id"] for record in records]
    assert segment.groups(everything).to_pylist() == [record.get("group") for record in records]
    assert segment.n_chars.tolist() == [len(record["text"]) for record in records]
    assert segment.times.tolist() == [_microseconds(record.get("time")) for record in records]
    sentences, document = np.arange(segment.n_sentences), collection.document.astype(np.int64)
    assert segment.document_first.tolist() == collection.document_first.tolist()
    assert segment.start_char.tolist() == collection.start_char.tolist()
    assert segment.end_chars(sentences, document).tolist() == collection.end_char.tolist()
    assert segment.digests[segment.types].tolist() == collection.digest.tolist()
    assert segment.word_counts(segment.types).tolist() == collection.n_words.tolist()
    if len(sentences):
        some = sentences[::-2]
        assert segment.end_chars(some, document[some]).tolist() == collection.end_char[some].tolist()


def _microseconds(value: Any) -> int:
    if value is None:
        return int(NO_TIME)
    if isinstance(value, int):
        return value * 10**6
    moment = datetime.strptime(value, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)
    return int((moment - datetime(1970, 1, 1, tzinfo=timezone.utc)).total_seconds()) * 10**6


def counts_for(n: int) -> WordCounts:
    """Return counts under which some words are common."""
    hashes = np.array([WORD_HASHES[w] for w in WORDS[:9]], np.uint64)
    return WordCounts.of(hashes, np.array([n, n - 1, n // 2, 12, 2, 1, 1, 3, n]), n, 1)


@settings(max_examples=250, deadline=None)
@given(collections(), st.sampled_from(MADE), st.randoms(use_true_random=False))
def test_merging_in_any_grouping_is_building_at_once(
    records: list[Record], made: SegmentSettings, chance: random.Random
) -> None:
    """Documents are removed at some merge or other, the last one at the latest."""
    counts = counts_for(30)
    is_kept = [chance.random() < 0.75 for _ in records]
    serials = sorted(chance.sample(range(50), len(records)))
    gone = {serial for serial, keep in zip(serials, is_kept, strict=True) if not keep}
    parts: list[Segment] = []
    at = 0
    while at < len(records):
        end = at + chance.randint(1, 3)
        parts.append(segment_of(records[at:end], serials[at:end], counts, made))
        at = end

    def merged(run: Sequence[Segment], goes: Callable[[int], bool]) -> Segment:
        masks: list[NDArray[np.bool_]] = [np.array([not goes(s) for s in part.serials.tolist()], np.bool_) for part in run]
        return merge_segments(run, masks, counts, made)

    while len(parts) > 1 and chance.random() < 0.8:
        begin = chance.randrange(len(parts) - 1)
        end = chance.randint(begin + 1, len(parts))
        parts[begin:end] = [merged(parts[begin:end], lambda serial: serial in gone and chance.random() < 0.5)]
    whole = merged(parts, gone.__contains__)
    kept_records = [record for record, keep in zip(records, is_kept, strict=True) if keep]
    if kept_records:
        assert_same(whole, segment_of(kept_records, [s for s in serials if s not in gone], counts, made))
        assert_holds(whole, kept_records)
    else:
        assert (whole.n_documents, whole.n_sentences, whole.n_types) == (0, 0, 0)


@settings(max_examples=60, deadline=None)
@given(collections(), st.sampled_from(MADE))
def test_a_segment_that_is_written_and_mapped_is_the_same(records: list[Record], made: SegmentSettings) -> None:
    segment = segment_of(records, range(3, 3 + len(records)), counts_for(20), made)
    with temporary_folder() as folder:
        path = Path(folder) / "segment-0.ibi"
        write_arrays(path, segment.arrays(), {})
        check_arrays(path)
        mapped = read_segment(Place(path), None)
        assert_same(mapped, segment)
        assert_holds(mapped, records)
        everything = np.ones(mapped.n_documents, np.bool_)
        assert_same(merge_segments([mapped], [everything], counts_for(20), made), segment)
        del mapped


# Word counts.


@settings(max_examples=300, deadline=None)
@given(
    st.dictionaries(st.sampled_from(WORDS[:20]), st.integers(1, 40), max_size=20),
    st.sampled_from([0, 1, 2, 40, 1000, 10**6]),
    st.sampled_from([0.0, 0.1, 0.3, 0.6, 1.0]),
)
def test_word_counts(document_counts: dict[str, int], n_documents: int, share: float) -> None:
    seen = {w: min(n, n_documents) for w, n in document_counts.items()} if n_documents else {}
    frequencies = Frequencies(seen, n_documents)
    counts = frequencies.counts()
    hashes = np.array([WORD_HASHES[w] for w in WORDS], np.uint64)
    assert counts.hashes.tolist() == sorted(WORD_HASHES[w] for w, n in seen.items() if n > 1)
    assert counts.counts_of(hashes).tolist() == [seen.get(w, 1) for w in WORDS]
    assert counts.weights_of(hashes).tolist() == [frequencies.weights[w] for w in WORDS]
    common = [WORD_HASHES[w] for w in WORDS if frequencies.is_common(w, Fraction(str(share)))]
    assert sorted(counts.common_hashes(share).tolist()) == sorted(common)
    again = WordCounts.stored(counts.arrays(), {"n_documents": counts.n_documents, "version": counts.version})
    assert again.counts_of(hashes).tolist() == counts.counts_of(hashes).tolist()


def test_no_documents_count_nothing() -> None:
    hashes = np.array([1, 2], np.uint64)
    counts = WordCounts.empty()
    assert counts.weights_of(hashes).tolist() == [1, 1]
    assert counts.common_hashes(0.0).tolist() == []


DOCUMENT = st.lists(SENTENCE, min_size=1, max_size=5)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.lists(st.tuples(st.integers(0, 15), DOCUMENT), min_size=1, max_size=9)),
        st.tuples(st.just("remove"), st.lists(st.integers(0, 15), min_size=1, max_size=4)),
        st.tuples(st.sampled_from(["compact", "recount"]), st.just([])),
    ),
    min_size=1,
    max_size=5,
)


@settings(max_examples=50, deadline=None)
@given(STEPS)
def test_counting_anew_is_building_anew(steps: list[tuple[str, list[Any]]]) -> None:
    """Whatever came before: after a recount the index is that of its documents, added at once and counted."""
    there: dict[str, Document] = {}
    with temporary_folder() as folder, temporary_folder() as other, Index(folder, workers=1, hash_seed=0) as index:
        for step, detail in steps:
            if step == "add":
                new = {f"d{number}": document for number, document in detail}
                index.add([{"id": name, "text": text_of(document)} for name, document in new.items()], replace=True)
                for name, document in new.items():
                    there.pop(name, None)  # what is replaced comes last
                    there[name] = document
            elif step == "remove":
                index.remove([f"d{number}" for number in detail])
                for number in detail:
                    there.pop(f"d{number}", None)
            else:
                index.compact(recount=step == "recount")
        index.compact(recount=True)
        assert index.verify() == []
        snapshot = index._reader.current()
        frequencies = Frequencies.of(list(there.values()))
        hashes = np.array([WORD_HASHES[w] for w in WORDS], np.uint64)
        assert snapshot.counts.n_documents == len(there)
        assert snapshot.counts.counts_of(hashes).tolist() == [max(1, frequencies.document_counts.get(w, 1)) for w in WORDS]
        assert len(snapshot.state.removed) == 0
        if not there:
            assert snapshot.parts == ()
            return
        (part,) = snapshot.parts
        with Index(other, workers=1, hash_seed=0) as fresh:
            fresh.add([{"id": name, "text": text_of(document)} for name, document in there.items()])
            (expected,) = fresh._reader.current().parts
        assert part.segment.ids().to_pylist() == list(there)
        for name, column in expected.segment.arrays().items():
            if name != "serials":
                assert part.segment.arrays()[name].tolist() == column.tolist(), name


# Which segments are merged.

SMALLEST = 4096
SIZES = st.lists(
    st.one_of(st.integers(0, 50), st.integers(0, 10**4), st.integers(0, 3 * 10**5), st.just(10**6)), min_size=1, max_size=80
)


def arrive(sizes: Sequence[int], max_sentences: int) -> tuple[list[int], int, int]:
    """Return the segments after all commits, how many sentences were rewritten, and how many segments there were at most."""
    segments: list[int] = []
    rewritten = most = 0
    for size in sizes:
        segments.append(size)
        while run := due_merge(segments, max_sentences):
            assert run.stop == len(segments)
            assert run.stop - run.start > 1
            total = sum(segments[run])
            assert total <= max_sentences
            rewritten += total
            segments[run] = [total]
        most = max(most, len(segments))
    return segments, rewritten, most


def tiers(sizes: Sequence[int]) -> float:
    """Return how often the smallest segment doubles until it holds everything, and some more."""
    return 2 + math.log2(sum(max(size, SMALLEST) for size in sizes) / SMALLEST)


@settings(max_examples=300, deadline=None)
@given(SIZES)
def test_there_are_never_many_segments(sizes: list[int]) -> None:
    segments, _, most = arrive(sizes, 10**9)
    assert sum(segments) == sum(sizes)
    assert most <= (FAN_OUT - 1) * tiers(sizes)


def test_sentences_are_rewritten_a_few_times_only() -> None:
    for sizes in ([10**6] + [100] * 60, [10**5, *[1000] * 30, 10**6, *[50] * 40], [20] * 4000):
        _, rewritten, _ = arrive(sizes, 10**9)
        assert rewritten <= sum(max(size, SMALLEST) for size in sizes) * tiers(sizes)


@settings(max_examples=200, deadline=None)
@given(SIZES, st.sampled_from([10**5, 10**6, 4 * 10**6]))
def test_no_merge_makes_a_segment_that_is_too_large(sizes: list[int], max_sentences: int) -> None:
    segments, _, _ = arrive(sizes, max_sentences)
    assert sum(segments) == sum(sizes)
    assert all(size <= max(max_sentences, *sizes) for size in segments)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 100), max_size=30), st.integers(1, 200))
def test_compacting_takes_as_few_neighbours_as_fit(sizes: list[int], max_sentences: int) -> None:
    groups = groups_to_compact(sizes, max_sentences)
    assert [number for group in groups for number in range(group.start, group.stop)] == list(range(len(sizes)))
    totals = [sum(sizes[group]) for group in groups]
    for group, total in zip(groups, totals, strict=True):
        assert total <= max_sentences or group.stop - group.start == 1
    assert all(total + sizes[group.start] > max_sentences for total, group in zip(totals, groups[1:], strict=False))


def test_an_index_has_few_segments_however_many_commits_came() -> None:
    with temporary_folder() as folder, Index(folder, workers=1, hash_seed=0) as index:
        for number in range(40):
            index.add([{"id": f"d{number}", "text": text_of([(WORDS[number % 7], WORDS[8]), (WORDS[number],)])}])
            assert index.info()["segments"] < 2 * FAN_OUT
        index.remove([f"d{number}" for number in range(39)])
        assert (len(index), index.info()["removed_documents"]) == (1, 0)  # what is mostly removed is written again
        index.remove("d39")
        assert (len(index), index.info()["segments"], index.info()["sentences"]) == (0, 0, 0)
        assert index.verify() == []
        index.add([{"id": "d0", "text": text_of([(WORDS[0],)])}])
        assert len(index) == 1
