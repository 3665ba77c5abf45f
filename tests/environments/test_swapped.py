"""What happens around an open index: links switched, folders swapped, locks deleted, backups restored. Nothing is ever lost."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from ibidem.errors import IndexChangedError, IndexDamagedError, IndexStoreError
from ibidem.index import watcher
from ibidem.index.catalog_state import Change, write_state
from ibidem.index.index import Index
from ibidem.index.writer import Writer
from ibidem.viewer.server.security import Access
from ibidem.viewer.server.served import open_served
from tests.index_faults import Texts, problems_of, records, text
from tests.viewer.server.conftest import running

FIRST: Texts = {"a": (100, 101, 102), "b": (103, 104, 105)}
SECOND: Texts = {"c": (110, 111, 112), "d": (113, 114, 115)}
NEW: Texts = {"new": (120, 121, 122)}
JOURNAL = "catalog.sqlite-journal"
OLD_INDEX = Path(__file__).parent.parent / "compat" / "index_v1"


def make(folder: Path, texts: Texts) -> Path:
    """Make an index of several segments."""
    with Index(folder) as index:
        for name, numbers in texts.items():
            index.add(records({name: numbers}))
    return folder


def sound(folder: Path, texts: Texts) -> None:
    """See that an index has these documents and no others, that each is found, and that nothing is damaged."""
    assert problems_of(folder, [texts]) == ([], 0)


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    return make(tmp_path / "v1", FIRST), make(tmp_path / "v2", SECOND)


def switch(link: Path, target: str) -> None:
    link.unlink(missing_ok=True)
    link.symlink_to(target)


def swap(folder: Path, other: Path) -> Path:
    """`mv idx idx.old; mv idx.new idx`. Return where the first one is now."""
    old = folder.with_name(folder.name + ".old")
    folder.rename(old)
    other.rename(folder)
    return old


@pytest.fixture
def serve() -> Iterator[Callable[[Path], httpx.Client]]:
    with ExitStack() as stack:

        def start(path: Path) -> httpx.Client:
            address = stack.enter_context(running(stack.enter_context(open_served(path)), Access()))
            return stack.enter_context(httpx.Client(base_url=address, timeout=60, trust_env=False))

        yield start


CHANGES: dict[str, Callable[[Index], Any]] = {
    "add": lambda index: index.add(records(NEW)),
    "watch": lambda index: list(index.watch(records(NEW))),
    "remove": lambda index: index.remove("nothing"),
    "compact": lambda index: index.compact(),
    "recount": lambda index: index.compact(recount=True),
}
_ADDING = ("add", "watch")


@pytest.mark.parametrize("change", CHANGES)
def test_a_switched_link_leaves_an_open_index_where_it_was(two: tuple[Path, Path], tmp_path: Path, change: str) -> None:
    link = tmp_path / "current"
    switch(link, "v1")
    with Index(link) as index:
        index.check(records({"?": (100,)}))
        switch(link, "v2")
        CHANGES[change](index)
    sound(two[0], FIRST | NEW if change in _ADDING else FIRST)
    sound(two[1], SECOND)


def test_a_document_sent_to_a_server_after_its_link_was_switched_destroys_nothing(
    two: tuple[Path, Path], tmp_path: Path, serve: Callable[[Path], httpx.Client]
) -> None:
    link = tmp_path / "current"
    switch(link, "v1")
    client = serve(link)
    switch(link, "v2")
    assert client.post("/api/v1/arrivals", json=records(NEW)[0]).status_code == 200
    sound(two[0], FIRST | NEW)
    sound(two[1], SECOND)
    assert not (two[1] / "arrivals.sqlite").exists()


@pytest.mark.parametrize("change", CHANGES)
def test_swapped_folders_are_an_error_and_both_stay_whole(two: tuple[Path, Path], change: str) -> None:
    with Index(two[0]) as index:
        index.check(records({"?": (100,)}))
        old = swap(*two)
        with pytest.raises(IndexChangedError, match="the folder was moved or replaced") as caught:
            CHANGES[change](index)
        assert "Open it again" in caught.value.next_step
        with pytest.raises(IndexChangedError):  # SQLite would look for a journal in the other folder
            index.query(records(NEW))
    sound(old, FIRST)
    sound(two[0], SECOND)


def test_a_server_whose_folder_was_swapped_says_so(two: tuple[Path, Path], serve: Callable[[Path], httpx.Client]) -> None:
    client = serve(two[0])
    old = swap(*two)
    answer = client.post("/api/v1/arrivals", json=records(NEW)[0])
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "unavailable")
    assert "restart" in answer.json()["error"]["next_step"]
    sound(old, FIRST)
    sound(two[0], SECOND)


class SwappedBetween(Sequence[dict[str, str]]):
    """Documents of a stream, drawn one by one by the thread that commits: folders are swapped before the last is drawn."""

    def __init__(self, documents: list[dict[str, str]], swap: Callable[[], object]) -> None:
        self._documents, self._swap = documents, swap

    def __len__(self) -> int:
        return len(self._documents)

    def __getitem__(self, which: Any) -> Any:
        if which.start == len(self) - 1:
            self._swap()
        return self._documents[which]


def test_a_stream_whose_folder_is_swapped_keeps_what_was_committed(
    two: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watcher, "MOST_TOGETHER", 1)
    arrivals = SwappedBetween(records(NEW | {"newer": (130, 131, 132)}), lambda: swap(*two))
    with Index(two[0]) as index, pytest.raises(IndexChangedError):
        for _ in index.watch(arrivals, commit_every="1"):
            pass
    sound(two[0].with_name(two[0].name + ".old"), FIRST | NEW)
    sound(two[0], SECOND)


class SwappedAtCommit:
    """A connection under which folders are swapped after a commit, or before its journal is deleted, which then stays."""

    def __init__(self, connection: Any, folders: tuple[Path, Path], has_journal: bool) -> None:
        self._connection, self._folders, self._has_journal = connection, folders, has_journal

    def execute(self, statement: str, *parameters: Any) -> Any:
        if statement != "COMMIT":
            return self._connection.execute(statement, *parameters)
        folder = self._folders[0]
        os.link(folder / JOURNAL, folder / "aside")
        result = self._connection.execute(statement)
        if self._has_journal:
            (folder / "aside").rename(folder / JOURNAL)
        swap(*self._folders)
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


@pytest.mark.parametrize(("has_journal", "told"), [(True, "The change was not made"), (False, "The change was made")])
def test_folders_swapped_within_a_commit_say_what_became_of_it(two: tuple[Path, Path], has_journal: bool, told: str) -> None:
    with Index(two[0]) as index:
        connection = SwappedAtCommit(index._catalog._connection, two, has_journal)
        index._catalog._connection = connection  # type: ignore[assignment]
        with pytest.raises(IndexChangedError, match="was moved or replaced while a change was committed") as caught:
            index._catalog.commit(Change(remove_ids=["a"]))
        assert told in caught.value.next_step
    sound(two[0].with_name("v1.old"), FIRST if has_journal else {"b": FIRST["b"]})
    sound(two[0], SECOND)


def test_a_relative_path_is_that_of_the_time_of_opening(
    two: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    shutil.copytree(two[1], tmp_path / "elsewhere" / "v1")
    monkeypatch.chdir(tmp_path)
    with Index("v1") as index:
        monkeypatch.chdir(tmp_path / "elsewhere")
        index.add(records(NEW))
        index.compact()
        assert index.verify() == []
        assert index.info()["bytes"] > 0
    sound(two[0], FIRST | NEW)
    sound(tmp_path / "elsewhere" / "v1", SECOND)


def test_a_catalog_put_in_place_of_the_open_one_is_an_error(two: tuple[Path, Path]) -> None:
    with Index(two[0]) as index:
        copy = two[0] / "copy"
        shutil.copy2(two[0] / "catalog.sqlite", copy)
        copy.replace(two[0] / "catalog.sqlite")
        with pytest.raises(IndexChangedError, match="the file was replaced"):
            index.add(records(NEW))
    sound(two[0], FIRST)


# --- Locks ------------------------------------------------------------------------------------------------------------


def test_a_lock_deleted_while_it_is_held_stops_its_holder(tmp_path: Path) -> None:
    folder = make(tmp_path / "index", FIRST)

    def arrivals() -> Iterator[dict[str, str]]:
        (folder / "lock").unlink()
        yield from records(NEW)

    with Index(folder) as index, pytest.raises(IndexChangedError, match="lock was deleted or replaced"):
        list(index.watch(arrivals()))
    sound(folder, FIRST)
    with Index(folder) as index:
        index.add(records(NEW))
    sound(folder, FIRST | NEW)


def test_of_two_writers_after_a_deleted_lock_one_is_refused(tmp_path: Path) -> None:
    folder = make(tmp_path / "index", FIRST)

    def arrivals() -> Iterator[dict[str, str]]:
        yield from records(NEW)
        (folder / "lock").unlink()
        with Index(folder) as other:  # sweeps, commits and merges
            other.add(records(SECOND))
            other.compact()
        yield from records({"newer": (130, 131, 132)})

    with Index(folder) as index, pytest.raises(IndexChangedError):
        list(index.watch(arrivals()))
    problems, _ = problems_of(folder, [FIRST | SECOND, FIRST | NEW | SECOND])  # the stream may have committed before
    assert problems == []


def test_a_commit_of_another_process_is_never_taken_for_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the lock keeps nobody out: some network file systems do not know locks."""
    folder = make(tmp_path / "index", FIRST)
    monkeypatch.setattr("ibidem.index.commits.FileLock.is_held", lambda lock: True)
    commit = Writer.commit

    def commit_second(writer: Writer) -> int:
        monkeypatch.setattr(Writer, "commit", commit)
        (folder / "lock").unlink()
        with Index(folder) as other:
            other.add(records(SECOND))
        return commit(writer)

    monkeypatch.setattr(Writer, "commit", commit_second)
    with Index(folder) as index, pytest.raises(IndexChangedError, match="another process changed the index"):
        index.add(records(NEW))
    sound(folder, FIRST | SECOND)


