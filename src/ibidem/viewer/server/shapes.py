"""The shapes of requests and responses about a result, as OpenAPI describes them. Tests check the responses, not the routes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Kind = Literal["exact", "near", "quote"]
Direction = Literal["a_to_b", "b_to_a", "unknown"]
Verdict = Literal["confirmed", "rejected", "unsure"]
Time = Annotated[str | None, Field(description="ISO 8601 in UTC.")]
Share = Annotated[float, Field(ge=0, le=1)]
Spans = Annotated[list[tuple[int, int]], Field(description="[start, end) in characters (code points) of the text.")]

Edits = Annotated[
    list[tuple[int, int, int, int]],
    Field(description="Words that differ: [start, end) in the first text and in the second; one of them may be empty."),
]
EditKinds = Annotated[
    list[list[Literal["number", "date", "name", "negation", "unit", "spelling", "order", "added", "removed", "reworded"]]],
    Field(description="What kinds of changes each edit consists of."),
]
Digest = Annotated[str | None, Field(description="SHA-256 of the whole text in UTF-8, if it is available.")]
PageNumber = Annotated[int | None, Field(description="The page on which it begins, counted from 1, if the document has pages.")]
Moves = Annotated[
    list[tuple[int, int, int, int]],
    Field(description="Words that are at another place in the other text: their places in both. They are not edits."),
]
Sentences = Annotated[
    list[tuple[int, int, int, int, int]],
    Field(
        description="Sentences of both texts, and 0 if same, 1 if edited, 2 if rewritten, 3 if moved; none if nothing differs."
    ),
]


class Shape(BaseModel):
    """An object of the API: these fields and no others."""

    model_config = ConfigDict(extra="forbid")


class ErrorContent(Shape):
    """What went wrong."""

    status: int
    code: str
    message: str
    next_step: str | None


class Error(Shape):
    """Every response that is not a success."""

    error: ErrorContent


class Side(Shape):
    """One document of a pair."""

    document: int
    id: str
    time: Time
    group: str | None
    title: str | None
    n_chars: int | None


class Pair(Shape):
    """Two documents that share passages; `a_to_b`: a is earlier."""

    pair: int
    a: Side
    b: Side
    n_passages: int
    shared: Annotated[int, Field(description="Characters of the larger covered side.")]
    longest: Annotated[int, Field(description="Characters of the longest passage.")]
    similarity: Share
    coverage_a: Share | None
    coverage_b: Share | None
    kind: Kind
    direction: Direction
    year: int | None
    days: float | None
    verdict: Verdict | None
    note: str | None
    snippet: Annotated[str | None, Field(description="The first words of the largest passage; only in lists of pairs.")]


class Passage(Shape):
    """Text that appears in both documents; `a_changes` and `b_changes` are the words that differ."""

    number: int
    a_start: int
    a_end: int
    b_start: int
    b_end: int
    n_sentences: int
    similarity: Share
    kind: Kind
    direction: Direction
    family: int | None
    a_changes: Spans
    b_changes: Spans


class Stretch(Shape):
    """Passages of a pair as they are read: those that overlap in both texts are one."""

    number: int
    passages: Annotated[list[int], Field(description="Numbers of its passages, the longest first.")]
    a_start: int
    a_end: int
    b_start: int
    b_end: int
    similarity: Share
    kind: Kind
    family: int | None
    edits: Edits
    edit_kinds: EditKinds
    moves: Moves
    sentences: Sentences
    is_compared: Annotated[bool, Field(description="Whether the words that differ are known.")]


class Segment(Shape):
    """A part of a text."""

    start: int
    text: str


class Text(Shape):
    """A document's text. Text between segments is left out; without segments, the text is not available."""

    document: int | None
    id: str
    time: Time
    group: str | None
    title: str | None
    n_chars: int | None
    segments: list[Segment]
    is_complete: bool
    boilerplate: Spans
    ignored: Annotated[Spans, Field(description="What the run ignored.")]
    pages: Annotated[list[int], Field(description="Where its pages begin, if it has pages.")]
    sha256: Digest


class Document(Shape):
    """A document of the result."""

    document: int
    id: str
    time: Time
    group: str | None
    title: str | None
    is_reference: bool
    n_chars: int | None
    n_sentences: int | None
    reused_share: Share | None
    first_share: Share | None
    cluster: int | None
    n_pairs: int


