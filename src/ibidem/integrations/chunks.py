"""Chunks of documents, as retrieval has them: looked up in an index, and added to it if they are new."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from ibidem.integrations.known_text import Known, KnownText

_DIGEST_BYTES = 16


def look_up_chunks(known: KnownText, texts: Sequence[str], ids: Sequence[str | None], add_new: bool) -> list[Known]:
    """Return what the index says about each chunk; with `add_new`, add what is new.

    A chunk without an id gets the digest of its text as one.
    """
    if not add_new:
        return known.look_up(texts)
    return known.admit(texts, [name or _digest(text) for name, text in zip(ids, texts, strict=True)])


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).hexdigest()
