"""Following the answers of `ibidem watch`: whole lines, each once, whatever happens to the file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ibidem
from ibidem.cli.index_answers import arrival_line
from ibidem.viewer.server import index_shapes
from ibidem.viewer.server import tail as tailing
from ibidem.viewer.server.arrivals import ArrivalLog
from ibidem.viewer.server.tail import Tail
from tests.texts import text
from tests.viewer.server.conftest import RECORDS, AppMaker
from tests.waiting import wait_until


def line(name: str, **changes: Any) -> str:
    counts = {"n_sentences": 3, "n_known": 2, "n_common": 0, "sources": [{"id": "s", "n_sentences": 2}], "passages": [{}, {}]}
    return json.dumps({"id": name, "duplicated": True, **counts, **changes}) + "\n"


@pytest.fixture
def log(tmp_path: Path) -> Iterator[ArrivalLog]:
    opened = ArrivalLog(tmp_path / "arrivals.sqlite")
    yield opened
    opened.close()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "answers.jsonl"


def append(path: Path, content: str) -> None:
    with open(path, "a", encoding="utf-8") as written:
        written.write(content)


def names(log: ArrivalLog) -> list[str]:
    return [arrival["id"] for arrival in log.page(None, 500)["items"]]


def test_lines_are_taken_as_they_come(log: ArrivalLog, file: Path) -> None:
    tail = Tail(file, log)
    assert tail.read_new() == 0  # the file is not there yet
    append(file, line("one"))
    assert tail.read_new() == 1
    append(file, line("two") + line("thréé"))
    assert tail.read_new() == 2
    assert tail.read_new() == 0
    assert names(log) == ["one", "two", "thréé"]
    index_shapes.Arrival.model_validate(log.page(None, 1)["items"][0])


def test_a_line_is_taken_when_it_is_whole(log: ArrivalLog, file: Path) -> None:
    tail = Tail(file, log)
    whole = line("two")
    append(file, line("one") + whole[:20])
    assert tail.read_new() == 1
    append(file, whole[20:-1])
    assert tail.read_new() == 0
    append(file, "\n")
    assert tail.read_new() == 1
    assert names(log) == ["one", "two"]


def test_a_file_that_was_cut_off_is_read_from_its_beginning(log: ArrivalLog, file: Path) -> None:
    tail = Tail(file, log)
    append(file, line("one") + line("two"))
    tail.read_new()
    file.write_text(line("three"))
    assert tail.read_new() == 1
    file.write_text("")
    assert tail.read_new() == 0
    append(file, line("four"))
    assert tail.read_new() == 1
    assert names(log) == ["one", "two", "three", "four"]


def test_a_file_that_was_cut_off_and_grew_again_is_noticed(log: ArrivalLog, file: Path) -> None:
    tail = Tail(file, log)
    append(file, line("one"))
    tail.read_new()
    file.write_text(line("a longer name than before") + line("two"))
    assert tail.read_new() == 2


def test_a_file_that_was_replaced_is_read_from_its_beginning(log: ArrivalLog, file: Path) -> None:
    tail = Tail(file, log)
    append(file, line("one"))
    tail.read_new()
    other = file.with_name("other")
    append(other, line("two") + line("three"))
    os.replace(other, file)
    assert tail.read_new() == 2
    file.unlink()
    assert tail.read_new() == 0


def test_nothing_is_taken_twice_over_a_restart(log: ArrivalLog, file: Path) -> None:
    append(file, line("one") + line("two")[:30])
    Tail(file, log).read_new()
    append(file, line("two")[30:] + line("three"))
    assert Tail(file, log).read_new() == 2
    assert names(log) == ["one", "two", "three"]


@pytest.mark.parametrize(
    "other",
    [
        "\n", "nonsense\n", "[]\n", "7\n", "{}\n", "[" * 100_000 + "\n", '{"id": null, "skipped": "empty text", "line": 3}\n',
        line("x", n_known="2"), line("x", n_known=-1), line("x", n_known=True), line("x", duplicated="yes"),
        line("x", sources=[{"id": 7, "n_sentences": 1}]), line("x", sources=None), line("x", passages=3), line("\ud800"),
        "\0\0\0\n",
    ],
)  # fmt: skip
def test_lines_that_are_no_answers_are_passed_over(log: ArrivalLog, file: Path, other: str) -> None:
    append(file, line("one") + other + line("two"))
    assert Tail(file, log).read_new() == 2
    assert names(log) == ["one", "two"]


def test_a_file_larger_than_what_is_read_at_once_is_read_whole(
    log: ArrivalLog, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tailing, "_READ_BYTES", 100)
    append(file, "".join(line(str(number)) for number in range(50)))
    assert Tail(file, log).read_new() == 50
    assert names(log) == [str(number) for number in range(50)]


def test_a_line_without_end_is_not_held_in_memory(log: ArrivalLog, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tailing, "_READ_BYTES", 100)
    monkeypatch.setattr(tailing, "_MOST_LINE_BYTES", 1000)
    tail = Tail(file, log)
    append(file, "x" * 5000)
    assert tail.read_new() == 0
    assert tail._offset > 3000
    append(file, "x" * 5000 + "\n" + line("one"))
    assert tail.read_new() == 1


def test_what_watch_writes_is_understood(log: ArrivalLog, file: Path, tmp_path: Path) -> None:
    with ibidem.Index(tmp_path / "watched.idx") as index:
        records = [*RECORDS[:2], {"text": "no id"}]
        for number, arrival in enumerate(index.watch(records), 1):
            append(file, arrival_line(arrival, number) + "\n")
    assert Tail(file, log).read_new() == 2
    first, second = log.page(None, 2)["items"]
    assert not first["duplicated"]
    assert (second["duplicated"], second["n_known"], second["n_passages"]) == (True, 4, 1)
    assert second["sources"] == [{"id": "a", "n_sentences": 4}]


def test_the_app_shows_a_stream_that_another_process_handles(app_over: AppMaker, result: Path, file: Path) -> None:
    client = app_over(result, arrivals=file)
    assert client.get("/api/v1/arrivals").json()["total"] == 0
    append(file, line("one", text=text(1)))
    wait_until(lambda: client.get("/api/v1/arrivals").json()["items"])
    assert [item["id"] for item in client.get("/api/v1/arrivals").json()["items"]] == ["one"]


def test_a_file_that_cannot_be_read_does_not_end_the_following(
    log: ArrivalLog, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tail = Tail(tmp_path, log)  # a folder
    tail.start(0.01)
    wait_until(lambda: "cannot be followed" in caplog.text)
    tail.stop()
