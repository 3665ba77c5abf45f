"""What kind of change each difference is: a number, a date, a name, a negation, … by rules over its words and their facts."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from ibidem.alignment import fact_words as known
from ibidem.alignment.differences import word_bounds, word_differences, words_of
from ibidem.alignment.facts import Fact, facts_of, overlapping, same_number
from ibidem.config.settings import DIFFERENCE_KINDS
from ibidem.model import Difference

# Words of the two sides of a replacement are paired one by one in stretches of at most this many words on each side.
_MOST_PAIRED_WORDS = 24
_MOST_NEGATED_WORDS = 5
# A stretch of so few words has moved only if it is found near; longer ones anywhere.
_FEW_MOVED_WORDS = 2
_NEAR_WORDS = 30
_PAIRED, _NAMED, _REWORDED, _LONE = 0.5, 0.6, 1.2, 1.0
_FEWEST_SPELLED = 4
# What scanners and typists take for one another.
_LOOKALIKES = [pair.split("/") for pair in ["rn/m", "cl/d", "vv/w", "ſ/s", "li/h", "ii/u", "1/l", "0/o", "i/l", "5/s"]]
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe", "æ": "ae", "œ": "oe", "ß": "ss"})
_CONTRACTED = {"won": "will", "can": "can", "shan": "shall"}
_DOUBLED = re.compile(r"(.)\1")
_SIGNS = re.compile(rf"[{re.escape(known.CURRENCY_SIGNS + known.SIGNS_AFTER)}−-]")

Fates = Sequence["Fact | None"]


class _Side(NamedTuple):
    """The words of one stretch of a text, where each begins, and the facts they belong to."""

    words: Sequence[str]
    places: Sequence[tuple[int, int]]
    facts: Fates


class _Piece(NamedTuple):
    """A change of some words of a stretch, in words from its beginning."""

    kind: str
    a_first: int
    a_last: int
    b_first: int
    b_last: int


def typed_differences(text_a: str, text_b: str) -> list[Difference]:
    """Return `word_differences` with the kind of each change; a stretch with changes of several kinds is divided.

    A sign before or after a number, such as $, % or a minus, makes a difference too.

    >>> for d in typed_differences("He did pay $12 on Monday.", "He did not pay €15 on Sunday."):
    ...     print(d.operation, d.kind)
    equal None
    insert negation
    equal None
    replace number
    equal None
    replace date
    """
    found = word_differences(text_a, text_b)
    has_signs = bool(_SIGNS.search(text_a) or _SIGNS.search(text_b))
    if all(each.operation == "equal" for each in found) and not has_signs:
        return found
    facts_a, facts_b = facts_of(text_a), facts_of(text_b)
    typed: list[Difference] = []
    for each in found:
        a, b = _side(text_a, each.a_start, each.a_end, facts_a), _side(text_b, each.b_start, each.b_end, facts_b)
        if each.operation == "equal":
            pieces = _signs_changed(text_a, text_b, a, b) if has_signs else []
        else:
            # If several pairings are equally good, the result depends on the order of the texts: always use one order.
            pieces = [_turned(piece) for piece in _pieces(b, a)] if list(b.words) < list(a.words) else list(_pieces(a, b))
        typed.extend(_divided(each, text_a, text_b, pieces))
    return _with_moves(typed, text_a, text_b)


def kinds_in(differences: Sequence[Difference]) -> list[str]:
    """Return the kinds of changes among differences, each once, in the order of `DIFFERENCE_KINDS`."""
    present = {each.kind for each in differences}
    return [kind for kind in DIFFERENCE_KINDS if kind in present]


def _turned(piece: _Piece) -> _Piece:
    kind = {"added": "removed", "removed": "added"}.get(piece.kind, piece.kind)
    return _Piece(kind, piece.b_first, piece.b_last, piece.a_first, piece.a_last)


def _side(text: str, start: int, end: int, facts: Sequence[Fact]) -> _Side:
    words, places = words_of(text[start:end])
    absolute = [(start + first, start + last) for first, last in places]
    return _Side(words, absolute, overlapping(facts, absolute))


def _divided(each: Difference, text_a: str, text_b: str, pieces: Sequence[_Piece]) -> Iterator[Difference]:
    """Yield a difference in pieces, which cover it; words that no piece has are equal."""
    if not pieces:
        yield each
        return
    if len(pieces) == 1 and each.operation != "equal":
        yield each._replace(kind=pieces[0].kind)
        return
    bounds_a = [each.a_start + bound for bound in word_bounds(text_a[each.a_start : each.a_end])]
    bounds_b = [each.b_start + bound for bound in word_bounds(text_b[each.b_start : each.b_end])]
    a = b = 0
    for piece in [*pieces, _Piece("", len(bounds_a) - 1, len(bounds_a) - 1, len(bounds_b) - 1, len(bounds_b) - 1)]:
        if a < piece.a_first or b < piece.b_first:
            yield Difference("equal", bounds_a[a], bounds_a[piece.a_first], bounds_b[b], bounds_b[piece.b_first])
        a, b = piece.a_last, piece.b_last
        if piece.kind:
            only_a, only_b = piece.b_first == piece.b_last, piece.a_first == piece.a_last
            operation = "delete" if only_a else "insert" if only_b else "replace"
            places = bounds_a[piece.a_first], bounds_a[a], bounds_b[piece.b_first], bounds_b[b]
            yield Difference(operation, *places, piece.kind)


def _signs_changed(text_a: str, text_b: str, a: _Side, b: _Side) -> list[_Piece]:
    """Return where equal numbers have different signs: currencies, percent, minus."""
    pieces = []
    for at, (one, other) in enumerate(zip(a.places, b.places, strict=True)):
        if not text_a[one[0] : one[1]][:1].isdigit():
            continue
        signs = [_signs_beside(text, *place) for text, place in ((text_a, one), (text_b, other))]
        if signs[0] != signs[1]:
            is_unit = signs[0][1:] != signs[1][1:]
            pieces.append(_Piece("unit" if is_unit else "number", at, at + 1, at, at + 1))
    return pieces


def _signs_beside(text: str, start: int, end: int) -> tuple[str, str, str]:
    """Return the minus, the currency and the other sign that belong to a number."""
    before, after = text[max(0, start - 3) : start], text[end : end + 2]
    is_negative = before[-1:] in ("-", "−") and (len(before) == 1 or before[-2].isspace() or before[-2] in "(")
    closest, follows = before.rstrip(" \u00a0-−")[-1:], after.lstrip(" \u00a0\u202f")[:1]
    currency = next((sign for sign in (closest, follows) if sign and sign in known.CURRENCY_SIGNS), "")
    return "-" * is_negative, currency, follows if follows and follows in known.SIGNS_AFTER else ""


def _pieces(a: _Side, b: _Side) -> Iterator[_Piece]:
    n_a, n_b = len(a.words), len(b.words)
    whole = _kind_of_all(a, b)
    if whole is not None or max(n_a, n_b) > _MOST_PAIRED_WORDS or not n_a or not n_b:
        yield _Piece(whole or ("reworded" if n_a and n_b else "removed" if n_a else "added"), 0, n_a, 0, n_b)
        return
    pieces = _paired_in_groups(a, b)
    if all(piece.kind in ("reworded", "added", "removed") for piece in pieces):
        yield _Piece("reworded", 0, n_a, 0, n_b)
        return
    yield from _joined(pieces)


def _joined(pieces: Sequence[_Piece]) -> Iterator[_Piece]:
    """Yield pieces with neighbours of one kind as one; what is added or removed beside a rewording belongs to it."""
    loose = {"reworded", "added", "removed"}
    last: _Piece | None = None
    for piece in pieces:
        if last is not None and (last.kind == piece.kind or (last.kind in loose and piece.kind in loose)):
            kind = piece.kind if last.kind == piece.kind else "reworded"
            last = _Piece(kind, last.a_first, piece.a_last, last.b_first, piece.b_last)
            continue
        if last is not None:
            yield last
        last = piece
    if last is not None:
        yield last


def _kind_of_all(a: _Side, b: _Side) -> str | None:
    """Return the kind of a stretch as a whole, if its words need not be paired one by one."""
    n_a, n_b = len(a.words), len(b.words)
    if max(n_a, n_b) > _MOST_PAIRED_WORDS and n_a and n_b:
        return None
    negations_a, negations_b = (sum(f is not None and f.kind == "negation" for f in _once(side.facts)) for side in (a, b))
    if not n_a or not n_b:
        side = a if n_a else b
        if bool(negations_a or negations_b) and len(side.words) <= _MOST_NEGATED_WORDS:
            return "negation"
        return _only_kind(side)
    spelled_a, spelled_b = _spelled_out(a.words), _spelled_out(b.words)
    if _plain("".join(spelled_a)) == _plain("".join(spelled_b)):
        is_number = any(f is not None and f.kind in ("number", "date") for f in (*a.facts, *b.facts))
        same = not is_number or same_number(".".join(a.words), ".".join(b.words)) or spelled_a == spelled_b
        return "spelling" if same else "number"
    if (negations_a > 0) != (negations_b > 0) and max(n_a, n_b) <= _MOST_NEGATED_WORDS:
        others = [[w for w, f in zip(s.words, s.facts, strict=True) if f is None or f.kind != "negation"] for s in (a, b)]
        if not (_stems(others[0]) and _stems(others[1])) or _stems(others[0]) & _stems(others[1]) or min(n_a, n_b) == 1:
            return "negation"
    if n_a > 1 and Counter(a.words) == Counter(b.words):
        return "order"
    if n_a <= 4 and n_b <= 4:
        kinds = {f.kind if f else None for f in (*a.facts, *b.facts)}
        if kinds == {"date"}:
            return "date"
        if kinds == {"number"}:
            return "spelling" if same_number(" ".join(a.words), " ".join(b.words)) else "number"
    return None


def _once(facts: Fates) -> Iterator[Fact | None]:
    last = None
    for fact in facts:
        if fact is None or fact is not last:
            yield fact
        last = fact


def _only_kind(side: _Side) -> str | None:
    """Return the one kind of fact in an added or removed stretch, words of grammar aside; None if there are others."""
    kinds = {
        None if fact is None or word in known.LOOSE_COUNTS else fact.kind
        for word, fact in zip(side.words, side.facts, strict=True)
        if fact or (word not in known.FUNCTION_WORDS and word not in known.TITLES)
    }
    kinds -= {"unit"} if "number" in kinds else set()
    return kinds.pop() if len(kinds) == 1 else None


def _spelled_out(words: Sequence[str]) -> list[str]:
    """Return words with n't as not."""
    spelled: list[str] = []
    for word in words:
        if word == "t" and spelled and spelled[-1].endswith("n") and len(spelled[-1]) > 2:
            stem = spelled.pop()
            spelled += [_CONTRACTED.get(stem, stem[:-1]), "not"]
        else:
            spelled += ["can", "not"] if word == "cannot" else [word]
    return spelled


