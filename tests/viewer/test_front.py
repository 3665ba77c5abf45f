"""The front page is true of whatever was found."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

import ibidem
from ibidem.viewer.headline import duration
from ibidem.viewer.material import material_of_result
from ibidem.viewer.pair_details import SNIPPET_CHARS
from ibidem.viewer.queries import PairQuery
from ibidem.viewer.report import report_data
from ibidem.viewer.store_cache import passing_views
from ibidem.viewer.story_cards import changed_words, count_changed
from tests.texts import text, word

NEWS = Path(__file__).parents[2] / "examples" / "newsroom" / "documents.jsonl"
STORY = text(*range(1, 9))


def told(records: Any, verb: Any = ibidem.find, **options: Any) -> dict[str, Any]:
    """Return what a report of records contains."""
    with passing_views(material_of_result(verb(records, **options))) as store:
        return report_data(store)


def headline(data: dict[str, Any]) -> str:
    return "".join(piece.get("text") or piece["name"] for piece in data["front"]["headline"])


def record(name: str, n: int, **fields: Any) -> dict[str, Any]:
    return {"id": name, "text": f"{text(100 + n, 150 + n)} {STORY} {text(200 + n)}", **fields}


def test_the_newsroom() -> None:
    data = told(str(NEWS))
    assert headline(data) == "Harbour Post was first with 6 of 14 shared stories, more than any other"
    front = data["front"]
    assert front["counts"] == {
        "stories": 14,
        "inside": 5,
        "boilerplate": 0,
        "ordered": 14,
        "crossing": 14,
        "edited": 4,
        "unchanged": 10,
    }
    assert (front["fastest"]["seconds"], front["fastest"]["from"], front["fastest"]["to"]) == (
        2100,
        "Harbour Post",
        "Meridian Wire",
    )
    assert front["widest"]["n_outlets"] == 4
    largest = max(front["picture"]["links"], key=lambda link: link["n_chars"])
    names = [front["picture"][side][largest[end]]["name"] for side, end in (("left", "from"), ("right", "to"))]
    assert names == ["Meridian Wire", "Northreach Tribune"]
    widest = max(data["stories"][:2], key=lambda card: len(card["steps"]))
    assert [step["group"] for step in widest["steps"]] == ["Harbour Post", "Meridian Wire", "Vale Courier", "Tidewatch"]
    assert widest["is_ordered"]
    # Every card leads to a pair and a family that the report contains.
    pairs, families = {pair["pair"] for pair in data["pairs"]}, {each["family"]["family"] for each in data["families"]}
    for card in (*data["stories"], *data["folded"]):
        assert {step["pair"] for step in card["steps"] if step["pair"] is not None} <= pairs
        assert any(step["pair"] is not None for step in card["steps"])
        assert card["story"]["family"] in families


def test_two_that_are_first_equally_often() -> None:
    data = told(
        [
            {"id": "1", "group": "Bell", "time": "2031-01-01", "text": text(*range(1, 9))},
            {"id": "2", "group": "Tide", "time": "2031-01-02", "text": text(*range(1, 9), 90)},
            {"id": "3", "group": "Tide", "time": "2031-01-01", "text": text(*range(20, 29))},
            {"id": "4", "group": "Bell", "time": "2031-01-02", "text": text(*range(20, 29), 91)},
        ]
    )
    assert headline(data) == "Bell and Tide were each first with 1 of 2 shared stories"


def test_one_story() -> None:
    data = told([record("1", 1, group="Bell", time="2031-01-01"), record("2", 2, group="Tide", time="2031-01-03T12:00:00Z")])
    assert headline(data) == "Bell had it first; Tide followed 2 days later"


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ([{"group": "Bell"}, {"group": "Tide"}], "1 text crossed between outlets; which was first is not known"),
        (
            [{"group": "Bell", "time": "2031-01-01"}, {"group": "Tide", "time": "2031-01-01"}],
            "1 text crossed between outlets; which was first is not known",
        ),
        ([{"group": "Bell"}, {"group": "Bell"}], "No text crossed from one outlet to another: 1 shared text stayed inside one"),
        ([{}, {}], "One text appears in 2 documents"),
        ([{"time": "2031-01-01"}, {"time": "2031-01-02"}], "One text appears in 2 documents"),
    ],
)
def test_what_is_not_known_is_not_claimed(fields: list[dict[str, Any]], says: str) -> None:
    data = told([record(str(n), n, **own) for n, own in enumerate(fields)])
    assert headline(data) == says
    cards = [*data["stories"], *data["folded"]]
    assert len(cards) == 1
    assert cards[0]["is_ordered"] == (says == "One text appears in 2 documents" and "time" in fields[0])


def test_documents_without_a_group_are_no_outlets() -> None:
    groups = ["Bell", None, None, "Tide", None]
    records = [
        record(str(n), n, time=f"2031-01-0{n + 1}", **({"group": group} if group else {})) for n, group in enumerate(groups)
    ]
    data = told(records)
    front = data["front"]
    assert (front["n_outlets"], front["n_without_group"], front["widest"]["n_outlets"]) == (2, 3, 2)
    (card,) = data["stories"]
    assert [step["group"] for step in card["steps"]] == ["Bell", None, "Tide"]
    assert (card["n_outlets"], card["n_steps"], card["steps"][1]["n_places"]) == (2, 3, 3)
    ends = [end["name"] for side in ("left", "right") for end in front["picture"][side]]
    assert sorted(ends) == ["Bell", "Tide", "no group"]
    # Two documents without a group beside one that has one: nothing crossed between outlets.
    assert headline(told([record("a", 1, group="Bell"), record("b", 2), record("c", 3)])) == "One text appears in 3 documents"
    outside = told([{"id": "g", "group": "Bell", "text": text(90, 91, 92)}, record("b", 2, time=1), record("c", 3, time=9)])
    assert (outside["front"]["fastest"], outside["front"]["leaders"]) == (None, [])


def test_the_reference_is_the_base() -> None:
    essay = record("essay", 1, time="2031-01-01")
    source = {**record("source", 2, time="2031-05-01"), "text": f"{text(80)} {STORY.replace(word(82), 'another')} {text(81)}"}
    data = told([essay], against=[source], align=True)
    (card,) = data["stories"]
    assert [(step["id"], step["is_reference"]) for step in card["steps"]] == [("source", True), ("essay", False)]
    kinds = {piece["is"]: piece["text"].strip() for piece in card["words"]}
    assert (kinds["removed"], kinds["added"]) == ("another", word(82))
    assert not card["is_ordered"]
    picture = data["front"]["picture"]
    assert picture["is_from_reference"]
    assert [[end["name"] for end in picture[side]] for side in ("left", "right")] == [["source"], ["essay"]]
    (family,) = data["families"]
    assert family["variants"][0]["members"][0]["id"] == "source"


def test_cards_say_where_and_in_what_text() -> None:
    (card,) = told([record("a", 1), record("b", 2)])["stories"]
    for step, n in zip(card["steps"], (1, 2), strict=True):
        whole = record(step["id"], n)["text"]
        assert whole[step["start"] : step["end"]] == STORY
        assert step["sha256"] == hashlib.sha256(whole.encode()).hexdigest()
        assert step["page"] is None


def test_moved_words_are_neither_removed_nor_added() -> None:
    first, rest, own = text(1, 2), text(*range(3, 9)), text(30)
    words = changed_words(f"{first} {rest}", f"{rest} {own} {first}")
    assert [(kind, piece.strip()) for kind, piece in words] == [
        ("moved_away", first),
        ("same", rest),
        ("added", own),
        ("moved_here", first),
    ]
    assert count_changed(words) == len(own.split())


def test_nothing_found() -> None:
    records = [{"id": "a", "text": text(1, 2)}, {"id": "b", "text": text(3, 4)}]
    data = told(records)
    assert headline(data) == "No shared text found among 2 documents"
    assert (data["front"]["picture"], data["stories"], data["folded"]) == (None, [], [])
    assert headline(told(records, ibidem.cluster)) == "No similar documents found among 2 documents"
    assert headline(told(records[:1], against=records[1:])) == "No text of 1 document was found in the reference"


def test_clusters_and_references() -> None:
    records = [record("a", 1), record("b", 1), {"id": "c", "text": text(70, 71, 72)}]
    data = told(records, ibidem.cluster)
    assert headline(data) == "2 of 3 documents have a near-identical copy, in 1 cluster"
    assert not data["front"]["picture"]["is_directed"]
    assert headline(told(records[:1], against=records[1:])) == "1 of 1 document shares text with the reference documents"
    assert headline(told(records[1:], against=records[:1])) == "1 of 2 documents shares text with the reference documents"


def test_folders_take_the_place_of_groups() -> None:
    records = [record(f"root/{folder}/{n}", n, time=f"2031-01-{n + 1:02}") for n, folder in enumerate("aabb")]
    picture = told(records)["front"]["picture"]
    assert (picture["of"], picture["is_directed"]) == ("folders", True)
    assert [end["name"] for end in (*picture["left"], *picture["right"])] == ["a", "b"]


def test_changed_words() -> None:
    base = "Cut before. The early ferry waited four hours here."
    words = changed_words(base, "The ferry waited nine hours here. More after.")
    assert "".join(piece for kind, piece in words if kind != "added") == base
    changes = [("removed", "early"), ("removed", "four"), ("added", "nine")]
    assert [(kind, piece.strip()) for kind, piece in words if kind != "same"] == changes
    assert count_changed(words) == 2
    assert changed_words("one two", "three four") == [("same", "one two")]


@pytest.mark.parametrize(
    ("seconds", "says"),
    [
        (1, "1 second"),
        (2100, "35 minutes"),
        (3600, "1 hour"),
        (336_600, "4 days"),
        (5_300_000, "2 months"),
        (81_475_200, "2.6 years"),
    ],
)
def test_durations(seconds: int, says: str) -> None:
    assert duration(seconds) == says


def test_a_footer_does_not_win() -> None:
    footer = text(50, 51, 52, 53)
    records = [{"id": f"f{n}", "text": f"{text(300 + n)} {footer}"} for n in range(8)]
    records += [{"id": f"r{n}", "text": f"{text(*range(400 + 30 * n, 405 + 30 * n))} {text(*range(1, 6))}"} for n in range(2)]
    with passing_views(material_of_result(ibidem.find(records))) as store:
        pairs = store.pairs(PairQuery())["items"]
        assert (pairs[0]["a"]["id"], pairs[0]["b"]["id"]) == ("r0", "r1")
        assert pairs[0]["coverage_a"] < pairs[1]["coverage_a"]
        words = " ".join(text(*range(1, 6)).split())
        assert pairs[0]["snippet"] == words[: words.rfind(" ", 0, SNIPPET_CHARS)].rstrip(".") + "…"
        assert store.pair(pairs[0]["pair"])["pair"] == pairs[0]  # type: ignore[index]


@pytest.mark.parametrize(
    "given", [{}, {"group": "Harbour Post"}, {"kind": "near"}, {"min_coverage": 0.5}, {"min_longest": 400, "across": True}]
)
def test_distributions_count_what_the_list_shows(given: dict[str, Any]) -> None:
    with passing_views(material_of_result(ibidem.find(str(NEWS)))) as store:
        listed = store.pairs(PairQuery(limit=500, **given))["items"]
        counted, usual = store.distributions_of(PairQuery(**given)), store.distributions()
        for measure, histogram in counted.items():
            assert histogram["edges"] == usual[measure]["edges"]
            others = {name: value for name, value in given.items() if name != f"min_{measure}"}
            assert sum(histogram["counts"]) == store.pairs(PairQuery(limit=500, **others))["total"] >= len(listed)
