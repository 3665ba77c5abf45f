"""Where words come from that a user brings along: how common words are elsewhere, or which of them do not count."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias

NO_WORDS = "none"
_FILE_ENDINGS = (".txt", ".tsv", ".csv", ".parquet")


class WordRows(Protocol):
    """A table that gives its rows to Arrow: pandas and Polars frames, Arrow tables, what `ibidem.words` returns."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


GivenPath: TypeAlias = str | os.PathLike[str]
# What users may give: a file or words separated by commas, words in a list, a mapping from words to counts, or a table.
GivenWords: TypeAlias = str | os.PathLike[str] | Sequence[str] | Mapping[str, int | Sequence[int]] | WordRows


class WordSource:
    """A file of words by its path, words separated by commas, or a mapping, table or list from Python.

    Nothing is read before it is needed, and then once: `content` is what was read. A copy that another process gets is a name
    without content; whatever such a process needs is sent to it.
    """

    def __init__(self, given: Any) -> None:
        if isinstance(given, (str, os.PathLike)):
            self.name = os.fspath(given)
            self.given: Any = self.name
        elif isinstance(given, (list, tuple, set, frozenset)) and all(isinstance(word, str) for word in given):
            self.name = ",".join(sorted(given) if isinstance(given, (set, frozenset)) else given)
            self.given = self.name
        elif isinstance(given, Mapping) or hasattr(given, "__arrow_c_stream__"):
            self.name, self.given = f"{len(given)} words given in Python", given
        else:
            raise TypeError
        self.content: Any = None

    @property
    def is_named(self) -> bool:
        """Whether the name says all: it is a file, or lists the words."""
        return isinstance(self.given, str)

    @property
    def is_none(self) -> bool:
        """Whether there are no words."""
        return self.name == NO_WORDS

    @property
    def is_file(self) -> bool:
        """Whether the words are in a file: it exists, or the name looks like that of a file."""
        if not isinstance(self.given, str) or self.given == NO_WORDS:
            return False
        looks_like_file = os.sep in self.given or self.given.lower().endswith(_FILE_ENDINGS)
        return looks_like_file or os.path.isfile(self.given)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"WordSource({self.name!r})"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return bool(self.given == other)
        if not isinstance(other, WordSource) or not (self.is_named and other.is_named):
            return isinstance(other, WordSource) and self.given is other.given
        return self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> tuple[type[WordSource], tuple[str]]:
        return WordSource, (self.name,)