def _stems(words: Sequence[str]) -> set[str]:
    return {word[:4] for word in words if word not in known.FUNCTION_WORDS}


def _paired_in_groups(a: _Side, b: _Side) -> list[_Piece]:
    """Pair the words of two stretches; those of one number or one date count as one word."""
    (a_first, whole_a), (b_first, whole_b) = _grouped(a), _grouped(b)
    return [
        _Piece(kind, a_first[i], a_first[i_last], b_first[j], b_first[j_last])
        for kind, i, i_last, j, j_last in _paired(whole_a, whole_b)
    ]


def _grouped(side: _Side) -> tuple[list[int], _Side]:
    """Return a stretch with numbers and dates as single words, and the first word of each, and of what follows."""
    firsts = [
        at
        for at, fact in enumerate(side.facts)
        if not at or fact is None or fact is not side.facts[at - 1] or fact.kind not in ("number", "date")
    ]
    bounds = [*firsts, len(side.words)]
    words = [".".join(side.words[first:last]) for first, last in pairwise(bounds)]
    return bounds, _Side(words, [side.places[at] for at in firsts], [side.facts[at] for at in firsts])


def _paired(a: _Side, b: _Side) -> list[_Piece]:
    """Pair the words of two stretches so that as many pairs as possible have a kind."""
    n_a, n_b = len(a.words), len(b.words)
    cost = [[0.0] * (n_b + 1) for _ in range(n_a + 1)]
    step = [[""] * (n_b + 1) for _ in range(n_a + 1)]
    for i in range(n_a + 1):
        for j in range(n_b + 1):
            if not i and not j:
                continue
            best, how = float("inf"), ""
            if i and j:
                kind = _kind_of_pair(a, i - 1, b, j - 1)
                price = 0.0 if kind == "" else _REWORDED if kind == "reworded" else _NAMED if kind == "name" else _PAIRED
                best, how = cost[i - 1][j - 1] + price, kind or "equal"
            if i and cost[i - 1][j] + _LONE < best:
                best, how = cost[i - 1][j] + _LONE, "removed"
            if j and cost[i][j - 1] + _LONE < best:
                best, how = cost[i][j - 1] + _LONE, "added"
            cost[i][j], step[i][j] = best, how
    pieces: list[_Piece] = []
    i, j = n_a, n_b
    while i or j:
        how = step[i][j]
        i_before, j_before = i - (how != "added"), j - (how != "removed")
        if how != "equal":
            kind = how
            if how in ("added", "removed"):
                fact = a.facts[i_before] if how == "removed" else b.facts[j_before]
                kind = fact.kind if fact is not None and fact.kind != "name" else how
            pieces.append(_Piece(kind, i_before, i, j_before, j))
        i, j = i_before, j_before
    return pieces[::-1]


