"""What the API answers, as the client returns it.

This file is written by `python -m ibidem.viewer.server.client_shapes`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Side:
    """One document of a pair."""

    document: int
    id: str
    # ISO 8601 in UTC.
    time: str | None
    group: str | None
    title: str | None
    n_chars: int | None


@dataclass(frozen=True)
class Pair:
    """Two documents that share passages; `a_to_b`: a is earlier."""

    pair: int
    a: Side
    b: Side
    n_passages: int
    # Characters of the larger covered side.
    shared: int
    # Characters of the longest passage.
    longest: int
    similarity: float
    coverage_a: float | None
    coverage_b: float | None
    kind: str
    direction: str
    year: int | None
    days: float | None
    verdict: str | None
    note: str | None
    # The first words of the largest passage; only in lists of pairs.
    snippet: str | None


@dataclass(frozen=True)
class Passage:
    """Text that appears in both documents; `a_changes` and `b_changes` are the words that differ."""

    number: int
    a_start: int
    a_end: int
    b_start: int
    b_end: int
    n_sentences: int
    similarity: float
    kind: str
    direction: str
    family: int | None
    # [start, end) in characters (code points) of the text.
    a_changes: list[tuple[int, int]]
    # [start, end) in characters (code points) of the text.
    b_changes: list[tuple[int, int]]


@dataclass(frozen=True)
class Stretch:
    """Passages of a pair as they are read: those that overlap in both texts are one."""

    number: int
    # Numbers of its passages, the longest first.
    passages: list[int]
    a_start: int
    a_end: int
    b_start: int
    b_end: int
    similarity: float
    kind: str
    family: int | None
    # Words that differ: [start, end) in the first text and in the second; one of them may be empty.
    edits: list[tuple[int, int, int, int]]
    # What kinds of changes each edit consists of.
    edit_kinds: list[list[str]]
    # Words that are at another place in the other text: their places in both. They are not edits.
    moves: list[tuple[int, int, int, int]]
    # Sentences of both texts, and 0 if same, 1 if edited, 2 if rewritten, 3 if moved; none if nothing differs.
    sentences: list[tuple[int, int, int, int, int]]
    # Whether the words that differ are known.
    is_compared: bool


@dataclass(frozen=True)
class Segment:
    """A part of a text."""

    start: int
    text: str


@dataclass(frozen=True)
class Text:
    """A document's text. Text between segments is left out; without segments, the text is not available."""

    document: int | None
    id: str
    # ISO 8601 in UTC.
    time: str | None
    group: str | None
    title: str | None
    n_chars: int | None
    segments: list[Segment]
    is_complete: bool
    # [start, end) in characters (code points) of the text.
    boilerplate: list[tuple[int, int]]
    # What the run ignored.
    ignored: list[tuple[int, int]]
    # Where its pages begin, if it has pages.
    pages: list[int]
    # SHA-256 of the whole text in UTF-8, if it is available.
    sha256: str | None


@dataclass(frozen=True)
class PairDetail:
    """A pair with its passages and texts; `n_passages` also counts passages that are not listed."""

    pair: Pair
    passages: list[Passage]
    n_passages: int
    stretches: list[Stretch]
    a: Text
    b: Text


@dataclass(frozen=True)
class Document:
    """A document of the result."""

    document: int
    id: str
    # ISO 8601 in UTC.
    time: str | None
    group: str | None
    title: str | None
    is_reference: bool
    n_chars: int | None
    n_sentences: int | None
    reused_share: float | None
    first_share: float | None
    cluster: int | None
    n_pairs: int


@dataclass(frozen=True)
class Family:
    """Places that contain the same passage."""

    family: int
    n_documents: int
    n_places: int
    n_chars: int
    # ISO 8601 in UTC.
    first_time: str | None
    # ISO 8601 in UTC.
    last_time: str | None
    n_groups: int
    excerpt: str
    is_repeat: bool


@dataclass(frozen=True)
class CheckVerdict:
    """Whether a text is duplicated: enough of its sentences are in the index. `id` is empty if the text has no name."""

    id: str
    duplicated: bool
    n_sentences: int
    n_known: int
    n_common: int
    is_own_id_known: bool


@dataclass(frozen=True)
class CheckPassage:
    """A passage of the checked text (a) and its place in a source (b); `source` is a position in `sources`.

    `b_text` are the words of the source, if the index keeps its texts; of very much text, not all is sent. The changes are the
    words that differ: in a from the beginning of the checked text, in b from that of `b_text`.
    """

    number: int
    a_start: int
    a_end: int
    # The page on which it begins, counted from 1, if the document has pages.
    a_page: int | None
    source: int
    b_start: int
    b_end: int
    # The page on which it begins, counted from 1, if the document has pages.
    b_page: int | None
    n_sentences: int
    similarity: float
    kind: str
    direction: str
    b_text: str | None
    # [start, end) in characters (code points) of the text.
    a_changes: list[tuple[int, int]]
    # [start, end) in characters (code points) of the text.
    b_changes: list[tuple[int, int]]
    # Words that differ: [start, end) in the first text and in the second; one of them may be empty.
    edits: list[tuple[int, int, int, int]]
    # What kinds of changes each edit consists of.
    edit_kinds: list[list[str]]
    # Words that are at another place in the other text: their places in both. They are not edits.
    moves: list[tuple[int, int, int, int]]
    # Sentences of both texts, and 0 if same, 1 if edited, 2 if rewritten, 3 if moved; none if nothing differs.
    sentences: list[tuple[int, int, int, int, int]]
    is_compared: bool


@dataclass(frozen=True)
class CheckSource:
    """A document of the index; `n_chars` and `coverage` say how much of the checked text it contains.

    `document`, `title`, `group` and `time` are known if the served results contain a document with that id.
    """

    id: str
    document: int | None
    title: str | None
    group: str | None
    # ISO 8601 in UTC.
    time: str | None
    n_sentences: int
    n_passages: int
    n_chars: int
    coverage: float


@dataclass(frozen=True)
class Shade:
    """A stretch of text, and how many other documents contain it."""

    start: int
    end: int
    n_documents: int


@dataclass(frozen=True)
class Check:
    """What a text shares with the index; the counts include passages and sources that are not listed."""

    verdict: CheckVerdict
    text: Text
    passages: list[CheckPassage]
    n_passages: int
    sources: list[CheckSource]
    n_sources: int
    shades: list[Shade]
    # What is shared, without overlap, also with sources that are not listed.
    covered: list[tuple[int, int]]
    covered_share: float
    version: str


@dataclass(frozen=True)
class ArrivalSource:
    """A document that was in the index before, and how many sentences of the arrival it contains."""

    id: str
    n_sentences: int


@dataclass(frozen=True)
class Arrival:
    """A new document. `covered_share` and `excerpt` are missing if another process handled the text."""

    arrival: int
    id: str
    at: str
    duplicated: bool
    n_sentences: int
    n_known: int
    n_passages: int
    covered_share: float | None
    sources: list[ArrivalSource]
    excerpt: str


@dataclass(frozen=True)
class IndexInfo:
    """Information about the index."""

    n_documents: int
    n_sentences: int
    may_add: bool
