"""Lines that fit a screen: names are shortened, sentences are wrapped, paths stay whole."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len, set_cell_size

from ibidem.formats.printable_names import printable

_SHORTEST_NAME = 24  # shorter ones would look alike
_INDENT = "  "
_WORD = re.compile("( *)([^ ]+)")


def fit_lines(lines: Iterable[str], width: int | None) -> Iterator[str]:
    """Yield lines of at most `width` columns; without a width, as they are.

    What is too long is continued on the next line, indented. A word is never broken: a path that is longer than the screen is
    alone on its line, to be copied from there.
    """
    for line in lines:
        yield from _wrapped(line, width) if width is not None and cell_len(line) > width else (line,)


def _wrapped(line: str, width: int) -> Iterator[str]:
    indent = line[: len(line) - len(line.lstrip(" "))]
    begun = ""
    # Blanks may be part of a name: all of them stay, except where a line ends.
    for blanks, word in _WORD.findall(line):
        if begun and cell_len(begun + blanks + word) > width:
            yield begun
            begun = f"{indent}{_INDENT}{word}"
        else:
            begun += blanks + word
    yield begun


def with_names(parts: Sequence[str], names: Iterable[str], width: int | None) -> Iterator[str]:
    """Yield a line made of parts, with names in their places {}; where it is too long, parts continue on the next line.

    So names stay whole. Only a name that is too long for a line of its own is shortened.
    """
    names = list(map(printable, names))
    if width is None:
        yield "".join(parts).format(*names)
        return
    indent = parts[0][: len(parts[0]) - len(parts[0].lstrip(" "))]
    form = ""
    within: list[str] = []
    for part in parts:
        own, names = names[: part.count("{}")], names[part.count("{}") :]
        if form and cell_len((form + part).format(*within, *own)) > width:
            yield _shortened_to_fit(form, within, width)
            form, within = f"{indent}{_INDENT}{part.strip(' ')}", own
        else:
            form, within = form + part, [*within, *own]
    yield _shortened_to_fit(form, within, width)


def _shortened_to_fit(form: str, names: Sequence[str], width: int) -> str:
    """Return a line with names, shortened as far as the width requires, the longest ones first."""
    excess = cell_len(form.format(*names)) - width
    if excess > 0:
        rooms = [cell_len(name) for name in names]
        while excess > 0 and (longest := max(rooms, default=0)) > _SHORTEST_NAME:
            rooms[rooms.index(longest)] -= 1
            excess -= 1
        names = [shortened(name, room) for name, room in zip(names, rooms, strict=True)]
    return form.format(*names)


def shortened(name: str, room: int) -> str:
    """Return a name of at most `room` columns: the last folders of a path, otherwise the beginning and the end of the name."""
    if cell_len(name) <= room:
        return name
    at = name.find("/")
    while at >= 0:
        if at + 1 < len(name) and cell_len(name[at:]) < room:
            return f"…{name[at:]}"
        at = name.find("/", at + 1)
    tail = room // 2
    end = name[-tail:]
    while cell_len(end) > tail:
        end = end[1:]
    return f"{set_cell_size(name, room - 1 - cell_len(end)).rstrip()}…{end}"


def table_lines(rows: Sequence[Sequence[str]], width: int | None, align_left: int = 0) -> Iterator[str]:
    """Yield the lines of a table whose first row is its head; its first columns, `align_left` of them, begin at the left.

    Where it is wider than the screen, each row is a line of names and values instead.
    """
    widths = [max(cell_len(row[k]) for row in rows) for k in range(len(rows[0]))]
    if width is None or sum(widths) + 2 * (len(widths) - 1) <= width:
        for row in rows:
            cells = (
                cell + " " * (room - cell_len(cell)) if k < align_left else " " * (room - cell_len(cell)) + cell
                for k, (cell, room) in enumerate(zip(row, widths, strict=True))
            )
            yield "  ".join(cells).rstrip()
        return
    head, *others = rows
    for name, *values in others:
        named = ", ".join(f"{what} {value}" for what, value in zip(head[1:], values, strict=True))
        yield from fit_lines([f"{f'{head[0]} {name}'.strip()}: {named}"], width)


def excerpt_of(text: str, room: int) -> str:
    """Return the beginning of a text on one line of at most `room` columns."""
    line = " ".join(text[: 4 * room].split())
    return line if cell_len(line) <= room and len(text) <= 4 * room else set_cell_size(line, room - 1).rstrip() + "…"
