"""The model itself: what is certain, what may be lost, and how a trace becomes operations."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.crash.calls import TraceError, record, why_not
from tests.crash.disk import WHOLE, Kept, Mark, Names, Operation, Sync, Trace, Truncate, Write, digest
from tests.crash.sampling import sample_states, states_without
from tests.crash.tracing import MARK, read_trace, snapshot

REPLACED = (  # a file is written aside, synced, renamed over an old one, and its folder synced
    Names(0, (("new.part", 2),)),
    Write(2, 0, b"new" * 400),
    Sync(2, 2, "new.part"),
    Names(0, (("new.part", None), ("file", 2))),
    Sync(0, 4, "."),
    Mark("done"),
)


def trace_of(*operations: Operation) -> Trace:
    return Trace({0: {"file": 1}}, {1: b"old"}, operations, frozenset({0}))


def files_of(trace: Trace, n_states: int = 200) -> set[bytes | None]:
    """Return all contents that the file may have in the end."""
    whole = len(trace)
    return {state.tree.get("file", b"gone") for state in sample_states(trace, n_states, 1) if state.end == whole}


def test_what_is_synced_is_certain() -> None:
    assert files_of(trace_of(*REPLACED)) == {b"new" * 400}


def test_without_the_sync_of_the_folder_the_old_name_may_come_back() -> None:
    assert files_of(trace_of(*REPLACED).without({4})) == {b"old", b"new" * 400}


def test_without_the_sync_of_the_file_a_new_name_may_lead_to_nothing() -> None:
    found = files_of(trace_of(*REPLACED).without({2}))
    assert {b"", bytes(1200), b"new" * 400} <= found
    assert b"old" not in found


def test_a_sync_saves_what_was_done_before_it_began() -> None:
    trace = trace_of(Write(1, 0, b"abc"), Write(1, 3, b"def"), Sync(1, 1, "file"))
    assert trace.pending(3) == [1]
    assert trace.tree(3, {}) == {"file": b"abc"}
    assert trace.tree(3, {1: WHOLE}) == {"file": b"abcdef"}


def test_a_later_write_may_be_kept_and_an_earlier_one_lost() -> None:
    trace = trace_of(Write(1, 3, b"abc"), Write(1, 6, b"def"))
    assert trace.tree(2, {1: WHOLE}) == {"file": b"old\0\0\0def"}


def test_writes_are_torn_at_bytes_and_sectors() -> None:
    trace = trace_of(Write(1, 0, b"a" * 1200))
    assert trace.tree(1, {0: Kept(700, -1)})["file"] == b"a" * 700
    assert trace.tree(1, {0: Kept(1200, 0b10)})["file"] == b"old" + bytes(509) + b"a" * 512 + bytes(176)


def test_a_rename_between_folders_never_loses_the_file() -> None:
    operations = (Names(2, (("file", 1),)), Names(0, (("file", None),), needs=0))
    trace = Trace({0: {"file": 1, "sub": 2}, 2: {}}, {1: b"x"}, operations, frozenset({0, 2}))
    found = {frozenset(path for path, content in state.tree.items() if content) for state in sample_states(trace, 50, 1)}
    assert found == {frozenset({"file"}), frozenset({"sub/file"}), frozenset({"file", "sub/file"})}


def test_states_without_a_sync_lose_what_it_saved_and_nothing_else() -> None:
    trace = trace_of(*REPLACED)
    found = {frozenset(state.tree.items()) for state in states_without(trace, {4}, 1) if state.end == len(trace)}
    new = b"new" * 400
    assert found == {  # all lost, the rename lost, the first name lost
        frozenset({("file", b"old")}), frozenset({("file", b"old"), ("new.part", new)}), frozenset({("file", new)})
    }  # fmt: skip
    assert list(states_without(trace, set(), 1)) == []


writes = st.builds(Write, st.just(1), st.integers(0, 9), st.binary(min_size=1, max_size=5))
cuts = st.builds(Truncate, st.just(1), st.integers(0, 12))


@settings(max_examples=100, deadline=None)
@given(st.lists(writes | cuts, max_size=8))
def test_all_kept_is_what_the_file_is(operations: list[Operation]) -> None:
    trace = trace_of(*operations)
    content = bytearray(b"old")
    for operation in operations:  # as a file does it
        if isinstance(operation, Write):
            content.extend(bytes(max(0, operation.start - len(content))))
            content[operation.start : operation.start + len(operation.data)] = operation.data
        elif isinstance(operation, Truncate):
            content = content[: operation.size].ljust(operation.size, b"\0")
    end = len(trace)
    assert trace.tree(end, dict.fromkeys(trace.pending(end), WHOLE)) == {"file": bytes(content)}
    assert trace.tree(end, {}) == {"file": b"old"}


def test_states_are_different_and_the_same_for_the_same_seed() -> None:
    trace = trace_of(*REPLACED).without({2, 4})
    states = list(sample_states(trace, 30, 7))
    assert len({(digest(state.tree), len(state.marks)) for state in states}) == len(states) == 30
    assert [state.tree for state in sample_states(trace, 30, 7)] == [state.tree for state in states]


# --- Traces -----------------------------------------------------------------------------------------------------------

SCRIPT = f"""
import os, sys, threading
root = sys.argv[1]
file = os.open(root + "/old", os.O_RDWR)
os.lseek(file, 2, os.SEEK_SET)
again = os.dup(file)
os.write(again, b"cd")
os.write(file, b"ef")
os.fsync(file)
folder = os.open(root, os.O_RDONLY)
part = os.open("part", os.O_WRONLY | os.O_CREAT | os.O_APPEND, dir_fd=folder)
os.writev(part, [b"one ", b"two"])
os.pwrite(file, b"!", 9)
os.mkdir(f"/proc/self/fd/{{folder}}/sub")
os.rename("part", "sub/whole", src_dir_fd=folder, dst_dir_fd=folder)
threads = [threading.Thread(target=lambda name=name: open(root + "/" + name, "w").write(name)) for name in "abc"]
for thread in threads: thread.start()
for thread in threads: thread.join()
os.truncate(root + "/a", 0)
os.unlink("b", dir_fd=folder)
os.fsync(folder)
os.write(1, {MARK!r} + b"root done\\n")
"""


@pytest.fixture
def traceable(tmp_path: Path) -> Path:
    if reason := why_not():
        pytest.skip(reason)
    root = tmp_path / "root"
    root.mkdir()
    (root / "old").write_bytes(b"ab")
    return root


def trace_script(script: str, root: Path) -> Trace:
    before = snapshot(root)
    log = root.parent / "log"
    record([sys.executable, "-c", script, str(root)], log, root.parent, os.environ)
    return read_trace(log, root, *before)


def test_a_trace_knows_what_a_process_did(traceable: Path) -> None:
    trace = trace_script(SCRIPT, traceable)
    end = len(trace)
    whole = trace.tree(end, dict.fromkeys(trace.pending(end), WHOLE))
    expected = {"old": b"abcdef\0\0\0!", "sub": None, "sub/whole": b"one two", "a": b"", "c": b"c"}
    assert whole == expected
    assert {name: (traceable / name).read_bytes() for name, content in expected.items() if content is not None} == {
        name: content for name, content in expected.items() if content is not None
    }
    assert trace.marks(end) == ["done"]
    # Synced: the first writes to one file, and the names of one folder. What was moved to the other may still be where it was.
    assert trace.tree(end, {}) == {"old": b"abcdef", "part": b"", "sub": None, "a": b"", "c": b""}


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("import mmap, sys; f = open(sys.argv[1] + '/old', 'r+b'); mmap.mmap(f.fileno(), 2)[0] = 1", "mapped to be written"),
        ("import os, sys; os.symlink('x', sys.argv[1] + '/link')", "symlink"),
        ("import subprocess, sys; subprocess.run(['touch', sys.argv[1] + '/new'])", "open"),
        ("import os, sys; os.open(sys.argv[1] + '/old', os.O_WRONLY | os.O_SYNC)", "O_SYNC"),
        ("import os, sys; os.posix_fallocate(os.open(sys.argv[1] + '/old', os.O_RDWR), 0, 99)", "fallocate"),
        ("import os, sys; os.rename(sys.argv[1] + '/old', sys.argv[1] + '/../away')", "out of it"),
    ],
)
def test_what_cannot_be_followed_is_an_error(traceable: Path, script: str, reason: str) -> None:
    with pytest.raises(TraceError, match=reason):
        trace_script(script, traceable)
