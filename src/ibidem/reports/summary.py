"""The summary for people: counts, the longest passages, and why there is nothing where there is nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pyarrow.compute as pc

from ibidem.model import Passage
from ibidem.result import Result

_LONGEST = 5
_EXCERPT_CHARS = 96


def summarise(result: Result, folder: Path | None = None) -> str:
    """Return the summary as text."""
    return "\n".join(_lines(result, folder))


def _lines(result: Result, folder: Path | None) -> Iterator[str]:
    counts = result.counts
    seconds = sum(result.timings.values())
    yield f"{counts['documents']:,} documents, {counts['sentences']:,} sentences, {seconds:.1f} s"
    kinds = pc.value_counts(result.passages["kind"].cast("string")).to_pylist() if len(result) else []
    parts = ", ".join(f"{entry['counts']:,} {entry['values']}" for entry in sorted(kinds, key=lambda e: -e["counts"]))
    reused = pc.sum(pc.greater(result.documents["reused_share"], 0)).as_py() or 0
    yield f"{len(result):,} passages" + (f" ({parts})" if parts else "") + f" in {reused:,} documents"
    if result.repeats.num_rows:
        yield f"{result.repeats.num_rows:,} repeat groups: texts in too many places to list as pairs"
    if result.skipped:
        yield from _skipped_lines(result)
    if len(result):
        yield f"the {min(_LONGEST, len(result))} longest:"
        for passage in result.longest(_LONGEST):
            yield from _passage_lines(passage)
    elif not result.repeats.num_rows:
        yield from _why_nothing(result)
    if folder is not None:
        yield f"results: {folder}"


def _passage_lines(passage: Passage) -> Iterator[str]:
    a, b = passage.a, passage.b
    arrow = {"a_to_b": "→", "b_to_a": "←"}.get(passage.direction, "·")
    likeness = passage.kind if passage.kind == "exact" else f"{passage.kind} {passage.similarity:.2f}"
    yield f"  {a.id} [{a.start}:{a.end}] {arrow} {b.id} [{b.start}:{b.end}]  {passage.n_sentences} sentences, {likeness}"
    excerpt = " ".join(a.text.split())
    yield "    " + (excerpt[: _EXCERPT_CHARS - 1] + "…" if len(excerpt) > _EXCERPT_CHARS else excerpt)


def _skipped_lines(result: Result) -> Iterator[str]:
    reasons = Counter(record.reason for record in result.skipped)
    yield f"{len(result.skipped):,} records skipped (listed in skipped.jsonl):"
    for reason, count in reasons.most_common(3):
        first = next(record for record in result.skipped if record.reason == reason)
        place = f"{first.source}:{first.position}" if first.position else first.source
        yield f"  {count:,} × {reason}; the first: {place}"


def _why_nothing(result: Result) -> Iterator[str]:
    """Say what kept a run from finding anything, and what to try."""
    passages, n_documents = result.config.passages, result.counts["documents"]
    yield "nothing found:"
    if n_documents < 2 and not passages.same_document:
        yield "  there is one document only; --same-document looks for passages that stand twice in it"
        return
    longest = pc.max(result.documents["n_sentences"]).as_py()
    words = int(result.collection.n_words.max(initial=0))
    if longest < passages.min_sentences and words < passages.min_quote_words:
        yield (
            f"  the texts are short: no document has {passages.min_sentences} sentences, no sentence has "
            f"{passages.min_quote_words} words; try --min-sentences 1 --min-words 3"
        )
        return
    if result.config.signatures.signature == "exact":
        yield "  no sentences are equal; --signature words finds similar ones"
    elif passages.min_sentences > 1:
        yield f"  no {passages.min_sentences} sentences in a row match; try a lower --min-similarity or --min-sentences"
    else:
        yield "  no sentences match; try a lower --min-similarity"
