"""The web app under load: many clients at a time on the loopback, a mix of all views and of texts that are checked.

The collection is newsgroups20 (19,000 posts): `find` over it gives the result, and all of it is added to an index. Both are
served by `ibidem serve` in a process of its own. First one client asks for everything in turn, then many ask at once for a
while, each pausing between two requests as somebody who looks at what came does. Latencies are those that clients see: they
share the cores with the server. The memory of the server is read from /proc (what is its own, without files that are mapped).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from growing import memory_of
from make_collection import read_lines
from speed import IBIDEM

COLLECTION = "newsgroups20"
LEAST_DOCUMENTS = 10_000
LIMIT_SECONDS = 0.2
SINGLE_REQUESTS = 40
CHECKED_CHARS = 2000
STARTING_SECONDS = 300
ERRORS_SHOWN = 5


class Ask(NamedTuple):
    """A kind of request: how often it comes in the mix, and how one is made up."""

    weight: int
    make: Callable[[random.Random], tuple[str, str, dict[str, Any]]]


class Latencies:
    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.errors: list[str] = []

    def show(self, title: str) -> None:
        print(f"{title}\n  {'route':22} {'requests':>8} {'p50':>7} {'p95':>7} {'max':>7}  ms", flush=True)
        everything = [value for values in self.seconds.values() for value in values]
        for name, values in [*sorted(self.seconds.items()), ("all", everything)]:
            p50, p95, most = (1000 * share_of(values, share) for share in (0.5, 0.95, 1.0))
            slow = "  above the limit" if p95 > 1000 * LIMIT_SECONDS else ""
            print(f"  {name:22} {len(values):8,} {p50:7.1f} {p95:7.1f} {most:7.1f}{slow}", flush=True)
        print(f"  errors: {len(self.errors)}", *self.errors[:ERRORS_SHOWN], sep="\n    " if self.errors else "", flush=True)


def share_of(values: list[float], share: float) -> float:
    ordered = sorted(values) or [0.0]
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def prepare(data: Path, work: Path) -> tuple[Path, Path, list[str]]:
    """Return a result, an index, and texts; made once."""
    source, result, folder = work / "serving.jsonl", work / "serving-out", work / "serving.idx"
    lines = read_lines(data / COLLECTION / "docs.jsonl.zst")
    if len(lines) < LEAST_DOCUMENTS:
        sys.exit(f"{COLLECTION} has {len(lines):,} documents; {LEAST_DOCUMENTS:,} are needed. Nothing was measured.")
    work.mkdir(parents=True, exist_ok=True)
    if not source.exists():
        source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    if not (result / "run.json").exists():
        subprocess.run([IBIDEM, "find", str(source), "-o", str(result), "--overwrite", "--quiet"], check=True)
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([IBIDEM, "index", "add", str(folder), str(source), "--quiet"], check=True)
        (folder / "complete").touch()
    return result, folder, [json.loads(line)["text"] for line in lines]


@contextmanager
def server(result: Path, index: Path) -> Iterator[tuple[int, str]]:
    """Run the server; yield its process and its address."""
    begin = time.perf_counter()
    command = [IBIDEM, "serve", str(result), "--index", str(index), "--port", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        while (line := process.stderr.readline()) and time.perf_counter() - begin < STARTING_SECONDS:
            if found := re.search(r"at (http://\S+)", line):
                print(f"opened and ready in {time.perf_counter() - begin:.1f} s", flush=True)
                yield process.pid, found[1]
                return
        sys.exit("ibidem serve did not start")
    finally:
        begin = time.perf_counter()
        process.terminate()
        try:
            print(f"ended with code {process.wait(20)} in {time.perf_counter() - begin:.1f} s", flush=True)
        except subprocess.TimeoutExpired:
            process.kill()
            print("did not end by itself")


def mix(client: httpx.Client, texts: list[str]) -> dict[str, Ask]:
    """Return the kinds of requests, made up of what there is."""
    api = "/api/v1"
    totals = client.get(f"{api}/summary").json()["totals"]
    groups = [facet["group"] for facet in client.get(f"{api}/summary").json()["facets"]["groups"]] or ["none"]
    assets = re.findall(r'(?:src|href)="(assets/[^"]+)"', client.get("/").text)
    print(", ".join(f"{count:,} {name}" for name, count in totals.items() if count), flush=True)

    def get(path: str, **parameters: Any) -> tuple[str, str, dict[str, Any]]:
        return "GET", path, {"params": parameters} if parameters else {}

    def word(chance: random.Random) -> str:
        words = re.findall(r"[a-z]{5,}", chance.choice(texts)[:5000]) or ["nothing"]
        return chance.choice(words)

    def check(chance: random.Random) -> tuple[str, str, dict[str, Any]]:
        text = chance.choice(texts)[:CHECKED_CHARS].strip() or "nothing"
        return "POST", f"{api}/check", {"json": {"text": text}}

    def one_of(name: str, total: str) -> Callable[[random.Random], tuple[str, str, dict[str, Any]]]:
        return lambda chance: get(f"{api}/{name}/{chance.randrange(max(1, totals[total]))}")

    sorts = ("interest", "shared", "longest", "similarity", "coverage", "days", "n_passages", "a", "b")
    return {
        "page": Ask(2, lambda chance: get("/")),
        "assets": Ask(4, lambda chance: get("/" + chance.choice(assets))),
        "summary": Ask(3, lambda chance: get(f"{api}/summary")),
        "distributions": Ask(1, lambda chance: get(f"{api}/distributions")),
        "pairs": Ask(3, lambda chance: get(f"{api}/pairs")),
        "pairs, sorted": Ask(3, lambda chance: get(f"{api}/pairs", sort=chance.choice(sorts), order="desc")),
        "pairs, limits": Ask(3, lambda chance: get(f"{api}/pairs", min_coverage=round(chance.random(), 2), min_longest=200)),
        "pairs, facets": Ask(3, lambda chance: get(f"{api}/pairs", group=chance.choice(groups), kind="near")),
        "pairs, search": Ask(4, lambda chance: get(f"{api}/pairs", search=word(chance))),
        "pairs, 500": Ask(1, lambda chance: get(f"{api}/pairs", limit=500)),
        "pair": Ask(8, one_of("pairs", "pairs")),
        "documents": Ask(2, lambda chance: get(f"{api}/documents", sort="n_pairs")),
        "documents, search": Ask(1, lambda chance: get(f"{api}/documents", search=word(chance))),
        "document": Ask(5, one_of("documents", "documents")),
        "families": Ask(2, lambda chance: get(f"{api}/families")),
        "family": Ask(3, one_of("families", "families")),
        "flow": Ask(2, lambda chance: get(f"{api}/flow", min_longest=chance.choice([100, 500, 1000]))),
        "check": Ask(5, check),
    }  # fmt: skip


def note(found: Latencies, name: str, response: httpx.Response, seconds: float) -> None:
    found.seconds[name].append(seconds)
    if response.status_code != 200:
        found.errors.append(f"{name}: {response.request.url}: {response.status_code} {response.text[:200]}")


def ask_alone(client: httpx.Client, asks: dict[str, Ask]) -> Latencies:
    """Ask for everything in turn, each kind for so many times."""
    found, chance = Latencies(), random.Random(1)
    for name, ask in asks.items():
        for _ in range(SINGLE_REQUESTS):
            method, path, options = ask.make(chance)
            begin = time.perf_counter()
            note(found, name, client.request(method, path, **options), time.perf_counter() - begin)
    return found


async def ask_together(address: str, asks: dict[str, Ask], n_clients: int, seconds: float, pause: float, pid: int) -> Latencies:
    """Let many clients ask for a while; the memory of the server is shown meanwhile."""
    found, end = Latencies(), time.monotonic() + seconds
    names, weights = list(asks), [ask.weight for ask in asks.values()]

    async def one_client(number: int) -> None:
        chance = random.Random(number)
        # Without certificates: reading them for every client would take seconds, and there is nothing encrypted here.
        async with httpx.AsyncClient(base_url=address, timeout=60, trust_env=False, verify=False) as client:
            await asyncio.sleep(chance.random() * pause)
            while time.monotonic() < end:
                (name,) = chance.choices(names, weights)
                method, path, options = asks[name].make(chance)
                begin = time.perf_counter()
                try:
                    note(found, name, await client.request(method, path, **options), time.perf_counter() - begin)
                except httpx.HTTPError as problem:
                    found.errors.append(f"{name}: {path}: {problem!r}")
                await asyncio.sleep(2 * pause * chance.random())

    async def watch_memory() -> None:
        begin = time.monotonic()
        for share in (1 / 6, 1 / 2, 1.0):
            await asyncio.sleep(max(0.0, begin + share * seconds - time.monotonic()))
            show_memory(pid, f"after {share * seconds:.0f} s")

    show_memory(pid, "before")
    await asyncio.gather(watch_memory(), *(one_client(number) for number in range(n_clients)))
    return found


def processor_seconds(pid: int) -> float:
    """Return the time that a process has worked, whatever else the machine does."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def show_memory(pid: int, when: str) -> None:
    memory = memory_of(str(pid))
    print(f"  memory {when}: {memory['own']} MB + {memory['mapped']} MB mapped", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder with the real collections")
    parser.add_argument("--work", default=str(Path(tempfile.gettempdir()) / "ibidem-benchmark"))
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--pause", type=float, default=1.0, help="mean seconds that a client pauses between two requests")
    options = parser.parse_args()
    if options.data is None or not (Path(options.data) / COLLECTION).is_dir():
        sys.exit(f"This benchmark needs the folder of real collections with {COLLECTION}: --data DIR. Nothing was measured.")
    result, index, texts = prepare(Path(options.data), Path(options.work))
    with server(result, index) as (pid, address):
        with httpx.Client(base_url=address, timeout=60, trust_env=False) as client:
            asks = mix(client, texts)
            show_memory(pid, "at the start")
            alone = ask_alone(client, asks)
        alone.show("one client")
        begin, worked = time.perf_counter(), processor_seconds(pid)
        together = asyncio.run(ask_together(address, asks, options.clients, options.seconds, options.pause, pid))
        seconds, worked = time.perf_counter() - begin, processor_seconds(pid) - worked
        n_requests = sum(map(len, together.seconds.values()))
        together.show(
            f"{options.clients} clients for {seconds:.0f} s, pausing {options.pause:g} s on average: "
            f"{n_requests / seconds:.0f} requests a second, {1000 * worked / max(1, n_requests):.0f} ms of processor time each"
        )
    if alone.errors or together.errors:
        sys.exit(1)


if __name__ == "__main__":
    main()
