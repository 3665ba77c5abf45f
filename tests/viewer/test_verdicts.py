"""What people say of pairs: kept by ids, beside the results, through changes, reopening and another run."""

from __future__ import annotations

import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import ibidem
from ibidem.errors import IbidemError, ResourceError
from ibidem.viewer import store_cache
from ibidem.viewer.queries import VERDICTS, PairQuery
from ibidem.viewer.store import ViewStore
from ibidem.viewer.store_cache import open_views
from tests.cli.test_find import write_jsonl
from tests.texts import documents, text

RECORDS = documents(a=text(1, 2, 3, 4), b=text(50, 1, 2, 3, 4), c=text(60, 1, 2, 3))


def numbers(store: ViewStore, verdict: str) -> list[int]:
    page = store.pairs(PairQuery(verdict=verdict, limit=500))
    assert page["total"] == len(page["items"])
    return sorted(pair["pair"] for pair in page["items"])


def facets(store: ViewStore) -> dict[str, int]:
    told = {facet["verdict"]: facet["n_pairs"] for facet in store.summary()["facets"]["verdicts"]}
    assert sum(told.values()) == store.summary()["totals"]["pairs"]
    return {verdict: n_pairs for verdict, n_pairs in told.items() if verdict is not None}


def results(folder: Path, records: list[dict[str, Any]] | None = None, **settings: Any) -> Path:
    write_jsonl(folder / "news.jsonl", RECORDS if records is None else records)
    ibidem.find(str(folder / "news.jsonl")).write(folder / "out", **settings)
    return folder / "out"


def test_verdicts_are_set_changed_and_removed(judged: ViewStore) -> None:
    n_pairs = judged.pairs(PairQuery())["total"]
    assert judged.pairs(PairQuery(verdict="none"))["total"] == n_pairs
    for number, verdict in enumerate(VERDICTS):
        pair = judged.set_verdict(number, verdict, f"note {number}")
        assert pair is not None
        assert (pair["pair"], pair["verdict"], pair["note"]) == (number, verdict, f"note {number}")
    assert [numbers(judged, verdict) for verdict in VERDICTS] == [[0], [1], [2]]
    assert facets(judged) == dict.fromkeys(VERDICTS, 1)
    judged.set_verdict(0, "rejected", "")
    assert [numbers(judged, verdict) for verdict in VERDICTS] == [[], [0, 1], [2]]
    assert judged.pairs(PairQuery(verdict="none"))["total"] == n_pairs - 3
    judged.set_verdict(1, None, "")
    assert numbers(judged, "rejected") == [0]
    assert (judged.pair_summary(1) or {})["verdict"] is None
    assert judged.verdicts(None, 50)["total"] == 2


def test_a_note_without_a_verdict(judged: ViewStore) -> None:
    pair = judged.set_verdict(0, None, "to be looked at")
    assert pair is not None
    assert (pair["verdict"], pair["note"]) == (None, "to be looked at")
    assert judged.pairs(PairQuery(verdict="none"))["total"] == judged.pairs(PairQuery())["total"]
    assert facets(judged) == {}


def test_notes_are_kept_as_they_are(judged: ViewStore) -> None:
    note = '\'; DROP TABLE verdicts; --\n<b>"é" 🎈\0x'
    assert (judged.set_verdict(4, "unsure", note) or {})["note"] == note
    assert (judged.pair(4) or {})["pair"]["note"] == note


def test_verdicts_that_are_none(judged: ViewStore) -> None:
    with pytest.raises(ValueError, match="verdict must be one of"):
        judged.set_verdict(0, "maybe", "")
    assert judged.set_verdict(10**6, "confirmed", "") is None
    assert judged.verdicts(None, 5)["total"] == 0


def test_pages_of_verdicts(judged: ViewStore) -> None:
    for number in range(7):
        judged.set_verdict(number, "confirmed", str(number))
    found: list[str] = []
    cursor = None
    while True:
        page = judged.verdicts(cursor, 3)
        assert page["total"] == 7
        found += [item["note"] for item in page["items"]]
        cursor = page["next"]
        if cursor is None:
            break
    assert sorted(found) == [str(number) for number in range(7)]
    assert {row["note"] for row in judged.rows("verdicts")} == set(found)
    names = [(row["a_id"], row["b_id"]) for row in judged.rows("verdicts")]
    assert names == sorted(names)


def test_without_a_place_nothing_can_be_said(store: ViewStore) -> None:
    assert not store.may_judge
    with pytest.raises(ResourceError, match="cannot be saved"):
        store.set_verdict(0, "confirmed", "")


def test_a_verdict_is_seen_by_other_threads_at_once(judged: ViewStore) -> None:
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda k: judged.set_verdict(k, "confirmed", str(k)), range(40)))
        totals = pool.map(lambda _: judged.pairs(PairQuery(verdict="confirmed"))["total"], range(8))
        assert set(totals) == {40}


def test_verdicts_outlive_the_store_and_the_run(tmp_path: Path) -> None:
    out = results(tmp_path)
    with closing(open_views(out)) as store:
        first = store.pairs(PairQuery(sort="a"))["items"][0]
        store.set_verdict(first["pair"], "confirmed", "seen")
    with closing(open_views(out)) as store:
        assert numbers(store, "confirmed") == [first["pair"]]
    # Another run: another document comes first, so that all numbers change.
    results(tmp_path, [*documents(z=text(1, 2, 3)), *RECORDS], overwrite=True)
    assert not (out / "view.sqlite").exists()
    with closing(open_views(out)) as store:
        (pair,) = store.pairs(PairQuery(verdict="confirmed"))["items"]
        assert (pair["a"]["id"], pair["b"]["id"], pair["note"]) == (first["a"]["id"], first["b"]["id"], "seen")


