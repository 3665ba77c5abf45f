"""The summary of `decontaminate` for people: a table of benchmarks, the worst examples, and what is removed."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from ibidem.config.surface import given, named
from ibidem.contamination.decisions import ALL_PARTS, WHOLE
from ibidem.results.contamination_result import ContaminationResult
from ibidem.results.screen_lines import excerpt_of, table_lines, with_names
from ibidem.results.summary import (
    EXCERPT_INDENT,
    as_text,
    excerpt_width,
    many,
    skipped_lines,
    stored_lines,
    unknown_files_lines,
)

_WORST = 3
_HEAD = ("", "items", "whole", "in part", "common", "too short", "characters", "documents")
_COLUMNS = ("n_items", "n_whole", "n_part", "n_common", "n_short", "share_chars", "n_documents")


def summarise_contamination(
    result: ContaminationResult[Any, Any], folder: Path | str | None = None, report: Path | str | None = None,
    width: int | None = None,
) -> str:  # fmt: skip
    """Return the summary as text, with the folder of the cleaned copy and the report if they were written."""
    return as_text(_lines(result, folder, report, width), width)


def _lines(
    result: ContaminationResult[Any, Any], folder: Path | str | None, report: Path | str | None, width: int | None
) -> Iterator[str]:
    found, seconds = result.overview(), sum(result.timings.values())
    size = f", {many(found.n_chars, 'character')}" if found.n_chars is not None else ""
    yield f"{many(found.n_documents, 'document')}{size}, {seconds:.1f} s"
    rows = result.benchmarks.to_pylist()
    table = ([_name(row), *(_cell(name, row[name]) for name in _COLUMNS)] for row in rows)
    yield from table_lines([_HEAD, *table], width, 1)
    for name in result.shares:
        if worst := result.worst(name, _WORST):
            yield f"{name}, the worst:" if len(worst) > 1 else f"{name}:"
            for row in worst:
                yield from _item_lines(row, width)
    yield from _explained(result)
    would, done = folder is None, "marked" if result.config.cleaning.mark_only else "removed"
    verb = "would be" if would else "were"
    if found.n_cuts:
        yield f"{many(found.n_cuts, 'passage')} in {many(found.n_cut_documents, 'document')} {verb} {done}"
    share = f" ({found.n_removed_chars / max(1, found.n_chars):.2%} of the characters)" if found.n_chars is not None else ""
    yield f"{many(found.n_dropped, 'whole document')} {verb} {done}{share}"
    yield from skipped_lines(result.skipped, None if would else "skipped.jsonl")
    yield from result.notices
    yield from stored_lines(result.resources)
    if folder is not None:
        yield f"{'marked' if result.config.cleaning.mark_only else 'cleaned'} collection: {folder}"
    if report is not None:
        yield f"report: {report}"
    yield from unknown_files_lines(result.skipped, None if would else "skipped.jsonl")


def _name(row: dict[str, Any]) -> str:
    return row["benchmark"] if row["part"] == ALL_PARTS else f"  {row['part']}s"


def _cell(name: str, value: Any) -> str:
    return f"{value:.1%}" if name == "share_chars" else f"{value:,}"


def _item_lines(row: dict[str, Any], width: int | None) -> Iterator[str]:
    how = "whole" if row["found"] == WHOLE else f"{row['share']:.0%}"
    more = f" and {many(row['n_documents'] - 1, 'more document')}" if row["n_documents"] > 1 else ""
    parts = (f"  {{}} ({row['field']}), {how},", f" in {{}} [{row['start']}:{row['end']}]{more}")
    yield from with_names(parts, (row["item"], row["id"]), width)
    yield EXCERPT_INDENT + excerpt_of(row["text"], excerpt_width(width))


def _explained(result: ContaminationResult[Any, Any]) -> Iterator[str]:
    """Say how items were treated that do not count as found."""
    rows = [row for row in result.benchmarks.to_pylist() if row["part"] == ALL_PARTS]
    if n := sum(row["n_common"] for row in rows):
        limit = result.config.contamination.max_item_pages
        are, they = ("is", "it") if n == 1 else ("are", "they")
        yield (
            f"{many(n, 'item')} {are} common text, in more than {limit:,} documents each; {they} stay"
            f"{'s' if n == 1 else ''} ({given('max_item_pages', 0)} removes {'it' if n == 1 else 'them'}, too)"
        )
    if n := sum(row["n_short"] for row in rows):
        least = result.config.contamination.min_item_words
        yield f"{many(n, 'item')} of fewer than {least} words not looked for ({named('min_item_words')})"


def limit_lines(result: ContaminationResult[Any, Any], max_share: Fraction) -> Iterator[str]:
    """Yield the outcome of a check: the benchmarks of which too much was found."""
    limit = f"{named('max_contaminated_share')} {float(max_share):g}"
    exceeding = result.exceeding(max_share)
    for name in exceeding:
        yield f"{name}: {result.shares[name]:.1%} of the items found"
    if exceeding:
        verb = "exceeds" if len(exceeding) == 1 else "exceed"
        yield f"failed: {len(exceeding):,} of {many(len(result.shares), 'benchmark')} {verb} {limit}"
    else:
        yield f"passed: no benchmark exceeds {limit}"
