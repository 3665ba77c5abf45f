"""Texts as they are shown: whole or in segments, changed words marked, sentences shaded, variants side by side."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibidem.alignment.differences import word_differences, word_places
from ibidem.alignment.moves import moved_words
from ibidem.api import compare
from ibidem.columns.ragged import ranges
from ibidem.model import Difference
from ibidem.sentences import split_sentences
from ibidem.viewer.stretches import edits_of

# A longer text is shown only around its passages.
MOST_WHOLE_CHARS = 200_000
_CONTEXT_CHARS = 600
# Characters compared word by word in one view; the rest is shown without marks.
_MOST_COMPARED_CHARS = 150_000
_MOST_ALIGNED_CHARS = 1_000_000

Places = list[list[int]]


def segments_of(text: str, spans: Iterable[tuple[int, int]], most_whole: int, n_context: int) -> list[dict[str, Any]]:
    """Return the text as one segment or, if it is longer than `most_whole` characters, the parts around the spans."""
    if not text:
        return []
    if len(text) <= most_whole:
        return [{"start": 0, "text": text}]
    joined: list[list[int]] = [[0, min(n_context, len(text))]]  # the beginning shows what it is
    for start, end in sorted(spans):
        start, end = max(0, start - n_context), min(len(text), end + n_context)
        if start <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], end)
        else:
            joined.append([start, end])
    return [{"start": start, "text": text[start:end]} for start, end in joined]


def around(text: str, spans: Iterable[tuple[int, int]]) -> list[dict[str, Any]]:
    """Return the segments of a text that the app shows."""
    return segments_of(text, spans, MOST_WHOLE_CHARS, _CONTEXT_CHARS)


def aligned(text_a: str, text_b: str) -> list[dict[str, Any]]:
    """Return the passages of two texts, found on the fly; none if the texts are too long for someone to wait."""
    if len(text_a) + len(text_b) > _MOST_ALIGNED_CHARS:
        return []
    return [
        {
            "number": number, "a_start": p.a.start, "a_end": p.a.end, "b_start": p.b.start, "b_end": p.b.end,
            "n_sentences": p.n_sentences, "similarity": p.similarity, "kind": p.kind, "direction": p.direction, "family": None,
        }
        for number, p in enumerate(compare(text_a, text_b), 1)
    ]  # fmt: skip


def in_segments(places: Sequence[tuple[int, int]], segments: Sequence[dict[str, Any]]) -> list[int]:
    """Return which places, given in order, are in the shown segments."""
    starts = [start for start, _ in places]
    found = []
    for segment in segments:
        end = segment["start"] + len(segment["text"])
        first, last = bisect_left(starts, segment["start"]), bisect_left(starts, end)
        found += [row for row in range(first, last) if places[row][1] <= end]
    return found


def mark_changes(passages: Sequence[dict[str, Any]], text_a: str, text_b: str) -> list[list[Difference] | None]:
    """Add the positions of differing words in both texts to every passage; return its differences, None if not compared."""
    room = _MOST_COMPARED_CHARS
    compared: list[list[Difference] | None] = [None] * len(passages)
    for row, passage in enumerate(passages):
        passage["a_changes"], passage["b_changes"] = [], []
        a = text_a[passage["a_start"] : passage["a_end"]]
        b = text_b[passage["b_start"] : passage["b_end"]]
        if not a or not b or a == b or passage.get("kind") == "exact":  # the words are the same, whatever is between them
            continue
        room -= len(a) + len(b)
        if room < 0:
            continue
        differences = compared[row] = word_differences(a, b)
        passage["a_changes"], passage["b_changes"] = _changed_places(differences, a, b, passage["a_start"], passage["b_start"])
    return compared


def _changed_places(differences: Sequence[Difference], a: str, b: str, a_origin: int, b_origin: int) -> tuple[Places, Places]:
    places: tuple[Places, Places] = [], []
    for a_start, a_end, b_start, b_end in edits_of(differences, a, b):
        if a_start < a_end:
            places[0].append([a_origin + a_start, a_origin + a_end])
        if b_start < b_end:
            places[1].append([b_origin + b_start, b_origin + b_end])
    return places


def shade(text: str, spans: NDArray[np.int64]) -> list[dict[str, int]]:
    """Return the sentences of a text that appear in other documents, and in how many.

    `spans` are the parts known to appear elsewhere, as rows: start, end, and the other document. A sentence counts if at least
    half of it is in the spans of one document.
    """
    sentences = np.array(split_sentences(text), np.int64).reshape(-1, 2)
    if not len(sentences) or not len(spans):
        return []
    start, end, other = _joined_by_document(spans)
    first = np.searchsorted(sentences[:, 1], start, side="right")
    last = np.searchsorted(sentences[:, 0], end, side="left")
    lengths = np.maximum(last - first, 0)
    of_span = np.repeat(np.arange(len(start)), lengths)
    sentence = ranges(first, lengths)
    covered = np.minimum(end[of_span], sentences[sentence, 1]) - np.maximum(start[of_span], sentences[sentence, 0])
    n_others = int(other.max()) + 1
    pairs, where = np.unique(sentence * n_others + other[of_span], return_inverse=True)
    together, sentence = np.bincount(where, covered, len(pairs)), pairs // n_others
    held = sentence[2 * together >= sentences[sentence, 1] - sentences[sentence, 0]]
    counts: NDArray[np.int64] = np.bincount(held, minlength=len(sentences))
    return [
        {"start": int(sentences[s, 0]), "end": int(sentences[s, 1]), "n_documents": int(counts[s])}
        for s in np.flatnonzero(counts).tolist()
    ]


def shades_in(shades: Sequence[dict[str, int]], segments: Sequence[dict[str, Any]]) -> list[dict[str, int]]:
    """Return the shaded sentences in the shown segments."""
    return [shades[row] for row in in_segments([(each["start"], each["end"]) for each in shades], segments)]


def _joined_by_document(spans: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    """Return spans as columns: start, end, other document; overlapping spans of one document are merged."""
    start, end, other = spans.T
    order = np.lexsort((end, start, other))
    start, end, other = start[order], end[order], other[order]
    # Every document gets its own range of positions, so that no span reaches into the next document.
    origin = np.unique(other, return_inverse=True)[1] * (int(end.max()) + 2)
    reached = np.maximum.accumulate(origin + end)
    begins = np.flatnonzero(np.concatenate([[True], (origin + start)[1:] > reached[:-1]]))
    ends = (reached - origin)[np.append(begins[1:], len(order)) - 1]
    return start[begins], ends, other[begins]


def cut_alike(texts: Sequence[str], is_cut: Sequence[bool]) -> list[str]:
    """Return texts of which some are cut somewhere, all with as many words as the shortest of those, and no part of a word."""
    if not any(is_cut):
        return list(texts)
    words = [word_places(text) for text in texts]
    n_words = min(len(places) - 1 for places, cut in zip(words, is_cut, strict=True) if cut)
    return [
        text[: places[n_words - 1][1]] if 0 < n_words < len(places) else text for text, places in zip(texts, words, strict=True)
    ]


def variants_of(
    members: Sequence[dict[str, Any]], texts: Sequence[str], is_first_base: bool = False, is_cut: bool = False
) -> list[dict[str, Any]]:
    """Return the different wordings of a passage, the most frequent first, each with its places and with changed words marked.

    With `is_first_base`, the wording of the first place comes first. With `is_cut`, texts go on after their ends, so that a
    difference there says nothing. Wordings are the same if their words are, ignoring case
    and punctuation. Changes, `edits` and `moves` are relative to the first wording; the latter two are pairs of places,
    [first_start, first_end, start, end]. `parent` is the wording among the earlier ones that differs least, and `n_differences`
    by how many edits and moves: None where no other wording is known to be earlier.
    """
    by_words: dict[tuple[str, ...], list[int]] = {}
    for k, text in enumerate(texts):
        words = tuple(text[start:end].casefold() for start, end in word_places(text))
        by_words.setdefault(words, []).append(k)
    wordings = sorted(by_words.values(), key=lambda rows: (not (is_first_base and rows[0] == 0), -len(rows), rows[0]))
    room = _MOST_COMPARED_CHARS
    variants: list[dict[str, Any]] = []
    for rows in wordings:
        first, text = texts[wordings[0][0]], texts[rows[0]]
        edits: Places = []
        moves: Places = []
        room -= len(first) + len(text)
        is_compared = text == first or room >= 0
        if text != first and room >= 0:
            differences = word_differences(first, text)
            found = moved_words(differences, first, text)
            edits, moves = [list(edit) for edit in edits_of(differences, first, text, found)], [list(move) for move in found]
            if is_cut and edits and (edits[-1][1] == len(first) or edits[-1][3] == len(text)):
                edits.pop()
        changes = [[start, end] for _, _, start, end in edits if start < end]
        own = [members[k] for k in rows]
        variants.append(
            {
                "text": text, "changes": changes, "edits": edits, "moves": moves, "is_compared": is_compared,
                "n_places": len(rows), "members": own,
            }
        )  # fmt: skip
    for variant, descent in zip(variants, likely_descent(variants), strict=True):
        variant["parent"], variant["n_differences"] = descent
    return variants


def likely_descent(variants: Sequence[dict[str, Any]]) -> list[tuple[int | None, int | None]]:
    """Return for each wording the one among the earlier ones that differs least, and by how many edits.

    A wording is as early as its earliest place; the earlier of two equally near ones counts. Wordings without a time, and those
    that were not compared, have no place in the order.
    """
    times = [min((t for m in v["members"] if (t := m.get("time"))), default=None) for v in variants]
    edits = [
        {(*e[:2], " ".join(v["text"][e[2] : e[3]].casefold().split())) for e in (*v["edits"], *v.get("moves", ()))}
        for v in variants
    ]
    found: list[tuple[int | None, int | None]] = []
    for row, (variant, time) in enumerate(zip(variants, times, strict=True)):
        best: tuple[int, str, int] | None = None
        for other, earlier in enumerate(times):
            if (
                time is None
                or earlier is None
                or earlier >= time
                or not (variant["is_compared"] and variants[other]["is_compared"])
            ):
                continue
            near = (len(edits[row] ^ edits[other]), earlier, other)
            best = near if best is None else min(best, near)
        found.append((None, None) if best is None else (best[2], best[0]))
    return found
