"""Documents that arrive: added through the API, logged, listed, and streamed."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

import ibidem
from ibidem.errors import InputError
from ibidem.execution.output_folder import ARRIVALS_FILE
from ibidem.index.commits import WriterLock
from ibidem.viewer.server import arrivals, index_shapes
from ibidem.viewer.server.api_errors import ApiError
from ibidem.viewer.server.arrivals import ArrivalLog
from tests.texts import text
from tests.viewer.server.conftest import RECORDS, AppMaker
from tests.viewer.server.expected import expect, expect_error, expect_safe
from tests.waiting import wait_until

ARRIVALS = "/api/v1/arrivals"


def arrival(**changes: Any) -> dict[str, Any]:
    counts = {"n_sentences": 1, "n_known": 0, "n_passages": 0, "covered_share": None}
    return {"id": "x", "at": "2031-01-01T00:00:00Z", "duplicated": False, **counts, "sources": [], "excerpt": "", **changes}


def test_a_document_is_checked_then_added_then_found(client: httpx.Client) -> None:
    new = {"id": "new", "text": text(500) + " " + text(1, 2, 3, 4), "time": "2031-06-01T00:00:00Z", "group": "Herald"}
    came = expect(index_shapes.Arrival, client.post(ARRIVALS, json=new))
    assert (came["id"], came["duplicated"], came["n_sentences"], came["n_known"]) == ("new", True, 5, 4)
    assert [source["id"] for source in came["sources"]] == ["a", "b", "f"]
    assert came["n_passages"] == 3
    assert came["covered_share"] == pytest.approx(len(text(1, 2, 3, 4)) / len(new["text"]))
    assert came["excerpt"] == new["text"][: new["text"].rfind(" ", 0, 200)].rstrip(".") + "…"
    assert client.get("/api/v1/index").json()["n_documents"] == len(RECORDS) + 1
    found = expect(index_shapes.Check, client.post("/api/v1/check", json={"text": new["text"]}))
    assert found["sources"][0]["id"] == "new"
    assert found["covered_share"] == 1
    assert expect(index_shapes.ArrivalPage, client.get(ARRIVALS))["items"] == [came]


def test_no_thread_is_started_for_a_document(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that starts when memory has run out may never report, and its request would wait for ever."""
    names: list[str] = []
    start = threading.Thread.start
    monkeypatch.setattr(threading.Thread, "start", lambda thread: (names.append(thread.name), start(thread)))
    new = {"id": "new", "text": text(500, 1, 2, 3, 4)}
    assert client.post("/api/v1/check", json={"text": new["text"]}).status_code == 200
    assert client.post(ARRIVALS, json=new).status_code == 200
    assert [name for name in names if name.startswith("ibidem")] == []


def test_a_known_id_is_a_conflict_and_changes_nothing(client: httpx.Client) -> None:
    error = expect_error(409, "known_id", client.post(ARRIVALS, json={"id": "a", "text": text(1)}))
    assert "'a'" in error["message"]
    assert error["next_step"]
    assert client.get("/api/v1/index").json()["n_documents"] == len(RECORDS)
    assert client.get(ARRIVALS).json()["total"] == 0


def test_an_index_that_another_writes_to_is_locked(client: httpx.Client, index: Path) -> None:
    with WriterLock(index):
        error = expect_error(409, "locked", client.post(ARRIVALS, json={"id": "new", "text": text(500)}))
        assert error["next_step"]
        expect(index_shapes.Check, client.post("/api/v1/check", json={"text": text(1)}))  # readers go on
    expect(index_shapes.Arrival, client.post(ARRIVALS, json={"id": "new", "text": text(500)}))


def test_several_at_a_time_wait_for_one_another(client: httpx.Client) -> None:
    def add(number: int) -> int:
        return client.post(ARRIVALS, json={"id": f"new {number}", "text": text(500 + number)}).status_code

    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(add, range(6))) == [200] * 6
    assert client.get("/api/v1/index").json()["n_documents"] == len(RECORDS) + 6
    assert len({item["arrival"] for item in client.get(ARRIVALS).json()["items"]}) == 6


