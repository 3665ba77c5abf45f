"""The summary of `dedup` for people: what goes, what is left, and examples."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from ibidem.formats import read, resolve_inputs
from ibidem.formats.file_names import printable
from ibidem.results.cleaned_copies import unread_sources
from ibidem.results.cleaning_result import CleaningResult
from ibidem.results.summary import EXCERPT_CHARS, excerpt_of, many, skipped_lines, stored_lines

_EXAMPLES = 10
_DOCUMENTS_READ_FOR_EXAMPLES = 20_000


def summarise_cleaning(result: CleaningResult[Any, Any], folder: Path | None = None) -> str:
    """Return the summary as text; without a folder, of what would be done, with examples."""
    return "\n".join(map(printable, _lines(result, folder)))


def _lines(result: CleaningResult[Any, Any], folder: Path | None) -> Iterator[str]:
    found = result.overview()
    n_input, n_chars, n_dropped = found.n_documents, found.n_chars or 0, found.n_dropped
    would = folder is None
    verb = "would be marked" if result.config.cleaning.mark_only and would else "would go" if would else "went"
    if result.config.cleaning.mark_only and not would:
        verb = "were marked"
    yield f"{many(n_input, 'document')}, {many(n_chars, 'character')}, {sum(result.timings.values()):.1f} s"
    if result.config.cleaning.level != "document":
        of_sentences = " of sentences" if result.config.cleaning.level == "sentence" else ""
        counted = many(found.n_removals, "run" if of_sentences else "passage") + of_sentences
        yield f"{counted} {verb}, out of {many(found.n_cut_documents, 'document')}"
    yield f"{many(n_dropped, 'document')} {verb} as a whole, {n_input - n_dropped:,} stay"
    yield f"{many(found.n_removed_chars, 'character')} {verb} ({found.n_removed_chars / max(1, n_chars):.1%})"
    if result.skipped:
        yield from skipped_lines(result.skipped, None if would else "skipped.jsonl")
        yield "  they stay as they are"
    if not would:
        for name in unread_sources(resolve_inputs(result.original), result.skipped):
            yield f"  but {name} cannot be read at all: it is not in the copy"
    yield from result.notices
    yield from stored_lines(result.resources)
    if would:
        yield from _examples(result)
    else:
        yield f"{'marked' if result.config.cleaning.mark_only else 'cleaned'} collection: {folder}"


def _examples(result: CleaningResult[Any, Any]) -> Iterator[str]:
    rows = result.first_removed(_EXAMPLES)
    if not rows:
        yield "nothing would go"
        if result.config.cleaning.level == "document":
            yield "  documents are compared as wholes; --level passage and --level sentence look inside of them"
        return
    yield f"the first {len(rows)}:" if len(rows) > 1 else "it is:"
    texts = _texts(result, {row["document"] for row in rows})
    for row in rows:
        score = "" if row["similarity"] is None else f", similarity {row['similarity']:.2f}"
        place, kept = (f" [{row[a]}:{row[b]}]" for a, b in (("start", "end"), ("matched_start", "matched_end")))
        yield f"  {row['id']}{place} stands in {row['matched_id']}{kept}{score}"
        excerpt = excerpt_of(texts.get(row["document"], "")[row["start"] : row["end"]][: 4 * EXCERPT_CHARS])
        if excerpt:
            yield f"    {excerpt}"


def _texts(result: CleaningResult[Any, Any], wanted: set[int]) -> dict[int, str]:
    """Return the texts of some of the first documents; they are read again."""
    import dataclasses

    fields = dataclasses.asdict(result.config.documents)
    last = min(max(wanted) + 1, _DOCUMENTS_READ_FOR_EXAMPLES)
    documents = read(result.original, on_skip=lambda record: None, **fields)
    return {number: document.text for number, document in enumerate(islice(documents, last)) if number in wanted}
