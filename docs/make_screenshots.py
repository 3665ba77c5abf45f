"""Makes the pictures of the README: the report of the bundled example, as Chromium shows it.

    python docs/make_screenshots.py

It needs Chromium and playwright (`pip install 'ibidem[dev]'`), and fonts for the scripts of the example.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

import ibidem

ROOT = Path(__file__).parent.parent
# An article that was taken over and edited.
COMPARED = ("harbour-post/reservoir-level", "meridian-wire/reservoir-level")


def make_report(folder: Path) -> tuple[str, int]:
    """Write the report of the example; return its address, and the number of the pair to be shown."""
    page = ibidem.find(str(ROOT / "examples" / "newsroom" / "documents.jsonl")).to_html(
        folder / "report.html", title="Newsroom"
    )
    (data,) = re.findall(r'<script type="application/json" id="ibidem-data"[^>]*>(.*?)</script>', page.read_text("utf-8"))
    pairs: list[dict[str, Any]] = json.loads(data)["pairs"]
    (number,) = (pair["pair"] for pair in pairs if {pair["a"]["id"], pair["b"]["id"]} == set(COMPARED))
    return page.as_uri(), number


def main() -> None:
    """Take the pictures."""
    program = shutil.which("chromium")
    if program is None:
        raise SystemExit("There is no Chromium: install it, for example by `make programs`.")
    images = ROOT / "docs" / "images"
    images.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        address, pair = make_report(Path(folder))
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for name, view, height in (("report-compare", f"#pair={pair}&passage=1", 860), ("report-overview", "#overview", 960)):
            page = browser.new_page(viewport={"width": 1280, "height": height})
            page.goto(address + view)
            page.wait_for_selector("html[data-ready=true]")
            page.wait_for_timeout(800)
            page.screenshot(path=images / f"{name}.png")
            page.close()
            print(f"docs/images/{name}.png")
        browser.close()


if __name__ == "__main__":
    main()
