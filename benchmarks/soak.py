"""`ibidem serve` and `ibidem watch` for half an hour, with little of everything and clients of every kind.

    python benchmarks/soak.py --minutes 30

Both run in processes of their own with few files (RLIMIT_NOFILE), limited memory (RLIMIT_DATA) and a small disk: a tmpfs where
one may be mounted, otherwise the temporary folder, which is said. Honest clients look around, check texts and add documents;
others stall, abort, flood and send rubbish (`soak_clients.py`). Everything is on the loopback and ends by itself.

It fails (exit code 1) if an honest request is not answered, an answer is neither a success nor a documented error, a line of a
log is not a message of ibidem, a process ends early, memory grows, or in the end an index is not sound or lacks a document that
was acknowledged.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple

from soak_clients import Record, Target, run_clients, sentences

IBIDEM = [sys.executable, "-m", "ibidem"]
STARTING_SECONDS = 300
ENDING_SECONDS = 60
DOCUMENTS_AT_FIRST = 200
WARM_UP_SHARE = 0.3  # of the time, in which memory may still grow: threads start, pools fill
LEAST_MINUTES_FOR_GROWTH = 5.0
# The allocator keeps some of what large bodies took, in each thread; objects do not grow in number.
MOST_GROWTH_MB, MOST_GROWTH_SHARE = 64, 0.25


class Sample(NamedTuple):
    """What a process uses at a time."""

    minutes: float
    megabytes: float
    data_megabytes: float
    n_files: int
    n_threads: int


class Process:
    """One of the two programs, with its log and what it used."""

    def __init__(
        self, name: str, arguments: list[str], work: Path, nofile: int, megabytes: int, **streams: int | IO[bytes]
    ) -> None:
        self.name, self.samples, self.log = name, list[Sample](), work / f"{name}.log"

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (nofile, nofile))
            resource.setrlimit(resource.RLIMIT_DATA, (megabytes << 20, megabytes << 20))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        with open(self.log, "wb") as log:
            options = {"stdout": log, "stderr": log, **streams}
            self.process = subprocess.Popen([*IBIDEM, *arguments], preexec_fn=limit, **options)  # type: ignore[call-overload]

    def sample(self, minutes: float) -> None:
        """Note what the process uses now."""
        folder = Path(f"/proc/{self.process.pid}")
        with suppress(OSError):
            status = (folder / "status").read_text("ascii")
            found = {name: int(value) for name, value in re.findall(r"(RssAnon|VmData|Threads):\s+(\d+)", status)}
            n_files = len(os.listdir(folder / "fd"))
            memory = (found["RssAnon"] / 1024, found["VmData"] / 1024)
            self.samples.append(Sample(minutes, *memory, n_files, found["Threads"]))

    def end(self) -> int:
        """End the process as its user does; return its exit code."""
        with suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            return -signal.SIGKILL

    def kill(self) -> None:
        """End the process, whatever it does."""
        self.process.kill()
        self.process.wait()

    def strange_lines(self) -> list[str]:
        """Return the lines of the log that are not messages of ibidem."""
        lines = self.log.read_text("utf-8", "replace").splitlines()
        known = re.compile(r"ibidem: |Error: |  |[\d,]+ documents? added|$")
        return [line for line in lines if "Traceback" in line or not known.match(line)]


def slope_of(samples: list[Sample]) -> float:
    """Return by how many megabytes a minute memory grows after the warm-up, by least squares."""
    later = samples[int(WARM_UP_SHARE * len(samples)) :]
    if len(later) < 3:
        return 0.0
    middle = sum(sample.minutes for sample in later) / len(later)
    level = sum(sample.megabytes for sample in later) / len(later)
    spread = sum((sample.minutes - middle) ** 2 for sample in later)
    return sum((sample.minutes - middle) * (sample.megabytes - level) for sample in later) / spread if spread else 0.0


@contextmanager
def small_disk(megabytes: int) -> Iterator[tuple[Path, str]]:
    """Yield a folder on a disk of that size, and what it is in words; it is removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="ibidem-soak-"))
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    is_mounted = shutil.which("mount") is not None and subprocess.run(command, capture_output=True, check=False).returncode == 0
    try:
        yield folder, f"tmpfs of {megabytes} MB" if is_mounted else "not limited (no tmpfs may be mounted here)"
    finally:
        if is_mounted:
            subprocess.run(["umount", "-l", str(folder)], check=False)
        shutil.rmtree(folder, ignore_errors=True)