# --- Copies and backups -----------------------------------------------------------------------------------------------


def test_a_catalog_from_an_older_backup_deletes_nothing(tmp_path: Path) -> None:
    folder = make(tmp_path / "index", FIRST)
    older = shutil.copy2(folder / "catalog.sqlite", tmp_path / "older")
    with Index(folder) as index:
        index.add(records(NEW))
    newer = shutil.copy2(folder / "catalog.sqlite", tmp_path / "newer")
    files = set(os.listdir(folder))
    shutil.copy2(older, folder / "catalog.sqlite")
    for change in CHANGES.values():
        with Index(folder) as index, pytest.raises(IndexChangedError, match="does not list") as caught:
            change(index)
        assert "Put the newer catalog.sqlite back" in caught.value.next_step
    with Index(folder) as index:
        assert "was the catalog restored?" in index.verify()[0]
    assert set(os.listdir(folder)) == files
    shutil.copy2(newer, folder / "catalog.sqlite")
    sound(folder, FIRST | NEW)


def _in_one_commit(folder: Path) -> None:
    with Index(folder) as index:
        index.add(records(NEW))


def _in_two_commits(folder: Path) -> None:
    _in_one_commit(folder)
    with Index(folder) as index:
        index.remove("a")


def _in_many_commits(folder: Path) -> None:
    for name, numbers in (NEW | SECOND).items():
        with Index(folder) as index:
            index.add(records({name: numbers}))


