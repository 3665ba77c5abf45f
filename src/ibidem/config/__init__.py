"""Settings: one frozen object per stage, validated all at once, the same words as the command line's flags."""

from __future__ import annotations

from ibidem.config.config import (
    Config,
    document_shingle_size,
    extends_ends,
    is_compared_in_full,
    passage_limits,
    setting_fields,
    setting_type,
    settings_from_toml,
)
from ibidem.config.document_settings import DocumentsConfig
from ibidem.config.passage_settings import AlignmentConfig, PassagesConfig
from ibidem.config.settings import (
    EXACT_METHODS,
    FORMATS,
    METHODS_BY_WORDS,
    METHODS_IN_PARTS,
    SET_SIGNATURES,
    SHINGLE_SIZES,
    SIGNATURES,
    EngineConfig,
    SentencesConfig,
    SignaturesConfig,
)
from ibidem.config.word_source import WordSource

__all__ = [
    "EXACT_METHODS",
    "FORMATS",
    "METHODS_BY_WORDS",
    "METHODS_IN_PARTS",
    "SET_SIGNATURES",
    "SHINGLE_SIZES",
    "SIGNATURES",
    "AlignmentConfig",
    "Config",
    "DocumentsConfig",
    "EngineConfig",
    "PassagesConfig",
    "SentencesConfig",
    "SignaturesConfig",
    "WordSource",
    "document_shingle_size",
    "extends_ends",
    "is_compared_in_full",
    "passage_limits",
    "setting_fields",
    "setting_type",
    "settings_from_toml",
]
