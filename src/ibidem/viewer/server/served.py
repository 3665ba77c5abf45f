"""What is served: the views of a results folder, or of an index alone; the index; the log of arrivals."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ibidem.errors import InputError, UsageError
from ibidem.execution.memory import use_system_memory
from ibidem.execution.output_folder import ARRIVALS_FILE
from ibidem.execution.progress import Progress
from ibidem.index.catalog_file import CATALOG_FILE
from ibidem.index.index import Index
from ibidem.model import Document
from ibidem.version import __version__
from ibidem.viewer.database import ANSWER_SCHEMA
from ibidem.viewer.front import EMPTY_FRONT
from ibidem.viewer.server.arrivals import Adder, ArrivalLog
from ibidem.viewer.server.tail import Tail
from ibidem.viewer.store import ViewStore
from ibidem.viewer.store_cache import open_views

_NO_ITEMS: dict[str, Any] = {"items": [], "total": 0, "next": None}
_COUNTED = ("passages", "pairs", "families", "repeats", "reusing_documents", "skipped")
_WHY = "an index stores no passages; serve a results folder of ibidem find to see them"
_OF_INDEX, _OF_RESULT = CATALOG_FILE, "run.json"


@dataclass(frozen=True)
class Served:
    """Everything the routes use. `adder` is set if documents may be added; `may_write` is about verdicts."""

    views: ViewStore | IndexViews
    log: ArrivalLog
    index: Index | None = None
    adder: Adder | None = None
    may_write: bool = False
    has_arrivals: bool = False

    def problems(self) -> list[str]:
        """Return what the user should know first: texts that are not available."""
        left_out = self.views.summary()["left_out"]
        return [f"{entry['what']}: {entry['why']}" for entry in left_out if entry["what"] in ("texts", "changed texts")]

    def summary(self) -> dict[str, Any]:
        """Return the summary of the views, and what is allowed."""
        can = {"has_index": self.index is not None, "has_arrivals": self.has_arrivals, "may_write": self.may_write}
        return {**self.views.summary(), **can}


def shown_info(index: Index) -> dict[str, Any]:
    """Return what visitors may know of an index: not its path, and not the secret seed of its hashes."""
    about = index.info()
    settings = {name: value for name, value in about["settings"].items() if name != "hash_seed"}
    return {name: value for name, value in about.items() if name != "path"} | {"settings": settings}


@contextmanager
def open_served(
    path: Path,
    *,
    index_path: Path | None = None,
    documents: Sequence[str] = (),
    may_write: bool = True,
    arrivals: Path | None = None,
    progress: Progress | None = None,
) -> Iterator[Served]:
    """Open a result folder (perhaps with an index beside it) or an index, and follow a file of arrivals if one is named.

    The first time, the views of a result are made; `progress` shows how far they are.
    """
    is_result, is_index = (path / _OF_RESULT).is_file(), (path / _OF_INDEX).is_file()
    if not is_result and not is_index:
        what = "is neither a result folder nor an index" if path.is_dir() else "is not a folder"
        raise InputError(f"{path} {what}", "Give a folder that ibidem find -o wrote, or an index.")
    if is_index and not is_result and index_path is not None:
        raise UsageError(f"{path} is an index itself", "Leave out --index, or name a result folder first.")
    if is_index and not is_result and documents:
        raise UsageError("--documents goes with a result folder: it gives the texts of its documents")
    index_path = index_path if is_result else path
    with ExitStack() as stack:
        index: Index | None = None
        if index_path is not None:
            index = stack.enter_context(_open_index(index_path))
        views: ViewStore | IndexViews
        if is_result:
            views = open_views(path, documents, may_judge=may_write, progress=progress)
        else:
            assert index is not None
            views = IndexViews(index)
        stack.callback(views.close)
        beside = Path(os.path.realpath(index_path or path))  # resolved once: a symlink may change while the log is open
        has_arrivals = index is not None or arrivals is not None
        keeps_log = has_arrivals and may_write and os.access(beside, os.W_OK)
        log = ArrivalLog(beside / ARRIVALS_FILE if keeps_log else None)
        stack.callback(log.close)
        if arrivals is not None:
            tail = Tail(arrivals, log)
            tail.start()
            stack.callback(tail.stop)
        adder = Adder(index, log) if index is not None and may_write and os.access(index.path, os.W_OK) else None
        yield Served(views, log, index, adder, may_write and views.may_judge, has_arrivals)


def warm_up(index: Index) -> None:
    """Compile or load the kernels of a search, so that no request has to wait for them."""
    text = "One short text, so that everything is ready. It is compared with all the others there are, and then forgotten."
    index.query(Document("ibidem", text))
    with suppress(OSError), TemporaryDirectory() as folder, Index(folder, workers=1) as own:
        own.add([Document("ibidem", text)])
        own.query(Document("again", text), align=True)


def _open_index(path: Path) -> Index:
    use_system_memory()
    return Index(path, create=False, workers=1)  # requests already share the cores


class IndexViews:
    """The views of an index served without results: it has counts, but no pairs.

    It takes the place of a `ViewStore`; every list is empty.
    """

    may_judge = False

    def __init__(self, index: Index) -> None:
        self._index = index

    def close(self) -> None:
        """Do nothing: whoever opened the index closes it."""

    def sides_by_id(self, ids: list[str]) -> dict[str, dict[str, Any]]:
        """Return nothing: an index stores no titles."""
        return {}

    def summary(self) -> dict[str, Any]:
        """Return what is known without a result."""
        info = shown_info(self._index)
        changed = (self._index.path / "catalog.sqlite").stat().st_mtime
        made = datetime.fromtimestamp(changed, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        settings = [{"stage": "index", "name": name, "value": value} for name, value in info["settings"].items()]
        counts = {"documents": info["documents"], "sentences": info["sentences"], "characters": None}
        return {
            "schema": ANSWER_SCHEMA,
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
            "has_pages": False,
            "is_against": False,
            "shared_folder": "",
            "mirrors": None,
            "facets": {"groups": [], "kinds": [], "years": [], "verdicts": []},
            "left_out": [{"what": "pairs, documents and families", "why": _WHY, "count": None}],
            "shown": {"pairs": 0, "documents": 0, "families": 0},
        }

    def front(self) -> dict[str, Any]:
        """Return the front page of nothing."""
        return EMPTY_FRONT

    def story_page(self, cursor: str | None, limit: int, is_folded: bool = False) -> dict[str, Any]:
        """Return no stories."""
        return _NO_ITEMS

    def distributions(self) -> dict[str, Any]:
        """Return distributions of nothing."""
        nothing = {"edges": [0.0, 1.0], "counts": [0]}
        return {"similarity": nothing, "coverage": nothing, "longest": nothing}

    def distributions_of(self, query: Any) -> dict[str, Any]:
        """Return distributions of nothing."""
        return self.distributions()

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

    def flow(self, query: Any, most: int = 0) -> dict[str, Any]:
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
