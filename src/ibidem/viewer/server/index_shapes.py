"""The shapes of requests and responses about an index: checked texts and new documents."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from ibidem.viewer.server.shapes import (
    Direction,
    EditKinds,
    Edits,
    Kind,
    Moves,
    Page,
    PageNumber,
    Sentences,
    Shade,
    Shape,
    Share,
    Spans,
    Text,
    Time,
)


class CheckBody(Shape):
    """A text to check. It is not compared with a document of the same id in the index."""

    text: Annotated[str, Field(min_length=1)]
    id: Annotated[str | None, Field(min_length=1, max_length=1000)] = None
    time: Annotated[str | None, Field(max_length=100)] = None
    group: Annotated[str | None, Field(max_length=1000)] = None


class ArrivalBody(CheckBody):
    """A document to check and add."""

    id: Annotated[str, Field(min_length=1, max_length=1000)]


class CheckVerdict(Shape):
    """Whether a text is duplicated: enough of its sentences are in the index. `id` is empty if the text has no name."""

    id: str
    duplicated: bool
    n_sentences: int
    n_known: int
    n_common: int
    is_own_id_known: bool


class CheckPassage(Shape):
    """A passage of the checked text (a) and its place in a source (b); `source` is a position in `sources`.

    `b_text` are the words of the source, if the index keeps its texts; of very much text, not all is sent. The changes are the
    words that differ: in a from the beginning of the checked text, in b from that of `b_text`.
    """

    number: int
    a_start: int
    a_end: int
    a_page: PageNumber
    source: int
    b_start: int
    b_end: int
    b_page: PageNumber
    n_sentences: int
    similarity: Share
    kind: Kind
    direction: Direction
    b_text: str | None
    a_changes: Spans
    b_changes: Spans
    edits: Edits
    edit_kinds: EditKinds
    moves: Moves
    sentences: Sentences
    is_compared: bool


class CheckSource(Shape):
    """A document of the index; `n_chars` and `coverage` say how much of the checked text it contains.

    `document`, `title`, `group` and `time` are known if the served results contain a document with that id.
    """

    id: str
    document: int | None
    title: str | None
    group: str | None
    time: Time
    n_sentences: int
    n_passages: int
    n_chars: int
    coverage: Share


class Check(Shape):
    """What a text shares with the index; the counts include passages and sources that are not listed."""

    verdict: CheckVerdict
    text: Text
    passages: list[CheckPassage]
    n_passages: int
    sources: list[CheckSource]
    n_sources: int
    shades: list[Shade]
    covered: Annotated[Spans, Field(description="What is shared, without overlap, also with sources that are not listed.")]
    covered_share: Share
    version: str


class ArrivalSource(Shape):
    """A document that was in the index before, and how many sentences of the arrival it contains."""

    id: str
    n_sentences: int


class Arrival(Shape):
    """A new document. `covered_share` and `excerpt` are missing if another process handled the text."""

    arrival: int
    id: str
    at: str
    duplicated: bool
    n_sentences: int
    n_known: int
    n_passages: int
    covered_share: Share | None
    sources: list[ArrivalSource]
    excerpt: str


class ArrivalPage(Page):
    """A page of arrivals, oldest first."""

    items: list[Arrival]


class IndexInfo(BaseModel):
    """Information about the index."""

    model_config = ConfigDict(extra="allow")

    n_documents: int
    n_sentences: int
    may_add: bool
