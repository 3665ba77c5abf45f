"""`tune_from_verdicts`: limits for later runs, learnt from what people said of the pairs of a result."""

from __future__ import annotations

import os
from pathlib import Path

from ibidem.config.surface import named
from ibidem.errors import UsageError
from ibidem.results.limits_from_verdicts import VerdictTuning, choose_limits
from ibidem.viewer.judged_pairs import read_judged


def tune_from_verdicts(folder: str | os.PathLike[str], *, min_precision: float | None = None) -> VerdictTuning:
    """Choose the limits that separate the pairs confirmed in `ibidem serve` from the rejected ones.

    `folder` contains results of `find` or `cluster`, and the verdicts. Of passages, similarity, length and coverage may be
    limited; of duplicate documents, similarity. The limits keep the confirmed pairs and leave out the rejected ones as well as
    possible (by F1). With `min_precision`, they keep as many confirmed pairs as they can while at least this share of what they
    keep is confirmed.
    """
    if min_precision is not None and not 0 < min_precision <= 1:
        message = f"{named('min_precision')} must be above 0 and at most 1, not {min_precision:g}"
        raise UsageError(message, "Give a share such as 0.9.")
    found = read_judged(Path(folder))
    counts = found.n_unsure, found.n_gone
    return choose_limits(found.verb, found.settings, found.judged, *counts, min_precision, os.fspath(folder))
