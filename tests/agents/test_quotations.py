"""Quotations against an index: what is word for word there, what was changed, and what is not there."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ibidem
from ibidem.agents.quotations import FEWEST_WORDS, check_quotation
from ibidem.alignment.differences import words_of
from ibidem.errors import IndexSettingsError
from tests.texts import text, word

TEXTS = {
    "ferry": '"Nobody was in danger," said the harbour master, "but nobody had a good morning either." ' + text(1, 2, 3, 4),
    "copy": text(3, 4) + " Later that day, the harbour master said that nobody was in danger at any point. " + text(30, 31),
    "日報": "桜が咲いて、川の水は冷たかった。人々は橋を渡った。" + text(40, 41),
    "other": text(50, 51, 52, 53, 54),
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ibidem.Index]:
    with ibidem.Index(tmp_path_factory.mktemp("quotations"), workers=1) as index:
        index.add([{"id": name, "text": content} for name, content in TEXTS.items()])
        yield index


@pytest.mark.parametrize(
    ("quotation", "source", "status", "found_in", "found"),
    [
        ("but nobody had a good morning either", None, "verbatim", "ferry", "but nobody had a good morning either"),
        ("But nobody had — a good morning, either!", None, "verbatim", "ferry", "but nobody had a good morning either"),
        ("the harbour master, but nobody had a good evening either", None, "altered", "ferry", None),
        ("nobody was in danger at any point", "ferry", "elsewhere", "copy", "nobody was in danger at any point"),
        ("Nobody was in danger", "ferry", "verbatim", "ferry", "Nobody was in danger"),
        ("nobody was in danger", "copy", "verbatim", "copy", "nobody was in danger"),
        ("川の水は冷たかった", None, "verbatim", "日報", "川の水は冷たかった"),
        ("the moon is made of green cheese", None, "absent", None, None),
        (text(3, 4), "copy", "verbatim", "copy", text(3, 4).removesuffix(".")),
    ],
)
def test_what_is_found(
    index: ibidem.Index, quotation: str, source: str | None, status: str, found_in: str | None, found: str | None
) -> None:
    checked = check_quotation(index, quotation, source)
    assert (checked.status, checked.id) == (status, found_in)
    assert found is None or checked.text == found
    if checked.id is not None:
        content = TEXTS[checked.id]
        assert content[checked.start : checked.end] == checked.text
        assert content[: checked.start].endswith(checked.before)
        assert content[checked.end :].startswith(checked.after)
        assert len(checked.before) == min(160, checked.start or 0)


def test_differences_lead_from_the_quotation_to_the_source(index: ibidem.Index) -> None:
    first, *middle, last = text(51).rstrip(".").split()
    quotation = " ".join(["Surely", *middle[:2], "not", *middle[2:], "indeed"])
    checked = check_quotation(index, quotation)
    assert (checked.status, checked.id) == ("altered", "other")
    assert checked.text == " ".join([first, *middle, last])
    changes = [
        (d.operation, quotation[d.a_start : d.a_end].strip(), checked.text[d.b_start : d.b_end].strip())
        for d in checked.differences
        if d.operation != "equal"
    ]
    assert changes == [("replace", "Surely", first), ("delete", "not", ""), ("replace", "indeed", last)]
    assert checked.similarity == pytest.approx(2 * 4 / (7 + 6))


@given(st.data())
def test_every_stretch_of_a_text_is_verbatim_and_a_changed_one_is_not(index: ibidem.Index, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(["ferry", "copy", "other"]))
    content = TEXTS[name]
    words, places = words_of(content)
    first = data.draw(st.integers(0, len(words) - 5))
    last = data.draw(st.integers(first + 4, min(len(words), first + 20) - 1))
    quotation = content[places[first][0] : places[last][1]]
    checked = check_quotation(index, quotation, name)
    assert (checked.status, checked.id) == ("verbatim", name)
    asked, _ = words_of(quotation)
    assert words_of(checked.text or "")[0] == asked
    # One word that occurs nowhere.
    at = data.draw(st.integers(first, last))
    other = word(20_000 % 12**4 - random.Random(at).randrange(9))
    changed = content[places[first][0] : places[at][0]] + other + content[places[at][1] : places[last][1]]
    checked = check_quotation(index, changed, name)
    twin = any(_contains(words_of(each)[0], words_of(changed)[0]) for each in TEXTS.values())
    assert not twin
    assert checked.status in ("altered", "elsewhere", "absent")
    if last - first >= 9 and first < at < last:
        assert checked.status == "altered"
        assert other in {changed[d.a_start : d.a_end].strip(' ",.') for d in checked.differences if d.operation != "equal"}


def _contains(words: list[str], wanted: list[str]) -> bool:
    return any(words[k : k + len(wanted)] == wanted for k in range(len(words) - len(wanted) + 1))


def test_what_cannot_be_checked_is_said(index: ibidem.Index, tmp_path_factory: pytest.TempPathFactory) -> None:
    with pytest.raises(ibidem.UsageError, match=f"at least {FEWEST_WORDS} words"):
        check_quotation(index, "good morning")
    with ibidem.Index(tmp_path_factory.mktemp("bare"), texts=False, workers=1) as bare:
        bare.add([{"id": "a", "text": text(1, 2, 3)}])
        with pytest.raises(IndexSettingsError, match="which this index does not keep"):
            check_quotation(bare, text(1))
