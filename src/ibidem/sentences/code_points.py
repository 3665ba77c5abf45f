"""The code-point tables as one array, loaded when first needed.

One array, because every array that a kernel takes costs compile time wherever it is handed on. Its parts:

    [KIND_PAGES + (code_point >> 8)]  where the page of kinds begins; add code_point & 255
    [FOLD_PAGES + (code_point >> 8)]  where the page of canonical forms begins; add code_point & 255
    [KINDS + byte]                    the first page of kinds: those of ASCII

A form is 0 for a character that is its own, a code point, or minus the place of an expansion: its length and then its
code points.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

N_PAGES = 0x1100
KIND_PAGES = 0
FOLD_PAGES = KIND_PAGES + N_PAGES
KINDS = FOLD_PAGES + N_PAGES


@lru_cache(maxsize=1)
def load_code_points() -> NDArray[np.int32]:
    """Return the committed tables; the first call reads the file, the others are free."""
    with np.load(Path(__file__).with_name("code_points.npz")) as file:
        kind_pages, kinds, fold_pages, folds, expansions = (
            file[name].astype(np.int32) for name in ("kind_pages", "kinds", "fold_pages", "folds", "expansions")
        )
    folds_start = KINDS + len(kinds)
    expansions_start = folds_start + len(folds)
    return np.concatenate(
        [
            kind_pages * 256 + KINDS,
            fold_pages * 256 + folds_start,
            kinds,
            np.where(folds < 0, folds - expansions_start, folds),
            expansions,
        ],
        dtype=np.int32,
    )
