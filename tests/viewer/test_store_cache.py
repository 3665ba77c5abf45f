"""When views are made again, and when not; damaged files; several who open one folder at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import ibidem
from ibidem.errors import InputError
from ibidem.viewer import store_cache
from ibidem.viewer.material import material_of_folder
from ibidem.viewer.queries import DocumentQuery, FamilyQuery, PairQuery
from ibidem.viewer.store_cache import open_views, passing_views
from tests.cli.test_find import write_jsonl
from tests.texts import documents, text


@pytest.fixture
def out(tmp_path: Path) -> Path:
    write_jsonl(tmp_path / "news.jsonl", documents(a=text(1, 2, 3, 4), b=text(50, 1, 2, 3, 4), c=text(60, 1, 2, 3)))
    ibidem.find(str(tmp_path / "news.jsonl")).write(tmp_path / "out")
    return tmp_path / "out"


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Every building of views from here on."""
    build, found = store_cache.build_views, []

    def count(material: Any, path: Path, *options: Any) -> None:
        found.append(path)
        build(material, path, *options)

    monkeypatch.setattr(store_cache, "build_views", count)
    return found


def look(folder: Path, *named: str) -> tuple[int, int, int]:
    with closing(open_views(folder, named)) as store:
        texts = [store.texts.whole(d["document"]) for d in store.documents(DocumentQuery())["items"]]
        assert store.pair(0) is not None
        return store.pairs(PairQuery())["total"], store.families(FamilyQuery())["total"], sum(map(bool, texts))


def test_views_are_made_once(out: Path, built: list[Path]) -> None:
    assert look(out) == look(out) == look(out) == (3, 2, 3)
    assert len(built) == 1
    assert sorted(path.name for path in out.iterdir()) == [
        "documents.parquet", "passages.parquet", "repeats.parquet", "run.json", "skipped.jsonl", "view.sqlite",
    ]  # fmt: skip


def test_views_are_made_anew_if_results_change(out: Path, built: list[Path], tmp_path: Path) -> None:
    look(out)
    write_jsonl(tmp_path / "news.jsonl", documents(a=text(1, 2, 3, 4), b=text(50, 1, 2, 3, 4)))
    ibidem.find(str(tmp_path / "news.jsonl")).write(out, overwrite=True)
    assert look(out) == (1, 1, 2)
    ibidem.find(str(tmp_path / "news.jsonl"), min_sentences=2).write(out, overwrite=True, format="csv")
    look(out)
    assert len(built) == 3
    state = (out / "passages.csv").stat()
    os.utime(out / "passages.csv", ns=(state.st_atime_ns, state.st_mtime_ns + 1_000_000))
    look(out)
    assert len(built) == 4
    told = json.loads((out / "run.json").read_text("utf-8"))
    (out / "run.json").write_text(json.dumps(told | {"finished": "2031-01-01T00:00:00+00:00"}), "utf-8")
    look(out)
    look(out)
    assert len(built) == 5


def test_results_of_another_kind_in_the_same_folder(out: Path, tmp_path: Path) -> None:
    look(out)
    news = write_jsonl(tmp_path / "twice.jsonl", documents(a=text(*range(1, 9)), b=text(*range(1, 9))))
    ibidem.cluster(str(tmp_path / news)).write(out, overwrite=True)
    with closing(open_views(out)) as store:
        assert store.summary()["verb"] == "cluster"


def test_naming_the_documents_makes_other_views(out: Path, built: list[Path], tmp_path: Path) -> None:
    look(out)
    moved = tmp_path / "moved.jsonl"
    os.rename(tmp_path / "news.jsonl", moved)
    assert look(out, str(moved)) == look(out, str(moved)) == (3, 2, 3)
    assert len(built) == 2
    assert look(out)[:2] == (3, 2)


