"""The summary of `cluster` for people: counts, the largest clusters, and why nothing was found."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ibidem.config import document_shingle_size, is_compared_in_full
from ibidem.config.surface import named
from ibidem.results.overview import MirrorOverview
from ibidem.results.result import ClusterResult
from ibidem.results.screen_lines import with_names
from ibidem.results.summary import (
    as_text,
    documents_of,
    look_at,
    many,
    sampling_lines,
    skipped_lines,
    stored_lines,
    unknown_files_lines,
)


def summarise_clusters(
    result: ClusterResult[Any], folder: Path | str | None = None, report: Path | str | None = None, width: int | None = None
) -> str:
    """Return the summary as text, with the folder of the results and the report if they were written.

    `width` is that of the screen.
    """
    return as_text(_lines(result, folder, report, width), width)


def _lines(
    result: ClusterResult[Any], folder: Path | str | None, report: Path | str | None, width: int | None
) -> Iterator[str]:
    seconds = sum(result.timings.values())
    yield f"{documents_of(result)}, {many(result.counts['shingles'], 'shingle')}, {seconds:.1f} s"
    verified = "" if result.config.resemblance.verify or is_compared_in_full(result.config) else ", not verified"
    found = result.overview()
    yield f"{many(found.n_pairs, 'pair')} of similar documents{verified}"
    if found.n_clusters:
        more = found.n_members - found.n_clusters
        yield f"{many(found.n_clusters, 'cluster')} of {many(found.n_members, 'document')}: {more:,} could be removed"
    yield from sampling_lines(result.config, result.plan)
    yield from skipped_lines(result.skipped)
    yield from result.notices
    yield from stored_lines(result.resources)
    if found.n_clusters:
        yield f"the {len(found.largest)} largest:" if found.n_clusters > 1 else "this one:"
        for n_members, canonical, others in found.largest:
            rest = f" and {len(others) - 2:,} more" if len(others) > 2 else ""
            shown = [canonical, *others[:2]]
            removable = f" remove {', '.join(['{}'] * (len(shown) - 1))}{rest}"
            yield from with_names((f"  {n_members:,} documents: keep {{}},", removable), shown, width)
    else:
        yield from _why_nothing(result, found.n_documents)
    if found.mirrors is not None:
        yield from _mirror_lines(found.mirrors, width)
    if folder is not None:
        yield f"results: {folder}"
        if report is not None:
            yield f"report: {report}"
        elif found.n_clusters:
            yield from look_at(folder, width)
    yield from unknown_files_lines(result.skipped)


def _mirror_lines(found: MirrorOverview, width: int | None) -> Iterator[str]:
    if not found.n_pairs:
        yield "no two groups share documents"
        return
    yield f"groups that share documents: {many(found.n_pairs, 'pair')}, {found.n_copies:,} with at least half of both groups"
    for pair in found.closest:
        a, b = (f"{pair[f'{side}_shared']:,} of {pair[f'{side}_documents']:,}" for side in "ab")
        yield from with_names((f"  {{}} ({a} documents)", f" and {{}} ({b})"), [pair["a_group"], pair["b_group"]], width)
    if found.n_pairs > len(found.closest):
        yield f"  and {many(found.n_pairs - len(found.closest), 'other pair')}"


def _why_nothing(result: ClusterResult[Any], n_documents: int) -> Iterator[str]:
    yield "nothing found:"
    size = document_shingle_size(result.config)
    if n_documents < 2:
        yield "  there is only one document"
    elif result.counts["shingles"] < 2 * n_documents:
        yield f"  the texts are short: few have more than {size} words; try a smaller {named('shingle_size')}"
    else:
        limits = f"{named('min_similarity')}, or {named('min_containment')}"
        yield f"  no two whole documents are similar enough; try a lower {limits},"
        yield f"  or for short texts a smaller {named('shingle_size')} (one changed word changes {size} shingles)"
        yield "  `ibidem find` finds the passages that documents share"
