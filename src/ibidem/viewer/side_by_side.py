"""Passages of two texts side by side on a terminal: equal text is aligned, differences are marked."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from ibidem.alignment.differences import word_bounds
from ibidem.config.settings import DIFFERENCE_KINDS
from ibidem.config.surface import named
from ibidem.model import Passage
from ibidem.results.screen_lines import fit_lines
from ibidem.results.summary import many
from ibidem.sentences import split_sentences

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

# Longer equal stretches are shortened to this many characters at each end, unless `full` is set.
_MAX_EQUAL_CHARS = 400
_KEPT_CHARS = 120
# A row ends with the sentence that brings both sides together to this many characters, or with a paragraph.
_MIN_ROW_CHARS = 100
_BLANKS = re.compile(r"\s+")
_UNSHOWN = (*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A), *range(0xD800, 0xE000))
_PICTURES = {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n\r"}
_BREAKS = {0x0B: " ", 0x0C: " ", 0x85: " ", 0x2028: "\n", 0x2029: "\n", 0x1D: "\n", 0x1E: "\n"}  # the last: pages, regions
_HARMLESS: dict[int, str] = {**dict.fromkeys(_UNSHOWN, "\ufffd"), **_PICTURES, 0x7F: "␡", **_BREAKS}


def harmless(text: str) -> str:
    """Return a text that has no effect on a terminal or page, character by character.

    Control characters become their visible symbols (␛); characters that change the writing direction become �.
    """
    return text.translate(_HARMLESS)


def covered_shares(passages: Sequence[Passage], n_chars_a: int, n_chars_b: int) -> tuple[float, float]:
    """Return the share of each text's characters that is in passages; overlaps count once."""
    shares = []
    for spans, n_chars in (([p.a for p in passages], n_chars_a), ([p.b for p in passages], n_chars_b)):
        n_covered = end = 0
        for span in sorted(spans, key=lambda span: (span.start, span.end)):
            n_covered += max(0, span.end - max(span.start, end))
            end = max(end, span.end)
        shares.append(n_covered / n_chars if n_chars else 0.0)
    return shares[0], shares[1]


def describe_passage(passage: Passage) -> str:
    """Describe the kind, similarity, size and changes of a passage in a few words."""
    likeness = passage.kind if passage.kind == "exact" else f"{passage.kind} {passage.similarity:.2f}"
    counts = Counter(each.kind for each in passage.differences if each.kind is not None)
    changes = [f"{counts[kind]} {kind}" for kind in DIFFERENCE_KINDS if counts[kind]]
    return "; ".join([f"{likeness}, {many(passage.n_sentences, 'sentence')}", *([", ".join(changes)] if changes else [])])


def describe_sharing(
    passages: Sequence[Passage], name_a: str, name_b: str, n_chars_a: int, n_chars_b: int, min_words: int
) -> str:
    """Describe in one line how much two texts share; `min_words` is what a passage needed to be found."""
    name_a, name_b = _one_line(name_a), _one_line(name_b)
    if not passages:
        shorter = f"; lower {named('min_aligned_words')} to find shorter ones" if min_words > 1 else ""
        return f"{name_a} and {name_b} share no passage of {many(min_words, 'word')} or more{shorter}"
    share_a, share_b = covered_shares(passages, n_chars_a, n_chars_b)
    return f"{many(len(passages), 'passage')}: {_percent(share_a)} of {name_a}, {_percent(share_b)} of {name_b}"


def print_side_by_side(
    console: Console,
    passages: Sequence[Passage],
    name_a: str,
    name_b: str,
    n_chars_a: int,
    n_chars_b: int,
    min_words: int,
    full: bool = False,
) -> None:
    """Print every passage in two columns, then how much of both texts they cover.

    Changed words are coloured and underlined where the console has colours, and wrapped in [-…-] and {+…+} elsewhere. Long
    equal stretches are shortened unless `full` is set.
    """
    from rich.text import Text

    layout = _Layout(console)
    for number, passage in enumerate(passages, 1):
        title = Text(f"passage {number}", "bold")
        title.append(f"  {describe_passage(passage)}", "not bold")
        layout.print(title)
        layout.print_row(
            Text(f"{_one_line(name_a)} [{passage.a.start}:{passage.a.end}]", "bold"),
            Text(f"{_one_line(name_b)} [{passage.b.start}:{passage.b.end}]", "bold"),
        )
        layout.print_line()
        for row in _rows(passage, full):
            layout.print_row(layout.cell(row.a, "[-", "-]", "red"), layout.cell(row.b, "{+", "+}", "green"))
        layout.print(Text())
    sharing = describe_sharing(passages, name_a, name_b, n_chars_a, n_chars_b, min_words)
    for line in fit_lines([sharing], console.width if console.is_terminal else None):
        layout.print(Text(line, "bold"))


class _Piece(NamedTuple):
    text: str
    look: str  # equal, changed or left_out


@dataclass
class _Row:
    """A row of the two columns."""

    a: list[_Piece] = field(default_factory=list)
    b: list[_Piece] = field(default_factory=list)
    n_chars: int = 0  # of both sides together


class _Cut(NamedTuple):
    """A pair of stretches of both texts that are shown alike, from one pair of places to another."""

    look: str
    a_start: int
    a_end: int
    b_start: int
    b_end: int


