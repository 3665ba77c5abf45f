"""Is this quotation in the index, word for word? Windows of sentences that have its words are compared with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ibidem.alignment.difference_kinds import kinds_in, typed_differences
from ibidem.alignment.differences import words_of
from ibidem.config import Config
from ibidem.errors import IndexSettingsError, UsageError
from ibidem.index.quotation_windows import FoundWindows, Window, find_windows
from ibidem.index.quoted_parts import QuotedPart, parts_of, plain
from ibidem.index.segment import Segment
from ibidem.index.vocabulary import WordCounts
from ibidem.model import Difference
from ibidem.sentences import split_sentences, tokenise_texts
from ibidem.sentences.ignored_text import load_ignored

FEWEST_WORDS = 3
Status = Literal["verbatim", "altered", "elsewhere", "absent", "ignored"]

# Windows whose texts are compared word by word: of those with all words, and of others.
_MOST_COMPARED, _MOST_ALIGNED = 2_000, 24
_CONTEXT_CHARS = 160
_MOST_SKIPPED = 12  # words of the source in place of something in brackets, besides those that are in the brackets
_WORDS_AROUND = 40  # of a document, in which a later part is looked for where it is not word for word
_MOST_ALIGNED_WORDS = 4_000
_MOST_AT_END = 4  # words at an end of a quotation that may have changed places
# Of an altered quotation at most this share of words differs, and the words that it has in common with the source have at least
# this share of the weight of all: rare words say more.
_MOST_CHANGED = 0.45
_MOST_MOVED = 0.6
_MIN_WEIGHT_SHARE = 0.5
_WEIGHT_UNIT = 1 << 16

Segments = Sequence[tuple[Segment, NDArray[np.bool_]]]


@dataclass(frozen=True)
class VerifiedQuotation:
    """What was found of a quotation.

    `status` is `verbatim` (the same words in the same order, ellipses and brackets aside), `altered` (`differences` lead from
    the quotation, a, to the source, b), `elsewhere` (found, but not in the document `source` that was named), `absent`, or
    `ignored` (it consists of text to be ignored, and was not looked up).
    `start` and `end` are characters of the document `id`, `text` is what it says there, `before` and `after` are its context.
    Differences count characters of the quotation and of `text`. `is_exhaustive` is false if the words are so common that not
    all of their places were searched: an absent quotation may still exist.
    """

    quotation: str
    status: Status
    similarity: float
    id: str | None = None
    start: int | None = None
    end: int | None = None
    text: str | None = None
    before: str = ""
    after: str = ""
    differences: tuple[Difference, ...] = ()
    source: str | None = None
    is_exhaustive: bool = True

    @property
    def kinds(self) -> list[str]:
        """The kinds of differences, each once."""
        return kinds_in(self.differences)


class _Place(NamedTuple):
    """A stretch of the words of a document, and in how many words it differs from a part of a quotation."""

    first: int
    last: int
    n_changed: int


class _Match(NamedTuple):
    """Where the parts of a quotation are in a document, best matches being the largest."""

    is_verbatim: bool
    is_source: bool
    similarity: float
    order: tuple[int, int, int]
    document: tuple[int, int]
    compared: tuple[tuple[tuple[int, int], tuple[int, int]], ...]  # stretches of the quotation, and of the document


@dataclass
class _Texts:
    """Texts of documents of the index as they are needed, with their words."""

    segments: Segments
    texts: dict[tuple[int, int], str] = field(default_factory=dict)

    def of(self, segment: int, document: int) -> str:
        key = segment, document
        if key not in self.texts:
            kept = self.segments[segment][0].texts
            self.texts[key] = "" if kept is None else kept.read(np.array([document]))[0].decode()
        return self.texts[key]

    def window(self, window: Window) -> tuple[int, str]:
        """Return the text of a window, and where it begins."""
        segment = self.segments[window.segment][0]
        start = int(segment.start_char[window.first])
        end = int(segment.end_chars(np.array([window.last]), np.array([window.document]))[0])
        return start, self.of(window.segment, window.document)[start:end]


class QuotationSearch:
    """Verifies quotations against the segments of one commit."""

    def __init__(self, segments: Segments, counts: WordCounts, hash_seed: int, serials: Mapping[str, int]) -> None:
        self._segments = segments
        self._counts = counts
        self._seed = hash_seed
        self._serials = serials  # of the documents that are named as sources

    def verify(self, quotation: str, source: str | None = None) -> VerifiedQuotation:
        """Return what is found of one quotation."""
        parts = parts_of(quotation)
        n_words = [len(words_of(part.text)[0]) for part in parts]
        if sum(n_words) < FEWEST_WORDS:
            raise UsageError(f"a quotation must have at least {FEWEST_WORDS} words", "Quote more of the text.")
        asked = _Asked(quotation, parts, self._weights(quotation, parts), self._place_of(source))
        main = max(range(len(parts)), key=lambda at: asked.weights[at].total)
        found = self._windows(parts[main].text, asked.weights[main])
        if asked.source is not None:
            own = self._windows(parts[main].text, asked.weights[main], asked.source)
            rest = (window for window in found.windows if window[:2] != asked.source)
            found = FoundWindows([*own.windows, *rest], own.is_complete and found.is_complete)
        matches, is_exhaustive = self._matches(asked, main, found)
        best = max(matches, default=None)
        if best is None:
            return VerifiedQuotation(quotation, "absent", 0.0, source=source, is_exhaustive=is_exhaustive)
        checked = self._described(asked, best, is_exhaustive or best.is_verbatim)
        if source is not None and checked.id != source:
            checked = replace(checked, status="elsewhere")
        return replace(checked, source=source)

    def _weights(self, quotation: str, parts: Sequence[QuotedPart]) -> list[_Words]:
        tokens, first = tokenise_texts(pa.array([part.text for part in parts], pa.large_string()), self._seed)
        found = []
        for begin, end in zip(first[:-1].tolist(), first[1:].tolist(), strict=True):
            hashes = np.unique(tokens[begin:end])
            found.append(_Words(hashes, self._counts.weights_of(hashes) / _WEIGHT_UNIT))
        return found

    def _place_of(self, source: str | None) -> tuple[int, int] | None:
        """Return the segment and the number of the document that is named as the source."""
        serial = None if source is None else self._serials.get(source)
        if serial is not None:
            for number, (segment, kept) in enumerate(self._segments):
                at = int(np.searchsorted(segment.serials, serial))
                if at < segment.n_documents and segment.serials[at] == serial and kept[at]:
                    return number, at
        return None

    def _windows(self, text: str, words: _Words, within: tuple[int, int] | None = None) -> FoundWindows:
        n_more = len(split_sentences(text))
        hashes, weights = words
        if not text.isascii():  # in scripts without spaces, words at both ends depend on what is beside them
            inner, _ = tokenise_texts(pa.array([text[1:-1]], pa.large_string()), self._seed)
            is_inside = np.isin(hashes, inner)
            hashes, weights = (hashes[is_inside], weights[is_inside]) if is_inside.any() else (hashes, weights)
        return find_windows(self._segments, hashes, weights, n_more, within)

    def _matches(self, asked: _Asked, main: int, found: FoundWindows) -> tuple[list[_Match], bool]:
        """Return where the quotation is, or what comes near it, and whether everything was looked at."""
        texts = _Texts(self._segments)
        source = asked.source
        full = [window for window in found.windows if window.has_all]
        is_exhaustive = found.is_complete and len(full) <= _MOST_COMPARED
        matches: list[_Match] = []
        wanted = words_of(asked.parts[main].text)[0]
        seen: set[tuple[int, ...]] = set()
        full.sort(key=lambda window: (window[:2] != source, *window[:3]))
        for window in full[:_MOST_COMPARED]:
            start, text = texts.window(window)
            words, places = words_of(text)
            for at in _runs(words, wanted):
                span = start + places[at][0], start + places[at + len(wanted) - 1][1]
                matches += self._assembled(asked, main, texts, window[:2], span)
            if any(match.is_verbatim and (match.is_source or source is None or window[:2] != source) for match in matches):
                return matches, True
        near = [window for window in found.windows if window[:2] == source][:_MOST_ALIGNED]
        others = [window for window in found.windows if not window.has_all and window[:2] != source]
        for window in [*near, *full[:_MOST_ALIGNED], *others[:_MOST_ALIGNED]]:
            if window[:3] in seen:
                continue
            seen.add(window[:3])
            start, text = texts.window(window)
            words, places = words_of(text)
            place = widened(nearest(wanted, words), wanted, words)
            if place is not None and self._is_near(asked.weights[main], wanted, words[place.first : place.last], place):
                span = start + places[place.first][0], start + places[place.last - 1][1]
                matches += self._assembled(asked, main, texts, window[:2], span)
        return matches, is_exhaustive

    def _is_near(self, known: _Words, wanted: Sequence[str], words: Sequence[str], place: _Place) -> bool:
        """Return whether a stretch of a document is an altered form of words that are wanted."""
        if not place.n_changed:
            return True
        n_words = len(wanted)
        in_common = Counter(wanted) & Counter(words)
        n_common = sum(in_common.values())
        if n_words <= 5:
            is_like = place.n_changed <= 1 and n_common >= n_words - 1
        else:
            is_moved = n_common >= 0.9 * n_words and place.n_changed <= _MOST_MOVED * n_words
            is_like = is_moved or place.n_changed <= max(2, _MOST_CHANGED * n_words)
        if not is_like:
            return False
        tokens, _ = tokenise_texts(pa.array([" ".join(in_common)], pa.large_string()), self._seed)
        weight = float(known.weights[np.isin(known.hashes, tokens)].sum())
        return weight >= _MIN_WEIGHT_SHARE * known.total

    def _assembled(
        self, asked: _Asked, main: int, texts: _Texts, document: tuple[int, int], span: tuple[int, int]
    ) -> list[_Match]:
        """Return where all parts are in a document, given where the main one is; nothing if another part is not there."""
        text = texts.of(*document)
        places: dict[int, tuple[int, int]] = {main: span}
        if len(asked.parts) > 1:
            words, where = words_of(text)
            for at in range(main + 1, len(asked.parts)):
                own = _part_after(asked.parts[at], asked.n_skipped(at), words, where, places[at - 1][1])
                if own is None:
                    return []
                places[at] = own
            for at in range(main - 1, -1, -1):
                own = _part_before(
                    asked.parts[at], asked.parts[at + 1].may_skip, asked.n_skipped(at + 1), words, where, places[at + 1][0]
                )
                if own is None:
                    return []
                places[at] = own
        spans = tuple(places[at] for at in range(len(asked.parts)))
        compared = list(zip(((part.start, part.end) for part in asked.parts), spans, strict=True))
        compared += _compared_brackets(asked, text, spans)
        n_equal = n_words = 0
        for stretch, theirs in compared:
            wanted, there = (words_of(each)[0] for each in (plain(asked.quotation)[slice(*stretch)], text[slice(*theirs)]))
            n_words += len(wanted) + len(there)
            n_equal += len(wanted) if wanted == there else _n_equal(wanted, there)
        order = (-document[0], -document[1], -spans[0][0])
        similarity = 2 * n_equal / n_words
        match = _Match(2 * n_equal == n_words, document == asked.source, similarity, order, document, tuple(sorted(compared)))
        return [match]

    def _described(self, asked: _Asked, match: _Match, is_exhaustive: bool) -> VerifiedQuotation:
        number, document = match.document
        segment = self._segments[number][0]
        text = _Texts(self._segments).of(number, document)
        start, end = match.compared[0][1][0], match.compared[-1][1][1]
        differences: list[Difference] = []
        if not match.is_verbatim:
            for (begin, until), (first, last) in match.compared:
                differences += [
                    each._replace(
                        a_start=each.a_start + begin, a_end=each.a_end + begin,
                        b_start=each.b_start + first - start, b_end=each.b_end + first - start,
                    )
                    for each in typed_differences(plain(asked.quotation)[begin:until], text[first:last])
                ]  # fmt: skip
        return VerifiedQuotation(
            asked.quotation,
            "verbatim" if match.is_verbatim else "altered",
            match.similarity,
            segment.ids(np.array([document]))[0].as_py(),
            start,
            end,
            text[start:end],
            text[max(0, start - _CONTEXT_CHARS) : start],
            text[end : end + _CONTEXT_CHARS],
            tuple(differences),
            is_exhaustive=is_exhaustive,
        )


def verify_quotations(
    asked: Iterable[tuple[str, str | None]], segments: Segments, counts: WordCounts, config: Config, serials: Mapping[str, int]
) -> list[VerifiedQuotation]:
    """Verify quotations, each with the id of its source, if any; `serials` are those of the sources.

    Those that consist of text to be ignored are not looked up.
    """
    if not config.index.texts:
        message = "quotations need the texts of documents, which this index does not keep"
        raise IndexSettingsError(message, "Build the index again so that it keeps texts.")
    search = QuotationSearch(segments, counts, max(config.sentences.hash_seed, 0), serials)
    ignored = load_ignored(config.sentences.ignore)
    asked = list(asked)
    is_ignored = [False] * len(asked) if ignored is None else ignored.whole_texts([quotation for quotation, _ in asked])
    return [
        VerifiedQuotation(quotation, "ignored", 0.0, source=source) if is_gone else search.verify(quotation, source)
        for (quotation, source), is_gone in zip(asked, is_ignored, strict=True)
    ]


class _Words(NamedTuple):
    """The distinct words of a part of a quotation, by their hashes in the index, and what each weighs."""

    hashes: NDArray[np.uint64]
    weights: NDArray[np.float64]

    @property
    def total(self) -> float:
        """What all weigh together."""
        return float(self.weights.sum())


@dataclass(frozen=True)
class _Asked:
    """A quotation, its parts and their words, and where the document is that is named as its source."""

    quotation: str
    parts: Sequence[QuotedPart]
    weights: Sequence[_Words]
    source: tuple[int, int] | None

    def n_skipped(self, at: int) -> int:
        """Return how many words the source may have between a part and the one before, if there are brackets between them."""
        return _MOST_SKIPPED + len(words_of(self.quotation[self.parts[at - 1].end : self.parts[at].start])[0])


def _compared_brackets(
    asked: _Asked, text: str, spans: Sequence[tuple[int, int]]
) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return brackets whose words are mostly in the source, too, in the same place: they are no insertions, but text."""
    compared = []
    for (part, following), (before, after) in zip(pairwise(asked.parts), pairwise(spans), strict=True):
        if following.may_skip != "few":
            continue
        own, theirs = (part.end, following.start), (before[1], after[0])
        wanted, there = words_of(asked.quotation[own[0] : own[1]])[0], words_of(text[theirs[0] : theirs[1]])[0]
        if there and 2 * sum((Counter(wanted) & Counter(there)).values()) >= len(wanted):
            compared.append((own, theirs))
    return compared


