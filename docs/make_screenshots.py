"""Makes the pictures of the README and the guides: reports of the bundled examples, and the app, as Chromium shows them.

    python docs/make_screenshots.py

It needs Chromium, the packages of the extra `dev`, and fonts for the scripts of the examples.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

import ibidem

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "images"
NEWS = ROOT / "examples" / "newsroom" / "documents.jsonl"
ESSAYS = ROOT / "examples" / "essays"
# An article that was reprinted and edited, an essay and its source, and an article that arrives.
REPRINT = {"harbour-post/reservoir-level", "meridian-wire/reservoir-level"}
ESSAY = {"bilal.txt", "tides-handbook.txt"}
ARRIVAL = "vale-courier/toll-study"


def pair_view(page: Path, names: set[str]) -> str:
    """Return the address of the view of two documents in a report."""
    (data,) = re.findall(r'<script type="application/json" id="ibidem-data"[^>]*>(.*?)</script>', page.read_text("utf-8"))
    pairs: list[dict[str, Any]] = json.loads(data)["pairs"]
    (number,) = (pair["pair"] for pair in pairs if {Path(pair[side]["id"]).name for side in "ab"} == names or
                 {pair[side]["id"] for side in "ab"} == names)  # fmt: skip
    return f"{page.as_uri()}#pair={number}&passage=1"


@contextmanager
def opened(browser: Browser, address: str, height: int) -> Iterator[Page]:
    """Open a view and wait until it is drawn."""
    page = browser.new_page(viewport={"width": 1280, "height": height})
    page.goto(address)
    page.wait_for_selector("html[data-ready=true]")
    page.wait_for_timeout(800)
    yield page
    page.close()


def take(page: Page, name: str) -> None:
    """Take a picture."""
    page.screenshot(path=IMAGES / f"{name}.png")
    print(f"docs/images/{name}.png")


def take_check(browser: Browser, folder: Path) -> None:
    """Take a picture of the app after a text was checked against an index."""
    records = [json.loads(line) for line in NEWS.read_text("utf-8").splitlines()]
    (text,) = (record["text"] for record in records if record["id"] == ARRIVAL)
    with ibidem.Index(folder / "crawl.idx") as index:
        index.add([record for record in records if record["id"] != ARRIVAL])
    command = [sys.executable, "-m", "ibidem", "serve", str(folder / "crawl.idx"), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            (address,) = next(found for line in server.stderr if (found := re.findall(r"http://[\d.:]+/\S*", line)))
            with opened(browser, f"{address}#check", 900) as page:
                page.fill("textarea", text)
                page.click("button.main")
                page.wait_for_selector("#checked-title")
                page.locator("#checked-title").scroll_into_view_if_needed()
                page.evaluate("window.scrollTo(0, document.querySelector('#checked-title').offsetTop - 80)")
                page.wait_for_timeout(300)
                take(page, "app-check")
        finally:
            server.terminate()


def main() -> None:
    """Take all pictures."""
    program = shutil.which("chromium")
    if program is None:
        raise SystemExit("There is no Chromium: install it, for example by `make programs`.")
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as driver:
        folder = Path(name)
        news = ibidem.find(NEWS).to_html(folder / "news.html", title="Newsroom")
        essays = ibidem.find(ESSAYS / "essays", against=ESSAYS / "sources")
        shown = essays.to_html(folder / "essays.html", title="Essays")
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        views = (
            ("report-compare", pair_view(news, REPRINT), 860), ("report-overview", f"{news.as_uri()}#overview", 960),
            ("report-essay", pair_view(shown, ESSAY), 760),
        )  # fmt: skip
        for picture, address, height in views:
            with opened(browser, address, height) as page:
                take(page, picture)
        take_check(browser, folder)
        browser.close()


if __name__ == "__main__":
    main()
