"""The routes over a result: every view, its filters, its pages, and what is said when it cannot be shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from ibidem.viewer.server import shapes
from tests.texts import text, word
from tests.viewer.server.conftest import HOSTILE, RECORDS, AppMaker
from tests.viewer.server.expected import expect, expect_error

API = "/api/v1"


def pairs_of(client: httpx.Client, **parameters: Any) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = expect(shapes.PairPage, client.get(f"{API}/pairs", params=parameters))["items"]
    return items


def ids_of(pair: dict[str, Any]) -> tuple[str, str]:
    return pair["a"]["id"], pair["b"]["id"]


def test_the_summary_says_what_is_served(client: httpx.Client) -> None:
    summary = expect(shapes.Summary, client.get(f"{API}/summary"))
    assert summary["verb"] == "find"
    assert summary["totals"]["documents"] == len(RECORDS)
    assert summary["totals"]["pairs"] == 4
    assert summary["has_index"]
    assert summary["may_write"]


def test_distributions_count_all_pairs(reader: httpx.Client) -> None:
    distributions = expect(shapes.Distributions, reader.get(f"{API}/distributions"))
    for histogram in distributions.values():
        assert sum(histogram["counts"]) == 4
        assert len(histogram["edges"]) == len(histogram["counts"]) + 1


def test_pairs_are_listed_page_by_page_each_once(reader: httpx.Client) -> None:
    whole = pairs_of(reader)
    seen: list[dict[str, Any]] = []
    cursor = None
    while True:
        parameters = {"limit": 1, **({"cursor": cursor} if cursor else {})}
        page = expect(shapes.PairPage, reader.get(f"{API}/pairs", params=parameters))
        assert page["total"] == 4
        seen += page["items"]
        cursor = page["next"]
        if cursor is None:
            break
    assert seen == whole


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"group": "Herald"}, {("a", "b"), ("a", "f")}),
        ({"group": "@Wire"}, {(HOSTILE, "d")}),
        ({"group": "nobody"}, set()),
        ({"kind": "near"}, set()),
        ({"document": 1}, {("a", "b"), ("b", "f")}),
        ({"search": "Fourth"}, {(HOSTILE, "d")}),
        ({"search": word(20 * 61)}, {(HOSTILE, "d")}),
        ({"search": "<script>"}, {(HOSTILE, "d")}),
        ({"search": "'; DROP TABLE pairs; --"}, set()),
        ({"min_longest": 100_000}, set()),
        ({"min_similarity": 1, "min_coverage": 0.5, "kind": "exact"}, {("a", "b"), ("a", "f"), ("b", "f"), (HOSTILE, "d")}),
    ],
)
def test_pairs_are_filtered(reader: httpx.Client, parameters: dict[str, Any], expected: set[tuple[str, str]]) -> None:
    assert {ids_of(pair) for pair in pairs_of(reader, **parameters)} == expected
    flow = expect(shapes.Flow, reader.get(f"{API}/flow", params=parameters))
    assert {ids_of(pair) for pair in flow["items"]} == expected
    assert flow["total"] == len(expected)


@pytest.mark.parametrize("sort", ["interest", "shared", "longest", "similarity", "coverage", "days", "n_passages", "a", "b"])
def test_pairs_are_sorted_both_ways(reader: httpx.Client, sort: str) -> None:
    up, down = (pairs_of(reader, sort=sort, order=order) for order in ("asc", "desc"))
    assert sorted(map(ids_of, up)) == sorted(map(ids_of, down))
    assert len(up) == 4


def test_a_pair_shows_its_passages_in_both_texts(reader: httpx.Client) -> None:
    (found,) = pairs_of(reader, search="Fourth")
    shown = expect(shapes.PairDetail, reader.get(f"{API}/pairs/{found['pair']}"))
    assert shown["pair"] == found
    (passage,) = shown["passages"]
    copied = text(60, 61, 62, 63)
    for side in "ab":
        (segment,) = shown[side]["segments"]
        assert segment["text"][passage[f"{side}_start"] : passage[f"{side}_end"]] == copied
    assert shown["pair"]["direction"] == "a_to_b"
    assert shown["pair"]["days"] == 1


def test_documents_are_listed_filtered_and_shown(reader: httpx.Client) -> None:
    page = expect(shapes.DocumentPage, reader.get(f"{API}/documents", params={"sort": "id", "order": "asc"}))
    named = sorted(RECORDS, key=lambda record: str(record.get("title", record["id"])).lower())  # by what is shown
    assert [item["id"] for item in page["items"]] == [record["id"] for record in named]
    (found,) = expect(shapes.DocumentPage, reader.get(f"{API}/documents", params={"search": "Second"}))["items"]
    shown = expect(shapes.DocumentDetail, reader.get(f"{API}/documents/{found['document']}"))
    assert shown["document"] == found
    assert shown["text"]["segments"] == [{"start": 0, "text": RECORDS[1]["text"]}]
    assert shown["n_pairs"] == len(shown["pairs"]) == 2
    assert {shade["n_documents"] for shade in shown["shades"]} == {2}


def test_families_are_listed_and_shown(reader: httpx.Client) -> None:
    page = expect(shapes.FamilyPage, reader.get(f"{API}/families"))
    assert page["total"] == len(page["items"]) == 2
    assert page["items"][0]["n_documents"] == 3
    shown = expect(shapes.FamilyDetail, reader.get(f"{API}/families/{page['items'][0]['family']}"))
    members = [member["id"] for variant in shown["variants"] for member in variant["members"]]
    assert sorted(members) == ["a", "b", "f"]


def test_skipped_records_are_listed_with_their_reasons(reader: httpx.Client) -> None:
    page = expect(shapes.SkippedPage, reader.get(f"{API}/skipped"))
    assert [(item["id"], item["reason"]) for item in page["items"]] == [("empty", "empty text")]


def test_a_verdict_is_stored_beside_the_results_and_stays(app_over: AppMaker, result: Path) -> None:
    client = app_over(result)
    (found,) = pairs_of(client, search="Fourth")
    body = {"verdict": "confirmed", "note": "=seen <b>by me</b>"}
    pair = expect(shapes.Pair, client.put(f"{API}/pairs/{found['pair']}/verdict", json=body))
    assert (pair["verdict"], pair["note"]) == ("confirmed", body["note"])
    again = app_over(result)
    assert [ids_of(each) for each in pairs_of(again, verdict="confirmed")] == [(HOSTILE, "d")]
    assert len(pairs_of(again, verdict="none")) == 3
    (stored,) = expect(shapes.VerdictPage, again.get(f"{API}/verdicts"))["items"]
    assert (stored["a_id"], stored["b_id"], stored["note"]) == (HOSTILE, "d", body["note"])
    assert {"verdict": "confirmed", "n_pairs": 1} in again.get(f"{API}/summary").json()["facets"]["verdicts"]
    expect(shapes.Pair, again.put(f"{API}/pairs/{found['pair']}/verdict", json={"verdict": None}))
    assert expect(shapes.VerdictPage, again.get(f"{API}/verdicts"))["total"] == 0


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"verdict": "perhaps"}, "verdict must be one of"),
        ({"verdict": "confirmed", "note": 7}, "note must be text"),
        ({"verdict": "confirmed", "note": "x" * 10_001}, "note must have at most 10000 characters"),
        ({"verdict": "confirmed", "who": "me"}, "who is not a known parameter"),
        ({}, "verdict is missing"),
        ([], "the body must be a JSON object"),
    ],
)
def test_a_verdict_that_does_not_hold_is_refused_in_words(reader: httpx.Client, body: Any, told: str) -> None:
    error = expect_error(422, "invalid", reader.put(f"{API}/pairs/0/verdict", json=body))
    assert told in error["message"]


def test_a_note_of_half_a_character_is_refused(reader: httpx.Client) -> None:
    content = b'{"verdict": "unsure", "note": "\\ud800"}'
    response = reader.put(f"{API}/pairs/0/verdict", content=content, headers={"Content-Type": "application/json"})
    assert "note contains half of a surrogate pair" in expect_error(422, "invalid", response)["message"]


def test_nothing_is_stored_when_it_is_read_only(app_over: AppMaker, result: Path) -> None:
    client = app_over(result, may_write=False)
    assert not client.get(f"{API}/summary").json()["may_write"]
    error = expect_error(403, "read_only", client.put(f"{API}/pairs/0/verdict", json={"verdict": "confirmed"}))
    assert "--read-only" in error["next_step"]


@pytest.mark.parametrize("path", ["pairs/999", "documents/999", "families/999"])
def test_what_is_not_there_is_not_found(reader: httpx.Client, path: str) -> None:
    expect_error(404, "not_found", reader.get(f"{API}/{path}"))


def test_a_verdict_on_no_pair_is_not_found(client: httpx.Client) -> None:
    expect_error(404, "not_found", client.put(f"{API}/pairs/999/verdict", json={"verdict": "confirmed"}))


@pytest.mark.parametrize("path", ["pairs/x", "pairs/-1", "documents/1.5", f"families/{10**30}"])
def test_a_number_that_is_none_is_invalid(reader: httpx.Client, path: str) -> None:
    expect_error(422, "invalid", reader.get(f"{API}/{path}"))


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"limit": 0}, "limit must be at least 1"),
        ({"limit": 501}, "limit must be at most 500"),
        ({"limit": "many"}, "limit must be a whole number"),
        ({"min_similarity": "nan"}, "min_similarity must be a finite number"),
        ({"min_coverage": 2}, "min_coverage must be at most 1"),
        ({"min_similarty": 0.5}, "min_similarty is not a known parameter"),
        ({"kind": "other"}, "kind must be one of"),
        ({"sort": "luck"}, "sort must be one of"),
        ({"order": "up"}, "order must be one of"),
        ({"search": "x" * 1001}, "search must have at most 1000 characters"),
        ({"cursor": "!!"}, "cursor"),
        ({"cursor": "WzFd"}, "cursor"),
        ({"cursor": "W251bGwsIDFlOTld"}, "cursor"),
    ],
)
def test_parameters_that_do_not_hold_are_refused_in_words(reader: httpx.Client, parameters: dict[str, Any], told: str) -> None:
    assert told in expect_error(422, "invalid", reader.get(f"{API}/pairs", params=parameters))["message"]


@pytest.mark.parametrize("value", [10**30, "\ud800", [[[]]] * 3])
@pytest.mark.parametrize("name", ["pairs", "documents", "families", "skipped", "verdicts"])
def test_a_made_up_cursor_is_invalid(reader: httpx.Client, name: str, value: Any) -> None:
    import base64
    import json

    for content in ([None, value], [value, 1], "[" * 1400):
        written = content if isinstance(content, str) else json.dumps(content)
        cursor = base64.urlsafe_b64encode(written.encode()).decode().rstrip("=")
        response = reader.get(f"{API}/{name}", params={"cursor": cursor})
        if response.status_code != 200:  # a value that could have been given out is taken for one
            expect_error(422, "invalid", response)


def test_an_index_alone_is_served_without_pairs(app_over: AppMaker, index: Path) -> None:
    client = app_over(index)
    summary = expect(shapes.Summary, client.get(f"{API}/summary"))
    assert (summary["verb"], summary["title"]) == ("index", "news.idx")
    assert summary["totals"]["documents"] == len(RECORDS)
    assert summary["left_out"]
    expect(shapes.Distributions, client.get(f"{API}/distributions"))
    for name in ("pairs", "documents", "families", "skipped", "verdicts", "flow"):
        assert client.get(f"{API}/{name}").json()["items"] == []
    for name in ("pairs", "documents", "families"):
        expect_error(404, "not_found", client.get(f"{API}/{name}/0"))
        assert client.get(f"{API}/{name}.json").json() == {"items": [], "total": 0, "next": None}
    expect_error(404, "not_found", client.put(f"{API}/pairs/0/verdict", json={"verdict": "confirmed"}))
