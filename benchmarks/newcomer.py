"""What a newcomer needs for a first picture of her own files, with the README alone: every step is run and timed.

A fresh clone with a fresh environment (`make demo`), then files of four kinds of users, made here, and the commands of the
README on them. The time of each user goes from `git clone` to a report whose first screen shows her own documents; what other
users had compiled is removed before. Then a wheel is built and installed into an empty environment, where every command of the
README runs. The exit code is 1 if a command fails, a report shows something else, or a user needs more than five minutes.

    python benchmarks/newcomer.py
"""

from __future__ import annotations

import argparse
import base64
import csv
import gzip
import json
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
MOST_SECONDS = 300

SHARED = (
    "The council of Lower Marsh voted on Tuesday to keep the old swing bridge open until the spring tides. "
    "Engineers had asked for a closure of six weeks, because two of the iron bearings show hairline cracks. "
    "Instead, lorries of more than twelve tonnes will have to take the road over the dam for the time being. "
    "Shop owners on both banks welcomed the decision, which they had asked for in a letter last month."
)
MORE_SHARED = (
    "A tide gauge needs no power at all: a float in a pipe moves a pen, and a clock moves the paper under the pen. "
    "The pipe has one small hole near its foot, so that waves are damped and only the slow rise of the water is drawn. "
    "Gauges of this kind were read once a week, and their rolls of paper are still the longest records we have."
)
OWN = (
    "The library has bought a second copy of the parish map, since the first one is never on its shelf.",
    "Nobody in the village could say who had planted the row of pear trees along the canal.",
    "Her grandmother kept the receipts of forty years in a biscuit tin under the stairs.",
    "The bakery on the corner opens an hour earlier on days when the fishing boats come in.",
    "After the storm, children collected the slates from the school yard and sold them back to the roofer.",
    "A heron has learnt to wait beside the lock, where the falling water leaves small eels on the sill.",
    "The new bus driver knows every passenger by name, although he has been here for three weeks only.",
    "It took the choir eleven rehearsals to agree on how slowly the second verse should be sung.",
    "Rain had got into the clock tower, and for most of November it was a quarter past four.",
    "The mill pond freezes first at its northern end, where the reeds keep off the wind.",
    "Two of the three wells are dry in summer, so everybody knows the way to the third.",
    "The committee spent the whole evening on the question of what colour a bench should have.",
)


@dataclass
class User:
    """One of the four kinds of users: what she has, what she types, and which report shows which of her documents."""

    name: str
    commands: tuple[str, ...]
    report: str
    ids: set[str] = field(default_factory=set)


def text_of(number: int, shared: str = "") -> str:
    """Return a text with some sentences of its own, and a shared part in the middle."""
    own = [OWN[(number * 5 + step) % len(OWN)] for step in range(3)]
    return " ".join([own[0], own[1], *([shared] if shared else []), f"That was note number {number} of this year.", own[2]])


def records(count: int, prefix: str) -> list[dict[str, str]]:
    """Return records of which every third has a shared passage."""
    shared = (SHARED, "", "", MORE_SHARED, "", "")
    return [{"id": f"{prefix}-{n}", "text": text_of(n, shared[n % len(shared)])} for n in range(count)]


def write_lines(path: Path, found: list[dict[str, str]]) -> set[str]:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in found), "utf-8")
    return {record["id"] for record in found}


def training_data(folder: Path) -> User:
    found = records(60, "sample")
    found += [{**record, "id": f"{record['id']}-again"} for record in found[::10]]
    ids = write_lines(folder / "train.jsonl", found)
    commands = (
        "ibidem dedup mine/train.jsonl -o clean",
        "ibidem dedup mine/train.jsonl --level passage --dry-run",
        "ibidem find mine/train.jsonl -o out --report",
    )
    return User("training data (JSON lines)", commands, "out/report.html", ids)


def newsroom(folder: Path) -> User:
    folder.mkdir(parents=True, exist_ok=True)
    found = records(30, "article")
    with open(folder / "articles.csv", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["id", "time", "group", "text"])
        writer.writeheader()
        for number, record in enumerate(found):
            writer.writerow(record | {"time": f"2031-03-{number + 1:02}T08:00:00Z", "group": f"paper {number % 4}"})
    command = "ibidem find mine/articles.csv -o reprints --report"
    return User("newsroom (CSV with times)", (command,), "reprints/report.html", {record["id"] for record in found})


