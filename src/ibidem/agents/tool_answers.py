"""What the tools answer, as agents see it: small objects with a described field for everything."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from ibidem.alignment.difference_kinds import typed_differences
from ibidem.index.quotations import Status, VerifiedQuotation
from ibidem.model import Difference, Passage

Share = Annotated[float, Field(ge=0, le=1)]
_MOST_SHOWN_CHARS = 2_000


class KnownSource(BaseModel):
    """A document of the index that contains sentences of the text."""

    id: str
    n_sentences: int


class CheckAnswer(BaseModel):
    """How much of a text is in the index."""

    duplicated: Annotated[bool, Field(description="Whether enough of its sentences are known to call it a duplicate.")]
    n_sentences: int
    n_known: Annotated[int, Field(description="Sentences of the text that are in the index.")]
    known_share: Share
    sources: Annotated[list[KnownSource], Field(description="Documents that contain most of them, best first.")]


class Change(BaseModel):
    """A difference in words: what one text has, and what the other has instead."""

    operation: Literal["replace", "delete", "insert"]
    kind: Annotated[str, Field(description="number, date, name, negation, unit, spelling, order, added, removed or reworded.")]
    a: str
    b: str


class SharedPassage(BaseModel):
    """A passage of the text (a) and where it appears (b). Offsets are characters; the end is not included."""

    a_start: int
    a_end: int
    a_text: str
    b_id: str | None
    b_start: int
    b_end: int
    b_page: Annotated[int | None, Field(description="The page of the source on which it begins, where there are pages.")]
    b_text: Annotated[str | None, Field(description="The words of the source; null if the index does not keep texts.")]
    kind: Annotated[Literal["exact", "near", "quote"], Field(description="exact: the same words.")]
    similarity: Share
    changes: Annotated[list[Change], Field(description="Words that differ.")]


class PassagesAnswer(BaseModel):
    """The passages that were found, longest first."""

    passages: list[SharedPassage]
    n_passages: Annotated[int, Field(description="All passages found, including those not listed.")]
    covered_share: Annotated[Share, Field(description="Share of the text (a) that is in passages.")]


class QuotationAnswer(BaseModel):
    """Whether a quotation is in the index."""

    status: Annotated[
        Status,
        Field(
            description="verbatim: word for word. altered: with changes. elsewhere: not in the source that was named, but in "
            "another document. absent: nowhere in the index."
        ),
    ]
    similarity: Share
    id: Annotated[str | None, Field(description="The document that contains it.")]
    start: int | None
    end: int | None
    source_text: Annotated[str | None, Field(description="What the document says there.")]
    before: Annotated[str, Field(description="The text before it in the document.")]
    after: Annotated[str, Field(description="The text after it.")]
    changes: Annotated[list[Change], Field(description="From the quotation (a) to the document (b).")]


class AddAnswer(BaseModel):
    """What adding a document did."""

    id: str
    n_documents: Annotated[int, Field(description="Documents in the index now.")]
    same_text_as: Annotated[str | None, Field(description="A document that already had the same text, if any.")]


def passages_answer(found: list[dict[str, Any]], most: int, covered_share: float) -> PassagesAnswer:
    """Return records of passages as an answer."""
    ranked = sorted(found, key=lambda p: (p["a_start"] - p["a_end"], p["a_start"], p["b_id"] or ""))[:most]
    return PassagesAnswer(
        passages=[_shared(passage) for passage in ranked], n_passages=len(found), covered_share=min(1.0, covered_share)
    )


def record_of(passage: Passage) -> dict[str, Any]:
    """Return a passage of two texts as a record."""
    sides = {f"{s}_{name}": getattr(side, name) for s, side in (("a", passage.a), ("b", passage.b)) for name in _PLACE}
    return {**sides, "b_id": None, "kind": passage.kind, "similarity": passage.similarity}


_PLACE = ("start", "end", "text")


def quotation_answer(checked: VerifiedQuotation) -> QuotationAnswer:
    """Return a verified quotation as an answer."""
    return QuotationAnswer(
        status=checked.status, similarity=checked.similarity, id=checked.id, start=checked.start, end=checked.end,
        source_text=checked.text, before=checked.before, after=checked.after,
        changes=_changes(list(checked.differences), checked.quotation, checked.text or ""),
    )  # fmt: skip


def _shared(passage: dict[str, Any]) -> SharedPassage:
    names = ("a_start", "a_end", "b_id", "b_start", "b_end", "kind", "similarity")
    mine, other = passage["a_text"] or "", passage["b_text"]
    is_short = len(mine) <= _MOST_SHOWN_CHARS and other is not None and len(other) <= _MOST_SHOWN_CHARS
    changes = _changes(typed_differences(mine, other), mine, other) if is_short and passage["kind"] != "exact" else []
    places: dict[str, Any] = {name: passage[name] for name in names} | {"b_page": passage.get("b_page")}
    return SharedPassage(**places, a_text=_cut(mine), b_text=None if other is None else _cut(other), changes=changes)


def _changes(differences: list[Difference], a: str, b: str) -> list[Change]:
    return [
        Change(
            operation=d.operation,  # type: ignore[arg-type]
            kind=d.kind or "reworded",
            a=a[d.a_start : d.a_end].strip(),
            b=b[d.b_start : d.b_end].strip(),
        )
        for d in differences
        if d.operation != "equal"
    ]


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN_CHARS else f"{text[:_MOST_SHOWN_CHARS]} […]"
