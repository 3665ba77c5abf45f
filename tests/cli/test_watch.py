"""`ibidem watch` as a user runs it: answers while the stream goes on, and nothing that was answered is lost."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import ibidem
from ibidem.cli.options import flag
from ibidem.config import setting_fields
from ibidem.config.settings import REPORTED_LIMITS
from tests.cli.test_find import COMMAND, Answer, Run, process, said
from tests.texts import documents, text
from tests.waiting import wait_until

pytestmark = pytest.mark.usefixtures("compiled_index")
PASSAGE = {
    "a_start", "a_end", "b_id", "b_start", "b_end", "n_sentences", "similarity", "kind", "direction", "a_sentence",
    "b_sentence", "a_text", "b_text",
}  # fmt: skip

# A stream and two texts have no table beside them.
METADATA = ("metadata", "metadata_key", "date_format", "time_from", "group_from")


def lines_of(*records: Any) -> str:
    return "".join((record if isinstance(record, str) else json.dumps(record)) + "\n" for record in records)


def fed(run: Run, monkeypatch: pytest.MonkeyPatch, stream: str | bytes, *arguments: str) -> Answer:
    """Run the command in this process with a stream to read."""
    Path("stream").write_bytes(stream if isinstance(stream, bytes) else stream.encode())
    with open("stream") as file:
        monkeypatch.setattr(sys, "stdin", file)
        return run("watch", "news.idx", *arguments)


class Watch:
    """A watch that runs, fed line by line."""

    def __init__(self, started: subprocess.Popen[bytes]) -> None:
        self.process = started

    def send(self, record: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(lines_of(record).encode())
        self.process.stdin.flush()

    def ask(self, record: Any) -> dict[str, Any]:
        self.send(record)
        assert self.process.stdout is not None
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def said(self) -> str:
        assert self.process.stderr is not None
        return self.process.stderr.read().decode()


@contextmanager
def started(tmp_path: Path, *arguments: str) -> Iterator[Watch]:
    pipe = subprocess.PIPE
    command = [*COMMAND, "watch", "news.idx", *arguments]
    with subprocess.Popen(command, cwd=tmp_path, stdin=pipe, stdout=pipe, stderr=pipe) as running:
        try:
            yield Watch(running)
        finally:
            running.kill()


def ids_in(folder: Path) -> int:
    with ibidem.Index(folder, create=False) as index:
        assert index.verify() == []
        return len(index)


# A stream that ends.


def test_each_document_is_answered_by_what_came_before(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stream = lines_of(*documents(first=text(1, 2, 3), second=f"{text(9)} {text(1, 2, 3)}", third=text(20)))
    answer = fed(run, monkeypatch, stream)
    assert (answer.code, "Traceback" in answer.err) == (0, False)
    first, second, third = map(json.loads, answer.out.splitlines())
    nothing = {"duplicated": False, "n_known": 0, "n_common": 0, "sources": [], "passages": []}
    assert first == {"id": "first", "n_sentences": 3, **nothing}
    assert third == {"id": "third", "n_sentences": 1, **nothing}
    (passage,) = second.pop("passages")
    assert second == {
        "id": "second", "duplicated": True, "n_sentences": 4, "n_known": 3, "n_common": 0,
        "sources": [{"id": "first", "n_sentences": 3}],
    }  # fmt: skip
    assert set(passage) == PASSAGE
    assert (passage["a_start"], passage["b_id"], passage["b_start"]) == (len(text(9)) + 1, "first", 0)
    assert "3 documents added, 1 duplicated (--min-hits 3), " in answer.err
    assert re.search(r" documents? per second\n\Z", answer.err)
    assert ids_in(tmp_path / "news.idx") == 3
    # And in the next run it is there.
    again = fed(run, monkeypatch, lines_of(*documents(fourth=text(1, 2, 3))), "-q")
    assert (again.code, again.err) == (0, "")
    assert json.loads(again.out)["sources"][0]["id"] == "first"


def test_records_that_cannot_be_used_are_answered_by_the_reason(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = lines_of(
        {"id": "a", "text": text(1)}, "", '{"id": "broken', [1], {"text": text(1)}, {"id": "b"}, {"id": "a", "text": text(2)},
        {"id": 7, "text": text(1)},
    )  # fmt: skip
    answer = fed(run, monkeypatch, "\ufeff" + stream.rstrip("\n"))
    found = [json.loads(line) for line in answer.out.splitlines()]
    assert [(record["id"], record.get("line")) for record in found] == [
        ("a", None), (None, 3), (None, 4), (None, 5), ("b", 6), ("a", 7), ("7", None),
    ]  # fmt: skip
    assert all(set(record) == {"id", "skipped", "line"} for record in found if "line" in record)
    reasons = [record["skipped"] for record in found if "line" in record]
    parts = (
        "broken JSON",
        "not a JSON object",
        "no field 'id'; its fields are text. Name the id field with --id-field NAME.",
        "no field 'text'",
        "--replace",
    )
    for reason, part in zip(reasons, parts, strict=True):
        assert part in reason
        assert reason in answer.err
    assert "ibidem: line 3: broken JSON" in answer.err
    assert "2 documents added, 0 duplicated (--min-hits 3), 5 records skipped" in answer.err
    assert answer.code == 0


def test_ids_that_are_there_but_of_no_use_are_called_that(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = fed(run, monkeypatch, lines_of(*({"id": value, "text": text(1)} for value in (None, "", "\ud800"))))
    found = [json.loads(line)["skipped"] for line in answer.out.splitlines()]
    assert found == [
        "field 'id' is null. Name the id field with --id-field NAME.",
        "field 'id' is empty; an index needs ids",
        "field 'id' cannot be encoded; an index needs ids",
    ]


def test_strict_stops_at_a_record_that_would_be_skipped(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    answer = fed(run, monkeypatch, lines_of({"id": "a", "text": text(1)}, "{", {"id": "b", "text": text(2)}), "--strict")
    assert answer.code == 3
    assert [json.loads(line)["id"] for line in answer.out.splitlines()] == ["a", None]
    assert "ibidem: line 2: broken JSON" in answer.err
    assert "--strict" in answer.err
    assert ids_in(tmp_path / "news.idx") == 1


def test_an_id_again_takes_the_place_of_the_document(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stream = lines_of({"id": "a", "text": text(1, 2, 3)}, {"id": "a", "text": text(4)}, {"id": "b", "text": text(1, 2, 3)})
    answer = fed(run, monkeypatch, stream, "--replace", "--commit-every", "1")
    assert [json.loads(line)["n_known"] for line in answer.out.splitlines()] == [0, 0, 0]
    assert ids_in(tmp_path / "news.idx") == 2


def test_the_same_text_under_another_id(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = fed(run, monkeypatch, lines_of(*documents(a=text(1, 2), b=text(3, 4), c=text(1, 2))))
    assert [json.loads(line).get("same_text_as") for line in answer.out.splitlines()] == [None, None, "a"]
    assert "1 document has the same text as another document in the index:\n  c = a\n" in answer.err


def test_settings_of_a_watch(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = lines_of({"key": "a", "body": text(1)}, {"key": "b", "body": text(1)})
    fields = ("--id-field", "key", "--text-field", "body")
    answer = fed(run, monkeypatch, stream, *fields, "--min-hits", "1", "--signature", "exact")
    assert [json.loads(line)["duplicated"] for line in answer.out.splitlines()] == [False, True]
    said(fed(run, monkeypatch, "", "--signature", "words"), 4, "signature is exact in the index, not words")
    said(fed(run, monkeypatch, "", "--commit-every", "often"), 2, "--commit-every must be", "not 'often'")
    said(fed(run, monkeypatch, ""), 0, "0 documents added")


def test_long_lines_and_odd_blocks(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    long = text(*range(300))
    stream = lines_of({"id": "a", "text": long, "x": "y" * 200_000}, {"id": "b", "text": long}).replace("\n", "\r\n")
    answer = fed(run, monkeypatch, stream, "-q")
    _, second = map(json.loads, answer.out.splitlines())
    assert (second["n_known"], second["n_sentences"]) == (300, 300)


def test_closed_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    said(run("watch", "news.idx"), 2, "standard input is closed")


def test_the_help_lists_the_settings(run: Run) -> None:
    flat = run("watch", "--help-all").out.replace("/", " ").replace(",", " ").replace("\n", " ")
    for stage, setting in setting_fields():
        if stage in ("documents", "sentences", "passages", "index") and setting.name not in (
            "encoding",
            "families",
            "query",
            "min_run_words",
            "runs",
            *METADATA,
            *REPORTED_LIMITS,
        ):
            assert f"{flag(setting.name)} " in flat, setting.name


# A stream that goes on.


def test_answers_come_while_the_stream_goes_on_and_an_interrupt_keeps_them(tmp_path: Path) -> None:
    with started(tmp_path) as watch:
        assert watch.ask({"id": "a", "text": text(1, 2, 3)})["duplicated"] is False
        assert watch.ask({"id": "b", "text": text(1, 2, 3)})["duplicated"] is True
        assert "skipped" in watch.ask("{")
        other = process("index", "add", "news.idx", "-", cwd=tmp_path, input=lines_of({"id": "c", "text": text(1)}))
        assert (other.returncode, other.stdout) == (4, "")
        assert f"another process (pid {watch.process.pid}) has been writing" in other.stderr
        second = process("watch", "news.idx", cwd=tmp_path, stdin=subprocess.DEVNULL)
        assert (second.returncode, second.stdout) == (4, "")
        watch.process.send_signal(signal.SIGINT)
        assert watch.process.wait(30) == 130
        assert watch.said().splitlines()[1:][0].startswith("2 documents added, 1 duplicated (--min-hits 3), 1 record skipped")
    assert ids_in(tmp_path / "news.idx") == 2


def test_a_request_to_end_keeps_what_was_answered(tmp_path: Path) -> None:
    with started(tmp_path, "--commit-every", "100000") as watch:
        for number in range(20):
            watch.ask({"id": str(number), "text": text(number)})
        assert watch.process.stdin is not None
        watch.process.stdin.write(b'{"id": "half a line')
        watch.process.stdin.flush()
        watch.process.send_signal(signal.SIGTERM)
        assert watch.process.wait(30) == 143
        assert watch.said().endswith("ibidem: interrupted\n")
    assert ids_in(tmp_path / "news.idx") == 20


def test_a_reader_that_has_gone_is_no_error(tmp_path: Path) -> None:
    with started(tmp_path) as watch:
        watch.ask({"id": "a", "text": text(1)})
        assert watch.process.stdout is not None
        watch.process.stdout.close()
        watch.send({"id": "b", "text": text(2)})
        assert watch.process.wait(30) == 0
        assert watch.said() == ""
    assert ids_in(tmp_path / "news.idx") == 2


def test_documents_are_safe_after_a_while_though_nothing_comes(tmp_path: Path) -> None:
    with started(tmp_path, "--commit-every", "0.2s") as watch:
        watch.ask({"id": "a", "text": text(1)})
        wait_until(lambda: ids_in(tmp_path / "news.idx"), "a commit")
        watch.process.send_signal(signal.SIGKILL)
        watch.process.wait(30)
    assert ids_in(tmp_path / "news.idx") == 1
