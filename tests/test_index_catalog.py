"""The catalog of the index: whole commits or none, for every reader and whenever the writer dies."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibidem.errors import (
    IndexDamagedError,
    IndexLockedError,
    IndexStoreError,
    IndexWriteError,
    KnownIdError,
    NoIndexError,
)
from ibidem.index import catalog_file
from ibidem.index.catalog import Catalog
from ibidem.index.catalog_state import Change, SegmentEntry, State
from ibidem.index.commits import WriterLock
from ibidem.index.sweep import sweep
from tests.forking import forking_process

SETTINGS = {"signature": "words", "min_similarity": 0.8, "nested": {"a": [1, None, "ü\0"]}}


def segment(name: str, n_documents: int = 1) -> SegmentEntry:
    return SegmentEntry(name, n_documents, 10, 5, 1000)


def as_tuple(state: State) -> tuple[Any, ...]:
    return (
        state.generation, state.segments, state.removed.tolist(), state.next_serial, state.vocabulary,
        state.vocabulary_version, state.n_documents,
    )  # fmt: skip


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    with Catalog.create(tmp_path / "index", SETTINGS) as catalog:
        yield catalog


def test_a_new_index_is_empty_and_knows_its_settings(tmp_path: Path) -> None:
    folder = tmp_path / "a ?#%é" / "index"
    with Catalog.create(folder, SETTINGS) as made:
        assert made.settings == SETTINGS
    assert os.listdir(folder) == ["catalog.sqlite"]
    with Catalog.open(folder) as catalog:
        assert catalog.settings == SETTINGS
        assert as_tuple(catalog.state()) == (0, (), [], 0, None, 0, 0)
        assert catalog.state().removed.dtype == np.int64
        assert catalog.check_integrity() == []
        assert list(catalog.ids()) == []


def test_a_commit_changes_all_it_names(catalog: Catalog) -> None:
    documents = [("c", 2), ("a", 0), ("b", 1)]
    words = "words-1.ibi"
    catalog.commit(Change([segment("s1", 3)], add_documents=documents, next_serial=3, vocabulary=words, vocabulary_version=1))
    assert as_tuple(catalog.state()) == (1, (segment("s1", 3),), [], 3, words, 1, 3)
    assert catalog.serials_of(["a", "x", "c", "a"]) == {"a": 0, "c": 2}
    catalog.commit(Change(remove_ids=["b", "not there", "c", "b"]))
    assert as_tuple(catalog.state()) == (2, (segment("s1", 3),), [1, 2], 3, words, 1, 1)
    # A replacement: the old serial is a tombstone, the id has a new one.
    catalog.commit(Change(add_segments=[segment("s2")], remove_ids=["a"], add_documents=[("a", 3)], next_serial=4))
    assert as_tuple(catalog.state()) == (3, (segment("s1", 3), segment("s2")), [0, 1, 2], 4, words, 1, 1)
    assert catalog.serials_of(["a", "b", "c"]) == {"a": 3}
    # A merge: two segments become one without the sentences of two of the removed.
    catalog.commit(Change(add_segments=[segment("s3")], drop_segments=["s1", "s2"], settle=np.array([0, 2])))  # type: ignore[arg-type]
    assert as_tuple(catalog.state()) == (4, (segment("s3"),), [1], 4, words, 1, 1)
    assert catalog.generation() == 4
    assert catalog.check_integrity() == []


def test_numbers_may_come_from_numpy(catalog: Catalog) -> None:
    one: Any = np.int64(1)
    entry = SegmentEntry("s", one, one, one, one)
    catalog.commit(Change([entry], add_documents=[("a", one)], next_serial=one + 1, vocabulary_version=one))
    assert as_tuple(catalog.state()) == (1, (SegmentEntry("s", 1, 1, 1, 1),), [], 2, None, 1, 1)


def test_segments_keep_their_order(catalog: Catalog) -> None:
    names = [f"s{number * 7 % 11}" for number in range(11)]
    catalog.commit(Change(add_segments=[segment(name) for name in names[:6]]))
    catalog.commit(Change(add_segments=[segment(name) for name in names[6:]], drop_segments=names[1:3]))
    assert [entry.name for entry in catalog.state().segments] == names[:1] + names[3:]


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (["new", "old 1"], "the index already contains a document with the id 'old 1'"),
        (
            ["old 1", "old 3", "old 2", "old 4", "z"],
            "already contains documents with 4 of these ids: 'old 1', 'old 2', 'old 3', …",
        ),
        (["new", "newer", "new"], "the index already contains a document with the id 'new'"),
        (["x" * 5000], f"already contains a document with the id '{'x' * 80}…'"),
    ],
)
def test_a_known_id_is_refused_and_nothing_changes(catalog: Catalog, ids: Sequence[str], message: str) -> None:
    old = ["old 1", "old 2", "old 3", "old 4", "x" * 5000]
    catalog.commit(Change(add_documents=[(doc_id, serial) for serial, doc_id in enumerate(old)], next_serial=5))
    before = as_tuple(catalog.state())
    with pytest.raises(KnownIdError) as caught:
        catalog.commit(Change([segment("s")], add_documents=[(doc_id, 10) for doc_id in ids], next_serial=99, vocabulary="w"))
    assert message in caught.value.message
    assert as_tuple(catalog.state()) == before
    assert catalog.check_integrity() == []


def test_dropping_what_is_not_there_changes_nothing(catalog: Catalog) -> None:
    catalog.commit(Change(add_segments=[segment("s1")]))
    before = as_tuple(catalog.state())
    with pytest.raises(IndexStoreError, match="s0 is no longer in the index"):
        catalog.commit(Change([segment("s2")], drop_segments=["s1", "s0"]))
    with pytest.raises(IndexStoreError, match=r"UNIQUE constraint failed: segments\.name"):
        catalog.commit(Change([segment("s2"), segment("s1")]))
    assert as_tuple(catalog.state()) == before


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_exception_in_the_middle_changes_nothing(catalog: Catalog, error: type[BaseException]) -> None:
    class Interrupting(Sequence[int]):
        def __len__(self) -> int:
            return 2

        def __getitem__(self, number: Any) -> Any:
            if number == 1:
                raise error
            return 0

    catalog.commit(Change([segment("s1")], add_documents=[("a", 0), ("b", 1)], next_serial=2))
    before = as_tuple(catalog.state())
    with pytest.raises(error):
        catalog.commit(Change([segment("s2")], remove_ids=["a"], add_documents=[("c", 2)], settle=Interrupting()))
    assert as_tuple(catalog.state()) == before
    catalog.commit(Change(remove_ids=["a"]))
    assert list(catalog.ids()) == ["b"]


STEPS = st.lists(
    st.tuples(st.sets(st.text(max_size=3), max_size=6), st.sets(st.text(max_size=3), max_size=6), st.integers(0, 3)), max_size=8
)


@settings(max_examples=40, deadline=None)
@given(steps=STEPS)
def test_it_holds_what_a_dictionary_would(steps: list[Any], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("index")
    expected: dict[str, int] = {}
    tombstones: set[int] = set()
    next_serial = 0
    with Catalog.create(folder, {}) as catalog, Catalog.open(folder) as reader:
        catalog._connection.execute("PRAGMA synchronous = OFF")  # no crash here, and many commits
        for added, removed, n_settled in steps:
            settle = sorted(tombstones)[:n_settled]
            documents = [(doc_id, next_serial + number) for number, doc_id in enumerate(added)]
            change = Change(
                add_documents=documents, remove_ids=[*removed], settle=settle, next_serial=next_serial + len(documents)
            )
            if added & (expected.keys() - removed):
                with pytest.raises(KnownIdError):
                    catalog.commit(change)
                continue
            catalog.commit(change)
            tombstones = (tombstones | {expected.pop(doc_id) for doc_id in removed & expected.keys()}) - set(settle)
            expected.update(documents)
            next_serial += len(documents)
            state = reader.state()
            assert (set(state.removed.tolist()), state.n_documents, state.next_serial) == (
                tombstones, len(expected), next_serial,
            )  # fmt: skip
            assert state.removed.tolist() == sorted(tombstones)
        assert list(reader.ids()) == sorted(expected)
        assert reader.serials_of([*expected, "not there"]) == expected
        assert reader.check_integrity() == []


def test_ids_may_be_odd(catalog: Catalog) -> None:
    ids = [
        "",
        "\0",
        "a\0b",
        "a\0c",
        "a",
        "1",
        "01",
        "1.0",
        "'; DROP TABLE documents; --",
        "é",
        "e\u0301",
        "\U0010ffff",
        "x" * 3_000_000,
    ]
    catalog.commit(Change(add_documents=[(doc_id, serial) for serial, doc_id in enumerate(ids)], next_serial=len(ids)))
    assert catalog.serials_of(ids) == {doc_id: serial for serial, doc_id in enumerate(ids)}
    assert list(catalog.ids()) == sorted(ids)
    catalog.commit(Change(remove_ids=["a\0b", "1"]))
    assert sorted({*ids} - {*catalog.ids()}) == ["1", "a\0b"]
    assert catalog.check_integrity() == []


def test_a_hundred_thousand_ids_are_looked_up_quickly(catalog: Catalog) -> None:
    ids = [f"https://example.org/{number * 7919 % 100_003}" for number in range(100_000)]
    catalog.commit(Change(add_documents=[(doc_id, serial) for serial, doc_id in enumerate(ids)], next_serial=len(ids)))
    start_seconds = time.process_time()
    assert len(catalog.serials_of(ids[::2] + [f"{doc_id}/" for doc_id in ids[::2]])) == 50_000
    assert time.process_time() - start_seconds < 1  # 0.2 on an idle machine
    # Several pages, and a commit between two of them.
    pages = catalog.ids()
    first = next(pages)
    catalog.commit(Change(remove_ids=[max(ids)]))
    assert [first, *pages] == sorted(ids)[:-1]


def test_creating_twice_opens_the_first(tmp_path: Path) -> None:
    with Catalog.create(tmp_path, {"a": 1}) as first:
        first.commit(Change(add_documents=[("x", 0)], next_serial=1))
        (tmp_path / "segment-1.ibi").touch()
        with Catalog.create(tmp_path, {"a": 2}) as second:
            assert second.settings == {"a": 1}
            assert list(second.ids()) == ["x"]


def test_of_many_creators_one_wins(tmp_path: Path) -> None:
    for attempt in range(5):
        folder = tmp_path / str(attempt)
        barrier = threading.Barrier(6)

        def create(number: int, folder: Path = folder, barrier: threading.Barrier = barrier) -> Any:
            barrier.wait()
            with Catalog.create(folder, {"creator": number}) as catalog:
                catalog.commit(Change(add_documents=[(str(number), number)], next_serial=10))
                (folder / f"segment-{number:016x}.ibi").touch()
                return catalog.settings["creator"]

        with ThreadPoolExecutor(6) as threads:
            winners = set(threads.map(create, range(6)))
        assert len(winners) == 1
        with Catalog.open(folder) as catalog:
            assert sorted(catalog.ids()) == list("012345")
            assert catalog.generation() == 6
        assert not list(folder.glob("*.tmp*"))


def test_a_creator_whose_file_was_swept_away_opens_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = os.link

    def come_second(source: Path, target: Path) -> None:
        monkeypatch.undo()
        Catalog.create(tmp_path, {"a": 1}).close()
        (left,) = tmp_path.glob("catalog-*.ibi.tmp")
        left.unlink()  # as the next writer does
        link(source, target)

    monkeypatch.setattr("ibidem.index.catalog_file.os.link", come_second)
    with Catalog.create(tmp_path, {"a": 2}) as catalog:
        assert catalog.settings == {"a": 1}


def test_a_file_system_without_links_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: Path, target: Path) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("ibidem.index.catalog_file.os.link", refuse)
    with Catalog.create(tmp_path, {"a": 1}) as catalog:
        assert catalog.settings == {"a": 1}
    assert os.listdir(tmp_path) == ["catalog.sqlite"]


def test_other_folders_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(IndexStoreError, match=r"is not empty and contains no index \(it contains thesis\.tex"):
        Catalog.create(tmp_path, {})
    with pytest.raises(IndexStoreError, match="is not a folder"):
        Catalog.create(tmp_path / "thesis.tex", {})
    with pytest.raises(IndexStoreError, match="is not a folder"):
        Catalog.create(tmp_path / "thesis.tex" / "index", {})
    assert os.listdir(tmp_path) == ["thesis.tex"]


def test_a_lock_and_what_a_killed_creator_left_are_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "catalog-00.ibi.tmp").touch()
    with WriterLock(tmp_path), Catalog.create(tmp_path, {}) as catalog:
        assert catalog.generation() == 0


@pytest.mark.parametrize("place", ["", "nowhere", "file"])
def test_no_index_is_an_error(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NoIndexError, match="there is no index in"):
        Catalog.open(tmp_path / place)


def change_with_sqlite(folder: Path, statement: str) -> None:
    connection = sqlite3.connect(folder / "catalog.sqlite")
    connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("statement", "error", "message"),
    [
        ("PRAGMA user_version = 2", IndexDamagedError, r"version 2; this ibidem reads version 1(.|\n)*update ibidem"),
        ("PRAGMA application_id = 3", NoIndexError, "not made by ibidem"),
        ("DROP TABLE settings", IndexDamagedError, "no such table: settings"),
        ("UPDATE settings SET value = '{'", IndexDamagedError, "its settings (make no sense|are damaged)|checksum"),
        ("UPDATE settings SET name = CAST(x'ff' AS TEXT) WHERE name = 'a'", IndexDamagedError, "(?i)could not decode"),
    ],
)
def test_a_catalog_of_another_kind_is_refused(tmp_path: Path, statement: str, error: type[Exception], message: str) -> None:
    Catalog.create(tmp_path, {"a": 1}).close()
    change_with_sqlite(tmp_path, statement)
    with pytest.raises(error, match=message):
        Catalog.open(tmp_path)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM state WHERE name = 'generation'",
        "UPDATE state SET value = 'many' WHERE name = 'n_documents'",
        "UPDATE state SET value = 3 WHERE name = 'n_documents'",
        "INSERT INTO documents VALUES ('c', 1)",
        "INSERT INTO removed VALUES (0)",
        "UPDATE documents SET serial = 7 WHERE id = 'a'",
        "UPDATE state SET value = 0 WHERE name = 'next_serial'",
    ],
)
def test_contradictions_are_found(catalog: Catalog, statement: str) -> None:
    catalog.commit(Change(add_documents=[("a", 0), ("b", 1)], next_serial=2))
    change_with_sqlite(catalog.folder, statement)
    assert catalog.check_integrity()


@pytest.mark.parametrize("content", [b"", b"no database at all" * 100, b"SQLite format 3\0" + b"\xff" * 5000])
def test_another_file_in_its_place_is_damage(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "catalog.sqlite").write_bytes(content)
    with pytest.raises(IndexDamagedError, match=r"catalog\.sqlite"):
        Catalog.open(tmp_path)


def test_damage_of_any_kind_raises_errors_of_the_index_only(tmp_path: Path) -> None:
    with Catalog.create(tmp_path, SETTINGS) as catalog:
        catalog.commit(Change([segment("s")], add_documents=[(f"d{i}", i) for i in range(300)], next_serial=300))
        catalog.commit(Change(remove_ids=["d3"]))
    path = tmp_path / "catalog.sqlite"
    whole = path.read_bytes()
    random = np.random.default_rng(1)
    n_refused = 0
    # The header of the file and of each page, where the structure is, and a sample of the rest.
    places = [
        *range(100),
        *(page + i for page in range(0, len(whole), 4096) for i in range(12)),
        *random.integers(0, len(whole), 50),
    ]
    with path.open("r+b", buffering=0) as file:
        for place in map(int, places):
            os.pwrite(file.fileno(), bytes([whole[place] ^ 1 << int(random.integers(0, 8))]), place)
            try:
                with Catalog.open(tmp_path) as catalog:
                    n_refused += bool(catalog.check_integrity())
                    catalog.generation()
                    catalog.state()
                    catalog.serials_of(["d1", "d299"])
                    list(catalog.ids())
            except IndexStoreError:
                n_refused += 1
            os.pwrite(file.fileno(), whole[place : place + 1], place)
    assert n_refused > 50
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(IndexDamagedError):
        Catalog.open(tmp_path)


def test_a_busy_catalog_is_locked(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog_file, "BUSY_SECONDS", 0.05)
    with Catalog.open(catalog.folder) as second, catalog._transaction("BEGIN IMMEDIATE", "write"):
        assert second.generation() == 0  # who reads is not in the way of a transaction that is not being committed
        with pytest.raises(IndexLockedError, match="has kept"):
            second.commit(Change())


def test_a_slow_reader_fails_a_commit_as_a_whole(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog_file, "BUSY_SECONDS", 0.05)
    with Catalog.open(catalog.folder) as writer:
        with catalog._reading() as connection:
            connection.execute("SELECT * FROM state").fetchall()
            with pytest.raises(IndexLockedError):
                writer.commit(Change(add_documents=[("a", 0)], next_serial=1))
        assert writer.generation() == 0
        writer.commit(Change(add_documents=[("a", 0)], next_serial=1))
        assert catalog.serials_of(["a"]) == {"a": 0}


def test_a_full_disk_changes_nothing(catalog: Catalog) -> None:
    catalog.commit(Change(add_documents=[("a", 0)], next_serial=1))
    before = as_tuple(catalog.state())
    documents = [(f"{number}" * 20, number) for number in range(1, 20_000)]
    (n_pages,) = catalog._connection.execute("PRAGMA page_count").fetchone()
    catalog._connection.execute(f"PRAGMA max_page_count = {n_pages + 3}")
    with pytest.raises(IndexWriteError, match=r"disk is full\nFree some space"):
        catalog.commit(Change(add_documents=documents))
    catalog._connection.execute("PRAGMA max_page_count = 1000000")
    assert as_tuple(catalog.state()) == before
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
    try:
        with pytest.raises(IndexWriteError, match="cannot write"):
            catalog.commit(Change(add_documents=documents))
        with pytest.raises(IndexWriteError), Catalog.create(catalog.folder.parent / "other", {"long": "x" * 300_000}):
            pass
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert os.listdir(catalog.folder.parent / "other") == []
    assert as_tuple(catalog.state()) == before
    assert catalog.check_integrity() == []
    catalog.commit(Change(add_documents=documents, next_serial=20_000))
    assert catalog.state().n_documents == 20_000


READ_ONLY = """
import os, sys, urllib.parse  # which pathlib would load later, when root's Python may be out of reach
from pathlib import Path
from ibidem.errors import IndexStoreError
from ibidem.index.catalog import Catalog
from ibidem.index.catalog_state import Change
from ibidem.index.array_files import write_arrays
from ibidem.index.commits import WriterLock
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
folder = Path(sys.argv[1])
catalog = Catalog.open(folder / "index")
print(catalog.generation(), catalog.state().n_documents, list(catalog.ids()), catalog.check_integrity())
for write in (
    lambda: catalog.commit(Change(remove_ids=["a"])),
    lambda: WriterLock(folder / "index").__enter__(),
    lambda: write_arrays(folder / "index" / "segment-1.ibi", {}, {}),
    lambda: Catalog.create(folder / "new", {}),
):
    try:
        write()
    except IndexStoreError as error:
        print(type(error).__name__)
