"""Lines that fit a screen: names are shortened, sentences are wrapped, paths stay whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.cells import cell_len, set_cell_size

from ibidem.formats.file_names import printable

_SHORTEST_NAME = 24  # shorter ones would look alike; the line is continued below instead
_INDENT = "  "


def fit_lines(lines: Iterable[str], width: int | None) -> Iterator[str]:
    """Yield lines of at most `width` columns; without a width, as they are.

    What is too long is continued on the next line, indented. A word is never broken: a path that is longer than the screen is
    alone on its line, to be copied from there.
    """
    for line in lines:
        yield from _wrapped(line, width) if width is not None and cell_len(line) > width else (line,)


def _wrapped(line: str, width: int) -> Iterator[str]:
    indent = line[: len(line) - len(line.lstrip(" "))]
    first, *others = line.split()
    begun = indent + first
    for word in others:
        if cell_len(begun) + 1 + cell_len(word) > width:
            yield begun
            begun = f"{indent}{_INDENT}{word}"
        else:
            begun += f" {word}"
    yield begun


def with_names(parts: Sequence[str], names: Iterable[str], width: int | None) -> Iterator[str]:
    """Yield a line made of parts, with names in their places {}. Where it is too long, names are shortened, but not much;
    where that is not enough, each part has a line of its own.
    """
    names = list(map(printable, names))
    form = "".join(parts)
    if width is None or len(parts) == 1 or cell_len(form.format(*(shortened(name, _SHORTEST_NAME) for name in names))) <= width:
        yield _shortened_to_fit(form, names, width)
        return
    indent = form[: len(form) - len(form.lstrip(" "))]
    for part in parts:
        n_names = part.count("{}")
        inside = indent if part is parts[0] else f"{indent}{_INDENT}"
        yield _shortened_to_fit(inside + part.strip(" "), names[:n_names], width)
        names = names[n_names:]


def _shortened_to_fit(form: str, names: Sequence[str], width: int | None) -> str:
    """Return a line with names, shortened as far as the width asks for it, the longest ones first."""
    excess = 0 if width is None else cell_len(form.format(*names)) - width
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
