"""Array files of the index: what is written comes back, and no damage goes unseen."""

from __future__ import annotations

import errno
import json
import os
import re
import resource
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from ibidem.errors import IndexChangedError, IndexDamagedError, IndexStoreError, IndexWriteError
from ibidem.index import array_files
from ibidem.index import sweep as sweep_module
from ibidem.index.array_files import check_arrays, give_name, is_written, map_arrays, new_name, read_about, write_arrays
from ibidem.index.folder import OpenFolder, Place
from ibidem.index.sweep import later_files, sweep

NUMBERS = st.one_of(
    hnp.boolean_dtypes(),
    hnp.integer_dtypes(endianness="?"),
    hnp.unsigned_integer_dtypes(endianness="?"),
    hnp.floating_dtypes(endianness="?"),
    hnp.complex_number_dtypes(endianness="?", sizes=(64, 128)),
)
ARRAYS = st.dictionaries(st.text(max_size=5), NUMBERS.flatmap(lambda dtype: hnp.arrays(dtype, st.integers(0, 40))), max_size=5)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text(), part, max_size=3),
    max_leaves=5,
)


def small_file(path: Path) -> bytes:
    arrays: dict[str, NDArray[Any]] = {
        "serials": np.arange(5, dtype=np.int64),
        "none": np.empty(0, np.uint32),
        "bytes": np.arange(70, dtype=np.uint8),
        "weights": np.array([0.5, -1.0], np.float32),
    }
    write_arrays(path, arrays, {"signature": "words"})
    give_name(path)
    return path.read_bytes()


with tempfile.TemporaryDirectory() as folder:
    SMALL_FILE = small_file(Path(folder) / "a.ibi")


def is_refused(path: Path) -> bool:
    """Return whether mapping refuses a file. That checking refuses it is asserted; neither may raise anything else."""
    with pytest.raises(IndexDamagedError) as caught:
        check_arrays(path)
    assert str(path) in caught.value.message
    assert caught.value.next_step
    try:
        arrays, _ = map_arrays(path)
    except IndexDamagedError:
        return True
    assert set(arrays) == {"serials", "none", "bytes", "weights"}
    return False


