"""Sentences: texts cut into spans, and the tokens and digests of sentences."""

from __future__ import annotations

from ibidem.sentences.splitter import (
    SPLITTER_VERSION,
    digest_tokens,
    split_and_check,
    split_sentences,
    split_texts,
    stem_words,
    tokenise_spans,
    tokenise_texts,
)

__all__ = [
    "SPLITTER_VERSION",
    "digest_tokens",
    "split_and_check",
    "split_sentences",
    "split_texts",
    "stem_words",
    "tokenise_spans",
    "tokenise_texts",
]
