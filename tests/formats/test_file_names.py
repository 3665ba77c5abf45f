"""Names of copies, standard input, and decisions themselves."""

from __future__ import annotations

import gc
import gzip
import io
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ibidem.config import DocumentsConfig
from ibidem.errors import InputError, ResourceError, UsageError
from ibidem.execution.disk_limit import DiskBudget
from ibidem.formats.copies import rewrite
from ibidem.formats.copy_files import spool_stdin
from ibidem.formats.decisions import DROPPED, Decision, SourceDecisions
from ibidem.formats.file_names import output_paths
from ibidem.formats.inputs import resolve_inputs
from tests.formats.copy_oracle import COMPRESSIONS, ListedDecisions, clean, texts


def write(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b'{"text": "x"}\n')


def names(inputs: Any, folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in output_paths(resolve_inputs(inputs), folder)]


def test_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "in/a.jsonl", "in/sub/a.jsonl", "in/sub/b.jsonl", "other/c.jsonl", "other/a.jsonl")
    out = tmp_path / "out"
    assert names(tmp_path / "in", out) == ["a.jsonl", "sub/a.jsonl", "sub/b.jsonl"]
    assert names(f"{tmp_path}/in/", out) == ["a.jsonl", "sub/a.jsonl", "sub/b.jsonl"]
    assert names(tmp_path / "in/sub/a.jsonl", out) == ["a.jsonl"]
    assert names([tmp_path / "in/sub/a.jsonl", tmp_path / "other/c.jsonl"], out) == ["a.jsonl", "c.jsonl"]
    assert names([tmp_path / "in/sub", tmp_path / "other/c.jsonl"], out) == ["a.jsonl", "b.jsonl", "c.jsonl"]
    both = ["in/sub/a.jsonl", "in/sub/b.jsonl", "other/a.jsonl", "other/c.jsonl"]
    assert names([tmp_path / "in/sub", tmp_path / "other"], out) == both
    assert names(f"{tmp_path}/*/a.jsonl", out) == ["in/a.jsonl", "other/a.jsonl"]
    monkeypatch.chdir(tmp_path / "in")
    assert names(".", out) == ["a.jsonl", "sub/a.jsonl", "sub/b.jsonl"]
    assert names(["sub/a.jsonl", "../other"], out) == ["in/sub/a.jsonl", "other/a.jsonl", "other/c.jsonl"]
    with pytest.raises(InputError, match="twice"):
        output_paths(resolve_inputs(["a.jsonl", "./a.jsonl"]), out)


@pytest.mark.parametrize("name", ["removed.jsonl", "skipped.jsonl", "run.json", "marks.jsonl", "Run.json", "run.json.part"])
def test_our_own_names(tmp_path: Path, name: str) -> None:
    write(tmp_path, name)
    with pytest.raises(InputError, match="itself"):
        output_paths(resolve_inputs(tmp_path / name), tmp_path / "out")


def test_our_own_names_in_a_folder_below(tmp_path: Path) -> None:
    write(tmp_path, "in/sub/run.json", "in/a.json")
    assert names(tmp_path / "in", tmp_path / "out") == ["a.json", "sub/run.json"]


def test_never_onto_an_input(tmp_path: Path) -> None:
    write(tmp_path, "in/a.jsonl", "in/sub/b.jsonl")
    for inputs, out in [("in", "in"), ("in/a.jsonl", "in"), ("in/sub", "in/sub"), ("in/sub/b.jsonl", "in/../in/sub")]:
        with pytest.raises(UsageError, match="would overwrite an input"):
            output_paths(resolve_inputs(tmp_path / inputs), tmp_path / out)
    (tmp_path / "link").symlink_to(tmp_path / "in")
    with pytest.raises(UsageError):
        rewrite(resolve_inputs(tmp_path / "in"), ListedDecisions(), tmp_path / "link", DocumentsConfig())
    assert names(tmp_path / "in", tmp_path / "in/clean") == ["a.jsonl", "sub/b.jsonl"]
    write(tmp_path, "x.jsonl", "x.jsonl.part")
    with pytest.raises(InputError, match=r"\.part"):
        output_paths(resolve_inputs([tmp_path / "x.jsonl", tmp_path / "x.jsonl.part"]), tmp_path / "out")
    with pytest.raises(UsageError):
        output_paths(resolve_inputs([tmp_path / "x.jsonl.part", tmp_path / "in/a.jsonl"]), tmp_path)


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Python objects"):
        output_paths(resolve_inputs([{"text": "x"}]), tmp_path)
    with pytest.raises(InputError, match="once"):
        output_paths(resolve_inputs("-"), tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="once"):
        output_paths(resolve_inputs(tmp_path / "pipe"), tmp_path / "out")


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    write(tmp_path, "a.jsonl", "file")
    with pytest.raises(ResourceError, match="cannot write"):
        clean(tmp_path / "a.jsonl", {}, tmp_path / "file" / "out")


