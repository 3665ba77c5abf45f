"""A report: the most interesting pairs with their texts, families and documents, as one page on disk."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from ibidem.config.surface import given, in_shell, named
from ibidem.errors import OutputExistsError, UsageError
from ibidem.viewer.material import material_of_result
from ibidem.viewer.page import report_page, write_page
from ibidem.viewer.queries import MOST_ROWS, FamilyQuery, PairQuery
from ibidem.viewer.shown_texts import segments_of, shades_in
from ibidem.viewer.store import ViewStore
from ibidem.viewer.store_cache import passing_views

MOST_PAIRS = 2_500
_MOST_FAMILIES = 200
_MOST_MEMBERS = 50
_MOST_STORIES, _MOST_FOLDED = 60, 20
_MOST_BYTES = 8_000_000  # of data in the written page; scripts and styles add about a million
_MOST_REFUSED = 500  # pairs that do not fit before the page counts as full
_LEAST_PAIR_BYTES = 2_000
_WRITTEN_SHARE = 4 / 3  # base64: four characters for three compressed bytes
# Longer texts are shown only around their passages: one book must not crowd out a thousand articles.
_MOST_WHOLE_CHARS = 20_000
# Unless the documents with passages are so short together that there is room for all of them.
_ROOM_FOR_ALL_CHARS = 4_000_000
_CONTEXT_CHARS = 300
_MOST_PASSAGES = 50_000
# How much of a long text is shown per pair; of a long passage, its beginning and its end.
_MOST_SHOWN_CHARS = 20_000
_PASSAGE_HEAD_CHARS, _PASSAGE_TAIL_CHARS = 2_000, 1_000
_REPORT_BEGINS = b'<html lang="en" data-mode="report">'
_MENTIONED = ("further pairs", "further families", "texts", "changed texts")


def check_report(path: Path, overwrite: bool) -> None:
    """Raise unless a report may be written there: only an earlier report may be overwritten."""
    if os.path.isdir(path):
        raise OutputExistsError(f"{path} is a folder", "Give the name of a file, such as report.html.")
    if not os.path.isdir(path.parent):
        raise OutputExistsError(
            f"there is no folder {path.parent}", f"Create it, or choose another place{in_shell(' with -o')}."
        )
    try:
        with open(path, "rb") as old:
            is_report = _REPORT_BEGINS in old.read(200)
    except OSError:
        return
    if not is_report and not overwrite:
        raise OutputExistsError(
            f"{path} exists and is not a report",
            f"Give another name{in_shell(' with -o')}, or {given('overwrite', True)} to replace it.",
        )


def write_report(store: ViewStore, path: Path, title: str | None = None, max_pairs: int = MOST_PAIRS) -> list[str]:
    """Write a report as one page; return a line for each thing left out of it."""
    data = report_data(store, title, max_pairs)
    write_page(path, report_page(data))
    entries = [entry for entry in data["summary"]["left_out"] if entry["what"] in _MENTIONED]
    return [f"{entry['what']}: {entry['why']}" for entry in entries]


def report_result(
    result: Any, path: Path, title: str | None = None, max_pairs: int | None = None, overwrite: bool = False
) -> Path:
    """Write a report of a result in memory; return its path."""
    check_report(path, overwrite)
    with passing_views(material_of_result(result)) as store:
        write_report(store, path, title, MOST_PAIRS if max_pairs is None else max_pairs)
    return path


class _Room:
    """The space left in the page, measured by compressing each piece after the ones before it."""

    def __init__(self) -> None:
        self._compressor = zlib.compressobj(6)  # as the page is compressed
        self.taken = 0.0

    @property
    def is_full(self) -> bool:
        """Whether no pair fits any more."""
        return self.taken > _MOST_BYTES - _LEAST_PAIR_BYTES

    def take(self, value: Any) -> bool:
        """Return whether a value fits; if so, count it."""
        after = self._compressor.copy()
        size = len(after.compress(json.dumps(value).encode())) + len(after.flush(zlib.Z_SYNC_FLUSH))
        if self.taken + size * _WRITTEN_SHARE > _MOST_BYTES:
            return False
        self._compressor = after
        self.taken += size * _WRITTEN_SHARE
        return True


def report_data(store: ViewStore, title: str | None = None, max_pairs: int = MOST_PAIRS) -> dict[str, Any]:
    """Return everything that a report shows."""
    if max_pairs < 1:
        raise UsageError(f"{named('max_pairs')} must be at least 1, not {max_pairs}")
    summary = store.summary()
    if title is not None:
        summary["title"] = title
    room = _Room()
    stories, folded = (_stories(store, room, is_folded) for is_folded in (False, True))
    front = store.front()
    widest = [front["widest"]["family"]] if front["widest"] else []
    families = _families(store, room, [*widest, *(card["story"]["family"] for card in (*stories, *folded))])
    shades = lru_cache(maxsize=None)(store.texts.shades)  # a document may be in many pairs
    # A smaller number than usual is for the strongest pairs alone.
    most_whole = _MOST_WHOLE_CHARS if store.n_chars_in_pairs() > _ROOM_FOR_ALL_CHARS else _ROOM_FOR_ALL_CHARS
    first = _pairs_of(stories) if max_pairs >= MOST_PAIRS else ()
    pairs, passages, spans = _pairs(store, shades, max_pairs, room, most_whole, first)
    shown = {side["document"] for pair in pairs for side in (pair["a"], pair["b"])}
    texts = {str(number): _text(store, number, spans.get(number, []), most_whole) for number in sorted(shown)}
    documents = [store.document_summary(number) for number in sorted(shown)]
    summary["shown"] = {"pairs": len(pairs), "documents": len(documents), "families": len(families)}
    summary["left_out"] = [*_capped(summary, max_pairs), *summary["left_out"]]
    return {
        "summary": {**summary, "has_index": False, "has_arrivals": False, "may_write": False},
        "front": front,
        "stories": stories,
        "folded": folded,
        "distributions": store.distributions(),
        "pairs": pairs,
        "passages": passages,
        "texts": texts,
        "documents": documents,
        "shades": {number: shades_in(shades(text["document"]), text["segments"]) for number, text in texts.items()},
        "families": families,
        "skipped": store.skipped(None, MOST_ROWS)["items"] if summary["totals"]["skipped"] else [],
    }


def _stories(store: ViewStore, room: _Room, is_folded: bool) -> list[dict[str, Any]]:
    """Return the cards of the stories that are shown first, or of texts that are folded away."""
    cards = store.story_page(None, _MOST_FOLDED if is_folded else _MOST_STORIES, is_folded)["items"]
    return [card for card in cards if room.take(card)]


def _pairs_of(stories: list[dict[str, Any]]) -> list[int]:
    """Return the pairs that story cards lead to."""
    return [step["pair"] for card in stories for step in card["steps"] if step["pair"] is not None]


def _families(store: ViewStore, room: _Room, first: Sequence[int] = ()) -> list[dict[str, Any]]:
    """Return families: `first` those of story cards, then the most widespread ones."""
    widest = (item["family"] for item in store.families(FamilyQuery(limit=_MOST_FAMILIES))["items"])
    found = []
    for number in list(dict.fromkeys((*first, *widest)))[:_MOST_FAMILIES]:
        entry = store.family(number, _MOST_MEMBERS)
        if entry is None or room.taken > _MOST_BYTES / 4 or not room.take(entry):
            break
        found.append(entry)
    return found


def _pairs(
    store: ViewStore,
    shades: Callable[[int], list[dict[str, int]]],
    max_pairs: int,
    room: _Room,
    most_whole: int,
    first: Sequence[int] = (),
) -> tuple[list[dict[str, Any]], dict[str, Any], dict[int, list[tuple[int, int]]]]:
    """Return pairs, passages by pair, and spans of passages by document, until the page is full.

    Pairs that story cards lead to, `first`, are taken first; they are listed in the order of all.
    """
    pairs: list[dict[str, Any]] = []
    passages: dict[str, Any] = {}
    spans: dict[int, list[tuple[int, int]]] = {}
    cursor: str | None = None
    n_refused = 0
    wanted = store.pairs_by_number(first[:max_pairs])
    while len(pairs) < max_pairs:
        page: dict[str, Any] = {"items": wanted, "next": None}
        if not wanted:
            page = store.pairs(PairQuery(limit=min(MOST_ROWS, max_pairs), cursor=cursor))
        for pair in page["items"]:
            if len(pairs) == max_pairs or str(pair["pair"]) in passages:
                continue
            details = store.pair(pair["pair"], with_texts=False, most_passages=_MOST_PASSAGES)
            assert details is not None
            entry = {name: details[name] for name in ("n_passages", "stretches")}
            # Stretches say which words differ.
            entry["passages"] = [
                {k: v for k, v in p.items() if k not in ("a_changes", "b_changes")} for p in details["passages"]
            ]
            needed: list[Any] = [pair, entry]
            own = {side: _shown_spans(entry["passages"], side) for side in "ab"}
            for side in "ab":
                number = pair[side]["document"]
                known = spans.get(number, [])
                new = own[side] if (pair[side]["n_chars"] or 0) > most_whole else []
                if number not in spans or (new := [span for span in new if not _is_inside(span, known)]):
                    text = _text(store, number, new, most_whole)
                    needed += [text, shades_in(shades(number), text["segments"]), store.document_summary(number)]
            if n_refused > _MOST_REFUSED or not room.take(needed):
                n_refused += 1  # others may be smaller
                continue
            for side in "ab":
                spans.setdefault(pair[side]["document"], []).extend(own[side])
            pairs.append(pair)
            passages[str(pair["pair"])] = entry
        if wanted:
            wanted = []
            continue
        cursor = page["next"]
        if cursor is None or n_refused > _MOST_REFUSED or room.is_full:
            break
    order = {number: n for n, number in enumerate(store.by_interest([pair["pair"] for pair in pairs]))}
    return sorted(pairs, key=lambda pair: order[pair["pair"]]), passages, spans


def _shown_spans(passages: list[dict[str, Any]], side: str) -> list[tuple[int, int]]:
    """Return the parts of a long text shown for one pair, the longest passages first."""
    spans: list[tuple[int, int]] = []
    n_chars = 0
    for passage in sorted(passages, key=lambda passage: passage["a_start"] - passage["a_end"]):
        start, end = passage[f"{side}_start"], passage[f"{side}_end"]
        if end - start > _PASSAGE_HEAD_CHARS + _PASSAGE_TAIL_CHARS:
            spans += [(start, start + _PASSAGE_HEAD_CHARS), (end - _PASSAGE_TAIL_CHARS, end)]
        else:
            spans.append((start, end))
        n_chars += min(end - start, _PASSAGE_HEAD_CHARS + _PASSAGE_TAIL_CHARS) + 2 * _CONTEXT_CHARS
        if n_chars > _MOST_SHOWN_CHARS:
            break
    return spans


def _is_inside(span: tuple[int, int], spans: list[tuple[int, int]]) -> bool:
    return any(start <= span[0] and span[1] <= end for start, end in spans)


def _text(store: ViewStore, number: int, spans: list[tuple[int, int]], most_whole: int) -> dict[str, Any]:
    return store.texts.shown(number, segments_of(store.texts.whole(number), spans, most_whole, _CONTEXT_CHARS))


def _capped(summary: dict[str, Any], max_pairs: int) -> list[dict[str, Any]]:
    """Return what the page leaves out of the results, and the limit that it keeps."""
    entries = []
    most_of = {"pairs": max_pairs, "families": _MOST_FAMILIES}
    for name in ("pairs", "families"):
        n_all, n_shown = summary["totals"][name], summary["shown"][name]
        if n_shown < n_all:
            most = f"at most {most_of[name]:,}, and {_MOST_BYTES // 1_000_000} MB of data"
            why = f"of {n_all:,}, this page shows the {n_shown:,} strongest that fit ({most}); `ibidem serve` shows all"
            entries.append({"what": f"further {name}", "why": why, "count": n_all - n_shown})
    return entries
