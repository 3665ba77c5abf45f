"""Two texts side by side as one self-contained HTML page: no network, no other files."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from html import escape
from itertools import pairwise
from typing import NamedTuple

from ibidem.model import Passage
from ibidem.results.screen_lines import excerpt_of
from ibidem.results.summary import EXCERPT_CHARS
from ibidem.viewer.side_by_side import describe_passage, describe_sharing, harmless

# Hues that people with any kind of colour vision can distinguish behind black letters (Paul Tol's light scheme).
_HUES = ("77aadd", "ee8866", "eedd88", "ffaabb", "99ddff", "44bb99", "bbcc33", "aaaa00")
_LIGHT_GROUND, _DARK_GROUND = "ffffff", "16181c"
_LIGHT_SHARE, _DARK_SHARE = 0.55, 0.34


class _Mark(NamedTuple):
    """A stretch of one text, the passage (numbered from 1) it is shown as part of, and the other passages that contain it."""

    start: int
    end: int
    passage: int
    others: tuple[int, ...]
    is_changed: bool


def comparison_page(passages: Sequence[Passage], name_a: str, name_b: str, text_a: str, text_b: str, min_words: int) -> str:
    """Return a page with both whole texts, every passage coloured and numbered, changed words underlined.

    `min_words` is what a passage needed to be found.

    Nothing in the texts and names can run: it is escaped, control characters are replaced by visible symbols, and the page's
    own policy forbids loading anything or running any other script.
    """
    style, script = _style(), _SCRIPT
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; base-uri 'none'; form-action 'none'"
    )
    marks_a, marks_b = list(_marks("a", passages)), list(_marks("b", passages))
    is_striped = any(mark.others for mark in marks_a + marks_b)
    sharing = describe_sharing(passages, name_a, name_b, len(text_a), len(text_b), min_words)
    pieces = [
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n',
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
        '<meta name="referrer" content="no-referrer">\n<meta name="color-scheme" content="light dark">\n',
        f"<title>{_shown(name_a)} · {_shown(name_b)}</title>\n<style>{style}</style>\n</head>\n<body>\n<header>\n",
        f"<h1><bdi>{_shown(name_a)}</bdi> <span>and</span> <bdi>{_shown(name_b)}</bdi></h1>\n",
        f'<p class="sharing">{_shown(sharing)}</p>\n',
        *_list_of(passages, is_striped),
        "</header>\n<main>\n",
        *_pane("a", name_a, text_a, marks_a),
        *_pane("b", name_b, text_b, marks_b),
        f"</main>\n<script>{script}</script>\n</body>\n</html>\n",
    ]
    return "".join(pieces)


def _list_of(passages: Sequence[Passage], is_striped: bool) -> Iterator[str]:
    if not passages:
        return
    striped = '; <span class="several">striped</span> text is in several passages' if is_striped else ""
    yield '<nav aria-label="Passages">\n<p class="legend">Choose a passage to see it in both texts. <u>Underlined</u> words '
    yield f"differ{striped}.</p>\n<table>\n<thead><tr>"
    yield '<th scope="col">passage</th><th scope="col">how alike</th><th scope="col">left</th><th scope="col">right</th>'
    yield '<th scope="col">begins</th></tr></thead>\n<tbody>\n'
    for number, passage in enumerate(passages, 1):
        a, b = passage.a, passage.b
        yield f'<tr><td><a class="number {_hue(number)}" href="#a{number}" data-passage="{number}">{number}</a></td>'
        yield f"<td>{_shown(describe_passage(passage))}</td>"
        yield f'<td><a href="#a{number}">{a.start}–{a.end}</a></td><td><a href="#b{number}">{b.start}–{b.end}</a></td>'
        yield f'<td class="begins" lang="" dir="auto">{_shown(excerpt_of(a.text, EXCERPT_CHARS))}</td></tr>\n'
    yield "</tbody>\n</table>\n</nav>\n"


def _pane(side: str, name: str, text: str, marks: Sequence[_Mark]) -> Iterator[str]:
    """Yield one text as a sequence of marks that do not nest, so that passages may overlap in any way."""
    other, place = ("b", "left") if side == "a" else ("a", "right")
    yield f'<section aria-labelledby="name-{side}">\n<h2 id="name-{side}"><bdi>{_shown(name)}</bdi></h2>\n'
    yield f'<div class="text" id="{side}" tabindex="0" role="region" aria-label="{place} text" lang="" dir="auto">'
    written = 0
    begun: set[int] = set()
    for mark in marks:
        yield _shown(text[written : mark.start])
        for number in sorted({mark.passage, *mark.others} - begun):
            begun.add(number)
            yield f'<a class="number {_hue(number)}" id="{side}{number}" href="#{other}{number}" data-passage="{number}" '
            yield f'aria-label="passage {number}, go to the other text">{number}</a>'
        tag = "mark" if not mark.is_changed else "del" if side == "a" else "ins"
        also = f' title="also in passage {", ".join(map(str, mark.others))}"' if mark.others else ""
        several = " several" if mark.others else ""
        yield f'<{tag} class="{_hue(mark.passage)}{several}" data-in="{mark.passage}"{also}>'
        yield f"{_shown(text[mark.start : mark.end])}</{tag}>"
        written = mark.end
    yield f"{_shown(text[written:])}</div>\n</section>\n"


def _marks(side: str, passages: Sequence[Passage]) -> Iterator[_Mark]:
    """Yield the parts of a text that are in passages, in reading order, without overlap.

    Where passages overlap, the one that begins last is shown, so that a passage inside another stays visible.
    """
    events: list[tuple[int, bool, int]] = []  # offset, whether it begins there, passage
    changes: list[tuple[int, int, int]] = []
    for number, passage in enumerate(passages, 1):
        span = passage.a if side == "a" else passage.b
        if span.start < span.end:
            events += [(span.start, True, number), (span.end, False, number)]
            changes += ((start, end, number) for start, end in _changed(side, passage))
    cuts = {place for place, _, _ in events} | {place for start, end, _ in changes for place in (start, end)}
    places = sorted(cuts)
    events.sort()
    changed = sorted(changes)
    open_ones: list[int] = []  # in the order of their starts
    changed_until: dict[int, int] = {}
    next_event = next_change = 0
    for start, end in pairwise(places):
        while next_event < len(events) and events[next_event][0] <= start:
            _, begins, number = events[next_event]
            if begins:
                open_ones.append(number)
            else:
                open_ones.remove(number)
            next_event += 1
        while next_change < len(changed) and changed[next_change][0] <= start:
            changed_until[changed[next_change][2]] = changed[next_change][1]
            next_change += 1
        if open_ones:
            *others, shown = open_ones
            yield _Mark(start, end, shown, tuple(sorted(others)), changed_until.get(shown, 0) > start)


def _changed(side: str, passage: Passage) -> Iterator[tuple[int, int]]:
    """Yield the positions of a passage's changed words in the text, without the spaces after them."""
    span = passage.a if side == "a" else passage.b
    for difference in passage.differences:
        start, end = (difference.a_start, difference.a_end) if side == "a" else (difference.b_start, difference.b_end)
        words = span.text[start:end]
        end -= len(words) - len(words.rstrip())
        if difference.operation != "equal" and start < end:
            yield span.start + start, span.start + end


