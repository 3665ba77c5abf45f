"""What may be given as inputs, in which order it is read, and what is said when it cannot be."""

from __future__ import annotations

import gzip
import io
import json
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ibidem.config import DocumentsConfig
from ibidem.errors import InputError, RepeatedIdError, SettingsError
from ibidem.execution.unique_ids import check_unique_ids
from ibidem.formats import describe_inputs, input_size, read, read_batches, reader, records, text_files
from ibidem.model import Document, Skipped


def collect(inputs: Any, **config: Any) -> tuple[list[dict[str, Any]], list[Skipped]]:
    skipped: list[Skipped] = []
    batches = list(read_batches(inputs, DocumentsConfig(**config), skipped.append))
    return [row for batch in batches for row in batch.to_pylist()], skipped


def ids(inputs: Any, **config: Any) -> list[str]:
    return [row["id"] for row in collect(inputs, **config)[0]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.txt", "a/z.md", "a/b/c.txt", "a.txt", ".hidden.txt", ".git/x.txt", "picture.png", "notes.zst"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"text of {name}", encoding="utf-8")
    (tmp_path / "m.jsonl").write_text('{"id": "m1", "text": "one"}\n{"text": "two"}\n', encoding="utf-8")
    return tmp_path


def test_a_folder_is_read_in_sorted_order_whatever_else_is_in_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = ["a/b/c.txt", "a/z.md", "a.txt", "b.txt", "m1", "m.jsonl:2"]
    assert ids(folder) == [name if name == "m1" else f"{folder}/{name}" for name in expected]
    monkeypatch.chdir(folder)
    assert ids(folder) == expected
    assert ids(str(folder)) == expected
    assert {record.reason for record in collect(folder)[1]} == {"unknown kind of file (.zst)", "unknown kind of file (.png)"}


def test_order_does_not_depend_on_how_files_are_shared_out(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = collect(folder)
    monkeypatch.setattr(text_files, "MAX_JOB_FILES", 1)
    assert collect(folder) == expected
    monkeypatch.setattr(records, "MAX_BATCH_BYTES", 1)
    assert collect(folder) == expected


def test_paths_as_given_tell_several_folders_apart(folder: Path) -> None:
    assert ids([folder / "a", folder / "b.txt"]) == [(folder / name).as_posix() for name in ("a/b/c.txt", "a/z.md", "b.txt")]


def test_patterns(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert ids("*.txt") == ["a.txt", "b.txt"]
    assert ids("**/*.txt") == ["a/b/c.txt", "a.txt", "b.txt"] or ids("**/*.txt") == ["a.txt", "a/b/c.txt", "b.txt"]
    assert ids(["b.txt", "a.txt"]) == ["b.txt", "a.txt"]
    assert ids(Path("a").glob("*.md")) == ["a/z.md"]


def test_a_file_whose_name_looks_like_a_pattern(tmp_path: Path) -> None:
    (tmp_path / "x[1].txt").write_text("words", encoding="utf-8")
    assert len(ids(tmp_path / "x[1].txt")) == 1


@pytest.mark.parametrize("name", ["missing.txt", "*.nothing", "missing/"])
def test_a_path_without_files_is_an_error_at_once(tmp_path: Path, name: str) -> None:
    for function in (lambda path: read_batches(path, DocumentsConfig(), pytest.fail), input_size, read):
        with pytest.raises(InputError, match=r"no file") as caught:
            function(f"{tmp_path}/{name}")
        assert name in caught.value.message
        assert caught.value.next_step


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b'{"id": "x", "text": "lines"}\n', ["lines"]),
        (b' [{"text": "array"}]', ["array"]),
        (b"just words", ["just words"]),
        (b"<!DOCTYPE html><p>page", ["page"]),
        (gzip.compress(b'{"text": "packed"}', mtime=0), ["packed"]),
        (pa.Codec("zstd").compress(b"packed words", asbytes=True), ["packed words"]),
    ],
)
def test_stdin_and_unknown_names_are_known_by_their_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, expected: list[str]
) -> None:
    (tmp_path / "strange.data").write_bytes(content)
    assert [row["text"] for row in collect(tmp_path / "strange.data")[0]] == expected
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    rows, skipped = collect("-")
    assert [row["text"] for row in rows] == expected
    assert not skipped
    assert rows[0]["id"] in ("x", "-", "-:1")
    assert input_size("-") is None
    assert describe_inputs("-") == [{"kind": "stream", "path": "-"}]
    assert not sys.stdin.buffer.closed