class Shade(Shape):
    """A stretch of text, and how many other documents contain it."""

    start: int
    end: int
    n_documents: int


class Family(Shape):
    """Places that contain the same passage."""

    family: int
    n_documents: int
    n_places: int
    n_chars: int
    first_time: Time
    last_time: Time
    n_groups: int
    excerpt: str
    is_repeat: bool


class Member(Shape):
    """A place of a family."""

    document: int
    id: str
    time: Time
    group: str | None
    title: str | None
    start: int
    end: int
    page: PageNumber
    sha256: Digest


class Variant(Shape):
    """One wording of a family. `changes` are positions in its text; `edits` and `moves` pair places in the first wording with
    those.
    """

    text: str
    changes: Spans
    edits: Edits
    moves: Moves
    is_compared: Annotated[bool, Field(description="Whether the words that differ are known.")]
    parent: Annotated[int | None, Field(description="Which of the earlier wordings, counted from 0, differs least.")]
    n_differences: Annotated[int | None, Field(description="By how many edits it differs from its parent.")]
    n_places: int
    members: list[Member]


class Skipped(Shape):
    """A record that was left out, and why."""

    source: str
    position: int
    reason: str
    id: str | None


class StoredVerdict(Shape):
    """A verdict on a pair."""

    a_id: str
    b_id: str
    verdict: Verdict | None
    note: str
    changed: Time


class Summary(BaseModel):
    """What is served: counts, settings, facets, what was left out."""

    schema_: Annotated[int, Field(alias="schema")]
    version: str
    title: str
    made: Time
    verb: Literal["find", "compare", "cluster", "index"]
    settings: list[dict[str, Any]]
    inputs: list[dict[str, Any]]
    totals: dict[str, int | None]
    reused_share: Share | None
    has_times: bool
    has_groups: bool
    has_texts: bool
    has_pages: bool
    is_against: bool
    shared_folder: Annotated[str, Field(description="The folder that all ids begin with: names on pages leave it out.")]
    facets: dict[str, list[dict[str, Any]]]
    left_out: list[dict[str, Any]]
    mirrors: dict[str, Any] | None
    shown: dict[str, int]
    has_index: bool
    has_arrivals: bool
    may_write: bool


class Histogram(Shape):
    """Counts between edges; there is one more edge than counts."""

    edges: list[float]
    counts: list[int]


class Distributions(Shape):
    """Over all pairs."""

    similarity: Histogram
    coverage: Histogram
    longest: Histogram


class Page(Shape):
    """A page of items. `next` is the cursor of the following page, and has no other meaning."""

    total: int
    next: str | None


class PairPage(Page):
    """A page of pairs."""

    items: list[Pair]


class DocumentPage(Page):
    """A page of documents."""

    items: list[Document]


class FamilyPage(Page):
    """A page of families."""

    items: list[Family]


class SkippedPage(Page):
    """A page of skipped records."""

    items: list[Skipped]


class VerdictPage(Page):
    """A page of verdicts."""

    items: list[StoredVerdict]


class PairDetail(Shape):
    """A pair with its passages and texts; `n_passages` also counts passages that are not listed."""

    pair: Pair
    passages: list[Passage]
    n_passages: int
    stretches: list[Stretch]
    a: Text
    b: Text


class DocumentDetail(Shape):
    """A document with its text, shaded, and its pairs."""

    document: Document
    text: Text
    shades: list[Shade]
    pairs: list[Pair]
    n_pairs: int


class FamilyDetail(Shape):
    """A family with its variants."""

    family: Family
    variants: list[Variant]
    n_shown_places: int
    is_cut: Annotated[bool, Field(description="Whether only the beginning of its text is compared, because it is long.")]


class Flow(Shape):
    """The pairs that share most."""

    items: list[Pair]
    total: int


class VerdictBody(Shape):
    """A verdict to store; null removes it."""

    verdict: Verdict | None
    note: Annotated[str, Field(max_length=10_000)] = ""


class Rows(Shape):
    """A whole table as flat rows."""

    items: list[dict[str, Any]]
    total: int
    next: None
