"""The summary of `dedup` for people: what is removed, what remains, and examples."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from ibidem.columns.collection import Collection
from ibidem.config.surface import given
from ibidem.formats import read, resolve_inputs
from ibidem.results.cleaned_copies import unread_sources
from ibidem.results.cleaning_result import CleaningResult
from ibidem.results.screen_lines import excerpt_of, with_names
from ibidem.results.summary import (
    EXCERPT_INDENT,
    as_text,
    excerpt_width,
    many,
    sampling_lines,
    skipped_lines,
    stored_lines,
    unknown_files_lines,
)

_EXAMPLES = 10
_OFTEN = 3
_DOCUMENTS_READ_FOR_EXAMPLES = 20_000


def summarise_cleaning(result: CleaningResult[Any, Any], folder: Path | str | None = None, width: int | None = None) -> str:
    """Return the summary as text; without a folder, of what would be done, with examples. `width` is that of the screen."""
    return as_text(_lines(result, folder, width), width)


def _lines(result: CleaningResult[Any, Any], folder: Path | str | None, width: int | None) -> Iterator[str]:
    found = result.overview()
    n_input, n_chars, n_dropped = found.n_documents, found.n_chars or 0, found.n_dropped
    would = folder is None
    done, where = ("marked", "in") if result.config.cleaning.mark_only else ("removed", "from")
    yield f"{many(n_input, 'document')}, {many(n_chars, 'character')}, {sum(result.timings.values()):.1f} s"
    if result.config.cleaning.level != "document" and (found.n_cuts or not n_dropped):
        of_what = {"sentence": " of sentences", "run": " of words"}.get(result.config.cleaning.level, "")
        counted = many(found.n_cuts, "run" if of_what else "passage") + of_what
        yield f"{counted} {_verb(found.n_cuts, would)} {done} {where} {many(found.n_cut_documents, 'document')}"
    remain = f"all {n_input:,} remain" if result.config.cleaning.mark_only else f"{n_input - n_dropped:,} remain"
    yield f"{many(n_dropped, 'whole document')} {_verb(n_dropped, would)} {done}, {remain}"
    n_removed, share = found.n_removed_chars, f"{found.n_removed_chars / max(1, n_chars):.1%}"
    yield f"{many(n_removed, 'character')} {_verb(n_removed, would)} {done} ({share})"
    if n_differing := result.counts.get("differing_characters"):
        are = "is" if n_differing == 1 else "are"
        yield f"{many(n_differing, 'character')} of that {are} in none of the copies kept (try {given('lossless', True)})"
    if result.counts.get("ignored_sentences"):
        yield many(result.counts["ignored_sentences"], "sentence") + " ignored"
    if stay := result.counts.get("unique_removals"):
        unique = many(result.counts["unique_characters"], "character")
        stayed = "would stay" if would else "stayed"
        yield f"{many(stay, 'repeat')} {stayed}: some of their wording appears nowhere else ({unique})"
    if result.config.cleaning.level == "document":
        yield from sampling_lines(result.config, result.plan)
    listed_in = None if would else "skipped.jsonl"
    if lines := list(skipped_lines(result.skipped, listed_in)):
        yield from lines
        yield f"  they {'would be' if would else 'are'} copied unchanged"
    if not would:
        for name in unread_sources(resolve_inputs(result.copies.original), result.skipped):
            yield f"  but {name} could not be read at all and was not copied"
    yield from result.notices
    yield from stored_lines(result.resources)
    yield from _often(result, would, width)
    if would:
        yield from _examples(result, width)
    else:
        yield f"{'marked' if result.config.cleaning.mark_only else 'cleaned'} collection: {folder}"
    yield from unknown_files_lines(result.skipped, listed_in)


def _verb(count: int, would: bool) -> str:
    return "would be" if would else "was" if count == 1 else "were"


def _examples(result: CleaningResult[Any, Any], width: int | None) -> Iterator[str]:
    rows = result.first_removed(_EXAMPLES)
    if not rows:
        yield "nothing would be removed"
        if result.config.cleaning.level == "document":
            inside = f"{given('level', 'passage')} and {given('level', 'sentence')}"
            yield f"  whole documents were compared; {inside} look inside them"
        return
    yield f"the first {len(rows)}:" if len(rows) > 1 else "this one:"
    texts = _texts(result, {row["document"] for row in rows})
    for row in rows:
        score = "" if row["similarity"] is None else f", similarity {row['similarity']:.2f}"
        place, kept = (f" [{row[a]}:{row[b]}]" for a, b in (("start", "end"), ("matched_start", "matched_end")))
        found = f" also appears in {{}}{kept}{score}"
        yield from with_names((f"  {{}}{place}", found), (row["id"], row["matched_id"]), width)
        excerpt = excerpt_of(texts.get(row["document"], "")[row["start"] : row["end"]], excerpt_width(width))
        if excerpt:
            yield EXCERPT_INDENT + excerpt


def _often(result: CleaningResult[Any, Any], would: bool, width: int | None) -> Iterator[str]:
    """Yield the texts of which most copies are removed. On Spark, counting them would bring all rows to this process."""
    often = [] if result.backing.storage == "spark" else result.often_removed(_OFTEN)
    if not often:
        return
    wanted, documents = {each.example["document"] for each in often}, result.backing.documents
    texts: dict[int, str] = {}
    if isinstance(documents, Collection):
        texts = {number: documents.text(number) for number in wanted}
    elif would:  # the examples are read again, too; removed.jsonl has snippets
        texts = _texts(result, wanted)
    yield f"most copies {'would be ' if would else ''}{'marked' if result.config.cleaning.mark_only else 'removed'}:"
    for each in often:
        counted = f"  {each.n_copies:,} copies ({many(each.n_chars, 'character')})"
        yield from with_names((counted, f" of {{}} [{each.start}:{each.end}]"), (each.id,), width)
        text = texts.get(each.example["document"], "")[each.example["start"] : each.example["end"]]
        if excerpt := excerpt_of(text, excerpt_width(width)):
            yield EXCERPT_INDENT + excerpt


def _texts(result: CleaningResult[Any, Any], wanted: set[int]) -> dict[int, str]:
    """Return the texts of some of the first documents; they are read again."""
    import dataclasses

    fields = dataclasses.asdict(result.config.documents)
    last = min(max(wanted) + 1, _DOCUMENTS_READ_FOR_EXAMPLES)
    documents = read(result.copies.original, on_skip=lambda record: None, **fields)
    return {number: document.text for number, document in enumerate(islice(documents, last)) if number in wanted}