def test_empty_stdin_holds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert collect("-") == ([], [Skipped("-", 0, "empty text", "-")])


def test_files_that_cannot_be_used_are_named_and_the_rest_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"caf\xe9")
    (tmp_path / "b.txt").write_bytes(b" \n")
    (tmp_path / "c.txt").write_bytes("wide".encode("utf-16"))
    (tmp_path / "d.parquet").write_bytes(b"not at all")
    (tmp_path / "e.txt.gz").write_bytes(gzip.compress(random.Random(2).randbytes(500).hex().encode())[:200])
    (tmp_path / "f.txt").symlink_to(tmp_path / "nowhere")
    (tmp_path / "g.json").write_bytes(b'[{"text": "before"}, {"text": ')
    (tmp_path / "h.csv").write_bytes(b'id,text\n1,one\n2,"two\nlines"\n3\n4,four,more\n5,five\n')
    (tmp_path / "i.txt").write_bytes(b"a\0b")
    (tmp_path / "z.txt").write_bytes(b"good")
    rows, skipped = collect(tmp_path)
    assert [row["text"] for row in rows] == ["before", "one", "two\nlines", "five", "good"]
    assert [(Path(record.source).name, record.position) for record in skipped] == [
        *[(name, 0) for name in ("a.txt", "b.txt", "c.txt", "d.parquet", "e.txt.gz", "f.txt", "g.json")],
        ("h.csv", 5),
        ("h.csv", 6),
        ("i.txt", 0),
    ]
    reasons = [record.reason for record in skipped]
    for reason, part in zip(
        reasons,
        [
            "at byte 3",
            "empty text",
            "NUL",
            "Parquet",
            "Truncated",
            "No such file",
            "after 1 record:",
            "1 column, but the header has 2",
            "3 columns",
            "UTF-16",
        ],
        strict=True,
    ):
        assert part in reason
    assert [row["position"] for row in rows if row["source"].endswith("csv")] == [2, 3, 7]


