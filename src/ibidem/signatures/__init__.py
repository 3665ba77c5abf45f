"""Signatures: what represents a sentence type in comparisons."""

from __future__ import annotations

from ibidem.signatures.base import KeySignature, SetSignature, load_signature
from ibidem.signatures.sentence_types import (
    SentenceTypes,
    TypeTokens,
    Vocabulary,
    collapse_sentences,
    count_vocabulary,
    type_tokens,
)

__all__ = [
    "KeySignature",
    "SentenceTypes",
    "SetSignature",
    "TypeTokens",
    "Vocabulary",
    "collapse_sentences",
    "count_vocabulary",
    "load_signature",
    "type_tokens",
]
