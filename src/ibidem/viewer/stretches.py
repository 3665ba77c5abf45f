"""Stretches: passages of a pair as they are read, merged where they overlap, with differing words and sentences in pairs."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Any

from ibidem.alignment.difference_kinds import kinds_in, typed_differences
from ibidem.alignment.differences import word_bounds, word_differences
from ibidem.alignment.moves import Move, moved_words
from ibidem.model import Difference
from ibidem.sentences import split_sentences

# Characters compared word by word in one view, besides what was compared before; the rest counts as edited throughout.
_MOST_COMPARED_CHARS = 150_000

# What a sentence is in the other text: the same, edited, without a word in common there (possibly missing), or moved away.
SAME, EDITED, REWRITTEN, MOVED = range(4)

Compared = Sequence[Difference] | None
Edit = tuple[int, int, int, int]


def stretches_of(
    passages: Sequence[dict[str, Any]], text_a: str, text_b: str, compared: Sequence[Compared]
) -> list[dict[str, Any]]:
    """Return what two texts share as stretches, of which no two overlap in both texts.

    `compared` are the differences of each passage, None if it was not compared. Every stretch lists the numbers of its
    passages, the longest first. `edits`, `moves` and `sentences` are pairs of places, [a_start, a_end, b_start, b_end]; the
    last value of a sentence is 0 if it is the same in both, 1 if it was edited, 2 if none of its words were kept, 3 if all of
    them were moved. `edit_kinds` lists the kinds of changes in each edit. Words that were moved are no edits. `is_compared` is
    false if the words that differ are not known.
    """
    room = _MOST_COMPARED_CHARS
    found = []
    for number, rows in enumerate(merged_rows(passages), 1):
        own = sorted((passages[row] for row in rows), key=lambda p: p["a_start"] - p["a_end"])
        stretch = _joined(own)
        a, b = text_a[stretch["a_start"] : stretch["a_end"]], text_b[stretch["b_start"] : stretch["b_end"]]
        is_exact = a == b or (len(own) == 1 and own[0]["kind"] == "exact")
        differences: Compared = [] if is_exact else compared[rows[0]] if len(own) == 1 else None
        if differences is None and a and b and room >= len(a) + len(b):
            room -= len(a) + len(b)
            differences = word_differences(a, b)
        stretch |= _described(differences or [], a, b, stretch["a_start"], stretch["b_start"])
        stretch["is_compared"] = differences is not None
        if differences is not None:
            is_changed = bool(stretch["edits"] or stretch["moves"])
            stretch["kind"] = own[0]["kind"] if len(own) == 1 else "near" if is_changed else "exact"
        found.append({"number": number, **stretch})
    return found


def compared_words(a: str, b: str, a_origin: int, b_origin: int) -> dict[str, Any]:
    """Return the edits, moves and sentences of two texts that begin at the given places, as in a stretch."""
    return {**_described(word_differences(a, b), a, b, a_origin, b_origin), "is_compared": True}


def merged_rows(passages: Sequence[dict[str, Any]]) -> list[list[int]]:
    """Return rows of passages to be read as one, in the order of the texts: merged as long as any overlap in both texts."""
    boxes = [(p["a_start"], p["a_end"], p["b_start"], p["b_end"], [row]) for row, p in enumerate(passages)]
    while True:
        boxes.sort(key=lambda box: box[:4])
        merged: list[tuple[int, int, int, int, list[int]]] = []
        active: list[int] = []  # those of the merged that may reach as far as the next one
        for box in boxes:
            active = [k for k in active if merged[k][1] > box[0]]
            hit = next((k for k in active if merged[k][2] < box[3] and box[2] < merged[k][3]), None)
            if hit is None:
                active.append(len(merged))
                merged.append(box)
            else:
                old = merged[hit]
                places = (old[0], max(old[1], box[1]), min(old[2], box[2]), max(old[3], box[3]))
                merged[hit] = (*places, sorted(old[4] + box[4]))
        if len(merged) == len(boxes):
            return [rows for *_, rows in merged]
        boxes = merged  # larger ones may overlap with others now


def _joined(own: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the places and the likeness of passages that are read as one; the longest comes first and gives the family."""
    lengths = [max(1, p["a_end"] - p["a_start"]) for p in own]
    return {
        "passages": [p["number"] for p in own],
        "a_start": min(p["a_start"] for p in own),
        "a_end": max(p["a_end"] for p in own),
        "b_start": min(p["b_start"] for p in own),
        "b_end": max(p["b_end"] for p in own),
        "similarity": sum(n * p["similarity"] for n, p in zip(lengths, own, strict=True)) / sum(lengths),
        "kind": own[0]["kind"] if len(own) == 1 else "near",
        "family": own[0].get("family"),
    }


