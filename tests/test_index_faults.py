"""What an index withstands: being killed at every step, a full disk, damage, no right to write, readers and writers at once."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ibidem.errors import IndexDamagedError, IndexLockedError, IndexStoreError
from ibidem.index.index import Index
from tests.forking import forking_process
from tests.index_faults import (
    Fault,
    Server,
    Step,
    Texts,
    can_inject_into_sqlite,
    copy_index,
    left_over,
    make_script,
    problems_of,
    quick_folder,
    records,
    sentence,
    server,
    text,
)

# An empty journal may stay when SQLite is killed before it has written to it; the next commit uses it up.
CATALOG, JOURNAL = "catalog.sqlite", "catalog.sqlite-journal"
SEQUENCE = ("add", "replace", "remove", "add", "recount", "watch-replace", "compact")
STREAM = SEQUENCE.index("watch-replace")
CHANGES = [number for number in range(len(SEQUENCE)) if number != STREAM]
IBIDEM = str(Path(sys.executable).parent / "ibidem")


@pytest.fixture(scope="module")
def faulty() -> Iterator[Server]:
    with server() as running:
        yield running


@pytest.fixture(scope="module")
def memory() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


@pytest.fixture
def quick(memory: Path) -> Iterator[Path]:
    """Return a folder that is quickly written to."""
    folder = memory / "test"
    folder.mkdir()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def stages(faulty: Server, memory: Path) -> list[tuple[Path, Step, Texts, int]]:
    """Return every change of the sequence with the index before it, its documents, and the number of calls that can fail."""
    folder = memory / "stages"
    folder.mkdir()  # new folders are synced: there must be as many here as in the tests
    there: Texts = {}
    found = []
    for number, step in enumerate(make_script(3, SEQUENCE)):
        before, after = folder / str(number), folder / str(number + 1)
        copy_index(before, after)
        ended = faulty.run(after, [step])
        assert "error" not in ended
        found.append((before, step, there, ended["calls"]))
        there = step.states(there)[-1]
        assert problems_of(after, [there]) == ([], 0)
        assert left_over(after) == set()
    return found


def is_made(folder: Path) -> bool:
    return (folder / "catalog.sqlite").exists()


def usable(folder: Path, state: Texts) -> None:
    """See that what comes next works, and that nothing is left over then."""
    more: Texts = {"more": (1, 2, 3)}
    with Index(folder) as index:
        assert index.add(records(more)) == 1
    assert problems_of(folder, [state | more]) == ([], 0)
    assert left_over(folder) == set()


@pytest.mark.parametrize("number", [pytest.param(n, id=f"{n} {kind}") for n, kind in enumerate(SEQUENCE)])
def test_killed_at_every_step_of_a_commit(
    faulty: Server, stages: list[tuple[Path, Step, Texts, int]], number: int, quick: Path
) -> None:
    before, step, there, n_calls = stages[number]
    assert n_calls > (2 if step.kind == "compact" else 20) or not can_inject_into_sqlite()  # there may be nothing to compact
    reached = set()
    for at in range(n_calls):
        folder = copy_index(before, quick / "index")
        ended = faulty.run(folder, [step], Fault("kill", at))
        if ended["status"] == 0 and step.kind.startswith("watch"):
            continue  # how many commits there are depends on how documents arrive
        assert ended["status"] == -signal.SIGKILL
        if not is_made(folder):
            assert not there
            continue
        problems, which = problems_of(folder, step.states(there), there)
        assert problems == [], f"killed at call {at}"
        reached.add(which)
        if at % 4 == 0:
            assert left_over(folder) <= {JOURNAL}
        if at % 20 == 0:
            usable(folder, step.states(there)[which])
    assert 0 in reached


def test_killed_at_random_moments(faulty: Server, quick: Path) -> None:
    random = np.random.default_rng(1)
    steps = make_script(4, SEQUENCE)
    started = time.monotonic()
    assert "error" not in faulty.run(quick / "whole", steps)
    n_seconds = time.monotonic() - started
    others = {name: numbers for step in steps for name, numbers in step.texts.items()}
    for moment in range(12):
        folder, log = quick / str(moment), quick / f"{moment}.log"
        log.touch()
        ended = faulty.run(folder, steps, log=str(log), kill_after_seconds=float(random.uniform(0, n_seconds)))
        lines = log.read_text().splitlines()
        if not is_made(folder):
            assert not lines
            continue
        there: Texts = {}
        n_done = sum(line.startswith("done") for line in lines)
        for step in steps[:n_done]:
            there = step.states(there)[-1]
        is_in_step = bool(lines) and lines[-1].startswith("begin")
        states = steps[n_done].states(there) if is_in_step else [there]
        problems, which = problems_of(folder, states, others)
        assert problems == [], f"{ended['status']} in {lines[-1:]}"
        assert left_over(folder) <= {JOURNAL}
        usable(folder, states[which])


@pytest.mark.parametrize("kind", ["full", "full once"])
@pytest.mark.parametrize(
    "number",
    [pytest.param(n, id=f"{n} {SEQUENCE[n]}") for n in CHANGES],
)
def test_a_full_disk_changes_nothing_and_says_so(
    faulty: Server, stages: list[tuple[Path, Step, Texts, int]], number: int, kind: str, quick: Path
) -> None:
    before, step, there, n_calls = stages[number]
    states = step.states(there)
    n_errors = 0
    for at in range(number % 2, n_calls, 2):
        folder = copy_index(before, quick / "index")
        ended = faulty.run(folder, [step], Fault(kind, at))
        if "error" in ended:
            n_errors += 1
            # Injected, only what SQLite itself calls a full disk is known to be one: see `test_a_small_disk`.
            assert (ended["error"], ended["code"]) in (("IndexSpaceError", 5), ("IndexWriteError", 4)), ended["message"]
            assert (ended["error"] == "IndexSpaceError") or CATALOG in ended["message"]
            assert str(folder) in ended["message"]
            assert ended["step"]
        if not is_made(folder):
            assert "error" in ended
            continue
        problems, which = problems_of(folder, states, there)
        assert problems == [], f"full at call {at}: {ended}"
        assert states[which] == states[0 if "error" in ended else -1], f"full at call {at}: {ended}"
        if at % 20 == 0:
            usable(folder, states[which])
    assert n_errors


@pytest.mark.parametrize(
    "kind",
    ["full", "full once", "interrupt"],
)
def test_a_stream_that_breaks_off_leaves_a_sound_index(
    faulty: Server, stages: list[tuple[Path, Step, Texts, int]], kind: str, quick: Path
) -> None:
    before, step, there, n_calls = stages[STREAM]
    n_errors = 0
    # Where it can be interrupted, more calls are counted: those of the catalog, before and after each.
    for at in range(0, 3 * n_calls, 7) if kind == "interrupt" else range(0, n_calls, 2):
        folder = copy_index(before, quick / "index")
        ended = faulty.run(folder, [step], Fault(kind, at))
        n_errors += "error" in ended
        if kind == "interrupt":
            assert ended.get("error") in (None, "KeyboardInterrupt"), ended
        else:  # when not even the journal can be rolled back, reading fails too
            assert ended.get("error") in (None, "IndexSpaceError", "IndexWriteError", "IndexStoreError"), ended
        problems, _ = problems_of(folder, step.states(there), there)
        assert problems == [], f"{kind} at call {at}: {ended}"
    assert n_errors


def test_files_cannot_grow(faulty: Server, stages: list[tuple[Path, Step, Texts, int]], quick: Path) -> None:
    before, step, there, _ = stages[3]
    refused = 0
    for max_file_bytes in (0, 10, 1000, 3000, 6000, 8000, 12_000, 36_864, 40_960, 10**6):
        folder = copy_index(before, quick / "index")
        ended = faulty.run(folder, [step], max_file_bytes=max_file_bytes)
        if "error" in ended:
            refused += 1
            assert (ended["error"], ended["code"]) in (("IndexSpaceError", 5), ("IndexWriteError", 4))
            assert str(folder) in ended["message"]
        assert problems_of(folder, [step.states(there)[0 if "error" in ended else -1]]) == ([], 0)
        usable(folder, step.states(there)[0 if "error" in ended else -1])
    assert 0 < refused < 10


@contextmanager
def open_to_all() -> Iterator[Path]:
    """Make a folder that everybody may read; pytest's own is for its owner only."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        for path in folder.glob("**/"):
            path.chmod(0o755)
        shutil.rmtree(folder)


