"""The shapes of the front page and of stories in answers."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ibidem.viewer.server.shapes import Digest, Family, Page, PageNumber, Shape, Time


class Piece(Shape):
    """A piece of the headline: words, or the name of an outlet."""

    text: str | None = None
    name: str | None = None


class StoryCounts(Shape):
    """How many texts there are of each kind; `ordered` ones are known to have begun somewhere, `crossing` ones are in several
    outlets.
    """

    stories: int
    inside: int
    boilerplate: int
    ordered: int
    crossing: int
    edited: int
    unchanged: int


class Leader(Shape):
    """A group, and how many stories began there."""

    outlet: str
    n_stories: int


class Fastest(Shape):
    """The story that another outlet took over first."""

    family: int
    seconds: int
    from_: Annotated[str, Field(alias="from")]
    to: str


class Widest(Shape):
    """The story in most outlets; a very short one only if there are no others."""

    family: int
    n_outlets: int
    n_documents: int
    is_widest: Annotated[bool, Field(description="Whether no other story, however short, is in more outlets.")]
    last_seconds: int | None
    excerpt: str


class End(Shape):
    """One end of flows: a group, a folder, a document, or a text with the number of its family."""

    name: str
    family: int | None


class Link(Shape):
    """Characters from one end to another; an end beyond the list is all others together."""

    from_: Annotated[int, Field(alias="from")]
    to: int
    n_chars: int
    n_stories: int


class Picture(Shape):
    """Who took text from whom or, if it is not directed, which text appears where."""

    of: Literal["groups", "folders", "documents"]
    is_directed: bool
    is_from_reference: Annotated[
        bool, Field(description="From the reference to the documents compared with it, whatever the times.")
    ]
    left: list[End]
    right: list[End]
    n_other_left: int
    n_other_right: int
    n_left_out: Annotated[int, Field(description="Ends on the right that are not drawn.")]
    links: list[Link]


class Front(Shape):
    """The front page."""

    headline: list[Piece]
    counts: StoryCounts
    n_outlets: int
    n_without_group: Annotated[int, Field(description="Documents without a group, where others have one: they are no outlets.")]
    n_references: int
    has_groups: bool
    period: list[Time] | None
    leaders: list[Leader]
    fastest: Fastest | None
    widest: Widest | None
    picture: Picture | None


class Step(Shape):
    """The first place of a story in one outlet, or in a document without a group; `seconds` is the time since the first place
    of all.
    """

    document: int
    id: str
    title: str | None
    group: str | None
    time: Time
    seconds: int | None
    n_chars: int
    n_places: int
    pair: int | None
    start: int
    end: int
    page: PageNumber
    sha256: Digest
    is_reference: bool


class Words(Shape):
    """A piece of the first wording with the changes of the most edited one."""

    is_: Annotated[Literal["same", "removed", "added", "moved_away", "moved_here"], Field(alias="is")]
    text: str


class Story(Shape):
    """One text in all its places; `story` is its longest family, and `is_ordered` whether one outlet was first.

    `n_changed` words differ between the first and the most edited wording, as far as they were compared, and `n_moved` parts
    are at another place. `n_steps` counts documents without a group as one, `n_outlets` does not count them.
    """

    story: Family
    n_families: int
    is_edited: bool
    title: str
    steps: list[Step]
    n_steps: int
    n_outlets: int
    is_ordered: bool
    last_seconds: int | None
    words: list[Words]
    n_changed: int
    n_moved: int
    is_compared: bool


class StoryPage(Page):
    """A page of stories."""

    items: list[Story]
