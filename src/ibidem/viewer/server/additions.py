"""Documents that are added through the API: each is looked up among everything before it, added, and logged."""

from __future__ import annotations

import threading
from typing import Any

from ibidem.errors import KnownIdError
from ibidem.index.index import Index
from ibidem.model import Document
from ibidem.viewer.server.api_errors import ApiError, invalid
from ibidem.viewer.server.arrival_log import ArrivalLog, now
from ibidem.viewer.server.text_check import covered_share, excerpt_of

_MOST_WAIT_SECONDS = 10.0


class Adder:
    """Adds one document at a time; others wait for a while, and are then told that the index is locked."""

    def __init__(self, index: Index, log: ArrivalLog) -> None:
        self._index, self._log = index, log
        self._mutex = threading.Lock()

    def add(self, document: Document) -> dict[str, Any]:
        """Check and add a document; return the arrival. It is on disk for good when this returns."""
        if not self._mutex.acquire(timeout=_MOST_WAIT_SECONDS):
            raise ApiError(409, "locked", "other documents are being added", "Send it again in a while.")
        try:
            if document.id in self._index:
                raise KnownIdError(f"a document of the id {document.id!r} is in the index already", "Send it under another id.")
            (arrival,) = self._index.watch([document], html=False, main_content=False)
            if arrival.verdict is None:
                raise invalid(arrival.skipped.reason if arrival.skipped else "the document cannot be added")
            verdict, passages = arrival.verdict, arrival.passages
        finally:
            self._mutex.release()
        (stored,) = self._log.append(
            [
                {
                    "id": document.id,
                    "at": now(),
                    "duplicated": verdict.duplicated,
                    "n_sentences": verdict.n_sentences,
                    "n_known": verdict.n_known,
                    "n_passages": arrival.n_passages,
                    "covered_share": covered_share(passages, len(document.text)),
                    "sources": [source._asdict() for source in verdict.sources],
                    "excerpt": excerpt_of(document.text),
                }
            ]
        )
        return stored
