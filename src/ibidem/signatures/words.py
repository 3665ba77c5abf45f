"""`words`: the set of words (for scripts without spaces, of character pairs)."""

from __future__ import annotations

from ibidem.columns.sets import HashSets
from ibidem.config import SignaturesConfig
from ibidem.signatures.sentence_types import TypeTokens, Vocabulary


class Words:
    """The signature is the distinct words: order and repeats do not matter."""

    needs_vocabulary = False

    def hashes(self, types: TypeTokens, vocabulary: Vocabulary | None, config: SignaturesConfig) -> HashSets:
        """Return the tokens themselves."""
        return HashSets(types.tokens, types.first)


SIGNATURE = Words()
