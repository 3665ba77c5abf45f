"""Stretches: passages of a pair as they are read, merged where they overlap, with differing words and sentences in pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ibidem.alignment.differences import word_bounds, word_differences
from ibidem.model import Difference
from ibidem.sentences import split_sentences

# Characters compared word by word in one view, besides what was compared before; the rest counts as edited throughout.
_MOST_COMPARED_CHARS = 150_000

# What a sentence is in the other text: the same, edited, or without a word in common there (possibly missing).
SAME, EDITED, REWRITTEN = range(3)

Compared = Sequence[Difference] | None


def stretches_of(
    passages: Sequence[dict[str, Any]], text_a: str, text_b: str, compared: Sequence[Compared]
) -> list[dict[str, Any]]:
    """Return what two texts share as stretches, of which no two overlap in both texts.

    `compared` are the differences of each passage, None if it was not compared. Every stretch lists the numbers of its
    passages, the longest first. `edits` and `sentences` are pairs of places, [a_start, a_end, b_start, b_end]; the last value
    of a sentence is 0 if it is the same in both, 1 if it was edited, 2 if none of its words were kept. `is_compared` is false
    if the words that differ are not known.
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
        stretch["edits"], stretch["sentences"] = _described(differences or [], a, b, stretch["a_start"], stretch["b_start"])
        stretch["is_compared"] = differences is not None
        if differences is not None:
            stretch["kind"] = own[0]["kind"] if len(own) == 1 else "near" if stretch["edits"] else "exact"
        found.append({"number": number, **stretch})
    return found


def compared_words(a: str, b: str, a_origin: int, b_origin: int) -> dict[str, Any]:
    """Return the edits and sentences of two texts that begin at the given places, as in a stretch."""
    edits, sentences = _described(word_differences(a, b), a, b, a_origin, b_origin)
    return {"edits": edits, "sentences": sentences, "is_compared": True}


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


def _described(
    differences: Sequence[Difference], a: str, b: str, a_origin: int, b_origin: int
) -> tuple[list[list[int]], list[list[int]]]:
    """Return the edits and the sentences of a stretch; neither if nothing differs."""
    edits = [list(edit) for edit in edits_of(differences, a, b)]
    if not edits:
        return [], []
    sentences: list[list[int]] = []
    a_start = b_start = at = 0
    for a_end, b_end in _common_ends(differences, a, b):
        first = at
        while at < len(edits) and edits[at][1] <= a_end and edits[at][3] <= b_end:
            at += 1
        look = SAME if at == first else EDITED
        if look == EDITED and not _rest(a, a_start, a_end, [edit[:2] for edit in edits[first:at]]):
            look = REWRITTEN if not _rest(b, b_start, b_end, [edit[2:] for edit in edits[first:at]]) else EDITED
        if sentences and look == SAME == sentences[-1][4]:  # sentences that are the same are read as one
            sentences[-1][1], sentences[-1][3] = a_origin + a_end, b_origin + b_end
        else:
            sentences.append([a_origin + a_start, a_origin + a_end, b_origin + b_start, b_origin + b_end, look])
        a_start, b_start = a_end, b_end
    return [[a_origin + e[0], a_origin + e[1], b_origin + e[2], b_origin + e[3]] for e in edits], sentences


def _rest(text: str, start: int, end: int, edits: Sequence[Sequence[int]]) -> str:
    """Return what edits leave of a sentence, without spaces around it."""
    kept = []
    for edit_start, edit_end in edits:
        kept.append(text[start:edit_start])
        start = edit_end
    return "".join([*kept, text[start:end]]).strip()


def edits_of(differences: Sequence[Difference], a: str, b: str) -> Iterator[tuple[int, int, int, int]]:
    """Yield pairs of places whose words differ, without trailing spaces; one of the two may be empty."""
    for operation, a_start, a_end, b_start, b_end in differences:
        if operation == "equal":
            continue
        a_end, b_end = a_start + len(a[a_start:a_end].rstrip()), b_start + len(b[b_start:b_end].rstrip())
        if a_end > a_start or b_end > b_start:
            yield a_start, a_end, b_start, b_end


def _common_ends(differences: Sequence[Difference], a: str, b: str) -> Iterator[tuple[int, int]]:
    """Yield where sentences end in both texts at once, and where the texts end."""
    starts_a, starts_b = {start for start, _ in split_sentences(a)}, {start for start, _ in split_sentences(b)}
    for operation, a_start, a_end, b_start, b_end in differences:
        if operation == "equal":
            bounds = zip(word_bounds(a[a_start:a_end]), word_bounds(b[b_start:b_end]), strict=True)
            places = [(a_start + i, b_start + j) for i, j in bounds][1:]
        else:
            places = [(a_end, b_end)]
        yield from ((i, j) for i, j in places if i in starts_a and j in starts_b and (i, j) != (len(a), len(b)))
    if differences:
        yield len(a), len(b)
