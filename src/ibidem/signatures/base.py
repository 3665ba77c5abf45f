"""The interface of signatures: a file beside this one adds a signature with the name of the file.

A module `NAME.py` has `SIGNATURE`, an object with `key` (one hash per type: equal keys match) or `hashes` (a set of hashes per
type: sets match by Jaccard similarity). Both receive the tokens of all types, the settings and, if the signature needs it, the
vocabulary with its document counts.
"""

from __future__ import annotations

from importlib import import_module
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ibidem.columns.sets import HashSets
from ibidem.config import SignaturesConfig
from ibidem.signatures.sentence_types import TypeTokens, Vocabulary


@runtime_checkable
class KeySignature(Protocol):
    """One hash per type; 0 means that the type matches nothing."""

    needs_vocabulary: bool

    def key(self, types: TypeTokens, vocabulary: Vocabulary | None, config: SignaturesConfig) -> NDArray[np.uint64]:
        """Return the key of every type."""
        ...


@runtime_checkable
class SetSignature(Protocol):
    """A set of hashes per type; an empty set matches nothing."""

    needs_vocabulary: bool

    def hashes(self, types: TypeTokens, vocabulary: Vocabulary | None, config: SignaturesConfig) -> HashSets:
        """Return the hashes of every type."""
        ...


def load_signature(name: str) -> KeySignature | SetSignature:
    """Return the signature of that name."""
    signature: KeySignature | SetSignature = import_module(f"ibidem.signatures.{name}").SIGNATURE
    return signature