def test_a_json_file_may_hold_one_record_or_several(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ibidem.formats import json_files as json_reader

    path = tmp_path / "docs.json"
    for size in (1, 7, 1 << 20):
        monkeypatch.setattr(json_reader, "READ_BYTES", size)
        for content, expected in (
            ('{"text": "one"}', ["one"]),
            ('{"text": "öne"}\n{"text":\n"two"}', ["öne", "two"]),
            (
                '[{"text": "one"} ,\n {"text": "two", "more": [1, {"x": 2}]}, 12, {"text": "three"}]\n',
                ["one", "two", "three"],
            ),
            ("[]", []),
        ):
            path.write_text(content, encoding="utf-8")
            rows, skipped = collect(path)
            assert [row["text"] for row in rows] == expected
            assert [(record.position, record.reason) for record in skipped] == (
                [(3, "not a record but a number")] if "12" in content else []
            )
    path.write_text('[{"text": "one"}, nonsense, {"text": "two"}]', encoding="utf-8")
    rows, skipped = collect(path)
    assert [row["text"] for row in rows] == ["one"]
    assert "after 1 record:" in skipped[0].reason


TABLE = pa.table({"text": ["one", "two", None], "id": [1, 2, 3], "n": [0.5, None, 1.5]})


class OldDataset:
    """A Hugging Face dataset as far as it matters here: rows are chosen by a list, the table below has them all."""

    def with_format(self, kind: str) -> OldDataset:
        assert kind == "arrow"
        return self

    def iter(self, batch_size: int) -> Iterator[pa.Table]:
        assert batch_size > 1
        yield TABLE.slice(0, 1)
        yield TABLE.slice(1)


@pytest.mark.parametrize(
    "make",
    [
        lambda: TABLE,
        lambda: TABLE.to_batches()[0],
        lambda: TABLE.to_reader(),
        lambda: TABLE.to_pylist(),
        lambda: iter(TABLE.to_pylist()),
        lambda: (record for record in TABLE.to_pylist()),
        lambda: OldDataset(),
        lambda: [TABLE.slice(0, 1), TABLE.slice(1)],
        lambda: TABLE.cast(pa.schema([("text", pa.string_view()), ("id", pa.int8()), ("n", pa.float32())])),
        lambda: [*TABLE.to_pylist()[:2], {"id": "3"}],
    ],
)
def test_python_objects(make: Any) -> None:
    rows, skipped = collect(make())
    assert [(row["id"], row["text"]) for row in rows] == [("1", "one"), ("2", "two")]
    assert [record.id for record in skipped] == ["3"]
    assert [document.fields for document in read(make(), on_skip=skipped.append)] == [{"n": 0.5}, {"n": None}]


def test_data_frames() -> None:
    pandas = pytest.importorskip("pandas")
    assert ids(pandas.DataFrame({"text": ["one", "two"], "id": ["a", "b"]})) == ["a", "b"]


def test_documents_dicts_and_paths_together(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("from a file", encoding="utf-8")
    moment = datetime(2020, 1, 1, tzinfo=timezone.utc)
    given = [
        Document("x", "first", time=moment, group="g", fields={"n": 1}),
        {"text": "second", "time": 5},
        tmp_path / "a.txt",
        Document("y", "third"),
        "",
    ][:4]
    rows, _ = collect(given)
    assert [row["id"] for row in rows] == ["x", "records:2", (tmp_path / "a.txt").as_posix(), "y"]
    assert (rows[0]["time"], rows[0]["group"], rows[1]["time"].year) == (moment, "g", 1970)
    assert [document.fields for document in read(given)] == [{"n": 1}, {}, {}, {}]
    assert ids(given[0]) == ["x"]
    assert input_size(given) is None
    assert [kind.get("kind") for kind in describe_inputs(given)] == ["python object", None, "python object"]


def test_what_is_no_record_is_skipped_and_what_is_no_input_is_an_error() -> None:
    rows, skipped = collect(iter([{"text": "one"}, 5, None]))
    assert len(rows) == 1
    assert [(record.position, record.reason) for record in skipped] == [
        (2, "not a record but a number"),
        (3, "not a record but null"),
    ]
    with pytest.raises(InputError, match="from a int"):
        collect(5)
    with pytest.raises(InputError, match="records has no column 'text'; its columns are body"):
        collect(pa.table({"body": ["x"]}))


def test_a_generator_is_drawn_in_the_callers_thread() -> None:
    threads: list[threading.Thread] = []

    def generate() -> Iterator[dict[str, str]]:
        for number in range(3):
            threads.append(threading.current_thread())
            yield {"text": f"text {number}"}

    assert len(ids(generate())) == 3
    assert set(threads) == {threading.current_thread()}


def test_small_files_share_a_batch(tmp_path: Path) -> None:
    for number in range(30):
        record = {"id": str(number), "text": "word " * (300_000 if number == 12 else 5)}
        (tmp_path / f"{number:02}.jsonl").write_text(json.dumps(record), encoding="utf-8")
    batches = list(read_batches(tmp_path, DocumentsConfig(), pytest.fail))
    assert [batch.num_rows for batch in batches] == [12, 1, 17]
    rows = [row for batch in batches for row in batch.to_pylist()]
    assert [(row["id"], Path(row["source"]).stem) for row in rows] == [(str(n), f"{n:02}") for n in range(30)]


def test_batches_stay_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "MAX_BATCH_BYTES", 100)
    monkeypatch.setattr(reader, "MIN_BATCH_BYTES", 0)
    table = pa.table({"id": [str(n) for n in range(20)], "text": ["x" * (250 if n == 7 else 30) for n in range(20)]})
    pq.write_table(table, tmp_path / "docs.parquet")
    for inputs in (table, table.slice(3), tmp_path / "docs.parquet"):
        batches = list(read_batches(inputs, DocumentsConfig(), pytest.fail))
        sizes = [sum(map(len, batch.column("text").to_pylist())) for batch in batches]
        assert all(size <= 100 or batch.num_rows == 1 for size, batch in zip(sizes, batches, strict=True))
        assert [doc_id for batch in batches for doc_id in batch.column("id").to_pylist()] == inputs_ids(table, inputs)
        assert all(column.offset == 0 for batch in batches for column in batch.columns)


def inputs_ids(table: pa.Table, inputs: Any) -> list[str]:
    return (inputs if isinstance(inputs, pa.Table) else table)["id"].to_pylist()


def test_a_repeated_id_names_both_places(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "x", "text": "one"}\n\n{"id": "y", "text": "two"}\n', encoding="utf-8")
    (tmp_path / "b.json").write_text('[{"id": "z", "text": "one"}, {"id": "y", "text": "two"}]', encoding="utf-8")
    batches = list(read_batches(tmp_path, DocumentsConfig(), pytest.fail))
    with pytest.raises(RepeatedIdError, match=r"'y' occurs twice: .*a\.jsonl, line 3 and .*b\.json, record 2") as caught:
        check_unique_ids(batches)
    assert "id_field" in caught.value.next_step
    check_unique_ids([batches[0].slice(0, 3)])
    check_unique_ids([])


def test_a_caller_that_stops_early_leaves_no_thread_behind(tmp_path: Path) -> None:
    for number in range(50):
        (tmp_path / f"{number}.jsonl").write_text('{"text": "one"}\n', encoding="utf-8")
    before = threading.active_count()
    batches = read_batches(tmp_path, DocumentsConfig(), pytest.fail)
    next(batches)
    batches.close()  # type: ignore[attr-defined]
    assert threading.active_count() == before
    (tmp_path / "0.jsonl").write_text("broken\n", encoding="utf-8")

    def stop(record: Skipped) -> None:
        raise InputError(record.reason)

    with pytest.raises(InputError, match="broken JSON"):
        list(read_batches(tmp_path, DocumentsConfig(), stop))
    assert threading.active_count() == before


def test_sizes_and_descriptions(folder: Path) -> None:
    assert input_size(folder / "b.txt") == len("text of b.txt")
    (described,) = describe_inputs(folder / "b.txt")
    assert described["bytes"] == len("text of b.txt")
    assert datetime.fromisoformat(described["modified"]).tzinfo is not None
    json.dumps(describe_inputs(folder))
    records = iter([{"text": "one"}])
    assert describe_inputs([folder / "b.txt", records])[1:] == [{"kind": "python object"}]
    assert input_size([records, folder]) is None
    assert input_size(folder) == sum(file["bytes"] for file in describe_inputs(folder))
    assert len(list(records)) == 1


def test_an_unknown_encoding_is_said_at_once(folder: Path) -> None:
    with pytest.raises(SettingsError, match=r"encoding must be .*, not 'no-such-code'"):
        read_batches(folder, DocumentsConfig(encoding="no-such-code"), pytest.fail)


def test_a_folder_that_cannot_be_listed_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(place: str) -> None:
        raise PermissionError(13, "Permission denied", place)

    monkeypatch.setattr("os.scandir", refuse)
    with pytest.raises(InputError, match=r"cannot read the folder .*: Permission denied"):
        input_size(folder)


def test_a_real_pipe_on_stdin(tmp_path: Path) -> None:
    program = "import ibidem.formats as d; print([x.text for x in d.read('-')])"
    done = subprocess.run(
        [sys.executable, "-c", program], input=b'{"text": "one"}\n{"text": "two"}\n', capture_output=True, check=True
    )
    assert done.stdout.strip() == b"['one', 'two']"