def _kind_of_pair(a: _Side, i: int, b: _Side, j: int) -> str:
    """Return how one word differs from another; empty if it does not."""
    one, other = a.words[i], b.words[j]
    if one == other:
        return ""
    fact_a, fact_b = a.facts[i], b.facts[j]
    kinds = {fact_a.kind if fact_a else None, fact_b.kind if fact_b else None}
    if kinds & {"number", "date"}:
        if "date" in kinds and kinds <= {"date", "number"}:
            return "date"
        if kinds == {"number"}:
            return "spelling" if same_number(one, other) else "number"
        if any(c.isdigit() for c in one) == any(c.isdigit() for c in other):
            return "spelling" if _is_lookalike(one, other) else "reworded"
        return "spelling" if _is_lookalike(one, other) else "reworded"
    if _is_negated(one, other) or _is_negated(other, one):
        return "negation"
    if "negation" in kinds:
        return "negation" if kinds == {"negation"} else "reworded"
    if is_spelling_variant(one, other) and not {one, other} <= known.FUNCTION_WORDS:
        return "spelling"
    if kinds == {"unit"} or (one in _ALL_UNITS and other in _ALL_UNITS):
        return "unit"
    return "name" if kinds == {"name"} else "reworded"


_ALL_UNITS = known.UNITS | known.UNITS_AFTER_NUMBERS