def port_of(server: Process) -> int:
    """Wait until the server listens; return its port."""
    deadline = time.monotonic() + STARTING_SECONDS
    while time.monotonic() < deadline and server.process.poll() is None:
        if found := re.search(r"at http://127\.0\.0\.1:(\d+)/", server.log.read_text("utf-8", "replace")):
            return int(found[1])
        time.sleep(0.1)
    sys.exit(f"ibidem serve did not start:\n{server.log.read_text('utf-8', 'replace')}")


def make_index(folder: Path, chance: random.Random) -> None:
    """Make an index of some documents."""
    source = folder.with_suffix(".jsonl")
    records = ({"id": f"first {number}", "text": sentences(chance, 20)} for number in range(DOCUMENTS_AT_FIRST))
    source.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    subprocess.run([*IBIDEM, "index", "add", str(folder), str(source), "--quiet"], check=True)
    source.unlink()


async def feed(watcher: Process, target: Target, seed: int, processes: list[Process], every_seconds: float) -> None:
    """Send documents to `ibidem watch`, and look at both processes once in a while."""
    chance, begin, number = random.Random(f"{seed} feed"), time.monotonic(), 0
    stream = watcher.process.stdin
    assert stream is not None
    next_look = begin
    while not target.is_over():
        number += 1
        record: dict[str, str] = {"id": f"watched {number}", "text": sentences(chance, 10)}
        line = json.dumps(record) if chance.random() < 0.95 else chance.choice(["{", "[]", '{"id": 1}', "\ufffd"])
        try:
            stream.write(line.encode() + b"\n")
            stream.flush()
        except OSError:
            target.record.find("ibidem watch reads no more")
            return
        if time.monotonic() >= next_look:
            next_look += every_seconds
            for process in processes:
                process.sample((time.monotonic() - begin) / 60)
                if process.process.poll() is not None:
                    target.record.find(f"ibidem {process.name} ended with {process.process.returncode}")
                    return
        await asyncio.sleep(chance.uniform(0.1, 0.5))


def answered_ids(answers: Path) -> list[str]:
    """Return the ids of documents that `ibidem watch` answered and did not skip."""
    lines = answers.read_text("utf-8").splitlines()
    return [record["id"] for record in map(json.loads, lines) if "skipped" not in record and record.get("id")]


def check_index(folder: Path, wanted: list[str], record: Record) -> None:
    """Note what is wrong with an index at the end: everything in it is read, and every id is queried."""
    from ibidem import Index

    verified = subprocess.run([*IBIDEM, "index", "verify", str(folder)], capture_output=True, text=True, check=False)
    if verified.returncode:
        record.find(f"{folder.name} is not sound: {verified.stdout}{verified.stderr}")
        return
    with Index(folder, create=False) as index:
        lost = [doc_id for doc_id in wanted if doc_id not in index]
    print(f"{folder.name}: sound, {len(wanted) - len(lost):,} of {len(wanted):,} acknowledged documents are there")
    if lost:
        record.find(f"{folder.name} lacks {len(lost):,} acknowledged documents, the first is {lost[0]!r}")