def _runs(words: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Return where words occur in others, in the same order."""
    n = len(wanted)
    return [at for at in range(len(words) - n + 1) if words[at] == wanted[0] and words[at : at + n] == wanted]


def _part_after(
    part: QuotedPart, n_skipped: int, words: Sequence[str], where: Sequence[tuple[int, int]], end: int
) -> tuple[int, int] | None:
    """Return where a part of a quotation is in a document, after the character at which the part before it ends."""
    first = next((at for at, (start, _) in enumerate(where) if start >= end), len(words))
    most = len(words) if part.may_skip == "any" else first + n_skipped
    wanted = words_of(part.text)[0]
    limit = min(len(words), most + len(wanted))
    runs = _runs(words[first:limit], wanted)
    if runs:
        return where[first + runs[0]][0], where[first + runs[0] + len(wanted) - 1][1]
    return _altered_part(wanted, words[first : min(limit, first + _MOST_ALIGNED_WORDS)], where[first:])


def _part_before(
    part: QuotedPart, may_skip: str, n_skipped: int, words: Sequence[str], where: Sequence[tuple[int, int]], start: int
) -> tuple[int, int] | None:
    """Return where a part of a quotation is in a document, before the character at which the next part begins."""
    last = next((at for at, (begin, _) in enumerate(where) if begin >= start), len(words))
    wanted = words_of(part.text)[0]
    first = 0 if may_skip == "any" else max(0, last - n_skipped - len(wanted))
    runs = _runs(words[first:last], wanted)
    if runs:
        return where[first + runs[-1]][0], where[first + runs[-1] + len(wanted) - 1][1]
    first = max(first, last - _MOST_ALIGNED_WORDS)
    return _altered_part(wanted, words[first:last], where[first:])


def _altered_part(wanted: Sequence[str], words: Sequence[str], where: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    place = widened(nearest(wanted, words), wanted, words)
    if place is None or place.n_changed > max(1, _MOST_CHANGED * len(wanted)) or place.n_changed >= len(wanted):
        return None
    return where[place.first][0], where[place.last - 1][1]


def nearest(wanted: Sequence[str], words: Sequence[str]) -> _Place | None:
    """Return the stretch of words that differs from the wanted ones in the fewest words: the first, and of its ends the last.

    Words are replaced, added or left out; each change counts once.
    """
    if not wanted or not words:
        return None
    numbers = {word: number for number, word in enumerate(dict.fromkeys(wanted))}
    a = np.array([numbers[word] for word in wanted])
    b = np.array([numbers.get(word, -1) for word in words])
    costs = _costs(a, b)
    fewest = int(costs.min())
    if fewest >= len(wanted):
        return None
    ends = np.flatnonzero(costs == fewest)
    last = int(ends[0])
    while last + 1 < len(costs) and costs[last + 1] == fewest:
        last += 1
    backwards = _costs(a[::-1], b[:last][::-1], starts_anywhere=False)
    length = int(np.flatnonzero(backwards == backwards.min())[-1])
    first = last - length
    if first == last:
        return None
    return _Place(first, last, fewest)


def widened(place: _Place | None, wanted: Sequence[str], words: Sequence[str]) -> _Place | None:
    """Return a stretch with the words beside it that are wanted and missing in it: at an end, words that changed places."""
    if place is None:
        return None
    first, last = place.first, place.last
    missing = Counter(wanted) - Counter(words[first:last])
    ends = Counter(wanted[-_MOST_AT_END:]), Counter(wanted[:_MOST_AT_END])
    while last < len(words) and missing[words[last]] and ends[0][words[last]]:
        missing[words[last]] -= 1
        last += 1
    while first and missing[words[first - 1]] and ends[1][words[first - 1]]:
        missing[words[first - 1]] -= 1
        first -= 1
    if first and words[first] == "t" and words[first - 1].endswith("n"):  # not from inside of "don't"
        first -= 1
    return _Place(first, last, place.n_changed)


def _costs(a: NDArray[np.int64], b: NDArray[np.int64], starts_anywhere: bool = True) -> NDArray[np.int64]:
    """Return for every end in b how many words must change to make a of the best stretch of b that ends there."""
    place = np.arange(len(b) + 1)
    row = np.zeros(len(b) + 1, np.int64) if starts_anywhere else place.copy()
    for word in a:
        following = row + 1
        following[1:] = np.minimum(following[1:], row[:-1] + (b != word))
        row = np.minimum.accumulate(following - place) + place
    return row


def _n_equal(a: Sequence[str], b: Sequence[str]) -> int:
    """Return how many words two texts have in common in the same order, in runs as long as possible."""
    return sum(block.size for block in SequenceMatcher(None, a, b, autojunk=False).get_matching_blocks())