def essays(folder: Path) -> User:
    ids = set()
    for number, name in enumerate(("ada", "ben", "cleo", "dev", "eve", "finn")):
        content = text_of(number, (MORE_SHARED, "", SHARED)[number % 3])
        path = folder / "essays" / (f"{name}.html" if number % 2 else f"{name}.txt")
        path.parent.mkdir(parents=True, exist_ok=True)
        page = f"<html><head><title>{name}</title></head><body><p>{content}</p></body></html>"
        path.write_text(page if number % 2 else content, "utf-8")
        ids.add(f"mine/essays/{path.name}")
    for name, content in (("gauges.txt", MORE_SHARED), ("bridge.html", f"<html><body><p>{SHARED}</p></body></html>")):
        (folder / "sources").mkdir(exist_ok=True)
        (folder / "sources" / name).write_text(content, "utf-8")
        ids.add(f"mine/sources/{name}")
    commands = (
        "ibidem find mine/essays --against mine/sources -o checked --report",
        "ibidem compare mine/essays/ada.txt mine/sources/gauges.txt",
    )
    return User("essays (a folder of txt, html)", commands, "checked/report.html", ids)


def crawl(folder: Path) -> User:
    folder.mkdir(parents=True, exist_ok=True)
    pages = records(30, "page")
    with gzip.open(folder / "monday.warc.gz", "wb") as archive:
        for record in pages[:15]:
            archive.write(_warc_record(f"https://example.org/{record['id']}", record["text"]))
    write_lines(folder / "tuesday.jsonl", pages[15:22])
    ids = write_lines(folder / "wednesday.jsonl", pages[22:])
    commands = (
        "ibidem index add crawl.idx mine/monday.warc.gz",
        "ibidem index add crawl.idx mine/tuesday.jsonl",
        "ibidem index query crawl.idx mine/wednesday.jsonl -o arrived",
        "ibidem watch crawl.idx < mine/wednesday.jsonl > answers.jsonl",
        "ibidem report arrived --documents mine",
    )
    return User("a crawl (WARC, then JSON lines)", commands, "arrived/report.html", ids)


def _warc_record(url: str, text: str) -> bytes:
    html = f"<html><head><title>{url}</title></head><body><p>{text}</p></body></html>".encode()
    http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n" + html
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2031-03-01T08:00:00Z\r\n"
        f"WARC-Record-ID: <urn:uuid:{abs(hash(url)):032x}>\r\nContent-Type: application/http; msgtype=response\r\n"
        f"Content-Length: {len(http)}\r\n\r\n"
    )
    return head.encode() + http + b"\r\n\r\n"


class Times(NamedTuple):
    """Seconds by the clock, and of processors: these tell what the first would be on a machine that does nothing else."""

    wall: float = 0.0
    processor: float = 0.0

    def plus(self, other: Times) -> Times:
        return Times(self.wall + other.wall, self.processor + other.processor)


