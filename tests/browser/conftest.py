"""Pages opened in the system's Chromium; without one, these tests are skipped."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

import ibidem
from tests.waiting import LIMIT_SECONDS

ROOT = Path(__file__).parent.parent.parent
AXE = ROOT / ".venv" / "node" / "node_modules" / "axe-core" / "axe.min.js"
Open = Callable[..., AbstractContextManager[Any]]


def wait_until(page: Any, condition: str) -> None:
    """Wait until a condition is true. Polled from here: the page's own policy forbids evaluating strings in it."""
    end = time.monotonic() + LIMIT_SECONDS
    while time.monotonic() < end:
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    pytest.fail(f"it never holds: {condition}")


def serious_findings(page: Any, axe: str) -> list[tuple[str, list[str]]]:
    """Return what keeps people from using a page, and where."""
    page.evaluate(axe)
    found = page.evaluate("axe.run({ resultTypes: ['violations'] })")
    return [
        (entry["id"], [node["html"][:120] for node in entry["nodes"][:3]])
        for entry in found["violations"]
        if entry["impact"] in ("serious", "critical")
    ]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("there is no Chromium; `make test` installs it where it may")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        # One process for all pages of a context: to start one takes longer than to open a page in it.
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--process-per-site"])
        yield browser
        browser.close()


class Contexts:
    """The contexts of a browser, one for all pages of the same settings.

    Each keeps an empty page for every kind of address, so that the process behind it lives from one test to the next. A page
    finds nothing of those before it: they are closed, and what they stored is removed.
    """

    def __init__(self, browser: Any, folder: Path) -> None:
        self._browser, self._folder = browser, folder
        self._contexts: dict[str, Any] = {}

    def context(self, settings: dict[str, Any]) -> Any:
        """Return the context of these settings."""
        key = json.dumps(settings, sort_keys=True)
        if key not in self._contexts:
            context = self._contexts[key] = self._browser.new_context(**settings)
            empty = self._folder / "empty.html"
            empty.write_text("<!doctype html>", "utf-8")
            for address in (empty.as_uri(), "http://127.0.0.1/"):
                page = context.new_page()
                page.route("**/*", lambda route: route.fulfill(content_type="text/html", body="<!doctype html>"))
                page.goto(address)
        return self._contexts[key]

    def clear(self, context: Any, page: Any) -> None:
        """Close all pages but the empty ones, and remove what they left."""
        devtools = context.new_cdp_session(page)
        for origin in {"file://", page.evaluate("location.origin")} - {"null"}:
            devtools.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
        devtools.send("Network.clearBrowserCache")
        for opened in context.pages[2:]:
            opened.close()
        context.clear_cookies()


@pytest.fixture(scope="session")
def open_page(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Open:
    """Open an address; whatever the page complains of, and whatever it asks of others, fails the test."""
    contexts = Contexts(chromium, tmp_path_factory.mktemp("empty"))

    @contextmanager
    def opened(
        address: str, own: str = "file://", offline: bool = True, ready: str = "html[data-ready=true]", **settings: Any
    ) -> Iterator[Any]:
        context = contexts.context({"viewport": {"width": 1280, "height": 900}, **settings})
        context.set_offline(offline)
        complaints: list[str] = []
        page = context.new_page()
        try:
            page.set_default_timeout(1000 * LIMIT_SECONDS)
            page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("dialog", lambda dialog: (complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))
            page.on(
                "request",
                lambda request: (
                    None if request.url.startswith((own, "data:", "blob:")) else complaints.append(f"request: {request.url}")
                ),
            )
            page.goto(address)
            page.wait_for_selector(ready)
            yield page
            page.wait_for_timeout(50)
            assert complaints == []
        finally:
            contexts.clear(context, page)

    return opened


@pytest.fixture(scope="session")
def example_report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The report of the bundled example, as an address."""
    path = tmp_path_factory.mktemp("example") / "report.html"
    ibidem.find(str(ROOT / "examples" / "newsroom" / "documents.jsonl")).to_html(path, title="The newsroom example")
    return path.as_uri()


# Whatever of this is carried out instead of shown sets `window.harmed`, opens a dialog, or asks the network.
HOSTILE = [
    "<script>window.harmed = 1</script>",
    "</script><script>window.harmed = 2</script>",
    '<img src=x onerror="window.harmed = 3">',
    '"><svg onload="window.harmed = 4">',
    "javascript:window.harmed=5",
    "<!--<script>window.harmed = 6",
    "{{constructor.constructor('window.harmed=7')()}}",
    "<iframe srcdoc='<script>parent.harmed=8</script>'></iframe>",
    "<a href='https://elsewhere.example/'>here</a> <link rel=stylesheet href=https://elsewhere.example/a.css>",
    "\u202eesrever\u202c \u0000\u001b[31m \u2028 line",
    "__proto__",
    "constructor",
]
SHARED = (
    "The lighthouse keeper counted nine ships that night, and none of them carried a lamp. He wrote their number into the "
    "book. In the morning the book was gone, and so was the boat."
)


def hostile_documents() -> list[dict[str, Any]]:
    """Documents whose ids, groups, titles and texts would do harm if a page took them for more than text."""
    return [
        {
            "id": f"{hostile} {number}",
            "group": hostile,
            "title": hostile,
            "time": f"2031-01-{number + 1:02}T10:00:00Z",
            "text": f"{hostile} is how it begins here. {SHARED} {hostile} The {number}. ending has its own words {hostile}.",
        }
        for number, hostile in enumerate(HOSTILE)
    ]


@pytest.fixture(scope="session")
def hostile_result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of results of hostile documents."""
    folder = tmp_path_factory.mktemp("hostile")
    source = folder / "<b onclick=window.harmed=9>.jsonl"
    source.write_text("".join(json.dumps(record) + "\n" for record in hostile_documents()), "utf-8")
    ibidem.find(str(source)).write(folder / "out")
    return folder / "out"


@pytest.fixture(scope="session")
def axe() -> str:
    """The script that finds out how accessible a page is."""
    if not AXE.is_file():
        pytest.skip("axe-core is not installed; `make test` installs it where there is npm")
    return AXE.read_text("utf-8")
