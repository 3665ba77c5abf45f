"""What a check of reuse prints: places in the form of compilers, `file:line:column: message`, and which documents exceed."""

from __future__ import annotations

from collections.abc import Iterator

from ibidem.config.surface import given, named
from ibidem.formats.printable_names import printable
from ibidem.results.reuse_check import ReuseCheck, ReusedPlace
from ibidem.results.screen_lines import excerpt_of
from ibidem.results.summary import EXCERPT_INDENT, excerpt_width, many

_MOST_PLACES = 200


def place_lines(check: ReuseCheck, width: int | None = None) -> Iterator[str]:
    """Yield the places that count in documents that share too much, each with its first words.

    Lines with a place are never cut: terminals and code hosts make links of them.
    """
    for each in check.places[:_MOST_PLACES]:
        yield printable(f"{each.place}: {_also_in(each)}")
        yield EXCERPT_INDENT + printable(excerpt_of(each.text, excerpt_width(width)))
    if len(check.places) > _MOST_PLACES:
        yield f"and {many(len(check.places) - _MOST_PLACES, 'more place')}"


def check_lines(check: ReuseCheck, has_baseline: bool) -> Iterator[str]:
    """Yield the outcome: the documents that share too much, and what can be done."""
    limit = f"{named('max_reused_share')} {check.max_share:g}"
    for doc_id, share in check.documents.items():
        yield printable(f"{doc_id}: {share:.1%} also appears elsewhere").replace("%", " %")
    if check.documents:
        of_all = f"{len(check.documents):,} of {many(check.n_checked, 'document')}"
        new = " in text that is not in the baseline" if has_baseline else ""
        yield f"failed: {of_all} exceed {limit}{new}"
    else:
        yield f"passed: no document exceeds {limit}"
    if not check.is_current:
        yield "the baseline was written by a version that splits sentences in another way; write it again"
    if check.documents:
        file = "" if has_baseline else f"{given('baseline', 'FILE')} "
        yield f"to accept what is there: {file}{given('update_baseline', True)}"
    elif check.n_gone:
        are = "is" if check.n_gone == 1 else "are"
        drop = f"{given('update_baseline', True)} drops {'it' if check.n_gone == 1 else 'them'}"
        yield f"{many(check.n_gone, 'sentence')} of the baseline {are} no longer shared; {drop}"


def _also_in(each: ReusedPlace) -> str:
    amount = many(each.n_sentences, "sentence")
    more = each.n_documents - 1
    others = f" and {many(more, 'other document')}" if more > 0 else ""
    likeness = "" if each.kind == "exact" else f", similarity {each.similarity:.2f}"
    return f"{amount} also in {each.other}{others}{likeness}"
