"""Results as notebooks show them: what was found in a sentence, and the first of it, as plain HTML without scripts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

SHOWN = 3
MOST_ROWS = 5
CONTEXT_CHARS = 60
_MOST_CHARS = 400
_QUOTE = "margin:.2em 0 .2em 1em;padding-left:.6em;border-left:2px solid #999;white-space:pre-wrap;overflow-wrap:anywhere"
_MARK = "background:#ffe9a8;color:#16181c"


class WithPassages(Protocol):
    """Where passages are."""

    def longest(self, count: int) -> list[pa.RecordBatch]:
        """Return the rows of the longest passages."""
        ...

    def add_texts(self, passages: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield passages with `a_text` and `b_text`."""
        ...


def counted(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def page(sentence: str, *parts: str) -> str:
    """Return a sentence and what follows it, as HTML. The sentence is text, the parts are HTML."""
    return f'<div class="ibidem"><p>{escape(sentence)}</p>{"".join(parts)}</div>'


def longest_passages(backing: WithPassages, count: int = SHOWN) -> str:
    """Return the longest passages in both documents, with some text around them."""
    rows = backing.longest(count)
    shown = []
    for row, wider in zip(rows, backing.add_texts([_widened(row) for row in rows]), strict=True):
        passage, around = row.to_pylist()[0], wider.to_pylist()[0]
        exact = passage["kind"] == "exact"
        likeness = "exact" if exact else f"{passage['kind']}, similarity {passage['similarity']:.2f}"
        size = counted(passage["n_sentences"], "sentence")
        sides = "".join(_side(passage, around, side) for side in "ab")
        shown.append(f"<div><small>{escape(f'{size}, {likeness}')}</small>{sides}</div>")
    return "".join(shown)


def _widened(row: pa.RecordBatch) -> pa.RecordBatch:
    """Return a passage with the characters around it on both sides."""
    for side in "ab":
        for name, move in ((f"{side}_start", -CONTEXT_CHARS), (f"{side}_end", CONTEXT_CHARS)):
            moved = pc.max_element_wise(pc.add(row[name], move), 0).cast(row.schema.field(name).type)
            row = row.set_column(row.schema.get_field_index(name), row.schema.field(name), moved)
    return row


def _side(passage: dict[str, Any], around: dict[str, Any], side: str) -> str:
    start, end = passage[f"{side}_start"], passage[f"{side}_end"]
    return quoted(passage[f"{side}_id"], start, end, around[f"{side}_text"], around[f"{side}_start"])


def quoted(doc_id: str, start: int, end: int, text: str, text_start: int) -> str:
    """Return a passage of a document as HTML: the stretch from `start` to `end` is marked in a text that begins earlier."""
    begin, stop = start - text_start, end - text_start
    before, shared, after = text[:begin], text[begin:stop], text[stop:]
    if len(shared) > _MOST_CHARS:
        shared, after = shared[: _MOST_CHARS - 1] + "…", ""
    ends = ("…" if text_start else "", "…" if len(after) >= CONTEXT_CHARS else "")
    marked = f'{escape(ends[0] + before)}<mark style="{_MARK}">{escape(shared)}</mark>{escape(after + ends[1])}'
    place = f"<small><b>{escape(str(doc_id))}</b> [{start:,}:{end:,}]</small>"
    return f'<div style="{_QUOTE}">{place}\n{marked}</div>'


def listed(names: Sequence[str], rows: Iterable[Sequence[Any]], n_more: int = 0) -> str:
    """Return rows as an HTML table."""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{escape(_cell(value))}</td>" for value in row) + "</tr>" for row in rows)
    more = f"<p><small>and {n_more:,} more</small></p>" if n_more > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else f"{value:.2f}" if isinstance(value, float) else str(value)