@pytest.mark.parametrize("has_lock", [False, True])
def test_who_may_not_write_may_query(faulty: Server, stages: list[tuple[Path, Step, Texts, int]], has_lock: bool) -> None:
    before, step, there, _ = stages[3]
    with open_to_all() as parent:
        folder = copy_index(before, parent / "index")
        if not has_lock:
            (folder / "lock").unlink()
        for path in folder.iterdir():
            path.chmod(0o444)
        folder.chmod(0o555)
        name, numbers = min(there.items())
        asked = faulty.run(folder, [], nobody=True, query=text(numbers))
        assert "error" not in asked, asked
        assert asked["n_hits"] >= len(numbers)
        for change in (step, Step("compact", {}), Step("remove", {}, (name,)), Step("watch", {"new": (1, 2, 3)})):
            ended = faulty.run(folder, [change], nobody=True)
            assert (ended.get("error"), ended.get("code")) == ("IndexWriteError", 4), ended
            assert str(folder) in ended["message"]
            assert ended["step"].startswith("Check permissions")
        ended = faulty.run(parent / "new", [step], nobody=True)
        if os.geteuid() == 0:
            assert (ended.get("error"), ended.get("code")) == ("IndexWriteError", 4), ended
        folder.chmod(0o755)
        for path in folder.iterdir():
            path.chmod(0o644)
        assert problems_of(folder, [there]) == ([], 0)