@settings(max_examples=80, deadline=None)
@given(arrays=ARRAYS, about=st.dictionaries(st.text(), JSON, max_size=3))
def test_what_is_written_comes_back(
    arrays: dict[str, NDArray[Any]], about: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("files") / "a.ibi"
    n_bytes = write_arrays(path, arrays, about)
    give_name(path)
    assert n_bytes == path.stat().st_size
    assert os.listdir(path.parent) == ["a.ibi"]
    check_arrays(path)
    mapped, mapped_about = map_arrays(path)
    assert mapped_about == about
    assert list(mapped) == list(arrays)
    for name, array in arrays.items():
        assert mapped[name].dtype == array.dtype.newbyteorder("<")
        assert mapped[name].tobytes() == array.astype(mapped[name].dtype).tobytes()
        assert not mapped[name].flags.writeable
        assert mapped[name].ctypes.data % 64 == 0 or not len(array)


def test_long_and_strided_arrays_come_back(tmp_path: Path) -> None:
    long = np.arange(1_000_003, dtype=np.int64)
    arrays = {"long": long, "strided": long[::-3], "big_endian": long[5:].astype(">i4"), "short": long[:1]}
    write_arrays(tmp_path / "a.ibi", arrays, {})
    check_arrays(tmp_path / "a.ibi")
    mapped, _ = map_arrays(tmp_path / "a.ibi")
    for name, array in arrays.items():
        np.testing.assert_array_equal(mapped[name], array)


def test_a_file_gets_its_name_after_its_commit_and_is_found_before(tmp_path: Path) -> None:
    path = tmp_path / "a.ibi"
    assert not is_written(path)
    write_arrays(path, {"a": np.arange(3)}, {"index": "x"})
    assert os.listdir(tmp_path) == ["a.ibi.new"]
    assert is_written(path)
    for _ in range(2):
        check_arrays(path)
        assert map_arrays(path)[0]["a"].tolist() == [0, 1, 2]
        if is_written(path):
            assert read_about(tmp_path / "a.ibi.new") == {"index": "x"}
            give_name(path)
    assert os.listdir(tmp_path) == ["a.ibi"]


def test_a_file_that_gets_its_name_while_it_is_opened_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.ibi"
    write_arrays(path, {"a": np.arange(3)}, {})
    opened, names = Place.open, []

    def rename_first(place: Place, mode: str = "rb") -> Any:
        names.append(place.name)
        if place.name.endswith(".new"):
            give_name(path)
        return opened(place, mode)

    monkeypatch.setattr(Place, "open", rename_first)
    check_arrays(path)
    assert names == ["a.ibi", "a.ibi.new", "a.ibi"]


def test_a_mapped_file_may_be_deleted(tmp_path: Path) -> None:
    small_file(tmp_path / "segment-1.ibi")
    arrays, _ = map_arrays(tmp_path / "segment-1.ibi")
    (tmp_path / "segment-1.ibi").unlink()
    assert arrays["serials"].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("array", [np.zeros((2, 2)), np.array(["a"]), np.array([None]), np.zeros(2, "datetime64[s]")])
def test_only_columns_of_numbers_are_taken(tmp_path: Path, array: NDArray[Any]) -> None:
    with pytest.raises(ValueError, match="one-dimensional array of numbers"):
        write_arrays(tmp_path / "a.ibi", {"a": array}, {})
    assert os.listdir(tmp_path) == []


def test_every_flipped_bit_is_found(tmp_path: Path) -> None:
    path = tmp_path / "a.ibi"
    whole = small_file(path)
    n_found_by_mapping = 0
    with path.open("r+b", buffering=0) as file:  # changed in place, which is much quicker than to write it again
        for place, byte in enumerate(whole):
            for bit in range(8):
                os.pwrite(file.fileno(), bytes([byte ^ 1 << bit]), place)
                n_found_by_mapping += is_refused(path)
            os.pwrite(file.fileno(), bytes([byte]), place)
    check_arrays(path)
    assert n_found_by_mapping % 8 == 0
    assert 32 < n_found_by_mapping // 8 < len(whole)  # all before the arrays, and none in them: they are not touched


def test_a_file_cut_off_anywhere_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.ibi"
    whole = small_file(path)
    os.truncate(path, len(whole) + 1)
    assert is_refused(path)
    for length in reversed(range(len(whole))):
        os.truncate(path, length)
        assert is_refused(path)


@settings(max_examples=150, deadline=None)
@given(start=st.integers(0, 500), piece=st.binary(min_size=1, max_size=100), is_inserted=st.booleans())
def test_other_damage_is_found(start: int, piece: bytes, is_inserted: bool, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("files") / "a.ibi"
    whole = SMALL_FILE
    broken = whole[:start] + piece + whole[start if is_inserted else start + len(piece) :]
    path.write_bytes(broken)
    if broken != whole:
        is_refused(path)


@pytest.mark.parametrize("name", ["is missing", "cannot be read"])
def test_what_is_not_there_is_damage(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.ibi"
    if name == "cannot be read":
        path.mkdir()
    for look in (map_arrays, check_arrays):
        with pytest.raises(IndexDamagedError, match=f"a.ibi {name}"):
            look(path)


def test_a_file_out_of_reach_is_not_called_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> IO[bytes]:
        raise OSError(errno.EMFILE, "Too many open files")

    small_file(tmp_path / "a.ibi")
    monkeypatch.setattr(Place, "open", refuse)
    with pytest.raises(IndexStoreError, match="Too many open files") as caught:
        map_arrays(tmp_path / "a.ibi")
    assert not isinstance(caught.value, IndexDamagedError)


def test_a_newer_format_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(array_files, "FORMAT_VERSION", 2)
    small_file(tmp_path / "a.ibi")
    monkeypatch.undo()
    with pytest.raises(IndexDamagedError, match=r"format version 2; this ibidem reads version 1(.|\n)*update ibidem"):
        map_arrays(tmp_path / "a.ibi")


def test_a_header_that_lies_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A checksum that fits is no proof: what the header says is looked at, too."""
    entry = {"name": "a", "dtype": "<i8", "length": 4, "offset": 0, "crc32": 0}
    lies: list[Any] = [
        [], {}, {"arrays": 3, "about": {}}, {"arrays": [], "about": 3}, {"arrays": [{}], "about": {}},
        *({"arrays": [entry | lie], "about": {}} for lie in (
            {"dtype": "O"}, {"dtype": "U3"}, {"dtype": "?!"}, {"length": 5}, {"length": -1}, {"length": None}, {"offset": 8},
            {"offset": -64}, {"offset": 64}, {"length": 1 << 70}, {"length": 1e400},
        )),
        {"arrays": [entry, entry], "about": {}},
    ]  # fmt: skip
    dumps = json.dumps
    for lie in lies:
        monkeypatch.setattr(json, "dumps", lambda header, lie=lie: dumps(lie))
        write_arrays(tmp_path / "a.ibi", {"a": np.zeros(4, np.int64)}, {})
        monkeypatch.undo()
        with pytest.raises(IndexDamagedError):
            map_arrays(tmp_path / "a.ibi")


@pytest.mark.parametrize("step", ["write", "os.fsync", "sync_folder"])
@pytest.mark.parametrize(
    ("number", "advice"),
    [
        (errno.ENOSPC, "Free some space"),
        (errno.EDQUOT, "Free some space"),
        (errno.EROFS, "Check permissions, and that the disk"),
        (errno.EIO, "Check the folder and its disk"),
    ],
)
def test_a_failed_write_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, number: int, advice: str
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise OSError(number, os.strerror(number))

    def chunks(array: NDArray[Any]) -> Iterator[memoryview]:
        if (tmp_path / "segment-1.ibi.new").exists():
            fail()
        yield array.view(np.uint8).data

    if step == "write":
        monkeypatch.setattr(array_files, "_chunks", chunks)
    else:
        monkeypatch.setattr(f"ibidem.index.array_files.{step}", fail)
    with pytest.raises(IndexWriteError) as caught:
        small_file(tmp_path / "segment-1.ibi")
    monkeypatch.undo()
    assert os.listdir(tmp_path) == []
    assert str(tmp_path / "segment-1.ibi") in caught.value.message
    assert os.strerror(number) in caught.value.message
    assert advice in caught.value.next_step


def test_a_file_the_system_will_not_let_grow_leaves_nothing(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(IndexWriteError, match="File too large\nFree some space"):
            write_arrays(tmp_path / "segment-1.ibi", {"a": np.ones(100_000)}, {})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert os.listdir(tmp_path) == []


def test_an_interrupted_write_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ibidem.index.array_files.os.fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        small_file(tmp_path / "segment-1.ibi")
    assert os.listdir(tmp_path) == []


def test_a_missing_folder_cannot_be_written_to(tmp_path: Path) -> None:
    with pytest.raises(IndexWriteError, match="No such file"):
        small_file(tmp_path / "nowhere" / "a.ibi")


def test_a_folder_that_cannot_be_synced_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fsync = os.fsync

    def no_folders(descriptor: int) -> None:
        if os.path.isdir(f"/proc/self/fd/{descriptor}"):
            raise OSError(errno.EINVAL, "Invalid argument")
        fsync(descriptor)

    monkeypatch.setattr("ibidem.index.array_files.os.fsync", no_folders)
    small_file(tmp_path / "a.ibi")
    check_arrays(tmp_path / "a.ibi")


def test_names_are_new() -> None:
    names = {new_name(kind) for kind in ("segment", "words") for _ in range(100)}
    assert len(names) == 200
    pattern = r"(segment|words)-[0-9a-f]{16}\.ibi"
    assert all(re.fullmatch(pattern, name) for name in names)
    with pytest.raises(ValueError, match="no such kind"):
        new_name("lock")


MINE, OTHER = "1" * 32, "2" * 32


def array_file(folder: Path, name: str, owner: str | None, is_committed: bool = True) -> None:
    write_arrays(folder / name, {"a": np.arange(3)}, {} if owner is None else {"index": owner})
    if is_committed:
        give_name(folder / name)


def test_sweeping_deletes_what_no_commit_needs_and_nothing_else(tmp_path: Path) -> None:
    named, dropped = f"segment-{1:016x}.ibi", [f"segment-{2:016x}.ibi", f"words-{3:016x}.ibi", f"segment-{4:016x}.ibi"]
    array_file(tmp_path, named, MINE)
    shutil.copy(tmp_path / named, tmp_path / f"{named}.new")  # from a copy that was made within a commit
    array_file(tmp_path, dropped[0], MINE)
    array_file(tmp_path, dropped[1], None)  # of an earlier version
    array_file(tmp_path, f"words-{5:016x}.ibi", MINE, is_committed=False)  # its writer was killed
    swept = [f"{named}.new", *dropped[:2], f"words-{5:016x}.ibi.new", f"segment-{6:016x}.ibi.new"]
    swept += [f"segment-{6:016x}.ibi.tmp", f"catalog-{7:016x}.ibi.tmp"]
    array_file(tmp_path, dropped[2], OTHER)
    array_file(tmp_path, f"segment-{8:016x}.ibi", OTHER)
    array_file(tmp_path, f"segment-{9:016x}.ibi", None)
    array_file(tmp_path, f"segment-{13:016x}.ibi", OTHER, is_committed=False)
    strangers = ["catalog.sqlite", "lock", "segment-0a.ibi.bak", "notes.ibi", "notes.ibi.tmp", "notes.ibi.new", "segment-1.ibi"]
    for name in (*swept[4:], *strangers, f"segment-{10:016x}.ibi"):  # the last one has no header
        (tmp_path / name).touch()
    (tmp_path / f"segment-{11:016x}.ibi").mkdir()
    (tmp_path / f"segment-{12:016x}.ibi").symlink_to(tmp_path / named)
    before = set(os.listdir(tmp_path))
    folder = OpenFolder(tmp_path)
    assert sweep(folder, MINE, {named}, dropped) == sorted(swept)
    assert set(os.listdir(tmp_path)) == before - set(swept)
    folder.close()
    with pytest.raises(IndexStoreError, match="was closed"):
        sweep(folder, MINE, {named}, dropped)


def test_sweeping_names_files_whose_writer_was_killed_after_its_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = {f"segment-{1:016x}.ibi", f"words-{2:016x}.ibi", f"segment-{3:016x}.ibi"}  # the last one is missing
    for name in sorted(names)[:2]:
        array_file(tmp_path, name, MINE, is_committed=False)
    assert later_files(OpenFolder(tmp_path), MINE, names, ()) == []
    there = {name.removesuffix(".new") for name in os.listdir(tmp_path)}
    synced: list[set[str]] = []
    monkeypatch.setattr(sweep_module, "sync_folder", lambda folder: synced.append(set(os.listdir(folder))))
    assert sweep(OpenFolder(tmp_path), MINE, names, ()) == []
    assert set(os.listdir(tmp_path)) == there
    assert synced == [there]  # or a power cut could take the names away again


def test_in_an_index_without_identity_only_temporary_files_are_swept(tmp_path: Path) -> None:
    for name, owner in ((f"segment-{1:016x}.ibi", None), (f"segment-{2:016x}.ibi", OTHER)):
        array_file(tmp_path, name, owner)
    (tmp_path / f"words-{3:016x}.ibi.tmp").touch()
    assert sweep(OpenFolder(tmp_path), None, (), ()) == [f"words-{3:016x}.ibi.tmp"]


def test_files_of_a_later_commit_are_an_error_and_nothing_is_deleted(tmp_path: Path) -> None:
    array_file(tmp_path, f"segment-{1:016x}.ibi", MINE)
    array_file(tmp_path, f"segment-{2:016x}.ibi", MINE, is_committed=False)
    with pytest.raises(IndexChangedError, match="does not list a file of this index") as caught:
        sweep(OpenFolder(tmp_path), MINE, (), ())
    assert "newer catalog.sqlite back" in caught.value.next_step
    assert len(os.listdir(tmp_path)) == 2


def test_a_folder_stays_the_same_whatever_its_path_leads_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to("a")
    monkeypatch.chdir(tmp_path)
    folder = OpenFolder(Path("link"))
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to("b")
    monkeypatch.chdir(tmp_path / "b")
    assert folder.is_in_place()
    write_arrays(folder / "a.ibi", {"a": np.arange(3)}, {})
    check_arrays(folder / "a.ibi")
    give_name(folder / "a.ibi")
    assert (os.listdir(tmp_path / "a"), os.listdir(tmp_path / "b")) == (["a.ibi"], [])
    (tmp_path / "a").rename(tmp_path / "c")
    assert not folder.is_in_place()
    (folder / "a.ibi").unlink()
    assert os.listdir(tmp_path / "c") == []
    (tmp_path / "b").rename(tmp_path / "a")
    assert not folder.is_in_place()
