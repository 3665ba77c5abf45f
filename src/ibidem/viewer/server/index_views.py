"""The views of an index that is served without a result: what it holds is counted, but it keeps no pairs to show."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

from ibidem.index.index import Index
from ibidem.version import __version__
from ibidem.viewer.schema import TOLD

_NO_ITEMS: dict[str, Any] = {"items": [], "total": 0, "next": None}
_COUNTED = ("passages", "pairs", "families", "repeats", "reusing_documents", "skipped")
_WHY = "an index keeps no passages and no texts; serve a result folder of ibidem find to see them"


class IndexViews:
    """Stands for a `ViewStore`; every list is empty."""

    may_judge = False

    def __init__(self, index: Index) -> None:
        self._index = index

    def close(self) -> None:
        """Do nothing: the index is closed by who opened it."""

    def sides_by_id(self, ids: list[str]) -> dict[str, dict[str, Any]]:
        """Return nothing: an index keeps neither titles nor texts."""
        return {}

    def summary(self) -> dict[str, Any]:
        """Return what is known without a result."""
        info = self._index.info()
        changed = (self._index.path / "catalog.sqlite").stat().st_mtime
        made = datetime.fromtimestamp(changed, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        settings = [{"stage": "index", "name": name, "value": value} for name, value in info["settings"].items()]
        counts = {"documents": info["documents"], "sentences": info["sentences"], "characters": None}
        return {
            "schema": TOLD,
            "version": __version__,
            "title": self._index.path.absolute().name,
            "made": made,
            "verb": "index",
            "settings": [{**setting, "is_default": False} for setting in settings],
            "inputs": [{"path": str(self._index.path), "bytes": info["bytes"], "kind": "index"}],
            "totals": {**counts, **dict.fromkeys(_COUNTED, 0)},
            "reused_share": None,
            "has_times": False,
            "has_groups": False,
            "has_texts": False,
            "is_against": False,
            "facets": {"groups": [], "kinds": [], "years": [], "verdicts": []},
            "left_out": [{"what": "pairs, documents and families", "why": _WHY, "count": None}],
            "shown": {"pairs": 0, "documents": 0, "families": 0},
        }

    def distributions(self) -> dict[str, Any]:
        """Return distributions of nothing."""
        nothing = {"edges": [0.0, 1.0], "counts": [0]}
        return {"similarity": nothing, "coverage": nothing, "longest": nothing}

    def pairs(self, query: Any) -> dict[str, Any]:
        """Return no pairs."""
        return _NO_ITEMS

    def pair(self, number: int) -> None:
        """Return nothing: there are no pairs."""

    def documents(self, query: Any) -> dict[str, Any]:
        """Return no documents."""
        return _NO_ITEMS

    def document(self, number: int) -> None:
        """Return nothing: there are no documents."""

    def families(self, query: Any) -> dict[str, Any]:
        """Return no families."""
        return _NO_ITEMS

    def family(self, number: int) -> None:
        """Return nothing: there are no families."""

    def flow(self, query: Any) -> dict[str, Any]:
        """Return no pairs."""
        return {"items": [], "total": 0}

    def skipped(self, cursor: str | None, limit: int) -> dict[str, Any]:
        """Return no records."""
        return _NO_ITEMS

    def rows(self, table: str, query: Any) -> Iterator[dict[str, Any]]:
        """Yield nothing."""
        return iter(())

    def set_verdict(self, number: int, verdict: str | None, note: str) -> None:
        """Return nothing: there are no pairs."""

    def verdicts(self, cursor: str | None, limit: int) -> dict[str, Any]:
        """Return no verdicts."""
        return _NO_ITEMS