def _with_a_compaction(folder: Path) -> None:
    _in_one_commit(folder)
    with Index(folder) as index:
        index.compact(recount=True)


LATER: dict[Callable[[Path], None], Texts] = {
    _in_one_commit: FIRST | NEW,
    _in_two_commits: {"b": FIRST["b"]} | NEW,
    _in_many_commits: FIRST | NEW | SECOND,
    _with_a_compaction: FIRST | NEW,
}


@pytest.mark.parametrize("copied", [False, True])
@pytest.mark.parametrize("later", LATER)
def test_what_was_committed_does_not_depend_on_modes(tmp_path: Path, later: Callable[[Path], None], copied: bool) -> None:
    """`chmod -R u+w`, or a copy without modes, and an older catalog: nothing is deleted, and the newer one makes all whole."""
    folder = make(tmp_path / "index", FIRST)
    older = shutil.copyfile(folder / "catalog.sqlite", tmp_path / "older")
    later(folder)
    newer = shutil.copyfile(folder / "catalog.sqlite", tmp_path / "newer")
    if copied:
        folder = Path(shutil.copytree(folder, tmp_path / "copy", copy_function=shutil.copyfile))
    for path in folder.iterdir():
        path.chmod(path.stat().st_mode | 0o200)
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    shutil.copyfile(older, folder / "catalog.sqlite")
    for change in CHANGES.values():
        with pytest.raises(IndexChangedError, match="does not list"), Index(folder) as index:
            change(index)
    with Index(folder) as index:
        assert any("was the catalog restored?" in problem for problem in index.verify())
    shutil.copyfile(newer, folder / "catalog.sqlite")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files
    sound(folder, LATER[later])