@pytest.mark.parametrize("suffix", COMPRESSIONS)
@pytest.mark.parametrize("fails", ["write", "close"])
def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, fails: str) -> None:
    class Full(io.BytesIO):
        def write(self, data: Any) -> int:
            if fails == "write":
                raise OSError(28, "No space left on device")
            return super().write(data)

        def close(self) -> None:
            if fails == "close" and not self.closed:
                super().close()
                raise OSError(28, "No space left on device")

    path = tmp_path / f"a.jsonl{suffix}"
    path.write_bytes(COMPRESSIONS[suffix](b'{"text": "one"}\n{"text": "two"}\n'))
    found = {(str(path), 1): Decision(drop=True)}
    problems: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", problems.append)
    with monkeypatch.context() as patch:
        patch.setattr("ibidem.formats.copy_files.open", lambda *_, **__: Full(), raising=False)
        kinds = {"": None, ".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
        patch.setattr("ibidem.formats.copy_files._stored_compression", lambda _: kinds[suffix])
        with pytest.raises(ResourceError, match="No space left"):
            clean(path, found, tmp_path / "out")
    gc.collect()  # compressors that are collected must not fail again, on any version of Python
    assert problems == []
    assert not any((tmp_path / "out").iterdir())


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_an_error_on_the_way_leaves_nothing(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.jsonl{suffix}"
    path.write_bytes(COMPRESSIONS[suffix](b'{"text": "one"}\n{"text": "two"}\n'))
    with pytest.raises(InputError, match="changed after it was read"):
        clean(path, {(str(path), 2): Decision(cuts=((1, 9),))}, tmp_path / "out")
    gc.collect()
    assert not any((tmp_path / "out").iterdir())


@pytest.mark.parametrize(
    ("content", "name"),
    [
        (b'{"text": "one two"}\n', "stdin.jsonl"),
        (b'[{"text": "one two"}]', "stdin.json"),
        (b"one two", "stdin.txt"),
        (b"", "stdin.txt"),
        (b"<html>one two", "stdin.html"),
        (gzip.compress(b'{"text": "one two"}', mtime=0), "stdin.jsonl.gz"),
        (pa.Codec("zstd").compress(b"one two", asbytes=True), "stdin.txt.zst"),
    ],
)
def test_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, name: str) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    source = spool_stdin(tmp_path, DiskBudget())
    assert (source.name, source.path) == ("-", str(tmp_path / name))
    assert resolve_inputs(source.path)[0].format == source.format  # type: ignore[union-attr]
    assert resolve_inputs([source]) == [source]
    (copy,) = rewrite([source], ListedDecisions(), tmp_path / "out", DocumentsConfig())
    assert copy == tmp_path / "out" / name
    assert copy.read_bytes() == content
    assert [text.strip() for text in texts(source.path).values()] == ["one two"] * bool(content)


def test_standard_input_without_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"x")))
    with pytest.raises(ResourceError):
        spool_stdin(tmp_path / "absent", DiskBudget())


def test_decisions() -> None:
    decision = Decision(cuts=((1, 2), (2, 5)))
    dropped = np.array([9, 3, 1])
    found = SourceDecisions(dropped, {7: decision})
    assert found.at(7) is decision
    assert [found.at(n) for n in (0, 1, 3, 9, 10)] == [None, DROPPED, DROPPED, DROPPED, None]
    assert found.between(2, 9) == [(3, DROPPED), (7, decision)]
    assert (len(found), found.last, found.has_cuts) == (4, 9, True)
    nothing = SourceDecisions(np.empty(0, np.int64), {})
    assert (nothing.at(1), len(nothing), nothing.last) == (None, 0, -1)
    assert decision.remaining("abcdefg") == "afg"
    for twice, others in ((dropped, {9: decision}), (np.array([1, 1]), {})):
        with pytest.raises(ValueError, match="two decisions"):
            SourceDecisions(twice, others)
    for cuts in (((2, 1),), ((1, 3), (2, 4)), ((-1, 2),)):
        with pytest.raises(ValueError, match="not in ascending order"):
            Decision(cuts=cuts)
