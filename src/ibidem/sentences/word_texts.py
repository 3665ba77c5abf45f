"""The words of a text as text: what the tokeniser makes hashes of, for those who want to read them."""

from __future__ import annotations

from functools import lru_cache

from ibidem.sentences.code_points import (
    CLUSTER,
    FIRST_TOKEN_KIND,
    FOLD_PAGES,
    IGNORED,
    KIND_PAGES,
    MARK,
    UNSPACED,
    load_code_points,
)

_UNITS = {UNSPACED: 2, CLUSTER: 3}  # of which a word of an unspaced script has so many


def words_in(text: str) -> list[str]:
    """Return the words of a text in canonical form, one for each token that `tokenise_texts` gives, in the same order.

    Tokenised again, each of them gives that token.
    """
    words: list[str] = []
    run: list[str] = []
    n_units = 0  # of the words of the run; 1 for scripts that separate words
    extendable = False
    for character in text:
        for part, kind in _folded(character):
            if kind == IGNORED:
                continue
            if kind == MARK:
                if extendable:
                    run[-1] = run[-1][0] + "".join(sorted(run[-1][1:] + part))
                continue
            extendable = kind >= FIRST_TOKEN_KIND
            if not extendable:
                if n_units == 1:
                    words.append("".join(run))
                    run, n_units = [], 0
                continue  # what separates words does not end a run of an unspaced script
            wanted = _UNITS.get(kind, 1)
            if wanted != n_units:
                words += _words_of(run, n_units)
                run, n_units = [], wanted
            run.append(part)
    return words + _words_of(run, n_units)


def _words_of(run: list[str], n_units: int) -> list[str]:
    if n_units < 2:
        return ["".join(run)] if run else []
    return ["".join(run[k : k + n_units]) for k in range(max(1, len(run) - n_units + 1))]


@lru_cache(maxsize=1 << 14)
def _folded(character: str) -> tuple[tuple[str, int], ...]:
    """Return the canonical form of a character, each part with its kind."""
    tables = load_code_points()

    def look_up(pages: int, code_point: int) -> int:
        return int(tables[tables[pages + (code_point >> 8)] + (code_point & 255)])

    code_point = ord(character)
    form = look_up(FOLD_PAGES, code_point)
    if form < 0:
        points = tables[1 - form : 1 - form + tables[-form]].tolist()
    else:
        points = [form or code_point]
    return tuple((chr(point), look_up(KIND_PAGES, point)) for point in points)