def _described(differences: Sequence[Difference], a: str, b: str, a_origin: int, b_origin: int) -> dict[str, Any]:
    """Return the edits, moves and sentences of a stretch; none if nothing differs."""
    moves = moved_words(differences, a, b)
    whole = list(edits_of(differences, a, b, moves))
    if not whole and not moves:
        return {"edits": [], "edit_kinds": [], "moves": [], "sentences": []}
    ends = list(_common_ends(differences, a, b))
    edits = [list(edit) for each in whole for edit in _by_sentence(each, ends, a, b)]
    left_a, left_b = (_Left(text, (row[at : at + 2] for row in (*edits, *moves))) for text, at in ((a, 0), (b, 2)))
    sentences: list[list[int]] = []
    a_start = b_start = at = 0
    for a_end, b_end in ends:
        first = at
        while at < len(edits) and edits[at][1] <= a_end and edits[at][3] <= b_end:
            at += 1
        is_edited = at > first
        look = EDITED if is_edited or left_a.is_cut(a_start, a_end) or left_b.is_cut(b_start, b_end) else SAME
        if look == EDITED and not left_a.rest(a_start, a_end) and not left_b.rest(b_start, b_end):
            look = REWRITTEN if is_edited else MOVED
        if sentences and look in (SAME, MOVED) and look == sentences[-1][4]:  # these are read as one
            sentences[-1][1], sentences[-1][3] = a_origin + a_end, b_origin + b_end
        else:
            sentences.append([a_origin + a_start, a_origin + a_end, b_origin + b_start, b_origin + b_end, look])
        a_start, b_start = a_end, b_end
    origins = (a_origin, a_origin, b_origin, b_origin)
    placed = [[[place + origin for place, origin in zip(row, origins, strict=True)] for row in rows] for rows in (edits, moves)]
    return {"edits": placed[0], "edit_kinds": _kinds_of(edits, a, b), "moves": placed[1], "sentences": sentences}


def _kinds_of(edits: Sequence[Sequence[int]], a: str, b: str) -> list[list[str]]:
    """Return what kinds of changes each edit consists of."""
    changes = [each for each in typed_differences(a, b) if each.operation != "equal"] if edits else []
    ends_a, ends_b = [each.a_end for each in changes], [each.b_end for each in changes]
    kinds = []
    for a_start, a_end, b_start, b_end in edits:
        first = min(bisect_right(ends_a, a_start), bisect_right(ends_b, b_start))
        own = []
        for each in changes[first:]:
            if each.a_start >= a_end and each.b_start >= b_end:
                break
            if (each.a_start < a_end and a_start < each.a_end) or (each.b_start < b_end and b_start < each.b_end):
                own.append(each)
        kinds.append(kinds_in(own) or ["reworded"])
    return kinds


def _by_sentence(edit: Edit, ends: Sequence[tuple[int, int]], a: str, b: str) -> Iterator[Edit]:
    """Yield an edit in its sentences, if only one text has words there and sentences end in it."""
    a_start, a_end, b_start, b_end = edit
    if a_start == a_end or b_start == b_end:
        for i, j in ends[bisect_right(ends, (a_start, b_start)) :]:
            if i > a_end or j > b_end or (i, j) == (a_end, b_end):
                break
            yield from edits_of([Difference("replace", a_start, i, b_start, j)], a, b)
            a_start, b_start = i, j
    yield a_start, a_end, b_start, b_end


