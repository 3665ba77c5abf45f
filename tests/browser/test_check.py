"""Checking a text in the browser: what counts, what is left out, links, files, and the report of one case."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ibidem
from tests.browser.conftest import HOSTILE, Open, serious_findings, wait_until
from tests.browser.test_app import served

QUOTED = (
    "The new motor of the bridge had been ordered in the spring of last year from a workshop across the bay. "
    "It was delivered in autumn without the two bolts that hold it."
)
SHORT = "Nobody was hurt at all."
LONG = (
    "Two hundred people waited in the rain for an hour before the ferry came. The bridge over the old canal would not open "
    "again that evening. A baker from the upper town handed out what was left of his bread."
)
OWN = "Here is something of my own that nobody has written before."
TEXT = f"{OWN} {LONG}\n\n“{QUOTED}”"
PRIVATE = "Somebody else's unpublished thesis about moss on northern roofs is not part of this case at all."


def documents() -> list[dict[str, Any]]:
    return [
        {"id": "ferry-news", "text": f"{LONG} {SHORT}"},
        {"id": "harbour-quotes", "text": f"It is known what he said. {QUOTED} That was on a Monday morning."},
        {"id": "copycat", "text": f"Some words before it. {LONG.split('. ', 1)[1]}"},
        {"id": "secret-thesis", "text": PRIVATE},
    ]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("check") / "papers.idx"
    with ibidem.Index(folder) as index:
        index.add(documents())
    return folder


@pytest.fixture(scope="module")
def app(index: Path) -> Iterator[str]:
    with served(str(index), "--read-only") as address:
        yield address


def check(page: Any, text: str = TEXT) -> None:
    page.fill("#checked", text)
    page.click("text=Check this text")
    page.wait_for_selector("#checked-title")


def share(page: Any) -> int:
    return int(page.inner_text(".big-share").replace("\u00a0", " ").split(" ")[0])


def covered(text: str, *parts: str) -> int:
    return round(100 * sum(map(len, parts)) / len(text))


def names(page: Any) -> list[str]:
    return [element.inner_text() for element in page.query_selector_all(".sources .source .name")]


def test_checking_a_text_is_the_home_of_an_index(open_page: Open, app: str) -> None:
    with open_page(app, own=app, offline=False) as page:
        assert page.inner_text("h1") == "Check a text"
        assert "all 4 documents" in page.inner_text(".head")
        page.goto(f"{app}#nowhere")
        page.wait_for_selector(".notice")
        assert "Check a text" in page.inner_text(".notice")


def test_a_text_and_its_result_survive_reloading(open_page: Open, app: str) -> None:
    with open_page(app, own=app, offline=False) as page:
        page.fill("#checked", TEXT)
        page.reload()
        page.wait_for_selector("html[data-ready=true]")
        assert page.input_value("#checked") == TEXT
        assert page.query_selector("#checked-title") is None  # it was not checked yet
        check(page)
        before = share(page)
        page.reload()
        page.wait_for_selector("#checked-title")
        assert (page.input_value("#checked"), share(page)) == (TEXT, before)
        assert TEXT[:20] not in page.url


def test_the_share_and_the_words_of_sources_beside_the_text(open_page: Open, app: str) -> None:
    with open_page(app, own=app, offline=False) as page:
        check(page)
        assert abs(share(page) - covered(TEXT, LONG, QUOTED)) <= 1
        assert names(page) == ["ferry-news", "harbour-quotes", "copycat"]
        assert "secret-thesis" not in page.inner_text("main")
        # The words of both appear, and those of a source that adds nothing are not repeated.
        right = page.inner_text(".panes section:last-of-type .text")
        assert QUOTED in right
        assert "copycat" not in right
        page.click(".source >> text=copycat")
        wait_until(page, "document.querySelector('.source[aria-pressed=true]') !== null")
        assert QUOTED not in page.inner_text(".panes section:last-of-type .text")


def test_what_is_left_out_is_recalculated_at_once_and_in_the_address(open_page: Open, app: str) -> None:
    with open_page(app, own=app, offline=False) as page:
        check(page)
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.check("#no-quotations")
        wait_until(page, "location.hash.includes('quotations=0')")
        assert abs(share(page) - covered(TEXT, LONG)) <= 1
        page.uncheck("#no-quotations")
        page.fill("#below", "36")
        wait_until(page, "location.hash.includes('below=36')")
        assert abs(share(page) - covered(TEXT, LONG)) <= 1
        page.fill("#below", "")
        page.click("[aria-label='Leave out: ferry-news']")
        wait_until(page, "location.hash.includes('without=')")
        assert abs(share(page) - covered(TEXT, LONG.split(". ", 1)[1], QUOTED)) <= 1
        assert names(page)[-1] == "ferry-news"
        page.click("[aria-label='Leave out: copycat']")
        page.click("[aria-label='Leave out: harbour-quotes']")
        wait_until(page, "document.querySelector('.big-share').textContent.startsWith('0')")
        page.click("[aria-label='Count again: ferry-news']")
        wait_until(page, "!document.querySelector('.big-share').textContent.startsWith('0')")
        assert asked == []


def test_a_text_survives_navigation_and_a_link_restores_the_check(open_page: Open, app: str) -> None:
    with open_page(app, own=app, offline=False, permissions=["clipboard-read", "clipboard-write"]) as page:
        check(page)
        page.check("#no-quotations")
        wait_until(page, "location.hash.includes('quotations=0')")
        before = share(page)
        page.click("nav >> text=The index")
        page.wait_for_selector(".masthead")
        page.click("nav >> text=Check a text")
        page.wait_for_selector("#checked-title")
        assert page.input_value("#checked") == TEXT
        assert share(page) == before
        page.click("text=Copy link")
        page.wait_for_selector("text=Link copied")
        link = page.evaluate("navigator.clipboard.readText()")
        assert LONG.split()[0] not in link
        assert "ferry" not in link
    with open_page(link, own=app, offline=False) as page:
        page.wait_for_selector("#checked-title")
        assert page.input_value("#checked") == TEXT
        assert share(page) == before
        assert page.is_checked("#no-quotations")
        # The text does not stay in the address, and so not in the history.
        wait_until(page, "!location.hash.includes('text=')")
    with open_page(f"{app}#check?text=broken", own=app, offline=False) as page:
        page.wait_for_selector("[role=alert]")
        assert "incomplete" in page.inner_text("[role=alert]")


def test_names_are_hidden_on_demand_everywhere(open_page: Open, app: str, tmp_path: Path) -> None:
    with open_page(app, own=app, offline=False) as page:
        check(page)
        page.check("#anonymous")
        wait_until(page, "location.hash.includes('anonymous=1')")
        assert names(page) == ["Source A", "Source B", "Source C"]
        assert "ferry-news" not in page.inner_text("main")
        with page.expect_download() as saved:
            page.click(".case-bar >> text=CSV")
        table = Path(saved.value.path()).read_text("utf-8")
        assert "Source A" in table
        assert "ferry-news" not in table
        page.click(".case-bar >> text=Evidence")
        page.wait_for_selector(".paper .sheet")
        assert "ferry-news" not in page.inner_text(".paper")
        assert "papers.idx" not in page.inner_text(".paper")


def test_the_case_report_has_this_text_and_its_sources_only(open_page: Open, app: str) -> None:
    with open_page(app, own=app, offline=False) as page:
        check(page)
        digest = hashlib.sha256(TEXT.encode()).hexdigest()
        page.click(".case-bar >> text=Evidence")
        page.wait_for_selector(".paper .sheet")
        told = page.inner_text(".sheet")
        for words in (QUOTED, OWN, "ferry-news", "harbour-quotes", digest, "not proof of copying", ibidem.__version__):
            assert words in told
        assert PRIVATE not in told
        assert "secret-thesis" not in told
        with page.expect_download() as saved:
            page.click("text=Save as a file")
        assert saved.value.suggested_filename.endswith(".html")
        whole = Path(saved.value.path()).read_text("utf-8")
        page.keyboard.press("Escape")
        page.wait_for_selector(".paper", state="detached")
        assert page.is_visible("#checked-title")
    assert QUOTED in whole
    assert "<script" not in whole
    assert "default-src 'none'" in whole


def test_a_dropped_file_is_checked(open_page: Open, app: str) -> None:
    with open_page(app, own=app, offline=False) as page:
        transfer = page.evaluate_handle(
            "text => { const t = new DataTransfer(); t.items.add(new File([text], 'essay.md')); return t; }",
            TEXT,
        )
        page.dispatch_event("main .view", "dragover", {"dataTransfer": transfer})
        page.wait_for_selector(".view-check.dropping")
        page.dispatch_event("main .view", "drop", {"dataTransfer": transfer})
        page.wait_for_selector("#checked-title")
        assert "essay.md" in page.inner_text(".checking summary")
        assert page.input_value("#checked") == TEXT


def test_a_file_that_cannot_be_read_says_so(chromium: Any, app: str, tmp_path: Path) -> None:
    path = tmp_path / "table.jsonl"
    path.write_text('{"id": "x", "text": "y"}', "utf-8")
    page = chromium.new_page()  # not watched: the browser itself complains of a request that is refused
    try:
        page.goto(app)
        page.set_input_files("input[type=file]", str(path))
        page.wait_for_selector("[role=alert]")
        assert "many documents" in page.inner_text("[role=alert]")
        assert page.is_enabled("text=Check this text")
    finally:
        page.close()


def test_an_index_without_texts_says_so(open_page: Open, tmp_path: Path) -> None:
    with ibidem.Index(tmp_path / "bare.idx", texts=False) as index:
        index.add(documents())
    with served(str(tmp_path / "bare.idx")) as app, open_page(app, own=app, offline=False) as page:
        assert "stores no texts" in page.inner_text(".head")
        check(page)
        assert "The index does not store these words" in page.inner_text(".panes section:last-of-type .text")
        page.click(".case-bar >> text=Evidence")
        page.wait_for_selector(".paper .sheet")
        assert "The words are not available" in page.inner_text(".sheet")


def test_hostile_names_and_texts_stay_text(open_page: Open, tmp_path: Path) -> None:
    with ibidem.Index(tmp_path / "hostile.idx") as index:
        index.add({"id": f"{hostile} {n}", "text": f"{hostile} {LONG}"} for n, hostile in enumerate(HOSTILE))
    with served(str(tmp_path / "hostile.idx")) as app, open_page(app, own=app, offline=False) as page:
        check(page, " ".join([LONG, *HOSTILE]))
        page.click(".case-bar >> text=Evidence")
        page.wait_for_selector(".paper .sheet")
        with page.expect_download() as saved:
            page.click("text=Save as a file")
        assert page.evaluate("window.harmed") is None
        kept = tmp_path / "case.html"
        kept.write_bytes(Path(saved.value.path()).read_bytes())
    assert "<script" not in kept.read_text("utf-8")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_the_view_fits_and_is_accessible(open_page: Open, app: str, axe: str, scheme: str, width: int) -> None:
    size = {"width": width, "height": 844}
    with open_page(app, own=app, offline=False, color_scheme=scheme, viewport=size) as page:
        check(page)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert serious_findings(page, axe) == []
        page.click(".case-bar >> text=Evidence")
        page.wait_for_selector(".paper .sheet")
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert serious_findings(page, axe) == []