def test_one_who_waited_too_long_is_told(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "_MOST_WAIT_SECONDS", 0.05)
    with ibidem.Index(index) as opened:
        adder = arrivals.Adder(opened, ArrivalLog(None))
        with adder._mutex, pytest.raises(ApiError) as caught:
            adder.add(ibidem.Document("new", text(500)))
    assert (caught.value.status_code, caught.value.code) == (409, "locked")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"text": "x"}, "id is missing"),
        ({"id": "x"}, "text is missing"),
        ({"id": "", "text": "x"}, "id must not be empty"),
        ({"id": "x", "text": " "}, "the text is empty"),
        ({"id": "x", "text": "\0" * 50}, "NUL characters"),
        ({"id": "x", "text": "x", "time": "some day"}, "time cannot be parsed"),
    ],
)
def test_what_cannot_be_added_is_refused_in_words(client: httpx.Client, body: dict[str, Any], told: str) -> None:
    assert told in expect_error(422, "invalid", client.post(ARRIVALS, json=body))["message"]
    assert client.get("/api/v1/index").json()["n_documents"] == len(RECORDS)


def test_nothing_is_added_when_it_is_read_only(app_over: AppMaker, index: Path) -> None:
    client = app_over(index, may_write=False)
    assert not client.get("/api/v1/index").json()["may_add"]
    error = expect_error(403, "read_only", client.post(ARRIVALS, json={"id": "new", "text": text(500)}))
    assert "--read-only" in error["next_step"]
    assert not (index / ARRIVALS_FILE).exists()


def test_nothing_is_added_where_nothing_can_be_written(
    app_over: AppMaker, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)
    client = app_over(index)
    expect_error(403, "read_only", client.post(ARRIVALS, json={"id": "new", "text": text(500)}))


def test_arrivals_outlive_the_server(app_over: AppMaker, index: Path) -> None:
    first = app_over(index).post(ARRIVALS, json={"id": "one", "text": text(500)}).json()
    later = app_over(index)
    assert later.get(ARRIVALS).json()["items"] == [first]
    second = later.post(ARRIVALS, json={"id": "two", "text": text(501)}).json()
    assert second["arrival"] > first["arrival"]


def test_arrivals_are_listed_from_a_number_on(app_over: AppMaker, index: Path) -> None:
    log = ArrivalLog(index / ARRIVALS_FILE)
    log.append(arrival(id=str(n)) for n in range(1, 121))
    log.close()
    client = app_over(index)
    page = expect(index_shapes.ArrivalPage, client.get(ARRIVALS))
    assert [item["arrival"] for item in page["items"]] == list(range(71, 121))  # the last ones, older first
    assert (page["total"], page["next"]) == (120, None)
    seen, after = [], "0"
    while after is not None:
        page = expect(index_shapes.ArrivalPage, client.get(ARRIVALS, params={"after": after, "limit": 50}))
        seen += [item["id"] for item in page["items"]]
        after = page["next"]
    assert seen == [str(n) for n in range(1, 121)]
    assert client.get(ARRIVALS, params={"after": 120}).json()["items"] == []
    expect_error(422, "invalid", client.get(ARRIVALS, params={"after": -1}))
    assert client.get(f"{ARRIVALS}.json").json()["total"] == 120


def test_the_log_keeps_the_last_ones_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "MOST_KEPT", 10)
    monkeypatch.setattr(arrivals, "_TRIM_AT", 5)
    log = ArrivalLog(tmp_path / "log.sqlite")
    for n in range(100):
        log.append([arrival(id=str(n))])
        assert log.page(None, 1)["total"] <= 15
    assert log.last_number() == 100
    assert [item["id"] for item in log.page(None, 3)["items"]] == ["97", "98", "99"]
    log.close()


