"""Whole tables as CSV and JSON: they contain what the pages contain, and nothing in them runs in a spreadsheet."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import httpx
import pytest

import ibidem
from ibidem.viewer.exports.csv_text import csv_chunks
from ibidem.viewer.server import shapes
from ibidem.viewer.server.export_routes import COLUMNS, MOST_AT_ONCE, Exports, json_chunks
from tests.texts import text
from tests.viewer.server.conftest import HOSTILE, RECORDS, AppMaker, write_lines
from tests.viewer.server.expected import expect, expect_error, expect_safe

API = "/api/v1"


def table_of(client: httpx.Client, name: str, **parameters: Any) -> list[dict[str, str]]:
    response = client.get(f"{API}/{name}.csv", params=parameters)
    assert response.status_code == 200
    expect_safe(response)
    assert response.headers["content-type"].startswith("text/csv; charset=utf-8")
    assert response.headers["content-disposition"] == f'attachment; filename="ibidem-{name}.csv"'
    return list(csv.DictReader(io.StringIO(response.text, newline="")))


def items_of(client: httpx.Client, name: str, **parameters: Any) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = expect(shapes.Rows, client.get(f"{API}/{name}.json", params=parameters))["items"]
    return items


@pytest.fixture
def judged(client: httpx.Client) -> httpx.Client:
    """The app after a verdict and an arrival, so that no table is empty."""
    note = "=HYPERLINK(1)\nsecond line"
    pair = client.get(f"{API}/pairs", params={"search": "Fourth"}).json()["items"][0]["pair"]
    assert client.put(f"{API}/pairs/{pair}/verdict", json={"verdict": "rejected", "note": note}).status_code == 200
    assert client.post(f"{API}/arrivals", json={"id": "-new", "text": RECORDS[0]["text"]}).status_code == 200
    return client


@pytest.mark.parametrize("name", list(COLUMNS))
def test_rows_have_the_columns_that_the_head_names(judged: httpx.Client, name: str) -> None:
    items = items_of(judged, name)
    assert items
    for row in items:
        assert set(row) == set(COLUMNS[name])
    table = table_of(judged, name)
    assert [list(row) for row in table] == [list(COLUMNS[name])] * len(items)


@pytest.mark.parametrize("name", ["documents", "families", "skipped", "verdicts"])
def test_tables_hold_what_the_pages_hold(judged: httpx.Client, name: str) -> None:
    assert items_of(judged, name) == judged.get(f"{API}/{name}").json()["items"]


def test_the_table_of_pairs_holds_what_the_pages_hold(judged: httpx.Client) -> None:
    filters: list[dict[str, Any]] = [
        {}, {"sort": "shared", "order": "asc"}, {"group": "Post", "min_coverage": 0.9}, {"verdict": "rejected"},
    ]  # fmt: skip
    for parameters in filters:
        page = judged.get(f"{API}/pairs", params=parameters).json()["items"]
        rows = items_of(judged, "pairs", **parameters)
        assert [row["pair"] for row in rows] == [pair["pair"] for pair in page]
        for row, pair in zip(rows, page, strict=True):
            for side in "ab":
                for column in ("id", "time", "group", "title", "n_chars"):
                    assert row.pop(f"{side}_{column}") == pair[side][column]
            assert row == {
                column: value for column, value in pair.items() if column not in ("a", "b", "snippet")
            }  # texts are no table


def test_the_table_of_passages_goes_with_the_filters_of_pairs(judged: httpx.Client) -> None:
    assert len(items_of(judged, "passages")) == 4
    (row,) = items_of(judged, "passages", group="@Wire")
    assert (row["a_id"], row["b_id"]) == (HOSTILE, "d")


def test_the_table_of_arrivals_holds_what_came(judged: httpx.Client) -> None:
    (row,) = items_of(judged, "arrivals")
    assert row["id"] == "-new"
    assert row["sources"].split() == ["a", "b", "f"]
    assert table_of(judged, "arrivals")[0]["id"] == "'-new"


def test_text_that_would_be_a_formula_gets_an_apostrophe(judged: httpx.Client) -> None:
    (row,) = table_of(judged, "pairs", search="Fourth")
    assert row["a_id"] == f"'{HOSTILE}"  # with its newline
    assert (row["a_group"], row["a_title"], row["b_title"]) == ("'@Wire", "'+Third", "'-Fourth")
    assert row["note"] == "'=HYPERLINK(1)\nsecond line"
    (verdict,) = table_of(judged, "verdicts")
    assert verdict["a_id"] == f"'{HOSTILE}"


@pytest.mark.parametrize(
    "start",
    [
        "=", "+", "-", "@", "\t", "\r", " =", "\n=", " \n @", "\u00a0+", "\u3000-", "\ufeff=", "\u200b=", "\u2060 \u200e@",
        "\v=",
        "\0=", "\x1f+", "\u2028=", "\u202f=", "\u00ad=", "＝", "\u3000＋", "－", "＠", "\r\n=",
    ],
)  # fmt: skip
def test_no_cell_of_text_begins_as_formulas_do(start: str) -> None:
    rows: list[dict[str, Any]] = [{"text": f"{start}x", "number": -1.5, "flag": True, "list": ["=x"], "none": None}]
    columns = ["text", "number", "flag", "list", "none"]
    (head, row) = csv.reader(io.StringIO("".join(csv_chunks(iter(rows), columns)), newline=""))
    assert head == columns
    cell = start.replace("\0", "\ufffd")
    assert row == [f"'{cell}x", "-1.5", "true", '["=x"]', ""]


@pytest.mark.parametrize("harmless", ["", " ", "\n", "a=b", "1-2", " a", "(=1)", "\u200b", "é=", "'=x", "5"])
def test_other_text_is_as_it_is(harmless: str) -> None:
    chunks = csv_chunks(iter([{"text": harmless, "end": "."}]), ["text", "end"])
    assert list(csv.reader(io.StringIO("".join(chunks), newline="")))[1] == [harmless, "."]


def test_tables_for_programs_are_as_they_are(tmp_path: Path) -> None:
    """What `find` writes as CSV is read again by `eval` and `serve`: ids stay what they are."""
    ids = [" =1+1", "\n@x"]
    documents = [{"id": name, "text": text(1, 2, 3, 4)} for name in ids]
    ibidem.find(str(write_lines(tmp_path / "documents.jsonl", documents))).write(tmp_path / "out", format="csv")
    with open(tmp_path / "out" / "passages.csv", encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert sorted((row["a_id"], row["b_id"])) == sorted(ids)


def test_large_tables_are_sent_in_parts() -> None:
    rows = [{"n": n, "text": "x" * 1000} for n in range(1000)]
    for chunks in (csv_chunks(iter(rows), ["n", "text"]), json_chunks(iter(rows))):
        sizes = [len(chunk) for chunk in chunks]
        assert len(sizes) > 10
        assert max(sizes) < 70_000


def test_a_table_without_rows_has_its_head(reader: httpx.Client) -> None:
    response = reader.get(f"{API}/pairs.csv", params={"group": "nobody"})
    assert response.text == ",".join(COLUMNS["pairs"]) + "\r\n"
    assert items_of(reader, "pairs", group="nobody") == []


def test_tables_have_no_pages(reader: httpx.Client) -> None:
    for parameter in ("limit", "cursor"):
        error = expect_error(422, "invalid", reader.get(f"{API}/pairs.csv", params={parameter: 1}))
        assert f"{parameter} is not a known parameter" in error["message"]


@pytest.mark.parametrize("path", ["pairs.xml", "pairs.csv.csv", "nothing.csv", "flow.csv"])
def test_other_forms_and_tables_are_refused(reader: httpx.Client, path: str) -> None:
    response = reader.get(f"{API}/{path}")
    assert response.status_code in (404, 422)
    expect_error(response.status_code, {404: "not_found", 422: "invalid"}[response.status_code], response)


def test_only_so_many_tables_are_sent_at_a_time() -> None:
    exports = Exports()
    under_way = [exports.send("pairs", "csv", ["a"], lambda: iter([{"a": 1}])) for _ in range(MOST_AT_ONCE)]
    begun = [exports._counted("csv", ["a"], lambda: iter([{"a": 1}])) for _ in under_way]
    for chunks in begun:
        next(chunks)
    with pytest.raises(Exception, match="already being sent"):
        exports.send("pairs", "csv", ["a"], lambda: iter([]))
    begun.clear()
    del chunks
    exports.send("pairs", "csv", ["a"], lambda: iter([]))


def test_tables_of_an_index_have_heads_only(app_over: AppMaker, index: Path) -> None:
    client = app_over(index)
    for name, columns in COLUMNS.items():
        assert client.get(f"{API}/{name}.csv").text == ",".join(columns) + "\r\n"