"""


def test_who_may_only_read_can_read() -> None:
    # Not in `tmp_path`, which belongs to one user; here others may look in, and root becomes such another.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Catalog.create(folder / "index", {}) as catalog:
            catalog.commit(Change(add_documents=[("a", 0)], next_serial=1))
        for path in (folder / "index" / "catalog.sqlite", folder / "index", folder):
            path.chmod(0o444 if path.is_file() else 0o555)
        try:
            answer = subprocess.run([sys.executable, "-c", READ_ONLY, name], capture_output=True, text=True, check=True)
        finally:
            for path in (folder, folder / "index"):
                path.chmod(0o755)
        assert answer.stdout.splitlines() == ["1 1 ['a'] []", *["IndexWriteError"] * 4]


def test_a_commit_broken_off_half_way_is_undone_by_the_next_who_may_write(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    catalog.commit(Change(add_documents=[(f"{number}" * 50, number) for number in range(2000)], next_serial=2000))
    before = as_tuple(catalog.state())
    broken_off = tmp_path / "broken off"
    with catalog._transaction("BEGIN IMMEDIATE", "write") as connection:
        connection.execute("PRAGMA cache_size = 10")  # pages go to the file before the commit, the old ones to the journal
        connection.execute("UPDATE documents SET serial = serial + 1")
        shutil.copytree(catalog.folder, broken_off)
    whole = (catalog.folder / "catalog.sqlite").read_bytes()
    assert (broken_off / "catalog.sqlite-journal").stat().st_size > 0
    assert (broken_off / "catalog.sqlite").read_bytes() != whole
    monkeypatch.setattr("ibidem.index.catalog_file.os.access", lambda path, mode: False)
    with pytest.raises(IndexStoreError, match="cannot read") as caught:
        Catalog.open(broken_off)
    assert "A commit was interrupted" in caught.value.next_step
    monkeypatch.undo()
    with Catalog.open(broken_off) as copy:
        assert as_tuple(copy.state()) == before
        assert copy.serials_of(["7" * 50]) == {"7" * 50: 7}
        assert copy.check_integrity() == []


def test_threads_share_one_catalog(catalog: Catalog) -> None:
    def work(number: int) -> None:
        for step in range(8):
            serial = number * 100 + step
            catalog.commit(Change(add_documents=[(f"{serial}", serial)]))
            state = catalog.state()
            assert state.n_documents == state.generation
            assert catalog.serials_of([f"{serial}"]) == {f"{serial}": serial}
            assert f"{serial}" in list(catalog.ids())

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))
    assert catalog.state().n_documents == 32


def consistent(state: State) -> bool:
    """Return whether what is read is what one of the commits of WRITE left."""
    g = state.generation
    return (
        state.next_serial == 3 * g
        and state.vocabulary_version == g
        and [entry.name for entry in state.segments] == [f"segment-{number:016x}.ibi" for number in range(max(0, g - 4), g)]
        and state.removed.tolist() == list(range(max(0, 3 * g - 9), 3 * g - 3))
        and state.n_documents == min(3, 3 * g)
    )


WRITE = """
import os, sys
from pathlib import Path
import numpy as np
from ibidem.index.catalog import Catalog
from ibidem.index.catalog_state import Change, SegmentEntry
from ibidem.index.array_files import write_arrays
from ibidem.index.commits import WriterLock
def write(folder, n_commits):
    # Each commit replaces the three documents, adds a segment, drops the fifth last, settles what is three commits old.
    with WriterLock(folder), Catalog.open(folder) as catalog:
        for g in range(catalog.generation(), catalog.generation() + n_commits):
            write_arrays(folder / f"segment-{g:016x}.ibi", {"a": np.full(1000, g)}, {"index": catalog.state().identity})
            catalog.commit(Change(
                add_segments=[SegmentEntry(f"segment-{g:016x}.ibi", 3, 3, 3, 3)],
                drop_segments=[f"segment-{g - 4:016x}.ibi"] if g >= 4 else [],
                remove_ids=["a", "b", "c"], add_documents=[("a", 3 * g), ("b", 3 * g + 1), ("c", 3 * g + 2)],
                settle=range(max(0, 3 * g - 9), max(0, 3 * g - 6)), next_serial=3 * g + 3, vocabulary_version=g + 1,
            ))
            if g >= 4:
                (folder / f"segment-{g - 4:016x}.ibi").unlink(missing_ok=True)
