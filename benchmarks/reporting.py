"""How long a report takes to make and to open: results of some 24,000 documents, and the page in Chromium with the network off.

The collections are newsgroups20, mccormick_articles and pan13_dev together. The time to open runs from the start of loading to
the moment when the first view stands, in a fresh window; views are timed from the change of the address on.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import time
from pathlib import Path

from make_collection import require_data
from speed import IBIDEM

PARTS = ("newsgroups20/docs.jsonl.zst", "mccormick_articles/docs_1000.jsonl", "pan13_dev/docs.jsonl.zst")
VIEWS = ("pairs", "pair={pair}", "flow", "families", "documents", "left-out")
MOST_OPENING_SECONDS = 3.0
MOST_BYTES = 10_000_000


def timed(*command: str) -> float:
    begin = time.perf_counter()
    subprocess.run([IBIDEM, *command], check=True)
    return time.perf_counter() - begin


def open_report(path: Path, repeats: int) -> None:
    """Print how long the page and its views take, the best and the worst of some tries."""
    program = shutil.which("chromium")
    if program is None:
        raise SystemExit("There is no Chromium: install it, for example by `make programs`.")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        opening: list[float] = []
        views: dict[str, list[float]] = {}
        for _ in range(repeats):
            context = browser.new_context()
            context.set_offline(True)
            page = context.new_page()
            begin = time.perf_counter()
            page.goto(path.as_uri())
            page.wait_for_selector("html[data-ready=true]")
            opening.append(time.perf_counter() - begin)
            page.goto(f"{path.as_uri()}#pairs")
            pair = page.wait_for_selector(".pairs tbody tr").get_attribute("data-pair")
            for view in VIEWS:
                begin = time.perf_counter()
                page.evaluate("hash => { location.hash = hash; }", view.format(pair=pair))
                page.wait_for_timeout(20)
                page.wait_for_selector("main:not([aria-busy]) h1")
                views.setdefault(view, []).append(time.perf_counter() - begin)
            context.close()
        browser.close()
    goal = "goal met" if min(opening) <= MOST_OPENING_SECONDS else "goal MISSED"
    print(f"opens in {min(opening):.2f} to {max(opening):.2f} s (goal: {MOST_OPENING_SECONDS:.0f} s; {goal})")
    for view, seconds in views.items():
        print(f"  {view:14} {min(seconds):.2f} to {max(seconds):.2f} s")


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
    open_report(page.resolve(), arguments.repeats)


if __name__ == "__main__":
    main()
