"""The shapes of requests and answers about an index: texts that are checked, and documents that arrive."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from ibidem.viewer.server.shapes import Direction, Kind, Page, Shade, Shape, Share, Text, Time


class CheckBody(Shape):
    """A text to be checked. A document of the same id in the index is not compared with it."""

    text: Annotated[str, Field(min_length=1)]
    id: Annotated[str | None, Field(min_length=1, max_length=1000)] = None
    time: Annotated[str | None, Field(max_length=100)] = None
    group: Annotated[str | None, Field(max_length=1000)] = None


class ArrivalBody(CheckBody):
    """A document to be checked and added."""

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
    """A passage of the checked text (a) and where it stands in a source (b), a number in `sources`."""

    number: int
    a_start: int
    a_end: int
    source: int
    b_start: int
    b_end: int
    n_sentences: int
    similarity: Share
    kind: Kind
    direction: Direction


class CheckSource(Shape):
    """A document of the index; `n_chars` and `coverage` say how much of the checked text stands in it.

    `document` and what follows are known where the results that are served hold a document of that id.
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
    """What a text shares with the index; the counts are of all passages and sources, also those not listed."""

    verdict: CheckVerdict
    text: Text
    passages: list[CheckPassage]
    n_passages: int
    sources: list[CheckSource]
    n_sources: int
    shades: list[Shade]
    covered_share: Share


class ArrivalSource(Shape):
    """A document that was there before, and how many sentences of the arrival stand in it."""

    id: str
    n_sentences: int


class Arrival(Shape):
    """A document that arrived. `covered_share` and `excerpt` are missing where another process had the text."""

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
    """A page of arrivals, from older to newer."""

    items: list[Arrival]


class IndexInfo(BaseModel):
    """What the index is made of."""

    model_config = ConfigDict(extra="allow")

    n_documents: int
    n_sentences: int
    may_add: bool
