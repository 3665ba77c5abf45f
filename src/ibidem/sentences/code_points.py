"""The kinds of characters, and the code-point tables as one array, loaded when first needed.

Kinds are what splitter and tokeniser distinguish: small integers in reading order of the rules. Their bits allow testing eight
kinds at a time: EVENT_BIT is set where the splitter stops, TOKEN_BIT in token characters; what has no TOKEN_BIT separates, is
ignored or extends the character before it.

The tables are one array, because every array argument of a kernel costs compile time wherever it is passed on. Its parts:

    [KIND_PAGES + (code_point >> 8)]  where the page of kinds begins; add code_point & 255
    [FOLD_PAGES + (code_point >> 8)]  where the page of canonical forms begins; add code_point & 255
    [KINDS + byte]                    the first page of kinds: those of ASCII

A form is 0 for a character that is its own form, a code point, or minus the place of an expansion: its length and then its code
points.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SEPARATOR = 0
IGNORED = 1  # zero-width, soft hyphen, variation selectors: as if they were not there
MARK = 2  # extends the character before; ignored without one
OPENER = 3
QUOTE = 4  # " and ': open or close
COMMA = 5  # where a sentence continues, and where over-long text is best cut
DASH = 6
BLANK = 7
NEWLINE = 8
PARAGRAPH = 9  # form feed, U+2029
FULL_STOP = 10  # the ASCII period, the only terminator that abbreviations share
STRONG_STOP = 11  # ! ? and similar: need a space after them
BARE_STOP = 12  # full-width stops and dandas: need no space
ELLIPSIS = 13
CLOSER = 14
BULLET = 15  # starts an item even in the middle of a line
CONTINUATION = 16  # not a character: the second to fourth byte of one
DIGIT = 32
LOWER = 33
UPPER = 34
CASELESS = 35
UNSPACED = 36  # Han, kana, bopomofo: bigrams
CLUSTER = 40  # Thai, Lao, Khmer, Myanmar: trigrams of clusters

EVENT_BIT = 8
TOKEN_BIT = 32
FIRST_TOKEN_KIND = DIGIT

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
