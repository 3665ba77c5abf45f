"""The facts that a text states in so many words: its numbers, dates, units, negations and names, by rules over its words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import NamedTuple

from ibidem.alignment import fact_words as known
from ibidem.alignment.differences import words_of
from ibidem.config.settings import FACT_KINDS

# A text with at least so many capitalised words inside its sentences is a list of headlines: there, capitals name nothing.
_HEADLINE_SHARE = 0.6
_GERMAN_SHARE = 0.08
_FEWEST_WORDS = 8
_SENTENCE_ENDS = ".!?…:;\n\r•|\"“”„«»‘(['*-–—>#。！？"
_JOINS = (" ", "-", "\u00a0")
_NEGATION_CONTEXT_WORDS = 1


class Fact(NamedTuple):
    """A stretch of a text, in characters, that states something. `value` is what it says, as it is compared."""

    kind: str
    start: int
    end: int
    value: str


class _Words(NamedTuple):
    """The words of a text that begin with a letter, where they are, and in small letters."""

    text: str
    shown: Sequence[str]
    starts: Sequence[int]
    ends: Sequence[int]
    folded: Sequence[str]
    is_unspaced: bool

    @classmethod
    def of(cls, text: str) -> _Words:
        """Return the words of a text."""
        matches = list(_LETTERS.finditer(text))
        shown = [match[0] for match in matches]
        folded = [word.lower() for word in shown]
        places = [match.start() for match in matches], [match.end() for match in matches]
        return cls(text, shown, *places, folded, not text.isascii() and _UNSPACED.search(text) is not None)

    def listed(self, known_words: Collection[str]) -> Iterator[int]:
        """Yield the numbers of words in a list; those that follow a digit are parts of a number."""
        for at, word in enumerate(self.folded):
            if word in known_words and not self.text[self.starts[at] - 1 : self.starts[at]].isdigit():
                yield at

    def fact(self, kind: str, at: int) -> Fact:
        """Return a word as a fact."""
        return _fact(kind, self.text, self.starts[at], self.ends[at])


def facts_of(text: str, kinds: Collection[str] = FACT_KINDS) -> list[Fact]:
    """Return the facts of a text, in reading order; no two overlap.

    >>> [fact[:3] for fact in facts_of("On 3 May, Ada Lovelace did not pay 12 euros.")]
    ... # doctest: +NORMALIZE_WHITESPACE
    [('date', 3, 8), ('name', 10, 13), ('name', 14, 22), ('negation', 27, 30), ('number', 35, 37), ('unit', 38, 43)]
    """
    words = _Words.of(text)
    taken = bytearray(len(text))
    found: list[Fact] = []
    rules = [_dates, _numbers, _units]  # each needs to know what the ones before it took
    rules += [_negations] if "negation" in kinds else []
    rules += [_names] if "name" in kinds else []
    for rule in rules:
        for fact in list(rule(words, found)):
            if not any(taken[fact.start : fact.end]):
                taken[fact.start : fact.end] = b"\1" * (fact.end - fact.start)
                found.append(fact)
        found.sort(key=lambda fact: fact.start)
    return [fact for fact in found if fact.kind in kinds]


def digest_of_facts(text: str, kinds: Collection[str], key: bytes) -> int:
    """Return 64 bits that are the same for texts with the same facts in the same order.

    A negation counts with the words beside it, so that a sentence that is negated instead of another one counts as well.
    """
    hashed = blake2b(key=key, digest_size=8)
    facts = facts_of(text, kinds)
    words, places = words_of(text) if "negation" in kinds and any(f.kind == "negation" for f in facts) else ([], [])
    starts = {start: row for row, (start, _) in enumerate(places)}
    for fact in facts:
        beside: Sequence[str] = ()
        if fact.kind == "negation" and fact.start in starts:
            at = starts[fact.start]
            beside = words[max(0, at - _NEGATION_CONTEXT_WORDS) : at + 1 + _NEGATION_CONTEXT_WORDS]
        hashed.update("\0".join((fact.kind, fact.value, *beside, "\1")).encode("utf-8", "surrogatepass"))
    return int.from_bytes(hashed.digest(), "little")


def _any_of(signs: str) -> str:
    return f"[{re.escape(signs)}]"


_LETTERS = re.compile(r"[^\W\d_][^\W_]*")
_DIGITS = re.compile(r"\d+")
_UNSPACED = re.compile("[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_DAY = r"\d{1,2}(?:st|nd|rd|th|er|\.|º)?"
_DAY_BEFORE = re.compile(rf"(?<![\d.,:/]){_DAY}(?:\s+(?:of|de|di))?\s+$", re.IGNORECASE)
_DAY_AND_YEAR = re.compile(rf"\.?(\s+{_DAY}(?![\d:%]|[.,]\d))?(,?\s+(?:de\s+|del\s+)?\d{{4}}(?!\d))?", re.IGNORECASE)
_MONTHS = known.MONTHS | known.SHORT_MONTHS
_NUMERIC_DATE = re.compile(
    r"\d{1,2}[:.]\d{2}(?::\d{2})?\s?(?:[ap]\.?m\b\.?|uhr\b)"
    r"|\d{1,2}:\d{2}(?::\d{2})?(?![\d:])"
    r"|\d{1,2}\s?(?:[ap]\.m\.|[ap]m\b|uhr\b|o['’]clock\b)"
    r"|(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2(?:\d{4}|\d{2}))(?![\d]|[.\-/]\d)",
    re.IGNORECASE,
)
_YEAR = re.compile(rf"(?:1[5-9]|20)\d{{2}}s?(?![^\W_]|[.,]?\d|\s?{_any_of(known.SIGNS_AFTER)})")
_NUMERAL = "[\\d〇零一二三四五六七八九十]{1,4}"
_UNSPACED_DATE = re.compile(
    rf"{_NUMERAL}\s?年(?:\s?{_NUMERAL}\s?月)?(?:\s?{_NUMERAL}\s?日)?|{_NUMERAL}\s?月(?:\s?{_NUMERAL}\s?日)?"
    rf"|{_NUMERAL}\s?[時时点](?![間间])(?:\s?{_NUMERAL}\s?分)?|(?:星期|礼拜|禮拜|周|週)[一二三四五六日天]|[月火水木金土日]曜日?"
    r"|昨日|今日|明日|昨天|今天|明天|어제|오늘|내일|[월화수목금토일]요일"
    r"|\d{4}\s?년(?:\s?\d{1,2}\s?월)?(?:\s?\d{1,2}\s?일)?|\d{1,2}\s?월(?:\s?\d{1,2}\s?일)?|\d{1,2}\s?시(?!간)(?:\s?\d{1,2}\s?분)?"
)
_WORD = re.compile(r"[^\W\d_]+")
_WORD_BEFORE = re.compile(r"([^\W\d_]+)\s+$")
_AFTER_COUNTS = {*known.UNITS, *known.UNITS_AFTER_NUMBERS, *known.NUMBERS}


def _dates(words: _Words, _: Sequence[Fact]) -> Iterator[Fact]:
    text = words.text
    for at in words.listed(_MONTHS):
        month, start, end = words.folded[at], words.starts[at], words.ends[at]
        before, after = _DAY_BEFORE.search(text, max(0, start - 12), start), _DAY_AND_YEAR.match(text, end)
        if before is None and (after is None or not (after[1] or after[2])):
            if month in known.SHORT_MONTHS:
                continue
            if month in known.AMBIGUOUS_MONTHS:
                follows = _WORD_BEFORE.search(text, max(0, start - 20), start)
                if follows is None or follows[1].lower() not in known.BEFORE_MONTHS or not text[start].isupper():
                    continue
        last = end if after is None or not (after[1] or after[2]) else after.end()
        yield _fact("date", text, start if before is None else before.start(), last)
    for at in words.listed(known.DAYS):
        yield words.fact("date", at)
    if words.is_unspaced:
        yield from (_fact("date", text, *match.span()) for match in _UNSPACED_DATE.finditer(text))
    for digits in _DIGITS.finditer(text):
        start = digits.start()
        before_it = text[start - 1 : start]
        date = None if before_it in (".", ":") and before_it else _NUMERIC_DATE.match(text, start)
        if date is not None:
            yield _fact("date", text, *date.span())
        elif digits.end() - start == 4 and not (before_it and (before_it in ".,_" or before_it in known.CURRENCY_SIGNS)):
            year = None if before_it.isalpha() else _YEAR.match(text, start)
            follower = None if year is None else _WORD.match(text[year.end() : year.end() + 20].lstrip(" \u00a0"))
            if year is not None and (follower is None or follower[0].lower() not in _AFTER_COUNTS):
                yield _fact("date", text, *year.span())


_GROUPED_DIGITS = re.compile(r"(?:\d{1,3}(?:[,.'’\u00a0\u202f]\d{3})+(?![\d])|\d+)(?:[.,]\d+)*")
_WRITTEN_NUMERAL = re.compile("[〇零一二三四五六七八九十百千万萬億亿]{2,}")


def _numbers(words: _Words, _: Sequence[Fact]) -> Iterator[Fact]:
    text, last = words.text, 0
    for digits in _DIGITS.finditer(text):
        start = digits.start()
        if start < last:
            continue
        number = _GROUPED_DIGITS.match(text, start)
        assert number is not None
        last = number.end()
        while start and text[start - 1].isascii() and text[start - 1].isalpha():
            start -= 1  # B12
        if start == digits.start() and text[start - 1 : start] in ("-", "−") and start:
            beside = text[start - 2 : start - 1] if start > 1 else ""
            start -= not (beside.isalnum() or (beside != "" and beside in ".,)]"))
        rest = _WORD.match(text, last)
        if rest is not None and rest[0].isascii() and rest[0].lower() not in _AFTER_COUNTS:
            last = rest.end()
        yield _fact("number", text, start, last)
    for at in words.listed(known.NUMBERS):
        yield words.fact("number", at)
    if words.is_unspaced:
        yield from (_fact("number", text, *match.span()) for match in _WRITTEN_NUMERAL.finditer(text))


_UNIT_AFTER = re.compile(r"\s{0,2}-?([^\W\d_]+)")
_SIGNS = known.CURRENCY_SIGNS + known.SIGNS_AFTER
_SIGN = re.compile(rf"{_any_of(known.CURRENCY_SIGNS)}(?=\s?[\d-])|(?<=\d){_any_of(_SIGNS)}|(?<=\d\s){_any_of(_SIGNS)}")


def _units(words: _Words, found: Sequence[Fact]) -> Iterator[Fact]:
    text = words.text
    yield from (_fact("unit", text, *match.span()) for match in _SIGN.finditer(text))
    for at in words.listed(known.UNITS):
        yield words.fact("unit", at)
    for fact in found:
        follows = _UNIT_AFTER.match(text, fact.end) if fact.kind == "number" else None
        if follows is None:
            continue
        unit = follows[1]
        if not unit[0].isascii() and words.is_unspaced:  # what follows a unit there is no space from it
            unit = next((unit[:n] for n in (4, 3, 2, 1) if unit[:n] in known.UNITS_AFTER_NUMBERS), "")
        if unit.lower() in known.UNITS_AFTER_NUMBERS or unit.lower() in known.UNITS:
            yield _fact("unit", text, follows.start(1), follows.start(1) + len(unit))


_UNSPACED_NEGATION = re.compile(
    r"不|没|沒|未(?!来|來)|[无無]|非(?!常)|莫|勿|别(?!的|人)|ない|なかった|なく|ません"
    r"|[가-힣]*(?:않|없|아니)[가-힣]*|(?<![가-힣])[안못](?![가-힣])"
)


def _negations(words: _Words, _: Sequence[Fact]) -> Iterator[Fact]:
    text = words.text
    for at, word in enumerate(words.folded):
        end = words.ends[at]
        if word in known.NEGATIONS:
            yield words.fact("negation", at)
        elif word[-1] == "n" and text[end : end + 1] in ("'", "’") and text[end : end + 1]:
            is_not = text[end + 1 : end + 2] in ("t", "T") and not text[end + 2 : end + 3].isalnum()
            if is_not and len(word) > 1:
                yield _fact("negation", text, words.starts[at], end + 2)
            elif word == "n" and text[end + 1 : end + 2].isalpha():  # French n'
                yield words.fact("negation", at)
    if words.is_unspaced:
        yield from (_fact("negation", text, *match.span()) for match in _UNSPACED_NEGATION.finditer(text))


_FOREIGN_NAME = re.compile(r"[ァ-ヺー]{2,}(?:[・･][ァ-ヺー]{2,})+|[一-鿿]{1,4}·[一-鿿·]{1,12}")


def _names(words: _Words, _: Sequence[Fact]) -> Iterator[Fact]:
    """Yield words that are names by their capitals: inside a sentence, or known as a name from there."""
    text, shown, folded = words.text, words.shown, words.folded
    if words.is_unspaced:
        yield from (_fact("name", text, *match.span()) for match in _FOREIGN_NAME.finditer(text))
    capital = [word != small and word[0].isupper() for word, small in zip(shown, folded, strict=True)]
    if not any(capital):
        return
    inside = [at > 0 and not _begins(text, start) for at, start in enumerate(words.starts)]
    n_inside, n_capital = sum(inside), sum(up and within for up, within in zip(capital, inside, strict=True))
    n_german = sum(word in known.GERMAN_WORDS for word in folded)
    is_headline = n_inside >= _FEWEST_WORDS and n_capital >= _HEADLINE_SHARE * n_inside
    is_german = n_german >= _GERMAN_SHARE * len(folded) and n_german >= 2
    small = {word for word, up in zip(folded, capital, strict=True) if not up}
    by_itself = {word for word, up, within in zip(folded, capital, inside, strict=True) if up and within} - small
    for at, word in enumerate(shown):
        if not capital[at] or folded[at] in known.FUNCTION_WORDS or word in ("I", "A", "O"):
            continue
        is_acronym = len(word) > 1 and word.isupper() and not is_headline
        is_mixed = not word[1:].islower() and not word.isupper() and len(word) > 2
        if is_acronym or is_mixed or (at > 0 and folded[at - 1] in known.TITLES):
            yield words.fact("name", at)
        elif is_headline or ((inside[at] or folded[at] in by_itself) and not is_german):
            if not is_headline:
                yield words.fact("name", at)
        elif _is_beside_name(words, capital, inside, at):
            yield words.fact("name", at)


def _begins(text: str, start: int) -> bool:
    """Return whether a sentence, a line or quoted speech begins at a word."""
    before = text[max(0, start - 3) : start].rstrip(" \t")
    return not before or before[-1] in _SENTENCE_ENDS


def _is_beside_name(words: _Words, capital: Sequence[bool], inside: Sequence[bool], at: int) -> bool:
    """Return whether the word before or after, in the same sentence, is capitalised too and no word of grammar."""
    for one, other, beside in ((at - 1, at, at - 1), (at, at + 1, at + 1)):
        if one >= 0 and other < len(capital) and capital[beside] and inside[other]:
            if words.folded[beside] not in known.FUNCTION_WORDS and words.text[words.ends[one] : words.starts[other]] in _JOINS:
                return True
    return False


def _fact(kind: str, text: str, start: int, end: int) -> Fact:
    return Fact(kind, start, end, _shown(text[start:end]))


def _shown(text: str) -> str:
    """Return a fact as it is compared: small letters, one space between words, digits of one kind."""
    return " ".join(unicodedata.normalize("NFKC", text).replace("−", "-").casefold().replace(",", ", ").split())


def same_number(a: str, b: str) -> bool:
    """Return whether two numbers, in digits or as words, may have the same value: 3,500 and 3500, three and 3."""
    return not _values(a).isdisjoint(_values(b))


def _values(number: str) -> set[str]:
    number = unicodedata.normalize("NFKC", number).casefold().replace("−", "-")
    if number in known.NUMBERS:
        return {known.NUMBERS[number]}
    digits = re.match(r"-?[\d.,'’ \u00a0\u202f]*\d", number)
    if digits is None:
        return {number}
    plain, rest = digits[0], number[digits.end() :]
    rest = "" if rest in ("st", "nd", "rd", "th", "er") else rest
    parts = re.split(r"[.,'’ \u00a0\u202f]+", plain)
    values = {plain + rest}
    if len(parts) > 1 and all(len(part) == 3 for part in parts[1:]):
        values.add("".join(parts) + rest)
    if len(parts) > 1:
        values.add("".join(parts[:-1]) + "." + parts[-1].rstrip("0") + rest)
    return values


def overlapping(facts: Sequence[Fact], places: Sequence[tuple[int, int]]) -> list[Fact | None]:
    """Return for each word, given by its place, the fact that it belongs to."""
    assert all(one.end <= other.start for one, other in pairwise(facts))
    of_word: list[Fact | None] = []
    row = 0
    for start, end in places:
        while row < len(facts) and facts[row].end <= start:
            row += 1
        of_word.append(facts[row] if row < len(facts) and facts[row].start < end else None)
    return of_word