"""


def test_a_reader_sees_a_whole_commit_or_none(tmp_path: Path) -> None:
    Catalog.create(tmp_path, {}).close()
    # Ten commits for each line: the reader asks for more when it has seen the last of them, and looks while they are made.
    code = WRITE + "for line in sys.stdin:\n    write(Path(sys.argv[1]), 10)"
    asked, seen = 0, set()
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as writer, Catalog.open(tmp_path) as reader:
        assert writer.stdin is not None
        while writer.poll() is None:
            before = reader.generation()
            state = reader.state()
            serials = sorted(reader.serials_of(["a", "b", "c"]).values())
            after = reader.generation()
            assert consistent(state)
            assert before <= state.generation <= after
            last = serials[-1] + 1 if serials else 0
            assert serials == list(range(max(0, last - 3), last))
            assert 3 * state.generation <= last <= 3 * after
            seen.add(state.generation)
            if state.generation == asked < 70:
                asked += 10
                writer.stdin.write(b"\n")
                writer.stdin.flush()
                if asked == 70:
                    writer.stdin.close()
        assert writer.returncode == 0
        assert reader.generation() == 70
    assert seen >= {0, 10, 20, 30, 40, 50, 60}


KILLED_AGAIN_AND_AGAIN = (
    WRITE
    + """