def test_files_of_an_index_are_ordinary_ones(tmp_path: Path) -> None:
    mask = os.umask(0o022)
    try:
        folder = make(tmp_path / "index", FIRST | SECOND)
    finally:
        os.umask(mask)
    modes = {path.name: oct(path.stat().st_mode & 0o777) for path in folder.iterdir() if path.name.endswith(".ibi")}
    assert set(modes.values()) == {"0o644"}


def test_an_index_whose_files_are_read_only_grows(tmp_path: Path) -> None:
    folder = make(tmp_path / "index", FIRST)
    for path in folder.glob("*.ibi"):
        path.chmod(0o444)
    with Index(folder) as index:
        index.add(records(NEW))
        index.compact(recount=True)
    sound(folder, FIRST | NEW)


def test_a_writer_killed_after_its_commit_leaves_files_that_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make(tmp_path / "index", FIRST)

    def killed(place: Any) -> None:
        raise OSError

    with monkeypatch.context() as patch, Index(folder) as index:
        patch.setattr("ibidem.index.commits.give_name", killed)
        index.add(records(NEW))
        assert index.check(records(NEW)[0] | {"id": "?"}).duplicated
    assert list(folder.glob("*.ibi.new"))
    sound(folder, FIRST | NEW)
    before = shutil.copytree(folder, tmp_path / "copy")
    for change in CHANGES.values():
        copy = Path(shutil.copytree(before, tmp_path / "changed"))
        with Index(copy) as index:
            if change in (CHANGES["add"], CHANGES["watch"]):
                index.add(records(SECOND))
            else:
                change(index)
            assert {path.name for path in copy.glob("*.ibi*")} == index._catalog.state().named
        assert problems_of(copy, [FIRST | NEW, FIRST | NEW | SECOND])[0] == []
        shutil.rmtree(copy)


def test_a_catalog_restored_under_an_open_index_deletes_nothing(tmp_path: Path) -> None:
    folder = make(tmp_path / "index", FIRST)
    older = shutil.copy2(folder / "catalog.sqlite", tmp_path / "older")
    with Index(folder) as index:
        index.add(records(NEW))
        newer = shutil.copy2(folder / "catalog.sqlite", tmp_path / "newer")
        shutil.copyfile(older, folder / "catalog.sqlite")  # into the file that is open
        with pytest.raises(IndexChangedError):
            index.add(records(SECOND))
        shutil.copyfile(newer, folder / "catalog.sqlite")
        index.add(records(SECOND))
    sound(folder, FIRST | NEW | SECOND)


def test_another_commit_of_the_same_number_is_seen(tmp_path: Path) -> None:
    """A backup that was restored and changed has as many commits as what it took the place of."""
    folder = make(tmp_path / "index", FIRST)
    copy = shutil.copytree(folder, tmp_path / "copy")
    with Index(copy) as index:
        index.add(records({"c": SECOND["c"]}))
        n_commits = index.info()["generation"]
    with Index(folder) as index:
        index.add(records(NEW))
        assert index.info()["generation"] == n_commits
        assert index.check(records(NEW)[0] | {"id": "?"}).duplicated
        for path in copy.iterdir():
            shutil.copyfile(path, folder / path.name)
        assert not index.check(records(NEW)[0] | {"id": "?"}).duplicated
        assert index.check({"id": "?", "text": text(SECOND["c"])}).duplicated