def report(record: Record, processes: list[Process], minutes: float) -> None:
    """Print what was seen; growth and strange lines are added to the findings."""
    for outcome, count in sorted(record.outcomes.items()):
        print(f"  {outcome:32} {count:8,}")
    ordered = sorted(record.seconds) or [0.0]
    p50, p99 = (1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))] for share in (0.5, 0.99))
    longest = 1000 * ordered[-1]
    print(f"honest clients: {len(record.seconds):,} answers, p50 {p50:.0f} ms, p99 {p99:.0f} ms, longest {longest:.0f} ms")
    for process in processes:
        by_minute = {int(sample.minutes): round(sample.megabytes) for sample in process.samples}
        slope, last = slope_of(process.samples), process.samples[-1] if process.samples else Sample(0, 0, 0, 0, 0)
        print(f"{process.name}: memory by minute {list(by_minute.values())} MB, {slope:+.2f} MB per minute after the warm-up")
        most = {name: max((getattr(sample, name) for sample in process.samples), default=0) for name in Sample._fields}
        print(
            f"{process.name}: at most {most['n_files']} files, {most['n_threads']} threads, "
            f"{most['data_megabytes']:.0f} MB of data; {last.n_files} files and {last.n_threads} threads when it ended"
        )
        growth = slope * minutes * (1 - WARM_UP_SHARE)
        if minutes >= LEAST_MINUTES_FOR_GROWTH and growth > max(MOST_GROWTH_MB, MOST_GROWTH_SHARE * last.megabytes):
            record.find(f"the memory of ibidem {process.name} grows: {growth:.0f} MB")
        for line in process.strange_lines()[:20]:
            record.find(f"log of ibidem {process.name}: {line}")


def soak(minutes: float, seed: int, nofile: int, memory_megabytes: int, disk_megabytes: int) -> Record:
    """Run everything once; return what was seen."""
    record = Record()
    with small_disk(disk_megabytes) as (work, disk):
        print(f"{minutes:g} minutes, seed {seed}: {nofile} files, {memory_megabytes} MB of data each, disk {disk}", flush=True)
        served, watched, answers = work / "served.idx", work / "watched.idx", work / "answers.jsonl"
        for folder in (served, watched):
            make_index(folder, random.Random(seed))
        processes: list[Process] = []
        try:
            with open(answers, "wb") as out:
                arguments = ["watch", str(watched), "--commit-every", "20,2s"]
                watcher = Process("watch", arguments, work, nofile, memory_megabytes, stdin=subprocess.PIPE, stdout=out)
            processes.append(watcher)
            arguments = ["serve", str(served), "--arrivals", str(answers), "--port", "0"]
            server = Process("serve", arguments, work, nofile, memory_megabytes)
            processes.append(server)
            target = Target(port_of(server), time.monotonic() + 60 * minutes, record)
            every_seconds = max(0.5, min(10.0, 0.6 * minutes))
            asyncio.run(run_clients(target, seed, lambda: feed(watcher, target, seed, processes, every_seconds)))
            stream = watcher.process.stdin
            assert stream is not None
            with suppress(OSError):
                stream.close()
            with suppress(subprocess.TimeoutExpired):
                if code := watcher.process.wait(ENDING_SECONDS):
                    record.find(f"ibidem watch ended with {code}")
            if code := server.end():
                record.find(f"ibidem serve ended with {code}")
        finally:
            for process in processes:
                process.kill()
        report(record, processes, minutes)
        check_index(served, record.added, record)
        check_index(watched, answered_ids(answers), record)
    return record


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nofile", type=int, default=256, help="files that each process may open")
    parser.add_argument("--memory", type=int, default=3000, help="megabytes of data that each process may have")
    parser.add_argument("--disk", type=int, default=256, help="megabytes of the disk")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that children and disk are removed in this case, too
    record = soak(given.minutes, given.seed, given.nofile, given.memory, given.disk)
    for finding in record.findings:
        print(f"FOUND: {finding}")
    print("nothing found" if not record.findings else f"{record.outcomes['finding']:,} findings")
    sys.exit(1 if record.findings else 0)


if __name__ == "__main__":
    main()
