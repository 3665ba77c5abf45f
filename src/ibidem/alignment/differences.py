"""Where two texts have the same words in the same order, and where not."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from ibidem.model import Difference

# Scripts written without spaces: each character is a word. Han, kana and bopomofo; Thai, Lao, Myanmar, Khmer.
_UNSPACED = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d\U0001aff0-\U0001b16f\U00020000-\U0003fffd"
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\ua9e0-\ua9ff\uaa60-\uaa7f"
)
# Lengths of runs used as anchors, longest first, each within what the earlier ones left open.
_ANCHOR_WORDS = (8, 4, 3, 2, 1, 1)
# Stretches of at most this many pairs of words are matched in full; that takes more than linear time.
_MAX_PAIRS = 1 << 16
# A few equal words between changes that are each many times as long are a coincidence, and only make the result hard to read.
_MAX_COINCIDENCE_WORDS = 2
_COINCIDENCE_FACTOR = 4


class Block(NamedTuple):
    """Words that are the same: `n_words` from `a` on in one text, from `b` on in the other."""

    a: int
    b: int
    n_words: int


def word_differences(text_a: str, text_b: str) -> list[Difference]:
    """Return where two texts have the same words and where not, in reading order.

    The differences cover both texts from beginning to end: text between words belongs to the word before it, except for what
    directly precedes the next word, such as opening quotation marks. Words are the same regardless of case and compatibility
    form (NFKC); what is neither letter nor digit makes no difference. Two empty texts have no differences. `word_differences(b,
    a)` gives the same the other way round.

    Equal words are found where they are in the same order, but not always as many as possible: a long stretch without a run of
    words that occurs once on each side is one replacement.

    >>> for difference in word_differences("Four ferries lay in port.", "Two ferries lay in the port"):
    ...     print(*difference)
    replace 0 5 0 4
    equal 5 20 4 19
    insert 20 20 19 23
    equal 20 25 23 27
    """
    places_a, places_b = word_places(text_a), word_places(text_b)
    words_a, words_b = _canonical_words(text_a, places_a), _canonical_words(text_b, places_b)
    if not words_a or not words_b:
        operation = "delete" if words_a else "insert" if words_b else "equal"
        return [Difference(operation, 0, len(text_a), 0, len(text_b))] if text_a or text_b else []
    # If several alignments are equally good, the result depends on the order of the texts: always use one order.
    turned = words_b < words_a
    blocks = _matching_blocks(words_b, words_a) if turned else _matching_blocks(words_a, words_b)
    if turned:
        blocks = [Block(block.b, block.a, block.n_words) for block in blocks]
    bounds_a, bounds_b = _bounds(text_a, places_a), _bounds(text_b, places_b)
    return [
        Difference(operation, bounds_a[a_first], bounds_a[a_last], bounds_b[b_first], bounds_b[b_last])
        for operation, a_first, a_last, b_first, b_last in _operations(blocks, len(words_a), len(words_b))
    ]


def word_places(text: str) -> list[tuple[int, int]]:
    """Return where the words of a text begin and end, in characters.

    A word is a run of letters and digits, or a single character of a script written without spaces; marks and invisible
    characters belong to the character before them.
    """
    extending = "".join(re.escape(c) for c in sorted(set(text)) if _extends(c))
    more = f"[{extending}]*" if extending else ""
    return [word.span() for word in re.finditer(rf"(?:[^\W_{_UNSPACED}]{more})+|[^\W_]{more}", text)]


def words_of(text: str) -> tuple[list[str], list[tuple[int, int]]]:
    """Return the words of a text in the form in which they are compared, and where they are."""
    places = word_places(text)
    return _canonical_words(text, places), places


def word_bounds(text: str) -> list[int]:
    """Return where a text may be cut between words, including its beginning and end; opening signs stay with their word."""
    return _bounds(text, word_places(text))


def _bounds(text: str, places: Sequence[tuple[int, int]]) -> list[int]:
    bounds = [0]
    for (_, end), (start, _) in pairwise(places):
        bound = start
        while bound > end and not text[bound - 1].isspace():
            bound -= 1
        bounds.append(bound if bound > end else start)
    return [*bounds, len(text)]


@lru_cache(maxsize=1 << 14)
def _extends(character: str) -> bool:
    category = unicodedata.category(unicodedata.normalize("NFKD", character)[0])  # half-width voicing marks are marks too
    return category[0] == "M" or category == "Cf"


def _canonical_words(text: str, places: Sequence[tuple[int, int]]) -> list[str]:
    known: dict[str, str] = {}
    words = []
    for start, end in places:
        word = text[start:end]
        if word not in known:
            known[word] = _canonical(word)
        words.append(known[word])
    return words


def _canonical(word: str) -> str:
    if word.isascii():
        return word.lower()
    visible = "".join(c for c in word if unicodedata.category(c) != "Cf")  # soft hyphens and joiners are not letters
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", visible).casefold())


def _operations(blocks: Sequence[Block], n_a: int, n_b: int) -> Iterator[tuple[str, int, int, int, int]]:
    """Yield the operations for blocks and the stretches between them, in words."""
    a = b = 0
    for block in [*blocks, Block(n_a, n_b, 0)]:
        if a < block.a or b < block.b:
            operation = "insert" if a == block.a else "delete" if b == block.b else "replace"
            yield operation, a, block.a, b, block.b
        a, b = block.a + block.n_words, block.b + block.n_words
        if block.n_words:
            yield "equal", block.a, a, block.b, b


def _matching_blocks(a: Sequence[str], b: Sequence[str]) -> list[Block]:
    """Return the blocks of equal words, in order; no two of them touch on both sides."""
    blocks: list[Block] = []
    waiting = [(0, len(a), 0, len(b), 0)]
    while waiting:
        a_first, a_last, b_first, b_last, level = waiting.pop()
        ahead = _n_equal_ahead(a, b, a_first, a_last, b_first, b_last)
        blocks.append(Block(a_first, b_first, ahead))
        a_first, b_first = a_first + ahead, b_first + ahead
        behind = _n_equal_behind(a, b, a_first, a_last, b_first, b_last)
        a_last, b_last = a_last - behind, b_last - behind
        blocks.append(Block(a_last, b_last, behind))
        if a_first == a_last or b_first == b_last:
            continue
        if (a_last - a_first) * (b_last - b_first) <= _MAX_PAIRS:
            matcher = SequenceMatcher(None, a[a_first:a_last], b[b_first:b_last], autojunk=False)
            blocks.extend(Block(a_first + i, b_first + j, n) for i, j, n in matcher.get_matching_blocks())
            continue
        anchors: list[tuple[int, int]] = []
        while not anchors and level < len(_ANCHOR_WORDS):
            n_words = _ANCHOR_WORDS[level]
            level += 1
            anchors = _anchors(a[a_first:a_last], b[b_first:b_last], n_words)
        if not anchors:
            continue  # no anchor: one replacement
        i, j = a_first, b_first
        for a_anchor, b_anchor in anchors:
            a_anchor, b_anchor = a_first + a_anchor, b_first + b_anchor
            if a_anchor < i or b_anchor < j:
                continue  # it overlaps the previous one
            waiting.append((i, a_anchor, j, b_anchor, level))
            blocks.append(Block(a_anchor, b_anchor, n_words))
            i, j = a_anchor + n_words, b_anchor + n_words
        waiting.append((i, a_last, j, b_last, level))
    return _without_coincidences(_joined(sorted(block for block in blocks if block.n_words)), len(a), len(b))


def _n_equal_ahead(a: Sequence[str], b: Sequence[str], a_first: int, a_last: int, b_first: int, b_last: int) -> int:
    most = min(a_last - a_first, b_last - b_first)
    return next((n for n in range(most) if a[a_first + n] != b[b_first + n]), most)


def _n_equal_behind(a: Sequence[str], b: Sequence[str], a_first: int, a_last: int, b_first: int, b_last: int) -> int:
    most = min(a_last - a_first, b_last - b_first)
    return next((n for n in range(most) if a[a_last - 1 - n] != b[b_last - 1 - n]), most)


def _anchors(a: Sequence[str], b: Sequence[str], n_words: int) -> list[tuple[int, int]]:
    """Return the starts of runs of words that occur once in each text: as many as are in the same order in both."""
    places_b = _once(b, n_words)
    pairs = sorted((place, places_b[gram]) for gram, place in _once(a, n_words).items() if gram in places_b)
    return _longest_rising(pairs)


def _once(words: Sequence[str], n_words: int) -> dict[tuple[str, ...], int]:
    places: dict[tuple[str, ...], int] = {}
    for place, gram in enumerate(zip(*(words[offset:] for offset in range(n_words)), strict=False)):
        places[gram] = -1 if gram in places else place
    return {gram: place for gram, place in places.items() if place >= 0}


def _longest_rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest subsequence of pairs, sorted by first number, whose second numbers increase (by patience sorting)."""
    tops: list[int] = []  # the smallest second number that ends an increasing sequence of each length
    row_of_top: list[int] = []
    before: list[int] = []
    for row, (_, second) in enumerate(pairs):
        pile = bisect_left(tops, second)
        before.append(row_of_top[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [second]
        row_of_top[pile : pile + 1] = [row]
    rising = []
    row = row_of_top[-1] if row_of_top else -1
    while row >= 0:
        rising.append(pairs[row])
        row = before[row]
    return rising[::-1]


def _joined(blocks: Sequence[Block]) -> list[Block]:
    joined: list[Block] = []
    for block in blocks:
        if joined and (joined[-1].a + joined[-1].n_words, joined[-1].b + joined[-1].n_words) == (block.a, block.b):
            joined[-1] = joined[-1]._replace(n_words=joined[-1].n_words + block.n_words)
        else:
            joined.append(block)
    return joined


def _without_coincidences(blocks: Sequence[Block], n_a: int, n_b: int) -> list[Block]:
    kept: list[Block] = []
    a = b = 0  # where the last kept block ends
    for block, following in zip(blocks, [*blocks, Block(n_a, n_b, 0)][1:], strict=True):
        before = max(block.a - a, block.b - b)
        after = max(following.a - block.a, following.b - block.b) - block.n_words
        if block.n_words <= _MAX_COINCIDENCE_WORDS and min(before, after) >= _COINCIDENCE_FACTOR * block.n_words:
            continue
        kept.append(block)
        a, b = block.a + block.n_words, block.b + block.n_words
    return kept