def test_a_change_of_the_schema_makes_views_anew(out: Path, built: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    look(out)
    monkeypatch.setattr(store_cache, "SCHEMA", store_cache.SCHEMA + 1)
    look(out)
    assert len(built) == 2


@pytest.mark.parametrize("share", [0, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 0.98, 0.999])
def test_a_truncated_file_is_made_anew(out: Path, built: list[Path], share: float) -> None:
    expected = look(out)
    whole = (out / "view.sqlite").read_bytes()
    (out / "view.sqlite").write_bytes(whole[: int(len(whole) * share)])
    assert look(out) == expected
    with closing(open_views(out)) as store:
        for sort in PairQuery.SORTS:
            store.pairs(PairQuery(sort=sort, search="bab ba"))
        for table in ("pairs", "passages", "documents", "families", "skipped"):
            list(store.rows(table))
    assert len(built) == 2


@pytest.mark.parametrize("content", [b"", b"rubbish" * 5_000, b"SQLite format 3\0" + b"\xff" * 5_000])
def test_a_file_that_is_no_database_is_made_anew(out: Path, content: bytes) -> None:
    (out / "view.sqlite").write_bytes(content)
    assert look(out) == (3, 2, 3)


def test_nothing_half_made_is_left_when_building_fails(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = sorted(path.name for path in out.iterdir())

    def fail(material: Any, path: Path, *options: Any) -> None:
        path.write_bytes(b"half")
        raise InputError("the inputs are on fire", "Put it out.")

    monkeypatch.setattr(store_cache, "build_views", fail)
    with pytest.raises(InputError):
        open_views(out)
    assert sorted(path.name for path in out.iterdir()) == before


def test_views_that_pass_leave_nothing(out: Path) -> None:
    with passing_views(material_of_folder(out)) as store:
        assert store.pairs(PairQuery())["total"] == 3
    assert not (out / "view.sqlite").exists()
    assert not (out / "verdicts.sqlite").exists()


def test_threads_that_open_one_folder_at_once(out: Path) -> None:
    for _ in range(4):
        (out / "view.sqlite").unlink(missing_ok=True)
        with ThreadPoolExecutor(4) as pool:
            found = [job.exception() or job.result() for job in [pool.submit(look, out) for _ in range(4)]]
        assert found == [(3, 2, 3)] * 4
    assert not list(out.glob("*.part*"))


def test_processes_that_open_one_folder_at_once(out: Path) -> None:
    command = (
        "import sys; from pathlib import Path; from ibidem.viewer.store_cache import open_views; "
        "from ibidem.viewer.queries import PairQuery; print(open_views(Path(sys.argv[1])).pairs(PairQuery())['total'])"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", command, str(out)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    answers = [process.communicate(timeout=120) for process in started]
    assert answers == [("3\n", "")] * 3
    assert not list(out.glob("*.part*"))


@pytest.mark.parametrize("name", ["view.sqlite.4711.part", "verdicts.sqlite-journal"])
def test_what_a_killed_process_left_does_not_keep_a_run_from_writing(out: Path, tmp_path: Path, name: str) -> None:
    look(out)
    (out / name).write_bytes(b"half")
    ibidem.find(str(tmp_path / "news.jsonl")).write(out, overwrite=True)


# Folders that are none.


def test_folders_that_hold_no_results(tmp_path: Path, out: Path) -> None:
    with pytest.raises(InputError, match="there is no folder"):
        open_views(tmp_path / "absent")
    with pytest.raises(InputError, match=r"no run\.json"):
        open_views(tmp_path)
    for path in out.glob("*.parquet"):
        path.unlink()
    with pytest.raises(InputError, match="neither passages nor duplicates"):
        open_views(out)


@pytest.mark.parametrize("content", ["", "{", "[]", "3", "null", '"run"', "\xff"])
def test_a_broken_run_json(out: Path, content: str) -> None:
    (out / "run.json").write_text(content, "latin-1")
    with pytest.raises(InputError, match=r"run\.json"):
        open_views(out)


@pytest.mark.parametrize("table_format", ["parquet", "jsonl", "csv"])
@pytest.mark.parametrize("name", ["passages", "documents"])
def test_half_written_tables(out: Path, tmp_path: Path, table_format: str, name: str) -> None:
    ibidem.find(str(tmp_path / "news.jsonl")).write(out, overwrite=True, format=table_format)
    path = out / f"{name}.{table_format}"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2 + 3])
    with pytest.raises(InputError, match=f"{name}.{table_format} cannot be read") as caught:
        open_views(out)
    assert caught.value.next_step
    assert not list(out.glob("view*"))


def test_a_broken_list_of_skipped_records(out: Path) -> None:
    (out / "skipped.jsonl").write_text('{"source": ', "utf-8")
    with pytest.raises(InputError, match=r"skipped\.jsonl cannot be read"):
        open_views(out)
