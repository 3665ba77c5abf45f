"""Text out of HTML: a page that is looked at in parts gives the text of the whole page."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ibidem.formats import html_text as module
from ibidem.formats.html_text import extract_text

_WORDS = st.lists(st.sampled_from(["one", "two", "three", "&amp;", "größe", "字"]), min_size=1, max_size=4).map(" ".join)
_ASIDE = st.sampled_from(["<br>", "<!-- <p>not</p> -->", "<script>if (a<b) '<p>'</script>", "<style>p{}</style>"])


def _tag(name: str, content: str) -> str:
    return f'<{name} class="a>b">{content}</{name}>'


def _joined(part: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(part, min_size=1, max_size=3).map(" ".join)


_LINE = _joined(_WORDS | _ASIDE | _WORDS.map(lambda words: _tag("b", words)))
_BLOCK = st.builds(_tag, st.sampled_from(["p", "h2", "pre", "div"]), _LINE) | _LINE


def _wrapped(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    def items(outer: str, item: str) -> st.SearchStrategy[str]:
        return _joined(_joined(inner).map(lambda content: _tag(item, content))).map(lambda content: _tag(outer, content))

    row = _joined(_joined(inner).map(lambda content: _tag("td", content))).map(lambda content: _tag("tr", content))
    box = st.builds(_tag, st.sampled_from(["div", "section", "blockquote"]), _joined(inner))
    return box | items("ul", "li") | items("ol", "li") | items("dl", "dd") | _joined(row).map(lambda rows: _tag("table", rows))


PAGES = st.lists(st.recursive(_BLOCK, _wrapped, max_leaves=10), min_size=1, max_size=5).map("\n".join)


@settings(max_examples=400, deadline=None)
@given(PAGES)
@example("<div hidden><p>one</p><p>two</p></div><p>three")
@example("<ul><li>one<li>two<ul><li>three</ul><li>four</ul>")
@example("<div><button>one</div>" + "<p>two three</p>" * 9)
@example("<div><label hidden>one</div>" + "<p>two three</p>" * 9)
@example("<table><tr><td><select>one</td></tr></table>" + "<p>two three</p>" * 9)
@example("<table><tr><td><div hidden>one</td></tr></table>" + "<p>two three</p>" * 9)
@example("<ul><li><div hidden>one</li><li>two three four five six</li></ul>" + "<p>two three</p>" * 9)
@example("<div><section hidden>one</div>" + "<p>two three</p>" * 9)
@example("<div><svg><path d=1>one</div>" + "<p>two three</p>" * 9)
@example("<svg/>" + "<p>two three</p>" * 9)
@example("<div>one<span><div>two</span></div>three</div>" + "<p>two three</p>" * 9)
def test_a_page_in_parts_gives_the_words_of_the_whole_page(page: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_FEW_TAGS", 10**9)
        whole = extract_text(page, main_content=False)
        patch.setattr(module, "_FEW_TAGS", -1)
        patch.setattr(module, "PART_CHARS", 30)
        parts = extract_text(page, main_content=False)
    assert _words(parts) == _words(whole)


def _words(text: str) -> list[str]:
    """Return the words without the marks of items: inside an item a part begins without one."""
    return [word for word in text.split() if word != "•" and not word.endswith(".")]


def test_lines_and_paragraphs_stay_apart_where_a_page_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    page = "<body>" + "<p>A paragraph of words.</p>" * 20 + "<ul>" + "<li>An item." * 20 + "</ul>"
    whole = extract_text(page, main_content=False)
    monkeypatch.setattr(module, "_FEW_TAGS", -1)
    monkeypatch.setattr(module, "PART_CHARS", 100)
    assert extract_text(page, main_content=False) == whole


def test_numbered_lists_are_not_cut_unless_they_are_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FEW_TAGS", -1)
    monkeypatch.setattr(module, "PART_CHARS", 200)
    for n_items, numbered in ((30, True), (300, False)):
        found = extract_text("<p>Before.</p><ol>" + "<li>Item.</li>" * n_items + "</ol><p>After.</p>", main_content=False)
        assert (f"{n_items}. Item." in found) == numbered
        assert found.count("Item.") == n_items


def test_lists_that_are_nested_too_deep_stay_so_where_a_page_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    page = "<ul><li>" * 40 + "<li>An item of some words." * 200
    monkeypatch.setattr(module, "PART_CHARS", 10**9)
    whole = extract_text(page, main_content=False)
    monkeypatch.setattr(module, "PART_CHARS", 1000)
    parts = extract_text(page, main_content=False)
    assert parts.split() == whole.split()
    assert abs(len(parts) - len(whole)) < 100


@pytest.mark.parametrize("line", ["<p>x", "<li>x", "<p>x</p>", "<br>x", "<b>x</b><br>"])
def test_a_part_has_few_tags_where_little_is_between_them(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole_text, parts = module._plain_text, []
    monkeypatch.setattr(module, "_plain_text", lambda html, main: parts.append(html) or whole_text(html, main))
    found = extract_text(line * 50_000, main_content=False)
    assert max(part.count("<") for part in parts) <= module.PART_TAGS + 3
    assert found.count("x") == 50_000


@pytest.mark.parametrize(
    ("begin_of_page", "line"),
    [
        ("<body>", "<p>Some words of a paragraph.</p>"),
        ("<body>", "<div>word <span>and</span> word</div>"),
        ("<body>", "a line<br>\n"),
        ("<div><ol>", "<li>Some words of an item."),
        ("<div><svg></div>", "<p>Some words of a paragraph.</p>"),
        ("<ul><li>" * 50, "<li>Some words of an item."),
    ],
)
def test_large_pages_take_time_by_their_length(begin_of_page: str, line: str) -> None:
    def seconds(n_chars: int) -> float:
        page = begin_of_page + line * (n_chars // len(line))
        begin = time.process_time()
        extract_text(page, main_content=False)
        return time.process_time() - begin

    seconds(500_000)
    # Eight times as long; by the square it would be 64 times.
    assert seconds(4_000_000) < 30 * max(seconds(500_000), 0.01)
