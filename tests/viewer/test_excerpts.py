"""Excerpts begin with words that a reader understands."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem.viewer.excerpts import excerpt, prose_start

PROSE = "The method returns the length of the string, in bytes."


@pytest.mark.parametrize(
    "before",
    [
        "",
        "\n\n  ",
        "## ",
        "> [!NOTE]\n> ",
        "---\ntitle: Length\nslug: Web/Length\n---\n\n",
        '<table>\n<tr>\n<td width="40%">\n',
        "</b></td> </tr> <p>",
        "td> </tr> <p>",
        "<!-- generated -->\n",
        '{{APIRef("DOM")}}{{Compat}}\n\n',
        "- [string.h](../string/index.md)\n- [wide.h](../wide/index.md)\n",
        "- `type`\n  - : ",
        "```js\nconst length = string.length of the string;\n```\n",
        "https://example.org/documentation/string/length\n",
        "***** ----- *****\n",
    ],
)
def test_what_precedes_prose_is_skipped(before: str) -> None:
    assert excerpt(before + PROSE, 200) == PROSE
    assert (before + PROSE)[prose_start(before + PROSE) :] == PROSE


@pytest.mark.parametrize(
    "text",
    [
        PROSE,
        "該当する文書はありません。",
        "if a < b and c > d: the list is in order",
        "vector<string> is a list of strings",
        "Ann> wrote this line of a reply",
        "42",
        "for (i = 0; i < n; i++) { s[i] = 0; }",
    ],
)
def test_other_texts_begin_where_they_begin(text: str) -> None:
    assert excerpt(text, 200) == text


def test_tags_and_targets_of_links_are_left_out() -> None:
    marked = 'An <a href="/api/ne-encoding">Encoding</a> of a [<b>list</b>](list.md#top_(1)) of vector<int>'
    assert excerpt(marked, 200) == "An Encoding of a list of vector<int>"
    assert excerpt("<p>", 200) == "<p>"


@given(st.text("ab .<>/-#{}[]()`\n\"'", max_size=300), st.integers(1, 50))
def test_an_excerpt_has_words_of_its_text_in_order(text: str, most: int) -> None:
    found = excerpt(text, most)
    rest = iter(text)
    assert all(character in rest for character in found.removesuffix("…") if character != " ")
    assert len(found) <= most + 1
    assert bool(found) == bool(text.strip())


@pytest.mark.parametrize("piece", ["<", "<a ", "{{", "[", "[a](", "<!--", '<a "', "<a '", "`", "- ", "a<"])
def test_hostile_texts_take_little_time(piece: str) -> None:
    begin = time.process_time()
    excerpt(piece * 100_000, 200)
    assert time.process_time() - begin < 0.5
