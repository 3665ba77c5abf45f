"""LangChain: document transformers that drop or mark chunks whose text an index knows, and can add the others to it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from langchain_core.documents import BaseDocumentTransformer, Document

from ibidem.integrations.chunks import look_up_chunks
from ibidem.integrations.known_text import MIN_COVERED_SHARE, Known, KnownText


class _Transformer(BaseDocumentTransformer):
    """What both transformers have in common."""

    def __init__(
        self, index: str | os.PathLike[str], *, add_new: bool = False, min_covered_share: float = MIN_COVERED_SHARE,
        **settings: Any,
    ) -> None:  # fmt: skip
        self.add_new = add_new
        self.known = KnownText(index, min_covered_share=min_covered_share, create=add_new, **settings)

    def _look_up(self, documents: Sequence[Document]) -> list[Known]:
        texts = [document.page_content for document in documents]
        return look_up_chunks(self.known, texts, [document.id for document in documents], self.add_new)


class DropKnown(_Transformer):
    """Drops chunks whose text the index knows.

    With `add_new`, the others are added to the index, under their ids or, without one, under the digest of their text; an index
    is created if there is none. Then a chunk is also compared with those before it. Settings are those of `Index.query`.
    """

    def transform_documents(self, documents: Sequence[Document], **kwargs: Any) -> Sequence[Document]:
        """Return the documents that are new, as they are."""
        found = self._look_up(documents)
        return [document for document, each in zip(documents, found, strict=True) if not each.is_known]


class MarkKnown(_Transformer):
    """Marks all chunks in their metadata: `ibidem_known`, `ibidem_covered_share` and `ibidem_spans`.

    The options are those of `DropKnown`.
    """

    def transform_documents(self, documents: Sequence[Document], **kwargs: Any) -> Sequence[Document]:
        """Return copies of the documents with marks."""
        found = self._look_up(documents)
        return [
            document.model_copy(update={"metadata": {**document.metadata, **each.marks()}})
            for document, each in zip(documents, found, strict=True)
        ]
