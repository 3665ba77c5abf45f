"""The page of `decontaminate --report`: how much of each benchmark was found, and every item with its place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from ibidem.contamination.decisions import ALL_PARTS, WHOLE

GENERATOR = '<meta name="generator" content="ibidem decontaminate">'
_POLICY = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
_VIEWPORT = '<meta name="viewport" content="width=device-width, initial-scale=1">'
_STYLE = (
    ":root{color-scheme:light dark;--ink:#16181c;--soft:#5b616b;--line:#d9dbe0;--page:#fff;--mark:#b42318}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e8e8ea;--soft:#a2a8b3;--line:#3a3f48;--page:#16181c;--mark:#ff9d8f}}"
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "body{color:var(--ink);background:var(--page)}"
    "h1,h2{line-height:1.2}h2{margin-top:2.5rem}.lead{font-size:1.15rem}.soft{color:var(--soft)}"
    ".wide{overflow-x:auto}table{border-collapse:collapse;width:100%}"
    "td,th{padding:.3rem .6rem;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}"
    "td:first-child,th:first-child{text-align:left;padding-left:0}th{color:var(--soft);font-weight:600}td.part{padding-left:1.5rem}"
    "tr.all td{font-weight:600}ol{list-style:none;padding:0}li{padding:.8rem 0;border-bottom:1px solid var(--line)}"
    "li p{margin:0;overflow-wrap:anywhere}li .found{color:var(--mark);font-weight:600}"
)
_NUMBERS = {"n_items": "items", "n_whole": "whole", "n_part": "in part", "n_common": "common", "n_short": "too short"}
_LEGEND = (
    "Whole: most of the words are close together in one document. In part: enough of them are nearly in a row. Common: in so "
    "many documents that nothing is removed because of it. Too short: with too few words to be looked for."
)


def contamination_page(
    name: str,
    sentence: str,
    benchmarks: Iterable[Mapping[str, Any]],
    items: Sequence[tuple[Mapping[str, Any], str]],
    n_more: int,
) -> str:
    """Return the page. `items` are rows of found items with their texts; `n_more` are found, but not listed."""
    head = f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">{_VIEWPORT}{_POLICY}{GENERATOR}'
    lines = [f"{head}<title>{escape(name)}</title><style>{_STYLE}</style></head><body><main>"]
    lines.append(f'<h1>{escape(name)}</h1><p class="lead">{escape(sentence)}.</p><h2>Benchmarks</h2>')
    lines += _totals(benchmarks)
    if items:
        lines += ["<h2>Items found</h2><ol>", *(_item(row, text) for row, text in items), "</ol>"]
    if n_more:
        lines.append(f'<p class="soft">{n_more:,} more are in the table found_items.</p>')
    return "\n".join([*lines, "</main></body></html>\n"])


def _totals(benchmarks: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    heads = ["benchmark", *_NUMBERS.values(), "characters found", "documents"]
    yield '<div class="wide" role="region" aria-label="Benchmarks" tabindex="0"><table><thead><tr>'
    yield "".join(f'<th scope="col">{head}</th>' for head in heads) + "</tr></thead><tbody>"
    for row in benchmarks:
        is_all = row["part"] == ALL_PARTS
        first = f'<td dir="auto">{escape(row["benchmark"])}</td>' if is_all else f'<td class="part">{escape(row["part"])}s</td>'
        cells = [*(f"{row[column]:,}" for column in _NUMBERS), f"{row['share_chars']:.1%}", f"{row['n_documents']:,}"]
        yield f"<tr{' class=all' if is_all else ''}>{first}{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
    yield f'</tbody></table></div><p class="soft">{_LEGEND}</p>'


def _item(row: Mapping[str, Any], text: str) -> str:
    n_others = row["n_documents"] - 1
    others = f" and {n_others:,} other document{'' if n_others == 1 else 's'}" if n_others else ""
    item, place = (
        f"<bdi>{escape(str(value))}</bdi>" for value in (f"{row['benchmark']} · {row['item']} · {row['field']}", row["id"])
    )
    where = f"{place} [{row['start']:,}:{row['end']:,}]{others}"
    return (
        f'<li><p class="soft"><span class="found">{found_how(row)}</span> · {item} · in {where}</p>'
        f'<p dir="auto">{escape(text)}</p></li>'
    )


def found_how(row: Mapping[str, Any]) -> str:
    """Return how much of an item was found, in words."""
    how = "whole" if row["found"] == WHOLE else f"{row['share']:.0%}"
    return f"{how}, common text" if row["is_common"] else how
