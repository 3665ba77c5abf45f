"""`ibidem collapse` as a user runs it: search results in, fewer out, each with what was folded under it."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_find import COMMAND, Run, process, said
from tests.texts import text

PAGE = text(1, 2, 3)
LINES = [
    f'{{"id": 7,  "query": "storm", "score": 1.50, "text": "{PAGE}"}}',
    f'{{"id": "b", "query": "storm", "text": "{text(8, 9)}", "title": "Ü"}}',
    "",
    f'{{"id": 5, "query": "storm", "big": 12345678901234567890, "text": "{PAGE} {text(4)}"}} ',
    f'{{"id": 5, "query": "calm", "text": "{PAGE}"}}',
]


def write(path: Path, *lines: str) -> str:
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path.name


def out(answer: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in answer.out.splitlines()]


def test_fields_stay_as_they_are(run: Run, tmp_path: Path) -> None:
    hits = write(tmp_path / "hits.jsonl", *LINES)
    answer = run("collapse", hits, "--query-field", "query", "--min-similarity", "0.5")
    assert (answer.code, answer.err) == (0, "hits: 4, collapsed: 1, lists: 2\n")
    assert answer.out.splitlines() == [
        LINES[0][:-1] + ', "collapsed": [5]}', LINES[1][:-1] + ', "collapsed": []}', LINES[4][:-1] + ', "collapsed": []}',
    ]  # fmt: skip
    answer = run("collapse", hits, "--min-similarity", "0.5", "-q")
    assert (answer.code, answer.err) == (0, "")
    assert [(hit["id"], hit["collapsed"]) for hit in out(answer)] == [(7, [5, 5]), ("b", [])]
    # Collapsed once more, what was folded before is said no longer.
    (tmp_path / "again.jsonl").write_text(answer.out, "utf-8")
    assert [hit["collapsed"] for hit in out(run("collapse", "again.jsonl", "-q"))] == [[], []]


def test_marks(run: Run, tmp_path: Path) -> None:
    hits = write(tmp_path / "hits.jsonl", *LINES)
    answer = run("collapse", hits, "--min-similarity", "0.5", "--mark-only")
    assert (answer.code, answer.err) == (0, "hits: 4, collapsed: 2\n")
    assert [(hit["id"], hit["collapsed_into"]) for hit in out(answer)] == [(7, None), ("b", None), (5, 7), (5, 7)]


def test_what_limits_mean(run: Run, tmp_path: Path) -> None:
    hits = write(tmp_path / "hits.jsonl", *LINES[:4])
    assert len(out(run("collapse", hits, "--min-similarity", "0.95"))) == 3
    assert len(out(run("collapse", hits, "--min-similarity", "0.95", "--min-containment", "0.9"))) == 2
    assert len(out(run("collapse", hits, "--min-similarity", "0.95", "--text-field", "query"))) == 1
    said(run("collapse", hits, "--min-similarity", "2"), 2, "--min-similarity must be between 0 and 1")


def test_lines_that_are_not_right(run: Run, tmp_path: Path) -> None:
    hits = write(tmp_path / "hits.jsonl", LINES[0], "{", "[1]", LINES[3], f'{{"text": "{PAGE}"}}', '{"id": "no text"}')
    answer = run("collapse", hits, "--min-similarity", "0.5")
    assert (answer.code, [hit["collapsed"] for hit in out(answer)]) == (0, [[5, "hits.jsonl:5"], []])
    assert answer.err.splitlines() == [
        "ibidem: line 2: broken JSON: Expecting property name enclosed in double quotes at character 2",
        "ibidem: line 3: not a JSON object but a list",
        "hits: 4, collapsed: 2, lines skipped: 2",
    ]
    answer = run("collapse", hits, "--strict")
    assert (answer.code, answer.out) == (3, "")
    assert "line 2: broken JSON" in answer.err
    assert "without --strict" in answer.err
    said(run("collapse", "absent.jsonl"), 3, "cannot read absent.jsonl: No such file or directory", "Check the spelling")
    (tmp_path / "empty.jsonl").write_text("")
    said(run("collapse", "empty.jsonl"), 0, "hits: 0, collapsed: 0")


def test_compressed_files_and_other_bytes(run: Run, tmp_path: Path) -> None:
    (tmp_path / "hits.jsonl.gz").write_bytes(gzip.compress("\r\n".join(LINES).encode()))
    assert [hit["collapsed"] for hit in out(run("collapse", "hits.jsonl.gz", "--min-similarity", "0.5"))] == [[5, 5], []]
    (tmp_path / "hits.jsonl.gz").write_bytes(gzip.compress("\n".join(LINES).encode())[:-9])
    assert run("collapse", "hits.jsonl.gz").code == 3
    odd = b'{"id": "a\xff", "text": "one"}\n{"id": "\\ud800", "text": "one"}\n'
    done = subprocess.run([*COMMAND, "collapse", "-"], input=odd, capture_output=True, cwd=tmp_path, check=True)
    assert done.stdout == b'{"id": "a\xff", "text": "one", "collapsed": ["\\ud800"]}\n'


def test_hits_from_standard_input_come_out_at_once(tmp_path: Path) -> None:
    """A list comes out when the next one begins, while the stream goes on; marked hits come out one by one."""
    for arguments, first, expected in (
        (("--query-field", "query"), [LINES[0], LINES[4]], '"collapsed": []}'),
        (("--mark-only",), [LINES[0]], '"collapsed_into": null}'),
    ):
        command = [*COMMAND, "collapse", *arguments]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path
        ) as started:
            assert started.stdin is not None
            assert started.stdout is not None
            started.stdin.write("".join(f"{line}\n" for line in first).encode())
            started.stdin.flush()
            assert started.stdout.readline().decode().rstrip().endswith(expected)
            started.stdin.close()
            rest = started.stdout.read()
            assert started.wait() == 0
            assert rest.count(b"\n") == len(first) - 1


def test_a_reader_that_has_seen_enough(tmp_path: Path) -> None:
    hits = write(tmp_path / "hits.jsonl", *LINES * 200)
    command = f"{' '.join(COMMAND)} collapse {hits} --query-field query -q | head -1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="closes a descriptor")
def test_closed_standard_input(tmp_path: Path) -> None:
    done = process("collapse", cwd=tmp_path, input="")
    assert done.returncode == 0
    assert "hits: 0" in done.stderr