def test_verdicts_of_pairs_that_are_gone_are_not_counted(tmp_path: Path) -> None:
    out = results(tmp_path)
    with closing(open_views(out)) as store:
        for pair in store.pairs(PairQuery())["items"]:
            store.set_verdict(pair["pair"], "confirmed", "")
    results(tmp_path, RECORDS[:2], overwrite=True)
    with closing(open_views(out)) as store:
        assert numbers(store, "confirmed") == [0]
        assert store.verdicts(None, 50)["total"] == 3  # they are kept all the same
        assert facets(store) == {"confirmed": 1}


def test_verdicts_hold_whatever_the_order_of_inputs(tmp_path: Path) -> None:
    out = results(tmp_path, RECORDS[:2])
    with closing(open_views(out)) as store:
        store.set_verdict(0, "rejected", "")
    results(tmp_path, RECORDS[1::-1], overwrite=True)
    with closing(open_views(out)) as store:
        assert numbers(store, "rejected") == [0]


def test_verdicts_of_a_collection_against_another_go_by_side(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "new.jsonl", documents(x=text(1, 2, 3), y=text(1, 2, 3)))
    write_jsonl(tmp_path / "old.jsonl", documents(x=text(60, 1, 2, 3), y=text(70, 1, 2, 3)))
    ibidem.find(str(tmp_path / "new.jsonl"), against=str(tmp_path / "old.jsonl")).write(tmp_path / "out")
    with closing(open_views(tmp_path / "out")) as store:
        pairs = {(p["a"]["id"], p["b"]["id"]): p["pair"] for p in store.pairs(PairQuery())["items"]}
        assert set(pairs) == {("x", "x"), ("x", "y"), ("y", "x"), ("y", "y")}
        store.set_verdict(pairs["x", "y"], "confirmed", "")
        assert numbers(store, "confirmed") == [pairs["x", "y"]]
        assert len(numbers(store, "none")) == 3


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = results(tmp_path)
    build, access = store_cache.build_views, os.access

    def refuse(material: Any, path: Path, *options: Any) -> None:
        if path.parent == out:
            raise sqlite3.OperationalError("unable to open database file")
        build(material, path, *options)

    monkeypatch.setattr(store_cache, "build_views", refuse)
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != out and access(path, mode))
    before = sorted(path.name for path in out.iterdir())
    with closing(open_views(out)) as store:
        assert store.pairs(PairQuery())["total"] == 3
        assert not store.may_judge
        with pytest.raises(ResourceError):
            store.set_verdict(0, "confirmed", "")
    assert sorted(path.name for path in out.iterdir()) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_the_right_to_write(tmp_path: Path) -> None:
    out = results(tmp_path)
    out.chmod(0o500)
    try:
        with closing(open_views(out)) as store:
            assert store.pairs(PairQuery())["total"] == 3
            assert not store.may_judge
    finally:
        out.chmod(0o700)


def test_a_damaged_file_of_verdicts_is_told_of(tmp_path: Path) -> None:
    out = results(tmp_path)
    (out / "verdicts.sqlite").write_bytes(b"rubbish" * 1000)
    with pytest.raises(IbidemError, match=r"verdicts\.sqlite"):
        open_views(out)
    assert (out / "verdicts.sqlite").read_bytes() == b"rubbish" * 1000


def test_a_verdict_that_a_crash_broke_off_is_undone(tmp_path: Path) -> None:
    out = results(tmp_path)
    with closing(open_views(out)) as store:
        store.set_verdict(0, "confirmed", "kept")
    with closing(sqlite3.connect(out / "verdicts.sqlite", isolation_level=None)) as writer:
        writer.execute("PRAGMA cache_size = 1")  # so that half of the change is in the file before it ends
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("DELETE FROM verdicts")
        many = [(f"{number:03}", "z", "a", "b", "unsure", "x" * 4000, "now") for number in range(50)]
        writer.executemany("INSERT INTO verdicts VALUES (?, ?, ?, ?, ?, ?, ?)", many)
        left = {path.name: path.read_bytes() for path in out.glob("verdicts.sqlite*")}
        writer.execute("ROLLBACK")
    assert left["verdicts.sqlite-journal"]
    for name, content in left.items():  # as a kill would leave it
        (out / name).write_bytes(content)
    with closing(open_views(out)) as store:
        assert [(row["verdict"], row["note"]) for row in store.verdicts(None, 50)["items"]] == [("confirmed", "kept")]
        store.set_verdict(1, "rejected", "")
        assert store.verdicts(None, 50)["total"] == 2


def test_a_file_of_verdicts_without_its_first_verdict_is_as_good_as_none(tmp_path: Path) -> None:
    out = results(tmp_path)
    (out / "verdicts.sqlite").touch()  # killed after it was made
    with closing(open_views(out)) as store:
        assert store.verdicts(None, 50)["total"] == 0
        pair = store.set_verdict(0, "confirmed", "")
        assert (pair or {})["verdict"] == "confirmed"


def test_somebody_elses_database_is_not_taken_for_verdicts(tmp_path: Path) -> None:
    out = results(tmp_path)
    with closing(sqlite3.connect(out / "verdicts.sqlite")) as other:
        other.execute("CREATE TABLE mine (x)")
    with pytest.raises(IbidemError, match=r"verdicts\.sqlite"):
        open_views(out)
