"""The parameters of the routes. Unknown ones are refused: a misspelt filter must not show everything."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ibidem.viewer.server.shapes import Kind

Number = Annotated[int, Field(ge=0, le=2**63 - 1)]
Words = Annotated[str | None, Field(max_length=1000)]
Order = Annotated[Literal["asc", "desc"] | None, Field(description="desc unless names are sorted.")]
MOST_A_PAGE = 500


class Parameters(BaseModel):
    """Parameters of a route."""

    model_config = ConfigDict(extra="forbid")

    def given(self) -> dict[str, Any]:
        """Return the values by name."""
        return self.model_dump()


class Paging(Parameters):
    """Which page: `cursor` is `next` of the previous page."""

    cursor: Annotated[str | None, Field(max_length=2000)] = None
    limit: Annotated[int, Field(ge=1, le=MOST_A_PAGE)] = 50


class PairFilters(Parameters):
    """Which pairs, in which order. Limits are inclusive."""

    min_similarity: Annotated[float | None, Field(ge=0, le=1, allow_inf_nan=False)] = None
    min_coverage: Annotated[float | None, Field(ge=0, le=1, allow_inf_nan=False)] = None
    min_longest: Number | None = None
    search: Annotated[Words, Field(description="Words of ids, titles and groups of either side, and of the passages.")] = None
    group: Words = None
    kind: Kind | None = None
    year: Annotated[int | None, Field(ge=-9999, le=9999)] = None
    verdict: Literal["confirmed", "rejected", "unsure", "none"] | None = None
    document: Number | None = None
    across: Annotated[bool | None, Field(description="Only pairs between different groups.")] = None
    sort: (
        Literal["interest", "shared", "longest", "similarity", "coverage", "days", "n_passages", "a", "b"] | None
    ) = None  # fmt: skip
    order: Order = None


class PairParameters(PairFilters, Paging):
    """A page of pairs."""


class FlowParameters(PairFilters):
    """Which pairs, and how many of them at most."""

    limit: Annotated[int, Field(ge=1, le=5000)] = 400


class StoryParameters(Paging):
    """A page of stories, or of texts that stay in one outlet and boilerplate."""

    folded: Annotated[bool, Field(description="Text that stays in one outlet, and boilerplate, instead of stories.")] = False


class DocumentFilters(Parameters):
    """Which documents, in which order."""

    search: Words = None
    group: Words = None
    sort: Literal["reused_share", "n_pairs", "n_chars", "time", "id"] | None = None
    order: Order = None


class DocumentParameters(DocumentFilters, Paging):
    """A page of documents."""


class FamilyFilters(Parameters):
    """Which families, in which order."""

    search: Words = None
    sort: Literal["spread", "n_documents", "n_chars", "first_time"] | None = None
    order: Order = None


class FamilyParameters(FamilyFilters, Paging):
    """A page of families."""


class ArrivalParameters(Parameters):
    """Arrivals after a number; without it, the latest ones."""

    after: Number | None = None
    limit: Annotated[int, Field(ge=1, le=MOST_A_PAGE)] = 50


class UploadParameters(Parameters):
    """The file name of an upload, and whether edited copies are looked for, for which the index must keep its texts."""

    name: Annotated[str | None, Field(max_length=1000)] = None
    align: bool = False