def _shown(text: str) -> str:
    return escape(harmless(text))


def _hue(number: int) -> str:
    return f"hue{(number - 1) % len(_HUES)}"


def _digest(content: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}"


def _mixed(hue: str, ground: str, share: float) -> str:
    pairs = ((int(hue[i : i + 2], 16), int(ground[i : i + 2], 16)) for i in (0, 2, 4))
    return "#" + "".join(f"{round(share * one + (1 - share) * other):02x}" for one, other in pairs)


def _hues(ground: str, share: float) -> str:
    return "".join(
        f".hue{i}{{background-color:{_mixed(hue, ground, share)}}}"
        f"a.number.hue{i},.chosen.hue{i}{{background-color:#{hue};color:#000}}"
        for i, hue in enumerate(_HUES)
    )


def _style() -> str:
    """Return the style of the page, dark if the reader's system is."""
    light = _hues(_LIGHT_GROUND, _LIGHT_SHARE)
    dark = f"@media (prefers-color-scheme:dark){{:root{{{_DARK}}}{_hues(_DARK_GROUND, _DARK_SHARE)}}}"
    return f":root{{{_LIGHT}}}{light}{_LAYOUT}{dark}@media print{{{_PRINT}{light}}}"


_LIGHT = "--ground:#fff;--ink:#16181c;--quiet:#55595f;--line:#c9ccd1;--link:#0b57b0;--chosen:#16181c"
_DARK = "--ground:#16181c;--ink:#eceef1;--quiet:#a9aeb6;--line:#41454c;--link:#8ab8f5;--chosen:#fff"
_LAYOUT = """
*{box-sizing:border-box}
html,body{height:100%;margin:0}
body{display:flex;flex-direction:column;background:var(--ground);color:var(--ink);font:16px/1.55 system-ui,sans-serif}
header{padding:.8rem 1.2rem .6rem;border-bottom:1px solid var(--line)}
h1{font-size:1.25rem;margin:0;overflow-wrap:anywhere}
h1 span{font-weight:400;color:var(--quiet)}
h2{font-size:1rem;margin:0;padding:.5rem 1.2rem;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
a{color:var(--link)}
.sharing,.legend{margin:.2rem 0;color:var(--quiet);overflow-wrap:anywhere}
nav{max-height:26vh;overflow:auto}
table{border-collapse:collapse;font-size:.9rem;width:100%}
th{text-align:left;font-weight:600;color:var(--quiet)}
th,td{padding:.15rem .9rem .15rem 0;vertical-align:baseline;white-space:nowrap;font-variant-numeric:tabular-nums}
td.begins{width:100%;max-width:0;overflow:hidden;text-overflow:ellipsis;text-align:start}
main{flex:1;min-height:0;display:grid;grid-template-columns:1fr 1fr}
section{min-width:0;min-height:0;display:flex;flex-direction:column}
section+section{border-left:1px solid var(--line)}
.text{flex:1;min-height:0;overflow:auto;padding:1rem 1.2rem 3rem;white-space:pre-wrap;overflow-wrap:anywhere}
.text{line-height:1.8}
mark,ins,del{color:inherit;text-decoration:none;border-radius:2px}
ins,del,u{text-decoration:underline 2px;text-underline-offset:.15em}
.several{background-image:repeating-linear-gradient(135deg,transparent 0 7px,rgb(127 127 127/.22) 7px 10px)}
a.number{display:inline-block;min-width:1.5em;margin-right:.3em;padding:0 .35em;border-radius:.7em}
a.number{font:600 .8rem/1.5 system-ui,sans-serif;text-align:center;text-decoration:none;unicode-bidi:isolate;scroll-margin:3rem}
a.number:hover,a.number:focus-visible,a.number:target,a.number.chosen{outline:2px solid var(--chosen);outline-offset:1px}
@media (max-width:40rem){main{grid-template-columns:1fr;grid-template-rows:1fr 1fr}section+section{border-left:0}}
@media (max-width:40rem){section+section{border-top:1px solid var(--line)}td.begins,th:last-child{display:none}}
"""
_PRINT = """
:root{--ground:#fff;--ink:#000;--quiet:#333;--line:#999;--link:#000}
html,body{height:auto}
body{display:block;font-size:10pt}
nav,.text{max-height:none;overflow:visible}
main{display:table;width:100%;table-layout:fixed}
section{display:table-cell;width:50%;vertical-align:top}
mark,ins,del,a.number{color:#000!important;print-color-adjust:exact;-webkit-print-color-adjust:exact}
a.number{border:1px solid #000}
tr{break-inside:avoid}
"""
_SCRIPT = """
"use strict";
document.addEventListener("click", function (event) {
  var link = event.target.closest("a[data-passage]");
  if (!link) return;
  var number = link.dataset.passage;
  event.preventDefault();
  document.querySelectorAll(".chosen").forEach(function (old) { old.classList.remove("chosen"); });
  document.querySelectorAll('[data-in="' + number + '"]').forEach(function (part) { part.classList.add("chosen"); });
  ["a", "b"].forEach(function (side) {
    var pane = document.getElementById(side), start = document.getElementById(side + number);
    if (!start) return;
    start.classList.add("chosen");
    pane.scrollTop += start.getBoundingClientRect().top - pane.getBoundingClientRect().top - 24;
  });
});
"""