@dataclass
class Journal:
    """Runs steps, notes their times, and what went wrong."""

    rows: list[Times] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def run(self, command: str, folder: Path, path: Path | None = None) -> Times:
        """Run a command as a shell does, with the programs of an environment first; return how long it took."""
        environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
        if path is not None:
            environment["PATH"] = f"{path}{os.pathsep}{environment['PATH']}"
        begin, before = time.perf_counter(), _processor_seconds()
        done = subprocess.run(
            command, shell=True, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        taken = Times(time.perf_counter() - begin, _processor_seconds() - before)
        self.rows.append(taken)
        print(f"{taken.wall:8.1f} s {taken.processor:8.1f} s  {command}", flush=True)
        if done.returncode:
            self.problems.append(f"{command}: exit code {done.returncode}: {done.stderr.strip()[-400:]}")
        return taken


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def data_of(report: Path) -> Any:
    """Return what a report contains."""
    pattern = r'<script[^>]*id="ibidem-data"[^>]*data-encoding="([^"]+)"[^>]*>([^<]*)<'
    encoding, content = re.findall(pattern, report.read_text("utf-8"))[0]
    return json.loads(gzip.decompress(base64.b64decode(content)) if encoding == "gzip+base64" else content)


def shown_first(report: Path) -> list[str]:
    """Return the documents that the first screen of a report names: those of the pairs to look at first."""
    pairs = data_of(report)["pairs"][:3]
    return [pair[side]["id"] for pair in pairs for side in ("a", "b")]


def compiled(clone: Path) -> set[Path]:
    return set((clone / "src").rglob("*.nb?"))


def first_pictures(journal: Journal, work: Path, repository: str, python: str) -> Iterator[tuple[User, Times]]:
    """Yield each user with the time from the clone to her report."""
    clone = work / "ibidem"
    start = journal.run(f"git clone --quiet {shlex.quote(repository)} ibidem", work)
    start = start.plus(journal.run(f"make demo PYTHON={shlex.quote(python)}", clone))
    if "pairs" not in data_of(clone / "demo/report.html"):
        journal.problems.append("demo/report.html has no pairs")
    before = compiled(clone)
    for make in (training_data, newsroom, essays, crawl):
        for path in compiled(clone) - before:
            path.unlink()
        shutil.rmtree(clone / "mine", ignore_errors=True)
        user = make(clone / "mine")
        report, times = clone / user.report, start
        for command in user.commands:
            is_there = report.exists()
            taken = journal.run(command, clone, clone / ".venv/bin")
            times = times if is_there else times.plus(taken)
        names = shown_first(report) if report.exists() else []
        if not any(name in user.ids for name in names):
            journal.problems.append(f"{user.name}: {user.report} begins with {names or 'nothing'}")
        yield user, times


def readme_commands(page: Path) -> tuple[list[str], list[str]]:
    """Return the shell commands and the Python programs of a page."""
    text = page.read_text("utf-8")
    lines = [line for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    commands = [line for line in lines if line.strip() and not line.startswith(("make ", ". "))]
    return commands, re.findall(r"```python\n(.*?)```", text, re.DOTALL)


def wheel(journal: Journal, work: Path, python: str) -> None:
    """Build a wheel, install it into an empty environment, and run every command of the README there."""
    clone, empty = work / "ibidem", work / "empty"
    begin = len(journal.rows)
    journal.run(f"{shlex.quote(python)} -m venv builder && builder/bin/pip wheel --quiet --no-deps -w dist ./ibidem", work)
    journal.run(f"{shlex.quote(python)} -m venv empty && empty/bin/pip install --quiet dist/*.whl", work)
    place = work / "elsewhere"
    (place / "articles").mkdir(parents=True)
    shutil.copytree(clone / "examples", place / "examples")
    write_lines(place / "articles/mine.jsonl", records(12, "mine"))
    commands, programs = readme_commands(clone / "README.md")
    for command in commands:
        journal.run(command, place, empty / "bin")
    for number, program in enumerate(programs, 1):
        (place / f"readme{number}.py").write_text(program, "utf-8")
        journal.run(f"python readme{number}.py", place, empty / "bin")
    print(f"\nThe wheel, and every command of the README: {sum(times.wall for times in journal.rows[begin:]):.0f} s")


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--repository", default=str(ROOT), help="what is cloned (default: this repository)")
    options.add_argument("--python", default=sys.executable, help="the Python that environments are made with")
    given = options.parse_args()
    journal = Journal()
    with tempfile.TemporaryDirectory(prefix="newcomer-") as folder:
        users = list(first_pictures(journal, Path(folder), given.repository, given.python))
        wheel(journal, Path(folder), given.python)
    print("\nFrom `git clone` to a report that begins with one's own documents:\n")
    print("| files | seconds | of processors |\n|---|---|---|")
    for user, times in users:
        print(f"| {user.name} | {times.wall:.0f} | {times.processor:.0f} |")
        if times.wall > MOST_SECONDS:
            journal.problems.append(f"{user.name}: more than {MOST_SECONDS} seconds")
    for problem in journal.problems:
        print(f"problem: {problem}", file=sys.stderr)
    return 1 if journal.problems else 0


if __name__ == "__main__":
    sys.exit(main())