class Damaged:
    """An index to be damaged, and what it answers as long as it is sound."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.texts: Texts = {}
        with Index(folder) as index:
            for step in make_script(5, ("add", "add", "replace", "add", "remove", "add", "add", "remove")):
                step.run(index)
                self.texts |= {f"{len(self.texts)}": numbers for numbers in step.texts.values()}
            assert index.info()["removed_documents"]
            assert index.info()["segments"] > 1
        self.sound = self.answers()

    def answers(self) -> tuple[Any, ...]:
        with Index(self.folder, create=False) as index:
            result = index.query(records(self.texts))
            return result.hits.to_pylist(), result.passages.to_pylist()

    def verify(self) -> list[str]:
        with Index(self.folder, create=False) as index:
            return index.verify()

    def is_found_out(self) -> bool:
        """Return whether opening, asking or verifying shows damage; answers that are given must be right in any case."""
        try:
            assert self.answers() == self.sound
            return bool(self.verify())
        except IndexStoreError:
            return True

    @contextmanager
    def changed(self, path: Path, content: bytes | None) -> Iterator[None]:
        """Give a file another content for a while, or take it away. Whoever hangs is stopped."""
        whole = path.read_bytes()
        signal.signal(signal.SIGALRM, _too_long)
        signal.alarm(60)
        path.unlink()
        if content is not None:
            path.write_bytes(content)
        try:
            yield
        finally:
            signal.alarm(0)
            path.write_bytes(whole)


def _too_long(number: int, frame: Any) -> None:
    raise TimeoutError("a damaged index hangs")


@pytest.fixture
def damaged(quick: Path) -> Damaged:
    return Damaged(quick / "index")


def flipped(content: bytes, place: int, bit: int) -> bytes:
    return content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]


def test_every_flipped_bit_of_a_segment_and_of_the_words_is_found(damaged: Damaged) -> None:
    random = np.random.default_rng(2)
    paths = sorted(damaged.folder.glob("*.ibi"))
    assert {path.name.partition("-")[0] for path in paths} == {"segment", "words"}
    for path in paths:
        whole = path.read_bytes()
        for place in [*range(0, 64, 5), len(whole) - 1, *random.integers(0, len(whole), 60)]:
            with damaged.changed(path, flipped(whole, int(place), int(random.integers(8)))):
                with pytest.raises(IndexDamagedError, match=path.name):
                    damaged.answers()
                assert any(path.name in problem for problem in damaged.verify())
    assert damaged.answers() == damaged.sound
    assert damaged.verify() == []


def test_truncated_lengthened_and_missing_files_are_found(damaged: Damaged) -> None:
    for path in sorted(damaged.folder.glob("*.ibi")):
        whole = path.read_bytes()
        contents = [whole[:length] for length in (0, 1, 31, 32, 100, len(whole) // 2, len(whole) - 1)]
        for content in [*contents, whole + b"\0", bytes(len(whole)), None]:
            with damaged.changed(path, content):
                with pytest.raises(IndexDamagedError, match=path.name) as caught:
                    damaged.answers()
                assert caught.value.next_step
                assert damaged.verify()
                with pytest.raises(IndexDamagedError), Index(damaged.folder) as index:
                    index.add(records({"new": (1, 2, 3)}))
    path = damaged.folder / "catalog.sqlite"
    whole = path.read_bytes()
    for length in (0, 1, 99, 100, 4095, 4096, 8192, len(whole) - 4096, len(whole) - 1):
        with damaged.changed(path, whole[:length]):
            assert damaged.is_found_out()
    with damaged.changed(path, None), pytest.raises(IndexStoreError, match="not empty and contains no index"):
        Index(damaged.folder)
    assert damaged.answers() == damaged.sound
    assert damaged.verify() == []


def test_a_flipped_bit_of_the_catalog_is_found_or_does_no_harm(damaged: Damaged) -> None:
    random = np.random.default_rng(3)
    path = damaged.folder / "catalog.sqlite"
    whole = path.read_bytes()
    settings = whole.index(b"bits_per_word"), whole.index(b'lang"auto"') + 10
    used = [place for place, byte in enumerate(whole) if byte]
    places = [*range(100), *range(*settings), *random.choice(used, 300)]
    found = 0
    for place in map(int, places):
        with damaged.changed(path, flipped(whole, place, int(random.integers(8)))):
            found += damaged.is_found_out()
    assert found > 100


# --- Readers and writers at once --------------------------------------------------------------------------------------

BATCH = 5
READERS = """
import json, os, sys
from pathlib import Path
from ibidem.index.index import Index
from tests.forking import fork
from tests.test_index_faults import Looker
folder, history, stop = Path(sys.argv[1]), json.loads(sys.argv[2]), Path(sys.argv[3])
with Index(folder, create=False) as index:
    Looker(history).look(index)  # loads what is needed, once for all