def _is_negated(word: str, plain: str) -> bool:
    """Return whether a word is another one with a prefix, or an ending, that says no."""
    if len(plain) >= 3 and any(word == prefix + plain for prefix in known.NEGATING_PREFIXES if len(plain) >= 6 - len(prefix)):
        return True
    return any(
        end and word.endswith(end) and plain == word[: len(word) - len(end)] + instead and len(plain) > 3
        for end, instead in known.NEGATING_ENDS
    )


@lru_cache(maxsize=1 << 16)
def is_spelling_variant(one: str, other: str) -> bool:
    """Return whether two words are likely one word, spelt or scanned differently."""
    if _is_lookalike(one, other):
        return True
    shorter, longer = sorted((one, other), key=len)
    if len(longer) - len(shorter) > 3 or len(longer) < _FEWEST_SPELLED or any(c.isdigit() for c in one + other):
        return False
    if not (one[0].isalpha() and other[0].isalpha()):
        return False
    if _DOUBLED.sub(r"\1", one) == _DOUBLED.sub(r"\1", other):
        return True
    if _is_inflected(one, other):
        return False
    if len(longer) <= _FEWEST_SPELLED or (len(shorter) <= _FEWEST_SPELLED and one[-1] != other[-1]):
        # Short words are other words: only letters that changed places.
        return len(one) == len(other) and sorted(one) == sorted(other) and _distance(one, other, 1) <= 1
    most = 1 if len(longer) < 8 else 2 if len(longer) < 14 else 3
    return _distance(one, other, most) <= most