def _rows(passage: Passage, full: bool) -> Iterator[_Row]:
    """Yield rows of a few sentences that begin and end together on both sides."""
    a, b = passage.a.text, passage.b.text
    starts_a, starts_b = _sentence_starts(a), _sentence_starts(b)
    row = _Row()
    for look, a_start, a_end, b_start, b_end in _cuts(passage, starts_a, full):
        if look == "left_out":
            if row.a or row.b:
                yield row
            yield _Row([_left_out(a_end - a_start)], [_left_out(b_end - b_start)])
            row = _Row()
            continue
        row.n_chars += a_end - a_start + b_end - b_start
        if a_start < a_end:
            row.a.append(_Piece(a[a_start:a_end], look))
        if b_start < b_end:
            row.b.append(_Piece(b[b_start:b_end], look))
        if a_end in starts_a and b_end in starts_b and (row.n_chars >= _MIN_ROW_CHARS or _is_paragraph_end(a, a_end)):
            yield row
            row = _Row()
    if row.a or row.b:
        yield row


def _cuts(passage: Passage, starts_a: Set[int], full: bool) -> Iterator[_Cut]:
    """Yield the differences of a passage; equal ones are split at sentences, and long ones shortened unless `full` is set."""
    for operation, *places, _ in passage.differences:
        if operation != "equal":
            yield _Cut("changed", *places)
            continue
        a_start, a_end, b_start, b_end = places
        bounds_a, bounds_b = word_bounds(passage.a.text[a_start:a_end]), word_bounds(passage.b.text[b_start:b_end])
        bounds = [(a_start + a, b_start + b) for a, b in zip(bounds_a, bounds_b, strict=True)]
        first = last = len(bounds) - 1
        if not full and max(a_end - a_start, b_end - b_start) > _MAX_EQUAL_CHARS:
            first, last = bisect_left(bounds_a, _KEPT_CHARS), bisect_right(bounds_a, a_end - a_start - _KEPT_CHARS) - 1
        if first < last:
            yield from _sentences(bounds[: first + 1], starts_a)
            yield _Cut("left_out", bounds[first][0], bounds[last][0], bounds[first][1], bounds[last][1])
            yield from _sentences(bounds[last:], starts_a)
        else:
            yield from _sentences(bounds, starts_a)


def _sentences(bounds: Sequence[tuple[int, int]], starts_a: Set[int]) -> Iterator[_Cut]:
    a_start, b_start = bounds[0]
    for a_end, b_end in bounds[1:]:
        if a_end in starts_a or (a_end, b_end) == bounds[-1]:
            yield _Cut("equal", a_start, a_end, b_start, b_end)
            a_start, b_start = a_end, b_end


def _sentence_starts(text: str) -> set[int]:
    return {start for start, _ in split_sentences(text)} | {len(text)}


def _is_paragraph_end(text: str, place: int) -> bool:
    n_line_breaks = 0
    while place and text[place - 1].isspace():
        place -= 1
        n_line_breaks += text[place] == "\n"
    return n_line_breaks > 1


def _left_out(n_chars: int) -> _Piece:
    return _Piece(f"⋯ {n_chars:,} equal characters ⋯", "left_out")


class _Layout:
    """Two columns on a console."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._marked = console.color_system is None or console.no_color
        self._separator = " | " if console.options.ascii_only else " │ "
        self._width = max(8, (console.width - len(self._separator)) // 2)

    def cell(self, pieces: Sequence[_Piece], opening: str, closing: str, colour: str) -> Text:
        """Return pieces of text, styled."""
        from rich.text import Text

        cell = Text()
        for text, look in pieces:
            shown = _BLANKS.sub(" ", harmless(text))
            words = shown.strip()
            if look == "left_out":
                cell.append(words, "dim")
            elif look == "equal" or not words:
                cell.append(shown)
            else:
                cell.append(shown[: len(shown) - len(shown.lstrip())])
                if self._marked:
                    cell.append(f"{opening}{words}{closing}")
                else:
                    cell.append(words, f"{colour} underline")
                cell.append(shown[len(shown.rstrip()) :])
        return cell

    def print(self, line: Text) -> None:
        """Print a line as it is."""
        self._console.print(line, no_wrap=True, overflow="ignore", crop=False)

    def print_line(self) -> None:
        """Print a line across both columns."""
        from rich.text import Text

        dash, crossing = ("-", "-+-") if self._console.options.ascii_only else ("─", "─┼─")
        self.print(Text(f"{dash * self._width}{crossing}{dash * self._width}", "dim"))

    def print_row(self, a: Text, b: Text) -> None:
        """Print two cells side by side, on as many lines as the longer one takes."""
        from rich.text import Text

        columns = (cell.wrap(self._console, self._width, overflow="fold", tab_size=1) for cell in (a, b))
        for left, right in zip_longest(*columns):
            line = Text()
            if left is not None:
                left.rstrip()
                line.append_text(left)
            line.append(" " * (self._width - line.cell_len))
            line.append(self._separator, "dim")
            if right is not None:
                right.rstrip()
                line.append_text(right)
            line.rstrip()
            self.print(line)


def _one_line(name: str) -> str:
    return " ".join(harmless(name).split())


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