class _Left:
    """What places that were edited or moved leave of a text."""

    def __init__(self, text: str, places: Iterable[Sequence[int]]) -> None:
        self._text = text
        self._places = sorted((start, end) for start, end in places if start < end)
        self._ends = [end for _, end in self._places]

    def is_cut(self, start: int, end: int) -> bool:
        """Return whether any of the places is in a part of the text."""
        return bool(self._within(start, end))

    def rest(self, start: int, end: int) -> str:
        """Return what is left of a part, without spaces around it."""
        kept = []
        for place_start, place_end in self._within(start, end):
            kept.append(self._text[start:place_start])
            start = place_end
        return "".join([*kept, self._text[start:end]]).strip()

    def _within(self, start: int, end: int) -> list[tuple[int, int]]:
        first, last = bisect_right(self._ends, start), bisect_left(self._places, (end, end))
        return [(max(start, place[0]), min(end, place[1])) for place in self._places[first:last]]


def edits_of(
    differences: Sequence[Difference], a: str, b: str, moves: Sequence[Move] = ()
) -> Iterator[tuple[int, int, int, int]]:
    """Yield pairs of places whose words differ, without trailing spaces; one of the two may be empty.

    Words that were moved are left out: what remains of a difference on both sides of them is paired in order.
    """
    moved_a, moved_b = sorted(move[:2] for move in moves), sorted(move[2:] for move in moves)
    for operation, a_start, a_end, b_start, b_end, _ in differences:
        if operation == "equal":
            continue
        pieces_a, pieces_b = _without(a, a_start, a_end, moved_a), _without(b, b_start, b_end, moved_b)
        for piece_a, piece_b in zip_longest(pieces_a, pieces_b):
            a_piece, b_piece = piece_a or (a_end, a_end), piece_b or (b_end, b_end)
            if a_piece[0] < a_piece[1] or b_piece[0] < b_piece[1]:
                yield *a_piece, *b_piece


def _without(text: str, start: int, end: int, moved: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the parts of a difference that were not moved, without trailing spaces; if nothing was moved, the whole."""
    own = moved[bisect_left(moved, (start, start)) : bisect_left(moved, (end, end))]
    if not own:
        return [(start, start + len(text[start:end].rstrip()))]
    bounds = [start, *(place for move in own for place in move), end]
    pieces = [(first, first + len(text[first:last].rstrip())) for first, last in zip(bounds[::2], bounds[1::2], strict=True)]
    pieces = [(last - len(text[first:last].lstrip()), last) for first, last in pieces]
    return [(first, last) for first, last in pieces if first < last]


def _common_ends(differences: Sequence[Difference], a: str, b: str) -> Iterator[tuple[int, int]]:
    """Yield where sentences end in both texts at once, and where the texts end.

    Sentences that only one text has end where nothing of the other has passed.
    """
    starts_a = sorted({*(start for start, _ in split_sentences(a)), len(a)})
    starts_b = sorted({*(start for start, _ in split_sentences(b)), len(b)})
    in_a, in_b = set(starts_a), set(starts_b)
    for operation, a_start, a_end, b_start, b_end, _ in differences:
        if operation == "equal":
            bounds = zip(word_bounds(a[a_start:a_end]), word_bounds(b[b_start:b_end]), strict=True)
            places = [(a_start + i, b_start + j) for i, j in bounds][1:]
        elif operation == "replace":
            places = [(a_end, b_end)]
        else:
            inner_a = starts_a[bisect_right(starts_a, a_start) : bisect_left(starts_a, a_end)]
            inner_b = starts_b[bisect_right(starts_b, b_start) : bisect_left(starts_b, b_end)]
            places = [*((i, b_start) for i in inner_a), *((a_start, j) for j in inner_b), (a_end, b_end)]
        yield from ((i, j) for i, j in places if i in in_a and j in in_b and (i, j) != (len(a), len(b)))
    if differences:
        yield len(a), len(b)