def _is_lookalike(one: str, other: str) -> bool:
    return _plain(one) == _plain(other) or _as_scanned(one) == _as_scanned(other)


def _plain(word: str) -> str:
    """Return a word without marks on its letters."""
    if word.isascii():
        return word
    spelled = unicodedata.normalize("NFC", word).translate(_UMLAUTS)
    return "".join(c for c in unicodedata.normalize("NFKD", spelled) if unicodedata.category(c)[0] != "M")


def _as_scanned(word: str) -> str:
    """Return a word with what looks alike written in one way; words of digits stay as they are."""
    if not any(c.isalpha() for c in word):
        return word
    for seen, read in _LOOKALIKES:
        word = word.replace(seen, read)
    return word


def _is_inflected(one: str, other: str) -> bool:
    n_same = next((n for n, (c, d) in enumerate(zip(one, other, strict=False)) if c != d), min(len(one), len(other)))
    return n_same >= 3 and one[n_same:] in known.WORD_ENDINGS and other[n_same:] in known.WORD_ENDINGS


def _distance(one: str, other: str, most: int) -> int:
    """Return how many letters must change to make one word of another, neighbours that changed places as one change."""
    if abs(len(one) - len(other)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, c in enumerate(one, 1):
        following = [i]
        for j, d in enumerate(other, 1):
            best = min(row[j] + 1, following[j - 1] + 1, row[j - 1] + (c != d))
            if i > 1 and j > 1 and c == other[j - 2] and one[i - 2] == d:
                best = min(best, before[j - 2] + 1)
            following.append(best)
        if min(following) > most:
            return most + 1
        before, row = row, following
    return row[-1]


def _with_moves(typed: list[Difference], text_a: str, text_b: str) -> list[Difference]:
    """Call changes `order` where the words that are missing in one place appear in another, and the other way round."""
    changed = [row for row, each in enumerate(typed) if each.operation != "equal"]
    if len(changed) < 2:
        return typed
    sides: tuple[dict[int, tuple[str, ...]], ...] = ({}, {})
    places: tuple[dict[tuple[str, ...], list[int]], ...] = ({}, {})
    for row in changed:
        each = typed[row]
        cut = text_a[each.a_start : each.a_end], text_b[each.b_start : each.b_end]
        for words, where, text in zip(sides, places, cut, strict=True):
            words[row] = tuple(sorted(words_of(text)[0]))
            where.setdefault(words[row], []).append(row)

    def is_near(row: int, side: int) -> bool:
        words = sides[side][row]
        if not words:
            return True
        for other in (each for each in places[1 - side].get(words, ()) if each != row):
            between = abs(typed[other].a_start - typed[row].a_start) + abs(typed[other].b_start - typed[row].b_start)
            if len(words) > _FEW_MOVED_WORDS or between <= 2 * 6 * _NEAR_WORDS:
                return True
        return False

    moved = {row for row in changed if is_near(row, 0) and is_near(row, 1)}
    return [each._replace(kind="order") if row in moved else each for row, each in enumerate(typed)]
