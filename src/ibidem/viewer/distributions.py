"""How measures are spread over all pairs, as counts in bins."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibidem.viewer.pairs import PairColumns

_BINS = 40


def distributions_of(pairs: PairColumns, has_passages: bool = True) -> dict[str, Any]:
    """Return the counts of pairs by similarity, coverage and longest passage, each with the edges of its bins."""
    coverage = np.nan_to_num(pairs.coverage, nan=0.0)
    lowest = float(pairs.similarity.min(initial=1.0))
    from_similarity = min(np.floor(lowest * 10) / 10, 0.9)
    most = max(float(pairs.longest.max(initial=0)), 100.0)
    distributions = {
        "similarity": _counted(pairs.similarity, np.linspace(from_similarity, 1, _BINS + 1)),
        "coverage": _counted(coverage, np.linspace(0, 1, _BINS + 1)),
    }
    if has_passages:
        distributions["longest"] = _counted(pairs.longest.astype(np.float64), np.geomspace(10, most, _BINS + 1))
    return distributions


def _counted(values: NDArray[np.float64], edges: NDArray[np.float64]) -> dict[str, Any]:
    counts, _ = np.histogram(np.clip(values, edges[0], edges[-1]), edges)
    return {"edges": [round(edge, 4) for edge in edges.tolist()], "counts": counts.tolist()}
