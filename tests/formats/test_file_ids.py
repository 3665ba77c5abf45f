"""Ids of files: the same however a file is named, and never the same for two files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ibidem
from ibidem.config import DocumentsConfig
from ibidem.errors import KnownIdError, SkippedRecordsError
from ibidem.formats import describe_inputs, read_batches
from ibidem.formats.inputs import resolve, resolve_inputs
from ibidem.formats.printable_names import printable, printable_path
from ibidem.model import Skipped


def ids(inputs: Any) -> list[str]:
    batches = read_batches(inputs, DocumentsConfig(), lambda record: None)
    return [name for batch in batches for name in batch.column("id").to_pylist()]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with essays and a page, and the program running in it."""
    project = tmp_path / "project"
    for name in ("essays/a.txt", "essays/b.txt", "essays/2024/a.txt", "pages/a.html"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(f"text of {name}", encoding="utf-8")
    (project / "pages/wire.jsonl").write_text('{"text": "one"}\n{"id": "w2", "text": "two"}\n', encoding="utf-8")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/a.txt").write_text("another text", encoding="utf-8")
    monkeypatch.chdir(project)
    monkeypatch.setenv("PWD", str(project))
    return project


NAMED: dict[str, Callable[[Path], Any]] = {
    "folder": lambda project: "essays",
    "folder with a slash": lambda project: "essays/",
    "dotted folder": lambda project: "./essays",
    "path object": lambda project: Path("essays"),
    "detour": lambda project: "pages/../essays",
    "from the parent": lambda project: "../project/essays",
    "absolute": lambda project: project / "essays",
    "pattern": lambda project: "essays/**/*.txt",
    "absolute pattern": lambda project: f"{project}/essays/**/*.txt",
    "paths": lambda project: ["essays/2024/a.txt", "./essays/a.txt", project / "essays/b.txt"],
    "two folders and a file": lambda project: ["essays/2024", "essays/a.txt", "essays/b.txt"],
}


@pytest.mark.parametrize("named", NAMED.values(), ids=NAMED)
def test_a_file_has_the_same_id_however_it_is_named(project: Path, named: Callable[[Path], Any]) -> None:
    assert sorted(ids(named(project))) == ["essays/2024/a.txt", "essays/a.txt", "essays/b.txt"]


@pytest.mark.parametrize("inputs", ["pages", "./pages", "pages/*", ["pages/a.html", "pages/wire.jsonl"], "../project/pages"])
def test_records_without_an_id_are_named_by_the_same_path(project: Path, inputs: Any) -> None:
    assert ids(inputs) == ["pages/a.html", "pages/wire.jsonl:1", "w2"]


def test_outside_the_current_folder_ids_are_absolute(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = project.parent / "elsewhere"
    for inputs in ("../elsewhere", "../elsewhere/a.txt", there, f"{there}/*.txt", "essays/../../elsewhere/a.txt"):
        assert ids(inputs) == [f"{there}/a.txt"]
    monkeypatch.chdir(project / "essays")
    assert ids(".") == ids("../essays") == ["2024/a.txt", "a.txt", "b.txt"]
    assert ids("../pages/a.html") == [f"{project}/pages/a.html"]
    monkeypatch.chdir("/")
    assert ids(there) == [f"{there}/a.txt"]


def test_links_on_the_way_to_the_current_folder(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = project.parent / "link"
    link.symlink_to(project)
    monkeypatch.chdir(link)
    monkeypatch.setenv("PWD", str(link))
    for inputs in ("essays/a.txt", link / "essays/a.txt", project / "essays/a.txt"):
        assert ids(inputs) == ["essays/a.txt"]
    monkeypatch.setenv("PWD", str(project.parent / "elsewhere"))  # not where the program runs: of no meaning
    assert ids(project / "essays/a.txt") == ["essays/a.txt"]
    assert ids(project.parent / "elsewhere") == [f"{project.parent}/elsewhere/a.txt"]


def test_a_way_back_behind_a_link_leads_to_another_folder(project: Path) -> None:
    (project / "linked").symlink_to(project.parent / "elsewhere")
    (project / "a.txt").write_text("at the top", encoding="utf-8")
    (project.parent / "a.txt").write_text("further up", encoding="utf-8")
    assert ids(["linked/../a.txt", "a.txt"]) == [f"{project.parent}/a.txt", "a.txt"]
    assert ids(["linked/a.txt"]) == ["linked/a.txt"]


def test_a_file_called_like_standard_input(project: Path) -> None:
    (project / "-").write_text("no stream at all", encoding="utf-8")
    assert ids("./-") == ids(project / "-") == ["-"]
    assert [source.path for source in resolve_inputs("./-")] == ["./-"]  # type: ignore[union-attr]


def test_what_is_left_out_is_named_by_the_same_path(project: Path) -> None:
    (project / "essays/2024/b.xlsx").write_bytes(b"PK")
    expected = [Skipped("essays/2024/b.xlsx", 0, "unknown kind of file (.xlsx)")]
    for inputs in ("essays", "./essays/", project / "essays", ["essays", "pages"]):
        assert resolve(inputs).skipped == expected
    os.chdir("essays/2024")
    assert resolve(".").skipped == [Skipped("b.xlsx", 0, "unknown kind of file (.xlsx)")]


def test_run_json_names_files_by_the_same_path(project: Path) -> None:
    described = describe_inputs([project / "essays/a.txt", "./pages/wire.jsonl"])
    assert [entry["path"] for entry in described] == ["essays/a.txt", "pages/wire.jsonl"]
    assert not any("id" in entry for entry in described)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_two_files_never_have_one_id(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    root = tmp_path_factory.mktemp("tree")
    parts = st.lists(st.sampled_from(["a", "b", "..c"]), min_size=0, max_size=3)
    paths = data.draw(st.lists(parts, min_size=2, max_size=6, unique_by=tuple))
    files = [root.joinpath(*path, "x.txt") for path in paths]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("some words", encoding="utf-8")
    before = os.getcwd()
    os.chdir(data.draw(st.sampled_from(files)).parent)
    try:
        given_as = [os.path.relpath(file) if data.draw(st.booleans()) else str(file) for file in files]
        found = ids(given_as)
        assert found == ids(files)
        assert len(set(found)) == len(files)
        assert [os.path.realpath(name) for name in found] == [os.path.realpath(file) for file in files]
    finally:
        os.chdir(before)


def test_an_index_takes_a_file_for_the_same_however_it_is_named(project: Path) -> None:
    with ibidem.Index("known.idx") as index:
        index.add("essays")
        for again in ("essays/a.txt", "./essays/*.txt", project / "essays/2024"):
            with pytest.raises(KnownIdError):
                index.add(again)
        assert index.add(project / "essays/b.txt", replace=True) == 1
        assert len(index) == 3


@pytest.mark.skipif(os.sep == "\\", reason="names contain no backslash here")
@given(st.lists(st.text(st.sampled_from("\\\nnxu0a\x1b\udce9"), min_size=1, max_size=6), unique=True, max_size=8))
def test_two_names_are_never_shown_alike(names: list[str]) -> None:
    shown = [printable_path(name) for name in names]
    assert len(set(shown)) == len(names)
    assert shown == [printable(name) for name in shown]


@pytest.mark.skipif(os.sep == "\\", reason="names contain no backslash here")
def test_a_line_break_is_told_from_its_escape(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("n\nl.txt", "n\\nl.txt", "a\\b.txt"):
        (tmp_path / name).write_text("words")
    assert sorted(ids(".")) == ["a\\b.txt", "n\\\\nl.txt", "n\\nl.txt"]


def test_a_file_given_twice_is_to_be_given_once(project: Path) -> None:
    with pytest.raises(SkippedRecordsError, match=r"given more than once.*\nGive it once, or run without strict=True"):
        ibidem.find(["essays", "essays/a.txt"], strict=True)