pids = []
for number in range(10):
    pid = fork()
    if pid == 0:
        looker, index = Looker(history), Index(folder, create=False)
        while not stop.exists() or looker.n_looks < 6:
            if number % 2:
                index.close()
                index = Index(folder, create=False)
            looker.look(index)
        looker.look(index)  # once more, for a look may have begun before the last commit
        os.write(1, f"{looker.n_looks} {looker.last}\\n".encode())  # in one piece
        os._exit(0)
    pids.append(pid)
print("ready", flush=True)
sys.exit(sum(os.waitpid(pid, 0)[1] != 0 for pid in pids))
"""


def make_history() -> tuple[list[Step], list[list[int]]]:
    """Return changes of whole batches, and how many documents hold the sentence of each batch after each of the changes.

    Every batch has BATCH documents, and a sentence that is in all of them and nowhere else.
    """
    steps: list[Step] = []
    for number in range(18):
        ids = [f"{number}/{i}" for i in range(BATCH)]
        steps.append(Step("add", {name: (number, 1000 + 10 * number + i) for i, name in enumerate(ids)}))
        if number % 4 == 2:
            steps.append(Step("remove", {}, tuple(ids)))
        if number % 4 == 3:
            steps.append(Step("replace", {name: (500 + number, 2000 + 10 * number + i) for i, name in enumerate(ids)}))
        if number % 6 == 5:
            steps.append(Step("recount" if number % 12 == 5 else "compact", {}))
    sentences = sorted({numbers[0] for step in steps for numbers in step.texts.values()})
    there: Texts = {}
    history = [[0] * len(sentences)]
    for step in steps:
        there = step.states(there)[-1]
        firsts = [numbers[0] for numbers in there.values()]
        history.append([firsts.count(number) for number in sentences])
    return steps, [sentences, *history]


class Looker:
    """Asks for all batches at once: what is found must be what one commit left, and never an earlier one than before."""

    def __init__(self, history: Sequence[Sequence[int]]) -> None:
        self._sentences, self._history = [sentence(number) for number in history[0]], [list(row) for row in history[1:]]
        self._generation = self.last = self.n_looks = 0

    def look(self, index: Index) -> None:
        generation = index._catalog.generation()
        assert generation >= self._generation, "a commit is undone"
        self._generation = generation
        found = [0] * len(self._sentences)
        for hit in index.query({"id": "?", "text": " ".join(self._sentences)}):
            found[hit.a_sentence] += 1
        assert found in self._history, f"a torn state: {found}"
        states = [number for number, state in enumerate(self._history) if state == found and number >= self.last]
        assert states, "an earlier state comes back"
        self.last = states[0]
        self.n_looks += 1


def test_ten_processes_never_see_half_a_commit(tmp_path: Path) -> None:
    steps, history = make_history()
    folder, stop = tmp_path / "index", tmp_path / "stop"
    process = forking_process("-c", READERS, str(folder), json.dumps(history), str(stop))
    with (
        Index(folder) as index,
        subprocess.Popen(**process, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as readers,
    ):
        try:
            assert readers.stdout is not None
            assert readers.stdout.readline() == "ready\n", readers.communicate()[1]
            for step in steps:
                step.run(index)
        finally:
            stop.touch()
            output, problems = readers.communicate(timeout=120)
        assert readers.returncode == 0, problems
        assert index.verify() == []
    found = [tuple(map(int, line.split())) for line in output.splitlines()]
    assert len(found) == 10
    for n_looks, last in found:
        assert n_looks > 5
        assert history[1:][last] == history[-1]


def test_ten_threads_of_one_index_never_see_half_a_commit(tmp_path: Path) -> None:
    steps, history = make_history()
    problems: list[BaseException] = []
    done = threading.Event()
    with Index(tmp_path) as index:
        lookers = [Looker(history) for _ in range(10)]

        def look(looker: Looker) -> None:
            try:
                while not done.is_set():
                    looker.look(index)
            except BaseException as error:
                problems.append(error)

        threads = [threading.Thread(target=look, args=(looker,)) for looker in lookers]
        for thread in threads:
            thread.start()
        try:
            for step in steps:
                step.run(index)
        finally:
            done.set()
            for thread in threads:
                thread.join()
        assert problems == []
        assert sum(looker.n_looks for looker in lookers) > 20
        assert index.verify() == []


def test_verify_and_info_may_run_while_others_write(tmp_path: Path) -> None:
    steps, _ = make_history()
    problems: list[Any] = []
    done = threading.Event()

    def inspect() -> None:
        with Index(tmp_path, create=False) as index:
            while not done.is_set():
                try:
                    problems.extend(index.verify())
                    index.info()
                except BaseException as error:
                    problems.append(error)

    with Index(tmp_path) as writer:
        threads = [threading.Thread(target=inspect) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            for step in steps:
                step.run(writer)
        finally:
            done.set()
            for thread in threads:
                thread.join()
    assert problems == []


WRITER = """
import sys
from ibidem.index.index import Index
from tests.index_faults import records
def stream():
    yield from records({"waiting": (1, 2, 3)})
    sys.stdin.read()
