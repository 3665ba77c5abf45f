"""What a text shares with the index, as the API reports it; nothing is stored."""

from __future__ import annotations

import secrets
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from ibidem.columns.page_marks import page_starts
from ibidem.index.answers import QueryResult, Verdict
from ibidem.index.index import Index
from ibidem.model import Document
from ibidem.version import __version__
from ibidem.viewer.stored_texts import text_digest
from ibidem.viewer.stretches import compared_words

MOST_SOURCES = 200
NO_NAME = "checked text"
_MOST_PASSAGES = 20_000
_MOST_SHOWN_CHARS, _MOST_COMPARED_CHARS = 1_000_000, 150_000


def check_text(
    index: Index,
    document: Document,
    name: str | None,
    sides_of: Callable[[list[str]], dict[str, dict[str, Any]]],
    align: bool = False,
) -> Any:
    """Look a text up. If its id is empty, it is compared with everything, and called `name`.

    `sides_of` gives details of documents by id, as far as they are known. With `align`, edited copies are found too, if the
    index keeps its texts.
    """
    doc_id, text, time, group = document.id, document.text, document.time, document.group
    # An id that no document has: the index does not compare a document with its own id.
    asked = doc_id or f"{NO_NAME} {secrets.token_hex(16)}"
    align = align and index.config.index.texts
    result = index.query(replace(document, id=asked), html=False, main_content=False, align=align)
    verdict, passages = result.verdicts[0], sorted(result.passages_of(0), key=lambda passage: passage["a_start"])
    shown = doc_id or name or NO_NAME
    sources = _rank_sources(verdict, passages, len(text))
    unknown = {"document": None, "title": None, "group": None, "time": None}
    sides = sides_of([source["id"] for source in sources[:MOST_SOURCES]])
    number_of = {source["id"]: number for number, source in enumerate(sources[:MOST_SOURCES])}
    # If there are too many, those of the best sources are listed, wherever they are in the text; `covered` has them all.
    listed = sorted((p for p in passages if p["b_id"] in number_of), key=lambda passage: number_of[passage["b_id"]])
    listed = sorted(listed[:_MOST_PASSAGES], key=lambda passage: (passage["a_start"], number_of[passage["b_id"]]))
    return {
        "verdict": {
            "id": doc_id or name or "",
            "duplicated": verdict.duplicated,
            "n_sentences": verdict.n_sentences,
            "n_known": verdict.n_known,
            "n_common": verdict.n_common,
            "is_own_id_known": verdict.is_own_id_known,
        },
        "text": {
            "document": None,
            "id": shown,
            "time": time,
            "group": group,
            "title": name,
            "n_chars": len(text),
            "segments": [{"start": 0, "text": text}],
            "is_complete": True,
            "boilerplate": [],
            "ignored": [],
            "pages": page_starts(text),
            "sha256": text_digest(text),
        },
        "passages": [
            {"number": number, "source": number_of[passage["b_id"]], "a_page": None, "b_page": None, **_without_ids(passage)}
            for number, passage in enumerate(_with_words(listed), 1)
        ],
        "n_passages": len(passages),
        "sources": [{**source, **sides.get(source["id"], unknown)} for source in sources[:MOST_SOURCES]],
        "n_sources": len(sources),
        "shades": _shades(result),
        "covered": _united(passages),
        "covered_share": covered_share(passages, len(text)),
        "version": __version__,
    }


def covered_share(passages: Iterable[dict[str, Any]], n_chars: int) -> float:
    """Return the share of a text (a) that is in passages."""
    return _covered(passages) / n_chars if n_chars else 0.0


def _covered(passages: Iterable[dict[str, Any]]) -> int:
    """Return how many characters of a are in passages."""
    return sum(end - start for start, end in _united(passages))


def _united(passages: Iterable[dict[str, Any]]) -> list[list[int]]:
    """Return the parts of a that are in passages, in order and without overlap."""
    united: list[list[int]] = []
    for start, end in sorted((passage["a_start"], passage["a_end"]) for passage in passages):
        if united and start <= united[-1][1]:
            united[-1][1] = max(united[-1][1], end)
        else:
            united.append([start, end])
    return united


def _rank_sources(verdict: Verdict, passages: Sequence[dict[str, Any]], n_chars: int) -> list[dict[str, Any]]:
    """Return the documents of the index that share passages, or most known sentences, with the text, best first."""
    by_source: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for passage in passages:
        by_source[passage["b_id"]].append(passage)
    counted = {source.id: source.n_sentences for source in verdict.sources}
    sources = []
    for name in {**dict.fromkeys(by_source), **counted}:
        own = by_source.get(name, [])
        covered = _covered(own)
        n_sentences = counted.get(name) or sum(passage["n_sentences"] for passage in own)
        sources.append(
            {
                "id": name,
                "n_sentences": n_sentences,
                "n_passages": len(own),
                "n_chars": covered,
                "coverage": covered / n_chars if n_chars else 0.0,
            }
        )
    return sorted(sources, key=lambda source: (-source["n_chars"], -source["n_sentences"], source["id"]))


def _shades(result: QueryResult) -> list[dict[str, int]]:
    """Return the known sentences, and how many documents contain each."""
    hits = result.hits
    if not len(hits):
        return []
    names = hits.column("b_id").combine_chunks().indices.to_numpy().astype(np.int64)
    sentence, start, end = (hits.column(name).to_numpy() for name in ("a_sentence", "a_start", "a_end"))
    pairs = np.unique(np.stack([sentence.astype(np.int64), names]), axis=1)
    distinct, first = np.unique(sentence, return_index=True)
    edges = np.append(np.searchsorted(pairs[0], distinct), pairs.shape[1]).tolist()
    return [
        {"start": int(start[row]), "end": int(end[row]), "n_documents": after - before}
        for row, (before, after) in zip(first.tolist(), pairwise(edges), strict=True)
    ]


def _with_words(passages: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield passages with the words of their source and where they differ, as long as there is not too much text."""
    n_shown = n_compared = 0
    for passage in passages:
        mine, other = passage.get("a_text") or "", passage.get("b_text")
        n_shown += len(other or "")
        n_compared += len(mine) + len(other or "") if passage["kind"] != "exact" else 0
        is_exact = mine == other or passage["kind"] == "exact"
        words: dict[str, Any] = {"edits": [], "edit_kinds": [], "moves": [], "sentences": [], "is_compared": is_exact}
        if other is not None and not is_exact and n_compared <= _MOST_COMPARED_CHARS:
            words = compared_words(mine, other, passage["a_start"], 0)
        changes = [[edit[at : at + 2] for edit in words["edits"] if edit[at] < edit[at + 1]] for at in (0, 2)]
        shown = other if n_shown <= _MOST_SHOWN_CHARS else None
        yield {**passage, "b_text": shown, "a_changes": changes[0], "b_changes": changes[1], **words}


def _without_ids(passage: dict[str, Any]) -> dict[str, Any]:
    left_out = ("a_id", "b_id", "a_sentence", "b_sentence", "a_text")
    return {name: value for name, value in passage.items() if name not in left_out}