def test_a_log_that_is_none_is_named(tmp_path: Path) -> None:
    path = tmp_path / "log.sqlite"
    path.write_text("this is no database at all, but long enough to be looked at" * 20)
    with pytest.raises(InputError, match="not a log of arrivals"):
        ArrivalLog(path)


def test_a_log_in_a_folder_that_cannot_be_written_lasts_for_the_process(tmp_path: Path) -> None:
    path = tmp_path / "log.sqlite"
    sqlite3.connect(path).close()
    path.chmod(0o400)
    log = ArrivalLog(path if os.getuid() else None)  # root may write everywhere
    assert log.append([arrival()])[0]["arrival"] == 1
    log.close()


def events_of(lines: Iterator[str], n_events: int) -> list[tuple[int, dict[str, Any]]]:
    found: list[tuple[int, dict[str, Any]]] = []
    number = 0
    for line in lines:
        if line.startswith("id: "):
            number = int(line[4:])
        if line.startswith("data: "):
            found.append((number, json.loads(line[6:])))
            if len(found) == n_events:
                break
    return found


def test_a_stream_tells_of_arrivals_as_they_come(client: httpx.Client) -> None:
    client.post(ARRIVALS, json={"id": "before", "text": text(499)})
    with client.stream("GET", f"{ARRIVALS}/stream") as stream:
        expect_safe(stream)
        assert stream.headers["content-type"].startswith("text/event-stream")
        assert "content-encoding" not in stream.headers
        lines = stream.iter_lines()
        assert next(lines) == "retry: 2000"
        came = client.post(ARRIVALS, json={"id": "new\ndata: x", "text": text(500)}).json()
        assert events_of(lines, 1) == [(came["arrival"], came)]
    assert index_shapes.Arrival.model_validate(came)


@pytest.mark.parametrize(
    ("parameters", "headers", "expected"),
    [
        ({"after": 0}, {}, ["one", "two", "three"]),
        ({"after": 2}, {}, ["three"]),
        ({}, {"Last-Event-ID": "1"}, ["two", "three"]),
        ({"after": 0}, {"Last-Event-ID": "2"}, ["three"]),  # the browser came back
        ({"after": 1}, {"Last-Event-ID": "rubbish"}, ["two", "three"]),
    ],
)
def test_a_stream_goes_on_where_it_broke_off(
    client: httpx.Client, parameters: dict[str, int], headers: dict[str, str], expected: list[str]
) -> None:
    for number, name in enumerate(["one", "two", "three"]):
        client.post(ARRIVALS, json={"id": name, "text": text(500 + number)})
    with client.stream("GET", f"{ARRIVALS}/stream", params=parameters, headers=headers) as stream:
        assert [content["id"] for _, content in events_of(stream.iter_lines(), len(expected))] == expected


def test_a_stream_says_now_and_then_that_it_is_there(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "HEARTBEAT_SECONDS", 0.05)
    with client.stream("GET", f"{ARRIVALS}/stream") as stream:
        assert next(line for line in stream.iter_lines() if line.startswith(":")) == ": still here"


def test_there_are_only_so_many_listeners(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrivals, "MOST_LISTENERS", 2)
    stream = f"{ARRIVALS}/stream"
    with client.stream("GET", stream) as first, client.stream("GET", stream) as second:
        assert (first.status_code, second.status_code) == (200, 200)
        expect_error(503, "busy", client.get(stream))

    def may_listen() -> bool:
        with client.stream("GET", stream) as third:
            return third.status_code == 200

    wait_until(may_listen, "an end of the first two")  # it is noticed a little later


def test_streams_end_with_the_server(client: httpx.Client) -> None:
    """The fixture ends the server while this reader waits; it would fail if that took long."""
    ready, lines = threading.Event(), []

    def read() -> None:
        with httpx.stream("GET", client.base_url.join(f"{ARRIVALS}/stream"), timeout=60, trust_env=False) as stream:
            for line in stream.iter_lines():
                lines.append(line)
                ready.set()

    threading.Thread(target=read, daemon=True).start()
    assert ready.wait(10)
