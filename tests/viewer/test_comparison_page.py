"""The page of two texts: it contains all of them, whatever they are, and can do nothing but be read."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.model import Passage, Span
from ibidem.viewer.comparison_page import comparison_page
from ibidem.viewer.page import styles

VOID = {"meta", "br", "hr", "img", "input", "link"}
HOSTILE = [
    "<script>alert(1)</script>",
    '"onmouseover="alert(1)',
    "' onfocus='alert(1)' autofocus='",
    "</div></section></main></body>",
    "</style><style>*{display:none}</style>",
    "<!-- <![CDATA[ ]]> -->",
    "&lt;b&gt; &amp; &#x3c;img src=x onerror=alert(1)&#62;",
    "<img src=https://example.org/x.png onerror=alert(1)>",
    "\u202egnp.exe\u202c \u2066isolated\u2069",
    "\x00\x1b[31m\x9b31m\x7f",
    "{{7*7}} ${x} %s {0}",
]


class Page(HTMLParser):
    """Reads a page strictly: every tag that opens is closed, in order."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[tuple[str, dict[str, str | None]]] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.data = ""
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs)
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append((tag, dict(attrs)))
        if tag == "script" and dict(attrs).get("type") is None:
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        tag, attributes = self.open[-1] if self.open else ("", {})
        if tag == "script" and attributes.get("id") == "ibidem-data":
            self.data += data
        elif tag == "script":
            self.scripts[-1] += data
        elif tag == "style":
            self.styles.append(data)

    def embedded(self) -> Any:
        return json.loads(self.data)


def span(doc_id: str, text: str, start: int, end: int) -> Span:
    return Span(doc_id, start, end, text[start:end])


def passage(text_a: str, text_b: str, a: tuple[int, int], b: tuple[int, int]) -> Passage:
    return Passage(span("a", text_a, *a), span("b", text_b, *b), 1, 0.5, "near", "unknown")


def test_texts_are_there_whole_and_what_differs_is_known() -> None:
    a, b = "Before. One two three four. After.", "One two 3 four"
    data = Page(comparison_page([passage(a, b, (8, 27), (0, 14))], "left.txt", "right.txt", a, b, 25)).embedded()
    assert [data[side]["segments"] for side in "ab"] == [[{"start": 0, "text": a}], [{"start": 0, "text": b}]]
    (stretch,) = data["stretches"]
    ((a_start, a_end, b_start, b_end),) = stretch["edits"]
    assert (a[a_start:a_end], b[b_start:b_end]) == ("three", "3")
    assert data["shares"] == [19 / len(a), 1.0]


def test_nothing_shared_is_said() -> None:
    data = Page(comparison_page([], "left.txt", "right.txt", "one", "two", 25)).embedded()
    assert "left.txt and right.txt share no passage of 25 words or more" in data["sharing"]
    assert data["stretches"] == []


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("where", ["text", "name", "both"])
def test_texts_and_names_are_data_and_nothing_else(hostile: str, where: str) -> None:
    plain = Page(comparison_page([passage("one", "one", (0, 3), (0, 3))], "name", "name", "one", "one", 25))
    text = f"one {hostile} two" if where != "name" else "one"
    name = f"a{hostile}b" if where != "text" else "name"
    page = comparison_page([passage(text, text, (0, len(text)), (0, len(text)))], name, name, text, text, 25)
    read = Page(page)
    data = read.embedded()
    assert data["a"]["segments"][0]["text"] == data["b"]["segments"][0]["text"] == text
    assert data["a"]["id"] == data["b"]["id"] == name
    assert [tag for tag, _ in read.tags] == [tag for tag, _ in plain.tags]
    assert [set(attrs) for _, attrs in read.tags] == [set(attrs) for _, attrs in plain.tags]
    assert (read.scripts, read.styles) == (plain.scripts, plain.styles)
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page)
    assert "<" not in read.data


def test_the_page_asks_for_nothing_and_runs_its_own_scripts_only() -> None:
    page = comparison_page([passage("one", "one", (0, 3), (0, 3))], "a", "b", "one", "one", 25)
    read = Page(page)
    (policy,) = [attrs["content"] for tag, attrs in read.tags if attrs.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    rules = {rule.split()[0]: rule.split()[1:] for rule in policy.split(";")}
    for content, kind in ((read.scripts, "script-src"), (["".join(read.styles)], "style-src")):
        digests = [base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in content]
        assert rules[kind] == [f"'sha256-{digest}'" for digest in digests]
    for tag, attrs in read.tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "form", "base")
        assert not {"src", "style", "srcset", "action", "href"} & set(attrs)
        assert not [name for name in attrs if name.startswith("on")]


@st.composite
def compared(draw: st.DrawFn) -> tuple[str, str, list[Passage]]:
    letters = st.text(st.sampled_from("ab <>&\"'\n\r中\u202e\x1b"), min_size=1, max_size=40)
    a, b = draw(letters), draw(letters)
    spans = st.tuples(*(st.integers(0, len(text)) for text in (a, a, b, b)))
    found = []
    for places in draw(st.lists(spans, max_size=12)):
        (a_start, a_end), (b_start, b_end) = sorted(places[:2]), sorted(places[2:])
        found.append(passage(a, b, (a_start, a_end), (b_start, b_end)))
    return a, b, found


@settings(max_examples=200, deadline=None)
@given(compared())
def test_any_passages_leave_the_texts_whole(case: tuple[str, str, list[Passage]]) -> None:
    a, b, passages = case
    data = Page(comparison_page(passages, "a", "b", a, b, 25)).embedded()
    assert (data["a"]["segments"][0]["text"], data["b"]["segments"][0]["text"]) == (a, b)
    for side, whole in (("a", a), ("b", b)):
        inside = {i for p in passages for i in range(*(p.a[1:3] if side == "a" else p.b[1:3]))}
        told = {i for one in data["stretches"] for i in range(one[f"{side}_start"], one[f"{side}_end"])}
        assert inside <= told <= set(range(len(whole)))


def test_every_ground_is_told_apart_from_its_letters() -> None:
    def luminance(colour: str) -> float:
        parts = (int(colour[i : i + 2], 16) / 255 for i in (0, 2, 4))
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    def contrast(one: str, other: str) -> float:
        low, high = sorted((luminance(one), luminance(other)))
        return (high + 0.05) / (low + 0.05)

    found = re.findall(r"--(\w+): light-dark\(#([0-9a-f]{3,6}), #([0-9a-f]{3,6})\)", styles())
    colours = {name: [each * 2 if len(each) == 3 else each for each in pair] for name, *pair in found}
    for scheme in (0, 1):
        ink, quiet, ground = (colours[name][scheme] for name in ("ink", "quiet", "ground"))
        grounds = [colours[name][scheme] for name in ("same", "edited", "removed", "added")]
        assert min(contrast(each, ink) for each in (*grounds, ground)) >= 4.5
        assert contrast(ground, quiet) >= 4.5
        assert len(set(grounds)) == 4
