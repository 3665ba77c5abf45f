"""Faults for the index: a script of changes, what it must leave behind, and a process that dies or fails in the middle of it.

`python -m tests.index_faults` is that process. It loads everything once, then forks a child for each line of JSON on its input
and answers with one line: how the child ended. So a fault costs some milliseconds, and there can be many.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import errno
import json
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ibidem.errors import IbidemError
from ibidem.index import catalog_file
from ibidem.index.folder import Place
from ibidem.index.index import Index
from tests.forking import fork, forking_process

NOBODY = 65534
KINDS = ("add", "replace", "remove", "compact", "recount", "watch", "watch-replace")
NOT_THE_INDEX = {"lock", "catalog.sqlite"}

_SYLLABLES = ("ba", "do", "fi", "ku", "le", "mo", "ni", "pa", "ro", "su", "ta", "ve")
_WORDS_A_SENTENCE = 6

Texts = dict[str, tuple[int, ...]]  # documents by id, as the numbers of their sentences


def sentence(number: int) -> str:
    """Return an invented sentence; sentences of different numbers share no word."""
    words = []
    for rest in range(_WORDS_A_SENTENCE * number, _WORDS_A_SENTENCE * (number + 1)):
        syllables = []
        for _ in range(6):
            rest, last = divmod(rest, len(_SYLLABLES))
            syllables.append(_SYLLABLES[last])
        words.append("".join(syllables))
    return " ".join(words).capitalize() + "."


def text(numbers: Sequence[int]) -> str:
    """Return the text of sentences."""
    return " ".join(map(sentence, numbers))


def records(texts: Mapping[str, Sequence[int]]) -> list[dict[str, str]]:
    """Return documents as the index takes them."""
    return [{"id": name, "text": text(numbers)} for name, numbers in texts.items()]


@dataclass(frozen=True)
class Step:
    """One change: add, replace, remove, compact, recount, watch, or watch and replace."""

    kind: str
    texts: Texts
    ids: tuple[str, ...] = ()

    def run(self, index: Index) -> None:
        """Make the change."""
        if self.kind in ("add", "replace"):
            index.add(records(self.texts), replace=self.kind == "replace")
        elif self.kind in ("watch", "watch-replace"):
            # Commits after every second document, and one at the end.
            for _ in index.watch(_one_by_one(records(self.texts)), replace=self.kind == "watch-replace", commit_every="2"):
                pass
        elif self.kind == "remove":
            index.remove(self.ids)
        else:
            index.compact(recount=self.kind == "recount")

    def states(self, before: Texts) -> list[Texts]:
        """Return what may be there if this is broken off: what was there before, …, what is there when it has ended."""
        if self.kind.startswith("watch"):
            items = list(self.texts.items())
            return [before | dict(items[:end]) for end in range(len(items) + 1)]
        return [before, {name: t for name, t in (before | self.texts).items() if name not in self.ids}]


def _one_by_one(items: list[dict[str, str]]) -> Iterator[dict[str, str]]:
    for item in items:
        time.sleep(0.004)  # so that they do not all arrive at once
        yield item


def sentence_base(run: int) -> int:
    """Return a number from which on a run has its own sentences."""
    return 100 + 150 * run


def make_script(
    seed: int, kinds: Sequence[str], there: Mapping[str, tuple[int, ...]] | None = None, base: int = 100, prefix: str = ""
) -> list[Step]:
    """Return changes of these kinds, one after the other, to an index that holds `there`.

    Every text has two sentences of its own, numbered from `base` on, and one (below 100) that others have.
    """
    chance = random.Random(seed)
    known: Texts = dict(there or {})
    steps = []
    for turn, kind in enumerate(kinds):
        names = sorted(known)
        old = chance.sample(names, min(len(names), chance.randint(1, 3)))
        new = [f"{prefix}/{turn}/{i}" for i in range(chance.randint(1, 3))]
        texts: Texts = {}
        if kind in ("add", "replace", "watch", "watch-replace"):
            chosen = new + (old if "replace" in kind else [])
            chance.shuffle(chosen)
            for name in chosen:
                texts[name] = (base, chance.randrange(100), base + 1)
                base += 2
        steps.append(Step(kind, texts, tuple(old) if kind == "remove" else ()))
        known = steps[-1].states(known)[-1]
    return steps


def problems_of(
    folder: Path, states: Sequence[Texts], others: Mapping[str, Sequence[int]] | None = None
) -> tuple[list[str], int]:
    """Open an index; return what is wrong with it, and which of the states it is in (-1: none of them).

    Everything is asked for: the ids, and all texts of all states and of `others`, sentence by sentence and as passages.
    """
    try:
        with Index(folder, create=False) as index:
            if damage := index.verify():
                return [f"verify: {problem}" for problem in damage], -1
            ids = set(index._catalog.ids())
            which = [number for number, state in enumerate(states) if set(state) == ids]
            if not which or len(index) != len(ids):
                return [f"there are {sorted(ids)} (number {len(index)}), and not one of {[sorted(s) for s in states]}"], -1
            asked = sorted({item for state in [*states, others or {}] for item in state.items()})
            if not asked:
                return [], which[0]
            result = index.query([{"id": f"?{number}", "text": text(item[1])} for number, item in enumerate(asked)])
    except IbidemError as error:
        return [f"{type(error).__name__}: {error}"], -1
    hits = {(row["a_id"], row["a_sentence"], row["b_id"], row["b_sentence"]) for row in result.hits.to_pylist()}
    passages = {
        (row["a_id"], row["b_id"])
        for row in result.passages.to_pylist()
        if row["a_start"] == 0 == row["b_start"] and row["a_end"] == row["b_end"] and row["similarity"] == 1
    }
    for number in which:
        expected_hits, expected_passages = _expected(asked, states[number])
        if hits == expected_hits and passages >= expected_passages:
            return [], number
    return [f"the ids are those of a state, the texts are not: {len(hits)} hits, {len(passages)} passages"], -1


def _expected(asked: Sequence[tuple[str, Sequence[int]]], state: Texts) -> tuple[set[Any], set[Any]]:
    """Return the hits and the passages of texts with themselves that there have to be."""
    places: dict[int, list[tuple[str, int]]] = {}
    for name, numbers in state.items():
        for position, number in enumerate(numbers):
            places.setdefault(number, []).append((name, position))
    hits: set[Any] = set()
    passages: set[Any] = set()
    for k, (name, numbers) in enumerate(asked):
        for position, number in enumerate(numbers):
            hits |= {(f"?{k}", position, *place) for place in places.get(number, ())}
        if state.get(name) == numbers:
            passages.add((f"?{k}", name))
    return hits, passages


def left_over(folder: Path) -> set[str]:
    """Return the files that are not of the index, after the next writer has come and gone."""
    with Index(folder, create=False) as index:
        index.remove([])
        state = index._catalog.state()
    return set(os.listdir(folder)) - {entry.name for entry in state.segments} - {state.vocabulary} - NOT_THE_INDEX


# --- The process that fails -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fault:
    """What goes wrong at the n-th call that changes something on disk: `kill`, `full`, `full once`, `interrupt`, or nothing."""

    kind: str = ""
    at: int = -1


class _Counter:
    """Counts the calls that change something on disk, and makes one of them fail."""

    def __init__(self, fault: Fault) -> None:
        self.fault, self.n_calls = fault, 0

    def is_hit(self) -> bool:
        self.n_calls += 1
        is_reached = self.n_calls > self.fault.at if self.fault.kind == "full" else self.n_calls - 1 == self.fault.at
        return is_reached and self.fault.at >= 0

    def die(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def wrap(self, call: Callable[..., Any], needs_space: bool, also_after: bool = False) -> Callable[..., Any]:
        def wrapped(*args: Any, **named: Any) -> Any:
            self.fail(needs_space)
            result = call(*args, **named)
            if also_after:
                self.fail(False)
            return result

        return wrapped

    def fail(self, needs_space: bool) -> None:
        if self.is_hit():
            if self.fault.kind == "kill":
                self.die()
            elif self.fault.kind == "interrupt":
                raise KeyboardInterrupt
            elif needs_space:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class _CountedFile:
    """A file whose every tenth write may fail: there are many, and they are all alike."""

    def __init__(self, file: Any, counter: _Counter) -> None:
        self._file, self._counter, self._n_writes = file, counter, 0

    def write(self, data: Any) -> int:
        self._n_writes += 1
        try:
            if self._n_writes % 10 == 2:
                self._counter.fail(True)
        except OSError:
            self._file.write(bytes(data)[: len(data) // 2])  # a full disk takes what it can
            raise
        return int(self._file.write(data))

    def __enter__(self) -> _CountedFile:
        return self

    def __exit__(self, *problem: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def _inject(counter: _Counter) -> list[Any]:
    """Put a counter before every call of this process that changes the disk; return what has to stay alive."""
    for name in ("fsync", "replace", "link", "pwrite", "unlink", "ftruncate"):
        setattr(os, name, counter.wrap(getattr(os, name), name not in ("unlink", "ftruncate")))
    opened = Place.open

    def open_counted(place: Place, mode: str = "rb") -> Any:
        file = opened(place, mode)
        return _CountedFile(file, counter) if "w" in mode else file

    Place.open = open_counted  # type: ignore[method-assign]
    if counter.fault.kind == "interrupt":

        class Interrupted(sqlite3.Connection):
            execute = counter.wrap(sqlite3.Connection.execute, False, also_after=True)

        connect = sqlite3.connect
        catalog_file.sqlite3.connect = lambda *args, **named: connect(*args, **named, factory=Interrupted)  # type: ignore[attr-defined]
        return []
    return list(_inject_into_sqlite(counter))


class _Vfs(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_int) for name in ("version", "file_bytes", "path_bytes")),
        *((name, ctypes.c_void_p) for name in ("next", "name", "data", *(f"x{i}" for i in range(13)))),
        ("set_call", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)),
        ("get_call", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)),
    ]


_INT, _PTR, _SIZE = ctypes.c_int, ctypes.c_void_p, ctypes.c_ssize_t
_SQLITE_CALLS: dict[str, tuple[Any, ...]] = {
    "open": (_INT, ctypes.c_char_p, _INT, _INT),
    "write": (_SIZE, _INT, _PTR, _SIZE),
    "pwrite": (_SIZE, _INT, _PTR, _SIZE, ctypes.c_int64),
    "pwrite64": (_SIZE, _INT, _PTR, _SIZE, ctypes.c_int64),
    "ftruncate": (_INT, _INT, ctypes.c_int64),
    "unlink": (_INT, ctypes.c_char_p),
    "openDirectory": (_INT, ctypes.c_char_p, ctypes.POINTER(_INT)),
}


def can_inject_into_sqlite() -> bool:
    """Return whether the SQLite of this Python is a library whose calls can be replaced."""
    library = _sqlite()
    return library is not None and library.sqlite3_libversion() == sqlite3.sqlite_version.encode()


def _sqlite() -> Any:
    name = ctypes.util.find_library("sqlite3")
    if name is None or not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(name)
    library.sqlite3_libversion.restype = ctypes.c_char_p
    library.sqlite3_vfs_find.restype = ctypes.POINTER(_Vfs)
    return library


def _inject_into_sqlite(counter: _Counter) -> Iterator[Any]:
    """Put the counter before the calls of SQLite itself, which cannot be seen from Python."""
    if not can_inject_into_sqlite():
        return
    vfs = _sqlite().sqlite3_vfs_find(None)
    for name, signature in _SQLITE_CALLS.items():
        address = vfs.contents.get_call(vfs, name.encode())
        if address:
            prototype = ctypes.CFUNCTYPE(*signature, use_errno=True)
            replacement = prototype(_sqlite_call(counter, name, prototype(address)))
            vfs.contents.set_call(vfs, name.encode(), ctypes.cast(replacement, ctypes.c_void_p))
            yield replacement


def _sqlite_call(counter: _Counter, name: str, call: Callable[..., int]) -> Callable[..., int]:
    def counted(*args: Any) -> int:
        writes = "write" in name
        if name == "open" and not args[1] & os.O_CREAT:
            return call(*args)
        if counter.is_hit():
            if counter.fault.kind == "kill":
                if writes:
                    call(*args[:2], args[2] // 2, *args[3:])
                counter.die()
            elif writes or name == "open":
                ctypes.set_errno(errno.ENOSPC)
                return -1
        return call(*args)

    return counted


def _child(order: dict[str, Any]) -> dict[str, Any]:
    """Do what the order says; return how it ended."""
    folder = Path(order["folder"])
    if order.get("nobody") and os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    if order.get("max_file_bytes") is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (order["max_file_bytes"],) * 2)
    counter = _Counter(Fault(**order["fault"]))
    alive = _inject(counter)
    steps = [Step(step["kind"], {k: tuple(v) for k, v in step["texts"].items()}, tuple(step["ids"])) for step in order["steps"]]
    log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND) if order.get("log") else -1
    answer: dict[str, Any] = {}
    try:
        with Index(folder) as index:
            for number, step in enumerate(steps):
                if log >= 0:
                    os.write(log, f"begin {number}\n".encode())
                step.run(index)
                if log >= 0:
                    os.write(log, f"done {number}\n".encode())
            if order.get("query"):
                answer["n_hits"] = len(index.query({"id": "?", "text": order["query"]}))
    except IbidemError as error:
        answer |= {"error": type(error).__name__, "code": error.exit_code, "message": error.message, "step": error.next_step}
    except BaseException as error:
        answer |= {"error": type(error).__name__, "code": 1, "message": traceback.format_exc(), "step": ""}
    del alive
    return answer | {"calls": counter.n_calls}


def _serve() -> None:
    """Fork a child for every order."""
    with tempfile.TemporaryDirectory() as folder:
        kinds = ("add", "add", "replace", "remove", "compact", "add", "recount", "watch", "watch-replace")
        with Index(Path(folder) / "index") as index:
            for step in make_script(0, kinds):
                step.run(index)
            index.query(records({"a": (1, 2), "b": (3,)}))
            index.verify()
    print("ready", flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        reading, writing = os.pipe()
        pid = fork()
        if pid == 0:
            os.close(reading)
            os.write(writing, json.dumps(_child(order)).encode())
            os._exit(0)
        os.close(writing)
        print(pid, flush=True)
        if order.get("kill_after_seconds") is not None:
            time.sleep(order["kill_after_seconds"])
            os.kill(pid, signal.SIGKILL)  # if it has ended, it is a zombie until we wait for it: no other process is hit
        with os.fdopen(reading) as answers:
            answer = answers.read()
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        print(json.dumps({"status": status, **json.loads(answer or "{}")}), flush=True)


class Server:
    """Runs changes in a process that can be killed."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            **forking_process("-m", "tests.index_faults"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._line() == "ready\n"

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def start(self, folder: Path, steps: Sequence[Step], fault: Fault | None = None, **more: Any) -> int:
        """Begin to make changes; return the number of the process. `finish` must follow."""
        order = {"folder": str(folder), "steps": [asdict(s) for s in steps], "fault": asdict(fault or Fault()), **more}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return int(self._line())

    def finish(self) -> dict[str, Any]:
        """Wait until the changes are made, or the process has died; return how it ended."""
        answer: dict[str, Any] = json.loads(self._line())
        return answer

    def run(self, folder: Path, steps: Sequence[Step], fault: Fault | None = None, **more: Any) -> dict[str, Any]:
        """Make changes and wait for their end."""
        self.start(folder, steps, fault, **more)
        return self.finish()

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)
        assert self._process.stdout is not None
        self._process.stdout.close()


@contextmanager
def server() -> Iterator[Server]:
    """Run a server for a while."""
    running = Server()
    try:
        yield running
    finally:
        running.close()


@contextmanager
def quick_folder() -> Iterator[Path]:
    """Make a folder, in memory where there is one: what the system knows of a file is the same there, and quicker written."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as name:
        yield Path(name)


def copy_index(source: Path, target: Path) -> Path:
    """Put a copy of an index, or of nothing, in the place of another one."""
    shutil.rmtree(target, ignore_errors=True)
    if source.exists():
        shutil.copytree(source, target)
    return target


if __name__ == "__main__":
    _serve()
