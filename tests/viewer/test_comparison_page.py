"""The page of two texts: it holds together whatever the texts are, shows all of them, and can do nothing but be read."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.model import Passage, Span
from ibidem.viewer.comparison_page import comparison_page
from ibidem.viewer.side_by_side import harmless

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
        self.texts = {"a": "", "b": ""}
        self.marked: list[tuple[str, str, str]] = []
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

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        inner = self.open[-1] if self.open else ("", {})
        if inner[0] == "script":
            self.scripts.append(data)
        elif inner[0] == "style":
            self.styles.append(data)
        side = next((attrs["id"] for _, attrs in self.open if attrs.get("class") == "text"), None)
        if side and inner[0] != "a":  # numbers are no text
            self.texts[side] += data
            if inner[0] in ("mark", "ins", "del"):
                self.marked.append((side, inner[0], data))


def span(doc_id: str, text: str, start: int, end: int) -> Span:
    return Span(doc_id, start, end, text[start:end])


def passage(text_a: str, text_b: str, a: tuple[int, int], b: tuple[int, int]) -> Passage:
    return Passage(span("a", text_a, *a), span("b", text_b, *b), 1, 0.5, "near", "unknown")


def test_texts_are_shown_whole_and_what_differs_is_marked() -> None:
    a, b = "Before. One two three four. After.", "One two 3 four"
    page = Page(comparison_page([passage(a, b, (8, 27), (0, 14))], "left.txt", "right.txt", a, b, 25))
    assert page.texts == {"a": a, "b": b}
    assert page.marked == [
        ("a", "mark", "One two "), ("a", "del", "three"), ("a", "mark", " four."),
        ("b", "mark", "One two "), ("b", "ins", "3"), ("b", "mark", " four"),
    ]  # fmt: skip
    targets = [attrs["href"] for tag, attrs in page.tags if tag == "a"]
    names = {f"#{attrs['id']}" for _, attrs in page.tags if "id" in attrs}
    assert targets
    assert set(targets) <= names
    assert {"#a1", "#b1"} <= names
    assert [tag for tag, _ in page.tags].count("h1") == 1
    assert [tag for tag, _ in page.tags].count("h2") == 2


def test_nothing_shared_is_said() -> None:
    page = comparison_page([], "left.txt", "right.txt", "one", "two", 25)
    assert "left.txt and right.txt share no passage of 25 words or more" in page
    assert Page(page).marked == []
    assert "<nav" not in page


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("where", ["text", "name", "both"])
def test_texts_and_names_are_shown_and_never_carried_out(hostile: str, where: str) -> None:
    plain = Page(comparison_page([passage("one", "one", (0, 3), (0, 3))], "name", "name", "one", "one", 25))
    text = f"one {hostile} two" if where != "name" else "one"
    name = f"a{hostile}b" if where != "text" else "name"
    page = comparison_page([passage(text, text, (0, len(text)), (0, len(text)))], name, name, text, text, 25)
    read = Page(page)
    assert read.texts["a"] == read.texts["b"] == harmless(text)
    assert [tag for tag, _ in read.tags] == [tag for tag, _ in plain.tags]
    assert [set(attrs) for _, attrs in read.tags] == [set(attrs) for _, attrs in plain.tags]
    assert (read.scripts, read.styles) == (plain.scripts, plain.styles)
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page)


def test_the_page_asks_for_nothing_and_runs_its_own_script_only() -> None:
    page = comparison_page([passage("one", "one", (0, 3), (0, 3))], "a", "b", "one", "one", 25)
    read = Page(page)
    (policy,) = [attrs["content"] for tag, attrs in read.tags if attrs.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    for content, kind in ((read.scripts, "script"), (read.styles, "style")):
        digest = base64.b64encode(hashlib.sha256("".join(content).encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert not re.search(r"https?:|//|@import|url\(", page.replace("<!DOCTYPE html>", ""))
    for tag, attrs in read.tags:
        assert tag not in ("link", "img", "iframe", "object", "embed", "form", "base")
        assert not {"src", "style", "srcset", "action"} & set(attrs)
        assert not [name for name in attrs if name.startswith("on")]
        assert str(attrs.get("href", "#")).startswith("#")


def test_a_passage_inside_another_is_seen() -> None:
    text = "one two three four five six"
    outer, inner = passage(text, text, (0, 27), (0, 27)), passage(text, text, (8, 18), (8, 18))
    read = Page(comparison_page([outer, inner], "a", "b", text, text, 25))
    assert [text for side, _, text in read.marked if side == "a"] == ["one two ", "three four", " five six"]
    marks = [attrs for tag, attrs in read.tags if tag == "mark"][:3]
    assert [attrs["data-in"] for attrs in marks] == ["1", "2", "1"]
    assert marks[1]["title"] == "also in passage 1"
    assert "striped" in comparison_page([outer, inner], "a", "b", text, text, 25)
    assert "striped" not in comparison_page([outer], "a", "b", text, text, 25)


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


@settings(max_examples=200)
@given(compared())
def test_any_passages_leave_the_texts_whole(case: tuple[str, str, list[Passage]]) -> None:
    a, b, passages = case
    read = Page(comparison_page(passages, "a", "b", a, b, 25))
    assert read.texts == {"a": harmless(a), "b": harmless(b)}
    ids = [attrs["id"] for _, attrs in read.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    for side, text in (("a", a), ("b", b)):
        inside = {i for p in passages for i in range(*(p.a[1:3] if side == "a" else p.b[1:3]))}
        assert sum(len(shown) for place, _, shown in read.marked if place == side) == len(inside)
        assert len(text) >= len(inside)


def test_every_hue_is_told_apart_from_its_letters() -> None:
    def luminance(colour: str) -> float:
        parts = (int(colour[i : i + 2], 16) / 255 for i in (0, 2, 4))
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    def contrast(one: str, other: str) -> float:
        low, high = sorted((luminance(one), luminance(other)))
        return (high + 0.05) / (low + 0.05)

    style = Page(comparison_page([], "a", "b", "one", "two", 25)).styles[0]
    light, dark = style.split("@media (prefers-color-scheme:dark)")
    dark = dark.split("@media print")[0]
    for part in (light, dark):
        (ink,) = re.findall(r"--ink:#([0-9a-f]{6})", part)
        (quiet,) = re.findall(r"--quiet:#([0-9a-f]{6})", part)
        (link,) = re.findall(r"--link:#([0-9a-f]{6})", part)
        ground = re.findall(r"--ground:#([0-9a-f]{3,6})", part)[0]
        ground = ground * 2 if len(ground) == 3 else ground
        tints = re.findall(r"(?<!number)(?<!chosen)\.hue\d\{background-color:#([0-9a-f]{6})", part)
        strong = re.findall(r"\.chosen\.hue\d\{background-color:#([0-9a-f]{6});color:#000", part)
        assert len(tints) == len(strong) == 8
        assert min(contrast(tint, ink) for tint in tints) >= 4.5
        assert min(contrast(hue, "000000") for hue in strong) >= 4.5
        assert min(contrast(ground, colour) for colour in (ink, quiet, link)) >= 4.5
