"""The summary of `cluster` for people: counts, the largest clusters, and why there is nothing where there is nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ibidem.config import is_compared_in_full
from ibidem.reports.summary import many, skipped_lines
from ibidem.result import ClusterResult

_LARGEST = 5


def summarise_clusters(result: ClusterResult, folder: Path | None = None) -> str:
    """Return the summary as text."""
    return "\n".join(_lines(result, folder))


def _lines(result: ClusterResult, folder: Path | None) -> Iterator[str]:
    seconds = sum(result.timings.values())
    yield f"{many(result.counts['documents'], 'document')}, {many(result.counts['shingles'], 'shingle')}, {seconds:.1f} s"
    verified = "" if result.config.resemblance.verify or is_compared_in_full(result.config) else ", not verified"
    yield f"{many(len(result), 'pair')} of duplicates{verified}"
    cluster = result.clusters["cluster"].to_numpy()
    sizes = np.bincount(cluster)
    if len(sizes):
        more = len(cluster) - len(sizes)
        yield f"{many(len(sizes), 'cluster')} of {many(len(cluster), 'document')}: {more:,} could go"
    if result.skipped:
        yield from skipped_lines(result.skipped)
    if len(sizes):
        yield f"the {min(_LARGEST, len(sizes))} largest:" if len(sizes) > 1 else "it is:"
        for number in np.argsort(-sizes, kind="stable")[:_LARGEST]:
            members = result.clusters.filter(cluster == number).to_pylist()
            canonical = next(member["id"] for member in members if member["canonical"])
            others = [member["id"] for member in members if not member["canonical"]]
            rest = f" and {len(others) - 2:,} more" if len(others) > 2 else ""
            yield f"  {len(members):,} documents: {canonical} stays; {', '.join(others[:2])}{rest}"
    else:
        yield from _why_nothing(result)
    if folder is not None:
        yield f"results: {folder}"


def _why_nothing(result: ClusterResult) -> Iterator[str]:
    yield "nothing found:"
    size = result.config.signatures.shingle_words("document")
    if result.documents.n_documents < 2:
        yield "  there is one document only"
    elif result.counts["shingles"] < 2 * result.documents.n_documents:
        yield f"  the texts are short: few have more than {size} words; try a smaller --shingle-size"
    else:
        yield "  no two documents are similar enough as wholes; try a lower --min-similarity, or --min-containment,"
        yield f"  or for short texts a smaller --shingle-size: one changed word changes {size} shingles"
        yield "  `ibidem find` finds passages that they share"
