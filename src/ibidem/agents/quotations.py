"""Is this quotation in the index, word for word? By the sentences it resembles, and then word by word in their texts."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from typing import Any, Literal

from ibidem.alignment.differences import word_differences, words_of
from ibidem.errors import IndexSettingsError, UsageError
from ibidem.index.index import Index
from ibidem.model import Difference, Document

FEWEST_WORDS = 3
_MOST_CANDIDATES = 60
_MIN_SCORE = 0.4  # of a sentence that an altered quotation may come from
_MIN_SIMILARITY = 0.5
_MIN_EVIDENCE = 5.0
_MORE_CHARS = 200  # of a candidate's text, on each side, than the quotation has
_CONTEXT_CHARS = 160

Status = Literal["verbatim", "altered", "elsewhere", "absent"]


@dataclass(frozen=True)
class CheckedQuotation:
    """What was found: `verbatim`, the same words; `altered`, with `differences` from the quotation (a) to the source (b).

    `elsewhere` says that it is not in the source that was named, but in this one. Case, punctuation and spaces make no
    difference. `start` and `end` are characters of the source; `before` and `after` are the text around them.
    """

    status: Status
    similarity: float
    id: str | None = None
    start: int | None = None
    end: int | None = None
    text: str | None = None
    before: str = ""
    after: str = ""
    differences: tuple[Difference, ...] = ()


def check_quotation(index: Index, quotation: str, source: str | None = None) -> CheckedQuotation:
    """Look up a quotation in an index that keeps its texts; `source` is the id of the document it is said to be from."""
    if not index.config.index.texts:
        message = "quotations need the texts of documents, which this index does not keep"
        raise IndexSettingsError(message, "Build the index again so that it keeps texts.")
    words, _ = words_of(quotation)
    if len(words) < FEWEST_WORDS:
        raise UsageError(f"a quotation must have at least {FEWEST_WORDS} words", "Quote more of the text.")
    found = _sentences_like(index, quotation, words, source)
    if not any(each.status == "verbatim" for each in found):
        found += _aligned_with(index, quotation, words)
    if not found:
        return CheckedQuotation("absent", 0.0)
    best = max(found, key=lambda each: (each.status == "verbatim", each.id == source, each.similarity))
    return best if source is None or best.id == source else replace(best, status="elsewhere")


def _asked(quotation: str) -> Document:
    # An id that no document has: the index does not compare a document with its own id.
    return Document(f"quotation {secrets.token_hex(16)}", quotation)


def _sentences_like(index: Index, quotation: str, words: list[str], source: str | None) -> list[CheckedQuotation]:
    """Return what sentences say that contain the quotation, or resemble it."""
    result = index.query(
        _asked(quotation), passages=False, html=False, main_content=False, search_engine="overlap", score="fraction",
        min_score=_MIN_SCORE, min_contained_words=FEWEST_WORDS,
    )  # fmt: skip
    hits = result.hits_in_context(0, len(quotation) + _MORE_CHARS)
    hits.sort(key=lambda hit: (hit["b_id"] != source, -hit["score"]))
    return [checked for hit in hits[:_MOST_CANDIDATES] if (checked := _checked(quotation, words, hit)) is not None]


def _aligned_with(index: Index, quotation: str, words: list[str]) -> list[CheckedQuotation]:
    """Return what passages say that can be aligned with a part of the quotation."""
    settings: dict[str, Any] = {"align": True, "min_aligned_words": FEWEST_WORDS, "min_evidence": _MIN_EVIDENCE}
    result = index.query(_asked(quotation), html=False, main_content=False, min_sentences=1, **settings)
    places = [{**each, "context": each["b_text"], "context_start": each["b_start"]} for each in result.passages_of(0)]
    return [each for place in places[:_MOST_CANDIDATES] if (each := _checked(quotation, words, place)) is not None]


def _checked(quotation: str, words: list[str], hit: dict[str, Any]) -> CheckedQuotation | None:
    """Return what a place of a source has in common with the quotation; None if that is too little."""
    context: str | None = hit["context"]
    if context is None:
        return None
    theirs, places = words_of(context)
    n_words = len(words)
    firsts = [k for k in range(len(theirs) - n_words + 1) if theirs[k] == words[0] and theirs[k : k + n_words] == words]
    if firsts:
        at = min(firsts, key=lambda k: abs(places[k][0] + hit["context_start"] - hit["b_start"]))
        return _placed("verbatim", 1.0, hit, places[at][0], places[at + n_words - 1][1], ())
    differences = word_differences(quotation, context)
    equal = [k for k, each in enumerate(differences) if each.operation == "equal"]
    if not equal:
        return None
    n_equal = sum(len(words_of(quotation[each.a_start : each.a_end])[0]) for each in differences if each.operation == "equal")
    # Words of the quotation before and after what is equal are compared with as many of the source.
    before, after = differences[: equal[0]], differences[equal[-1] + 1 :]
    kept = [
        *(d._replace(b_start=_nth_word(context, d, len(words_of(quotation[d.a_start : d.a_end])[0]), True)) for d in before),
        *differences[equal[0] : equal[-1] + 1],
        *(d._replace(b_end=_nth_word(context, d, len(words_of(quotation[d.a_start : d.a_end])[0]), False)) for d in after),
    ]
    kept = [d for d in kept if d.a_start < d.a_end or d.b_start < d.b_end]
    start, end = kept[0].b_start, kept[-1].b_end
    end = start + len(context[start:end].rstrip())
    n_theirs = len(words_of(context[start:end])[0])
    similarity = 2 * n_equal / (n_words + n_theirs)
    if similarity < _MIN_SIMILARITY:
        return None
    shifted = tuple(d._replace(b_start=d.b_start - start, b_end=min(d.b_end, end) - start) for d in kept)
    return _placed("altered", similarity, hit, start, end, shifted)


def _nth_word(context: str, difference: Difference, n_words: int, from_end: bool) -> int:
    """Return where the last, or the first, words of a source's stretch begin, or end."""
    origin = difference.b_start
    _, places = words_of(context[origin : difference.b_end])
    if not n_words or not places:
        return difference.b_end if from_end else origin
    return origin + (places[-n_words:][0][0] if from_end else places[:n_words][-1][1])


def _placed(
    status: Status, similarity: float, hit: dict[str, Any], start: int, end: int, differences: tuple[Difference, ...]
) -> CheckedQuotation:
    context, origin = hit["context"], hit["context_start"]
    before, after = context[max(0, start - _CONTEXT_CHARS) : start], context[end : end + _CONTEXT_CHARS]
    return CheckedQuotation(
        status, similarity, hit["b_id"], origin + start, origin + end, context[start:end], before, after, differences
    )
