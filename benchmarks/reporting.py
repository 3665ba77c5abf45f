"""How long a report takes to make and to open: results of some 24,000 documents, and the page in Chromium with the network off.

The collections are newsgroups20, mccormick_articles and pan13_dev together. Opening runs from the start of loading until the
first view is there, in a fresh window; views run from the change of the address on. Last, a pair of documents with 1,600
passages is opened. Times are those of the page's own processor (its main thread: scripts, styles, layout), as Chromium
counts them, so that other programs on the machine hardly matter; the seconds that passed are in brackets.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import ibidem
from make_collection import require_data
from speed import IBIDEM

PARTS = ("newsgroups20/docs.jsonl.zst", "mccormick_articles/docs_1000.jsonl", "pan13_dev/docs.jsonl.zst")
VIEWS = ("pairs", "pair={pair}", "flow", "families", "documents", "left-out")
MOST_OPENING_SECONDS = 2.0
MOST_PAIR_SECONDS = 0.3
N_PASSAGES = 1_600
MOST_BYTES = 10_000_000


def timed(*command: str) -> float:
    begin = time.perf_counter()
    subprocess.run([IBIDEM, *command], check=True)
    return time.perf_counter() - begin


class Clock:
    """The processor time of a page, and the time that passes."""

    def __init__(self, page: Any) -> None:
        self._client = page.context.new_cdp_session(page)
        self._client.send("Performance.enable", {"timeDomain": "threadTicks"})
        self.begin()

    def begin(self) -> None:
        self._task, self._passed = self._read(), time.perf_counter()

    def read(self) -> tuple[float, float]:
        """Return the seconds since `begin`: of the processor, and of the clock on the wall."""
        return self._read() - self._task, time.perf_counter() - self._passed

    def _read(self) -> float:
        metrics = self._client.send("Performance.getMetrics")["metrics"]
        return float(next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration"))


def report_of_many_passages(folder: Path) -> Path:
    """Write the report of two documents that share every second paragraph, edited here and there."""
    chance = random.Random(1)
    words = ["".join(chance.choices("abcdefghijklmnoprstuvw", k=chance.randrange(3, 10))) for _ in range(4000)]

    def sentence() -> list[str]:
        return chance.choices(words, k=chance.randrange(7, 14))

    a, b = [], []
    for number in range(N_PASSAGES):
        shared = [sentence() for _ in range(3)]
        edited = [[*each[:3], chance.choice(words), *each[4:]] if number % 3 == 0 else each for each in shared]
        for text, own in ((a, shared), (b, edited)):
            text.append(" ".join(" ".join(each).capitalize() + "." for each in [*own, sentence()]))
    records = [{"id": name, "text": "\n\n".join(text)} for name, text in (("a", a), ("b", b))]
    return Path(ibidem.find(records, max_gap_sentences=0).to_html(folder / "many-passages.html"))


def go(page: Any, clock: Clock, view: str, selector: str) -> tuple[float, float]:
    """Return how long a view takes from the change of the address on, until it is drawn."""
    clock.begin()
    page.evaluate("hash => { location.hash = hash; }", view)
    page.wait_for_timeout(20)
    page.wait_for_selector(selector)
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return clock.read()


def said(name: str, found: list[tuple[float, float]], most: float | None = None) -> str:
    best = min(found)
    goal = "" if most is None else f"; goal {most} s: {'met' if best[0] <= most else 'MISSED'}"
    passed = min(each[1] for each in found)
    return f"  {name:14} {best[0]:.2f} s of the processor, best of {len(found)} ({passed:.2f} s passed{goal})"


def open_report(path: Path, many: Path, repeats: int) -> None:
    """Print how long the page and its views take, the best of some tries."""
    program = shutil.which("chromium")
    if program is None:
        raise SystemExit("There is no Chromium: install it, for example by `make programs`.")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        found: dict[str, list[tuple[float, float]]] = {}
        for _ in range(repeats):
            context = browser.new_context(viewport={"width": 1440, "height": 900})
            context.set_offline(True)
            page = context.new_page()
            clock = Clock(page)
            page.goto(path.as_uri())
            page.wait_for_selector("html[data-ready=true]")
            found.setdefault("first view", []).append(clock.read())
            page.goto(f"{path.as_uri()}#pairs")
            pair = page.wait_for_selector(".pairs tbody tr").get_attribute("data-pair")
            for view in VIEWS:
                taken = go(page, clock, view.format(pair=pair), "main:not([aria-busy]) h1")
                found.setdefault(view, []).append(taken)
            page.goto(many.as_uri())
            page.wait_for_selector("html[data-ready=true]")
            found.setdefault("1,600 passages", []).append(go(page, clock, "pair=0", ".reading .ribbon"))
            n_marked = page.evaluate("new Set([...document.querySelectorAll('.panes mark')].map((one) => one.dataset.in)).size")
            if n_marked < N_PASSAGES:
                raise SystemExit(f"only {n_marked} of {N_PASSAGES} passages are marked")
            context.close()
        browser.close()
    limits = {"first view": MOST_OPENING_SECONDS, "1,600 passages": MOST_PAIR_SECONDS}
    for name, tries in found.items():
        print(said(name, tries, limits.get(name)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="folder of the collections")
    parser.add_argument("--work", type=Path, required=True, help="folder for what is made")
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    data = require_data(arguments.data)
    parts = [data / part for part in PARTS]
    arguments.work.mkdir(parents=True, exist_ok=True)
    out, page = arguments.work / "reporting-out", arguments.work / "report.html"
    print(f"find: {timed('find', *map(str, parts), '-o', str(out), '--overwrite', '--quiet'):.1f} s")
    print(f"report: {timed('report', str(out), '-o', str(page)):.1f} s")
    size = page.stat().st_size
    print(f"{size / 1e6:.1f} MB (goal: at most {MOST_BYTES / 1e6:.0f} MB; {'met' if size <= MOST_BYTES else 'MISSED'})")
    open_report(page.resolve(), report_of_many_passages(arguments.work).resolve(), arguments.repeats)


if __name__ == "__main__":
    main()
