"""The curves of `tune --from-verdicts` as a picture: precision and recall by each limit, with their intervals."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Any

from ibidem.config.surface import named

if TYPE_CHECKING:
    from ibidem.results.limits_from_verdicts import VerdictTuning

_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM, _GAP = 320, 240, 44, 48, 44, 24
_TICKS = 4
_COLOURS = {"precision": "#0b57b0", "recall": "#b3471d"}
_LINE = {"precision": "", "recall": ' stroke-dasharray="6 3"'}  # colours alone are not enough


def chart(tuning: VerdictTuning) -> str:
    """Return an SVG with a panel for each setting that could separate something."""
    curves: dict[str, list[dict[str, Any]]] = {}
    for row in tuning.curve.to_pylist():
        curves.setdefault(row["setting"], []).append(row)
    curves = {setting: rows for setting, rows in curves.items() if len(rows) > 1}
    width, height = max(1, len(curves)) * (_LEFT + _WIDTH + _GAP), _TOP + _HEIGHT + _BOTTOM
    panels = "".join(
        f'<g transform="translate({at * (_LEFT + _WIDTH + _GAP) + _LEFT},{_TOP})">'
        f"{''.join(_panel(setting, rows, tuning.limits.get(setting)))}</g>"
        for at, (setting, rows) in enumerate(curves.items())
    )
    title = f"Limits from {tuning.n_confirmed:,} confirmed and {tuning.n_rejected:,} rejected pairs"
    nothing = "" if curves else f'<text x="12" y="{_TOP + 20}">No limit separates them.</text>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'font-family="sans-serif" font-size="12" role="img" aria-label="{escape(title)}">'
        f'<rect width="100%" height="100%" fill="#fff"/><text x="12" y="20" font-size="14">{escape(title)}</text>'
        f"{panels}{nothing}</svg>"
    )


def _panel(setting: str, rows: list[dict[str, Any]], chosen: float | None) -> Iterator[str]:
    """Yield one panel. The values that were tried are at equal distances: few of them are far above the others."""
    last = len(rows) - 1

    def x(at: int) -> float:
        return round(at * _WIDTH / last, 1)

    def y(share: float) -> float:
        return round((1 - share) * _HEIGHT, 1)

    for share in (0, 0.25, 0.5, 0.75, 1):
        yield f'<line x1="0" x2="{_WIDTH}" y1="{y(share)}" y2="{y(share)}" stroke="#ddd"/>'
        yield f'<text x="-6" y="{y(share) + 4}" text-anchor="end" fill="#555">{share:g}</text>'
    for name, colour in _COLOURS.items():
        ends = [[(x(at), y(row[f"{name}{end}"])) for at, row in enumerate(rows)] for end in ("_low", "_high")]
        band = " ".join(f"{a},{b}" for a, b in [*ends[0], *ends[1][::-1]])
        points = [(x(at), y(row[name])) for at, row in enumerate(rows)]
        line = " ".join(f"{a},{b}" for a, b in points)
        yield f'<polygon points="{band}" fill="{colour}" opacity="0.15"/>'
        yield f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"{_LINE[name]}/>'
        yield "".join(f'<circle cx="{a}" cy="{b}" r="2.5" fill="{colour}"/>' for a, b in points)
    for at, (name, colour) in enumerate(_COLOURS.items()):
        yield (
            f'<line x1="{at * 90}" x2="{at * 90 + 18}" y1="-10" y2="-10" stroke="{colour}" stroke-width="2"{_LINE[name]}/>'
            f'<text x="{at * 90 + 22}" y="-6" fill="{colour}">{name}</text>'
        )
    for at, row in enumerate(rows):
        if row["value"] == chosen:
            anchor, aside = ("end", -4) if at > 0.7 * last else ("start", 4)
            yield f'<line x1="{x(at)}" x2="{x(at)}" y1="0" y2="{_HEIGHT}" stroke="#222" stroke-dasharray="2 2"/>'
            yield f'<text x="{x(at) + aside}" y="{_HEIGHT - 6}" text-anchor="{anchor}">{chosen:g}</text>'
    for at in sorted({round(last * part / _TICKS) for part in range(_TICKS + 1)}):
        shown = f"{rows[at]['value']:g}" if rows[at]["value"] else "none"
        yield f'<text x="{x(at)}" y="{_HEIGHT + 16}" text-anchor="middle" fill="#555">{shown}</text>'
    yield f'<text x="{_WIDTH / 2}" y="{_HEIGHT + 34}" text-anchor="middle">{escape(named(setting))}</text>'
