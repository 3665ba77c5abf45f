"""Two texts side by side as one self-contained HTML page: no network, no other files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ibidem.alignment.differences import word_differences
from ibidem.columns.page_marks import page_starts
from ibidem.model import Passage
from ibidem.version import __version__
from ibidem.viewer.page import reading_page
from ibidem.viewer.side_by_side import covered_shares, describe_sharing
from ibidem.viewer.stored_texts import text_digest
from ibidem.viewer.stretches import stretches_of


def comparison_page(passages: Sequence[Passage], name_a: str, name_b: str, text_a: str, text_b: str, min_words: int) -> str:
    """Return a page with both whole texts to read, what they share marked and joined.

    `min_words` is what a passage needed to be found.

    Nothing in the texts and names can run: the page shows them as text only, and its own policy forbids loading anything or
    running any other script.
    """
    return reading_page(f"{name_a} · {name_b}", comparison_data(passages, name_a, name_b, text_a, text_b, min_words))


def comparison_data(
    passages: Sequence[Passage], name_a: str, name_b: str, text_a: str, text_b: str, min_words: int
) -> dict[str, Any]:
    """Return everything that the page shows."""
    rows = [
        {
            "number": number, "a_start": p.a.start, "a_end": p.a.end, "b_start": p.b.start, "b_end": p.b.end,
            "similarity": p.similarity, "kind": p.kind,
        }
        for number, p in enumerate(passages, 1)
    ]  # fmt: skip
    return {
        "version": __version__,
        "a": _text(name_a, text_a),
        "b": _text(name_b, text_b),
        "stretches": stretches_of(rows, text_a, text_b, [word_differences(p.a.text, p.b.text) for p in passages]),
        "shares": covered_shares(passages, len(text_a), len(text_b)),
        "sharing": describe_sharing(passages, name_a, name_b, len(text_a), len(text_b), min_words),
    }


def _text(name: str, text: str) -> dict[str, Any]:
    return {
        "document": None, "id": name, "time": None, "group": None, "title": None, "n_chars": len(text),
        "segments": [{"start": 0, "text": text}], "is_complete": True, "boilerplate": [], "ignored": [],
        "pages": page_starts(text), "sha256": text_digest(text),
    }  # fmt: skip