import random, signal, time
from tests.forking import fork
folder = Path(sys.argv[1])
for attempt in range(15):
    reading_end, writing_end = os.pipe()
    pid = fork()
    if pid == 0:
        try:
            write(folder, 1)
            os.write(writing_end, b"1")
            write(folder, 100_000)
        finally:
            os._exit(1)
    assert os.read(reading_end, 1) == b"1"
    time.sleep(random.uniform(0, 0.05))
    os.kill(pid, signal.SIGKILL)
    assert os.waitpid(pid, 0)[1] == signal.SIGKILL
    print(attempt, flush=True)
    sys.stdin.readline()
"""
)


def test_a_writer_may_be_killed_at_any_time(tmp_path: Path) -> None:
    Catalog.create(tmp_path, {}).close()
    # A process of its own forks the writers: it has one thread, and a fork is quicker than a new process.
    process = forking_process("-c", KILLED_AGAIN_AND_AGAIN, str(tmp_path))
    generations = [0]
    with subprocess.Popen(**process, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdin is not None
        assert driver.stdout is not None
        for _ in driver.stdout:
            with WriterLock(tmp_path), Catalog.open(tmp_path) as catalog:
                state = catalog.state()
                assert catalog.check_integrity() == []
                assert consistent(state)
                assert sum(catalog.serials_of(["a", "b", "c"]).values()) == max(0, 9 * state.generation - 6)
                kept = [entry.name for entry in state.segments]
                sweep(catalog.opened, state.identity, kept, state.dropped)
                # A journal may be there that had not been begun in earnest; SQLite passes it over.
                assert {*os.listdir(tmp_path)} - {"catalog.sqlite-journal"} == {*kept, "catalog.sqlite", "lock"}
                generations.append(state.generation)
            driver.stdin.write("\n")
            driver.stdin.flush()
    assert driver.returncode == 0
    assert len(generations) == 16
    assert generations == sorted(generations)
    assert len({*generations}) == 16  # each of them committed something