def test_copies_of_a_folder_grow_apart(tmp_path: Path) -> None:
    folder = make(tmp_path / "index", FIRST)
    copy = shutil.copytree(folder, tmp_path / "copy")
    with Index(folder) as one, Index(copy) as other:
        one.add(records(NEW))
        other.add(records(SECOND))
        one.compact()
        other.remove("a")
    sound(folder, FIRST | NEW)
    sound(copy, {"b": FIRST["b"]} | SECOND)


@pytest.mark.parametrize("change", CHANGES)
def test_a_copy_of_hard_links_is_not_written_to(tmp_path: Path, change: str) -> None:
    """A commit to one of them would be in the catalog of both, and its files in one folder only."""
    folder = make(tmp_path / "index", FIRST)
    copy = shutil.copytree(folder, tmp_path / "copy", copy_function=os.link)
    for each in (folder, copy):
        with Index(each) as index, pytest.raises(IndexStoreError, match="hard-linked from another folder") as caught:
            CHANGES[change](index)
        assert "mv" in caught.value.next_step
        sound(each, FIRST)
    shutil.copy2(copy / "catalog.sqlite", copy / "new")
    (copy / "new").replace(copy / "catalog.sqlite")
    with Index(copy) as index:
        CHANGES[change](index)
    sound(folder, FIRST)
    sound(copy, FIRST | NEW if change in _ADDING else FIRST)


def test_a_stream_notices_that_a_copy_of_hard_links_was_made(tmp_path: Path) -> None:
    folder = make(tmp_path / "index", FIRST)

    def arrivals() -> Iterator[dict[str, str]]:
        shutil.copytree(folder, tmp_path / "copy", copy_function=os.link)
        yield from records(NEW)

    with Index(folder) as index, pytest.raises(IndexStoreError, match="hard-linked from another folder"):
        list(index.watch(arrivals()))
    sound(folder, FIRST)
    sound(tmp_path / "copy", FIRST)


def test_a_file_of_another_index_is_damage_and_is_not_deleted(two: tuple[Path, Path]) -> None:
    strange = min(two[1].glob("segment-*.ibi"))
    shutil.copy2(strange, two[0] / strange.name)
    with Index(two[0]) as index:
        index.add(records(NEW))
        index.compact(recount=True)
    assert (two[0] / strange.name).exists()
    sound(two[0], FIRST | NEW)
    with Index(two[0]) as index:
        catalog = index._catalog
        with catalog._transaction("BEGIN IMMEDIATE", "write") as connection:
            rows = catalog._rows(connection)
            connection.execute("UPDATE state SET value = ? WHERE name = 'identity'", ("0" * 32,))
            write_state(connection, {}, rows.tombstones)
        with pytest.raises(IndexDamagedError, match="belongs to another index"), Index(two[0]) as again:
            again.query(records(NEW))
        assert "belongs to another index" in index.verify()[0]


# --- Indexes of earlier versions --------------------------------------------------------------------------------------

OLD: Texts = {"a": (1, 2, 3), "c": (7, 8, 9), "d": (10, 11, 12), "e": (1, 14, 15), "f": (16, 17, 18)}


@pytest.fixture
def old_index(tmp_path: Path) -> Path:
    return Path(shutil.copytree(OLD_INDEX, tmp_path / "old"))


def test_an_index_of_an_earlier_version_is_read_as_it_is(old_index: Path) -> None:
    before = {path.name: path.read_bytes() for path in old_index.iterdir()}
    sound(old_index, OLD)
    assert {path.name: path.read_bytes() for path in old_index.iterdir()} == before


@pytest.mark.parametrize("change", CHANGES)
def test_an_index_of_an_earlier_version_gets_an_identity_when_it_is_written_to(old_index: Path, change: str) -> None:
    stranger = old_index / f"segment-{1:016x}.ibi"  # unnamed, and without identity: nobody knows whose it is
    shutil.copy2(min(old_index.glob("words-*.ibi")), stranger)
    with Index(old_index) as index:
        assert index._catalog.state().identity is None
        CHANGES[change](index)
        identity = index._catalog.state().identity
        assert identity is not None
        index.compact(recount=True)
    sound(old_index, OLD | NEW if change in _ADDING else OLD)
    with Index(old_index) as index:
        assert index._catalog.state().identity == identity
        named = index._catalog.state().named
    assert {path.name for path in old_index.glob("*.ibi")} == named | {stranger.name}
