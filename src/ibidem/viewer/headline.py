"""The headline of the front page: one sentence that is true whatever was found.

It consists of pieces: plain words, and names of outlets, which a page sets apart because they may be in any script.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Pieces = list[dict[str, str]]
_YEAR = 31_557_600  # seconds
_LEADING_SHARE = 0.1  # an outlet that began fewer of all stories does not explain them


def headline_of(front: Mapping[str, Any], totals: Mapping[str, Any], verb: str, is_against: bool) -> Pieces:
    """Return the headline for what the front page describes."""
    counts = front["counts"]
    if not totals["pairs"] and not totals["families"]:
        return _said(_nothing(totals, verb, is_against))
    if is_against:
        return _said(_against(totals, verb))
    if not counts["stories"]:
        return _said(_folded(front, verb))
    if front["has_groups"] and front["leaders"] and (leading := _leading(front, verb)):
        return leading
    if verb == "cluster":
        n_documents = totals["reusing_documents"]
        copies = f"{n_documents:,} of {totals['documents']:,} documents have a near-identical copy"
        return _said(f"{copies}, in {_many(totals['families'], 'cluster')}")
    if front["has_groups"] and counts["crossing"]:
        return _said(_undirected(front))
    return _said(_without_groups(front))


def _leading(front: Mapping[str, Any], verb: str) -> Pieces | None:
    """Return where most stories began; None if they began all over the place."""
    counts, leaders = front["counts"], front["leaders"]
    n, n_all = leaders[0]["n_stories"], counts["stories"]
    stories = "clusters of similar documents" if verb == "cluster" else "shared stories"
    tied = [leader["outlet"] for leader in leaders if leader["n_stories"] == n]
    if n < _LEADING_SHARE * n_all or len(tied) > 2:
        return None
    most = ", more than any other" if 2 * n < n_all else ""
    if len(tied) == 2:
        each = f" were each first with {n:,} of {n_all:,} {stories}{most}"
        return [{"name": tied[0]}, {"text": " and "}, {"name": tied[1]}, {"text": each}]
    if n_all == 1 and front["fastest"]:
        fastest = front["fastest"]
        after = f" followed {duration(fastest['seconds'])} later"
        return [{"name": tied[0]}, {"text": " had it first; "}, {"name": fastest["to"]}, {"text": after}]
    return [{"name": tied[0]}, {"text": f" was first with {n:,} of {n_all:,} {stories}{most}"}]


def _undirected(front: Mapping[str, Any]) -> str:
    counts = front["counts"]
    shared = f"{_many(counts['crossing'], 'text')} crossed between outlets"
    if counts["ordered"]:
        return f"{shared}; no outlet was first more often than the others"
    return f"{shared}; which was first is not known"


def _without_groups(front: Mapping[str, Any]) -> str:
    widest, n = front["widest"], front["counts"]["stories"]
    if n == 1:
        return f"One text appears in {widest['n_documents']:,} documents"
    over = f" within {duration(widest['last_seconds'])}" if widest["last_seconds"] else ""
    return f"{_many(n, 'text')} appear in more than one document, one of them in {widest['n_documents']:,}{over}"


def _nothing(totals: Mapping[str, Any], verb: str, is_against: bool) -> str:
    n = totals["documents"]
    if is_against:
        return f"No text of {_many(n, 'document')} was found in the {'index' if verb == 'query' else 'reference'}"
    what = "similar documents" if verb == "cluster" else "shared text"
    return f"No {what} found among {_many(n, 'document')}"


def _against(totals: Mapping[str, Any], verb: str) -> str:
    n, n_all = totals["reusing_documents"], totals["documents"]
    share = "shares" if n == 1 else "share"
    return f"{n:,} of {_many(n_all, 'document')} {share} text with the {'index' if verb == 'query' else 'reference documents'}"


def _folded(front: Mapping[str, Any], verb: str) -> str:
    """Return the headline if nothing crosses from one outlet to another."""
    counts = front["counts"]
    if counts["inside"] and front["has_groups"]:
        what = "cluster" if verb == "cluster" else "shared text"
        return f"No text crossed from one outlet to another: {_many(counts['inside'], what)} stayed inside one"
    if counts["inside"]:  # a document that repeats itself
        return f"{_many(counts['inside'], 'text')} repeated inside one document; nothing is shared between documents"
    return f"Only boilerplate is shared: {_many(counts['boilerplate'], 'text')} in very many places"


def duration(seconds: int) -> str:
    """Return a time in words, rounded to its largest unit; months and years from two on."""
    if seconds >= 2 * _YEAR:
        years = seconds / _YEAR
        return f"{years:.1f}".removesuffix(".0") + " years" if years < 10 else _many(round(years), "year")
    for unit, name, least in ((_YEAR / 12, "month", 2), (86_400, "day", 1), (3_600, "hour", 1), (60, "minute", 1)):
        if seconds >= unit * least:
            return _many(round(seconds / unit), name)
    return _many(seconds, "second") if seconds else "less than a second"


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _said(text: str) -> Pieces:
    return [{"text": text}]
