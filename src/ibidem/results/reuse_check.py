"""Whether documents share more text than allowed, which passages are to blame, and where they are."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ibidem.columns.line_numbers import LineMap
from ibidem.config import SentencesConfig
from ibidem.formats.registry import TEXT, format_of
from ibidem.results.reuse_baseline import Baseline, BaselineSentences, SharedSentence, new_parts, shared_sentences
from ibidem.results.storage import Backing

_BATCH_ROWS = 1_000
_MOST_MAPS = 64
Spans = list[tuple[int, int]]


class TextPlace(NamedTuple):
    """A place in a document. Lines and columns count from 1; they are None unless the document is a plain text or Markdown."""

    id: str
    start: int
    end: int
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        return f"{self.id} [{self.start}:{self.end}]" if self.line is None else f"{self.id}:{self.line}:{self.column}"


class ReusedPlace(NamedTuple):
    """Text of a document that counts, where else it appears, and in how many other documents."""

    place: TextPlace
    other: TextPlace
    n_documents: int
    n_sentences: int
    kind: str
    similarity: float
    text: str


@dataclass(frozen=True)
class ReuseCheck:
    """The outcome of `Result.check_reuse`: documents that share too much, with their shares, and the places that count in them.

    `n_gone` sentences of the baseline are no longer shared; `is_current` is false if the baseline was written by a version that
    splits sentences in another way.
    """

    max_share: float
    documents: Mapping[str, float]
    places: Sequence[ReusedPlace]
    n_checked: int
    n_gone: int = 0
    is_current: bool = True

    @property
    def passed(self) -> bool:
        """Whether no document shares too much."""
        return not self.documents

    def __repr__(self) -> str:
        return f"<ReuseCheck: {len(self.documents):,} of {self.n_checked:,} documents share more than {self.max_share:g}>"


class _Stretch(NamedTuple):
    """Text of a document that also appears elsewhere: at `other` or, if it is in very many places, at `places`."""

    id: str
    start: int
    end: int
    text: str
    sentences: Sequence[SharedSentence]
    other: tuple[str, int, int]
    n_documents: int
    n_sentences: int
    kind: str
    similarity: float
    row: int  # of the batch of passages, or -1
    side: str


def reuse_check(backing: Backing[Any], config: SentencesConfig, max_share: Fraction, baseline: Baseline | None) -> ReuseCheck:
    """Compare the share of each document that is in passages and repeats, and not in the baseline, with the most allowed."""
    n_chars = _lengths(backing)
    known: Mapping[str, Collection[int]] = {} if baseline is None else baseline.known_among(n_chars.keys())
    seen: dict[str, set[int]] = defaultdict(set)
    covered: dict[str, Spans] = defaultdict(list)
    for _, stretches in _stretches(backing, config, n_chars):
        for stretch in stretches:
            seen[stretch.id].update(sentence.fingerprint for sentence in stretch.sentences if sentence.is_shared)
            covered[stretch.id] += _new_spans(stretch, known.get(stretch.id, ()))[0]
    shares = {doc_id: Fraction(_length(spans), max(n_chars[doc_id], 1)) for doc_id, spans in covered.items()}
    exceeding = {doc_id: float(share) for doc_id in n_chars if (share := shares.get(doc_id, Fraction())) > max_share}
    places = _places(backing, config, {doc_id: n_chars[doc_id] for doc_id in exceeding}, known) if exceeding else []
    n_gone = 0
    if baseline is not None:
        shared = set().union(*seen.values())
        n_gone = sum(each not in shared for own in baseline.documents.values() for each in own)
    is_current = baseline is None or baseline.is_current
    return ReuseCheck(float(max_share), exceeding, places, len(n_chars), n_gone, is_current)


def baseline_of(backing: Backing[Any], config: SentencesConfig) -> Baseline:
    """Return the baseline of everything that documents share now."""
    found = BaselineSentences()
    for _, stretches in _stretches(backing, config, _lengths(backing)):
        for stretch in stretches:
            found.add(stretch.id, stretch.start, stretch.text, stretch.sentences)
    return found.baseline()


def _lengths(backing: Backing[Any]) -> dict[str, int]:
    """Return the length of each document of the inputs, in reading order."""
    batches = backing.table("documents").batches(["id", "n_chars"])
    return {doc_id: n for batch in batches for doc_id, n in zip(*(c.to_pylist() for c in batch.columns), strict=True)}


def _stretches(
    backing: Backing[Any], config: SentencesConfig, wanted: Collection[str]
) -> Iterator[tuple[pa.RecordBatch | None, list[_Stretch]]]:
    """Yield the stretches of some documents of the inputs: those of a batch of passages together, then those of repeats."""
    sizes = backing.sizes()
    sides = "a" if sizes.n_all_documents > sizes.n_documents else "ab"
    for whole in backing.passages_with_texts().stored_batches():
        for first in range(0, whole.num_rows, _BATCH_ROWS):
            batch = whole.slice(first, _BATCH_ROWS)
            yield batch, [each for side in sides for each in _of_passages(batch, side, config, wanted)]
    for batch in backing.table("repeats").batches():
        yield None, list(_of_repeats(batch, config, wanted))


def _of_passages(batch: pa.RecordBatch, side: str, config: SentencesConfig, wanted: Collection[str]) -> Iterator[_Stretch]:
    def columns(side: str, *names: str) -> Iterator[tuple[Any, ...]]:
        return zip(*(batch[f"{side}_{name}"].to_pylist() for name in names), strict=True)

    rows = np.array([row for row, doc_id in enumerate(batch[f"{side}_id"].to_pylist()) if doc_id in wanted], np.int64)
    batch = batch.take(pa.array(rows))
    here, there = columns(side, "id", "start", "end", "text"), columns("b" if side == "a" else "a", "id", "start", "end")
    facts = zip(*(batch[name].to_pylist() for name in ("n_sentences", "kind", "similarity")), strict=True)
    across = batch["b_text" if side == "a" else "a_text"].to_pylist()
    others = [None if kind == "exact" else text for kind, text in zip(batch["kind"].to_pylist(), across, strict=True)]
    split = shared_sentences(batch[f"{side}_text"], config, others)
    for row, (doc_id, start, end, text), other, (n, kind, similarity), sentences in zip(
        rows.tolist(), here, there, facts, split, strict=True
    ):
        yield _Stretch(doc_id, start, end, text, sentences, (other[0], other[1], other[2]), 1, n, kind, similarity, row, side)


def _of_repeats(batch: pa.RecordBatch, config: SentencesConfig, wanted: Collection[str]) -> Iterator[_Stretch]:
    columns = (batch[name].to_pylist() for name in ("text", "places"))
    for text, places, sentences in zip(*columns, shared_sentences(batch["text"], config), strict=True):
        where = [(place["id"], place["start"], place["end"]) for place in places]
        n_others = max(1, len({doc_id for doc_id, *_ in where}) - 1)
        for at, place in enumerate(where):
            if place[0] in wanted:
                other = where[0 if at else 1]
                yield _Stretch(*place, text, sentences, other, n_others, len(sentences), "exact", 1.0, -1, "a")


def _new_spans(stretch: _Stretch, known: Collection[int]) -> tuple[Spans, int]:
    """Return where in its document a stretch is new, and how many sentences: all of it unless some of them are known."""
    parts = new_parts(stretch.sentences, known)
    n_new = sum(map(len, parts))
    # Places of a repeat have the same sentences, but not the same characters.
    if n_new == len(stretch.sentences) or (n_new and stretch.row < 0):
        return [(stretch.start, stretch.end)], stretch.n_sentences
    return [(stretch.start + part[0].start, stretch.start + part[-1].end) for part in parts], n_new


def _length(spans: Iterable[tuple[int, int]]) -> int:
    """Return how many characters spans cover together."""
    total = reached = 0
    for start, end in sorted(spans):
        total += max(0, end - max(start, reached))
        reached = max(reached, end)
    return total


def _places(
    backing: Backing[Any], config: SentencesConfig, wanted: Mapping[str, int], known: Mapping[str, Collection[int]]
) -> list[ReusedPlace]:
    """Return the places that count in some documents: by document and place, those of equal ends as one."""
    found: dict[tuple[str, int, int], list[ReusedPlace]] = defaultdict(list)
    for batch, stretches in _stretches(backing, config, wanted):
        new = [(stretch, *_new_spans(stretch, known.get(stretch.id, ()))) for stretch in stretches]
        new = [each for each in new if each[1]]
        maps = _LineMaps(backing, batch, {stretch.row for stretch, *_ in new})
        for stretch, spans, n_sentences in new:
            start, end = spans[0][0], spans[-1][1]
            place = ReusedPlace(
                maps.place(stretch.row, stretch.side, (stretch.id, start, end)),
                maps.place(stretch.row, "b" if stretch.side == "a" else "a", stretch.other),
                stretch.n_documents, n_sentences, stretch.kind, stretch.similarity,
                stretch.text[start - stretch.start : end - stretch.start],
            )  # fmt: skip
            found[stretch.id, start, end].append(place)
    order = {doc_id: number for number, doc_id in enumerate(wanted)}
    keys = sorted(found, key=lambda key: (order[key[0]], *key[1:]))
    return [_as_one(found[key]) for key in keys]


def _as_one(places: Sequence[ReusedPlace]) -> ReusedPlace:
    """Return one of several findings about the same place, the most similar one, with the number of other documents."""
    best = min(places, key=lambda each: (-each.similarity, each.other.id, each.other.start))
    others = {each.other.id for each in places}
    return best._replace(n_documents=max(len(others), *(each.n_documents for each in places)))


class _LineMaps:
    """Lines and columns in the documents of some rows of a stored batch of passages."""

    def __init__(self, backing: Backing[Any], batch: pa.RecordBatch | None, rows: Collection[int]) -> None:
        self._texts: dict[tuple[int, str], str] = {}
        if batch is None or not rows:
            return
        chosen = batch.take(pa.array(sorted(rows), pa.int64()))
        # What a document says up to the end of a passage is a passage from its first character.
        names = [name for name in chosen.schema.names if name not in ("a_text", "b_text")]
        zeros = pa.array(np.zeros(chosen.num_rows, np.int64))
        columns = [zeros.cast(chosen[n].type) if n in ("a_start", "b_start") else chosen[n] for n in names]
        before = pa.RecordBatch.from_arrays(columns, names=names)
        (texts,) = backing.add_texts([before])
        for side in "ab":
            for row, text in zip(sorted(rows), texts[f"{side}_text"].to_pylist(), strict=True):
                self._texts[row, side] = text
        self._map = lru_cache(maxsize=_MOST_MAPS)(LineMap)

    def place(self, row: int, side: str, span: tuple[str, int, int]) -> TextPlace:
        """Return a place with its line and column, if it is in a plain text."""
        text = self._texts.get((row, side))
        if text is None or format_of(span[0]) != TEXT:
            return TextPlace(*span)
        return TextPlace(*span, *self._map(text).place(span[1]))