for arrival in Index(sys.argv[1]).watch(stream()):
    print(arrival.id, flush=True)
"""


def test_of_two_writers_the_second_is_turned_away_until_the_first_is_killed(tmp_path: Path) -> None:
    there: Texts = {"a": (4, 5, 6)}
    with Index(tmp_path) as index:
        index.add(records(there))
        command = [sys.executable, "-c", WRITER, str(tmp_path)]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent.parent
        ) as first:
            assert first.stdout is not None
            assert first.stdout.readline() == "waiting\n"
            changes = Step("add", {"b": (7,)}), Step("remove", {}, ("a",)), Step("compact", {}), Step("watch", {"c": (8,)})
            for change in changes:
                with pytest.raises(IndexLockedError, match=f"pid {first.pid}"):
                    change.run(index)
            assert len(index.query({"id": "?", "text": text((4, 5, 6))})) == 3  # who reads is not turned away
            first.kill()
            first.wait()
        # What waited for its commit is there or not, as a whole: a young index commits whenever it has doubled.
        states = [there, there | {"waiting": (1, 2, 3)}]
        problems, which = problems_of(tmp_path, states)
        assert problems == []
        usable(tmp_path, states[which])


# --- The command line -------------------------------------------------------------------------------------------------


def run_ibidem(*arguments: str, max_file_bytes: int | None = None) -> subprocess.CompletedProcess[str]:
    def limit() -> None:
        if max_file_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (max_file_bytes, max_file_bytes))

    return subprocess.run([IBIDEM, *arguments], capture_output=True, text=True, preexec_fn=limit, timeout=120)


def test_the_command_line_tells_of_faults_by_exit_code(tmp_path: Path) -> None:
    folder, there = tmp_path / "index", {"a": (1, 2, 3), "b": (4, 5, 6)}
    with Index(folder) as index:
        index.add(records(there))
    new = tmp_path / "new.jsonl"
    new.write_text("".join(json.dumps(record) + "\n" for record in records({"c": (7, 8, 9)})))
    full = run_ibidem("index", "add", str(folder), str(new), max_file_bytes=2000)
    assert (full.returncode, full.stdout) == (5, "")
    assert f"cannot write {folder}" in full.stderr.replace("\n", " ")
    assert "Traceback" not in full.stderr
    assert problems_of(folder, [there]) == ([], 0)
    path = min(folder.glob("segment-*.ibi"))
    whole = path.read_bytes()
    path.write_bytes(flipped(whole, len(whole) // 2, 3))
    verified = run_ibidem("index", "verify", str(folder))
    path.write_bytes(whole[:-1])
    for answer in (verified, run_ibidem("index", "query", str(folder), str(new))):
        assert answer.returncode == 4, answer.stderr
        assert path.name in answer.stdout + answer.stderr
        assert "Traceback" not in answer.stderr
    path.write_bytes(whole)
    assert run_ibidem("index", "add", str(folder), str(new)).returncode == 0
    assert problems_of(folder, [there | {"c": (7, 8, 9)}]) == ([], 0)
