"""The app in a browser: `ibidem serve` as a process of its own, results and an index of ten thousand documents behind it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

import ibidem
from tests.browser.conftest import HOSTILE, ROOT, SHARED, Open, serious_findings, wait_until
from tests.texts import text, word

N_DOCUMENTS = 10_000
KNOWN = (
    "The ferry left the harbour late, because the bridge would not open. Two hundred people waited in the rain for an hour. "
    "The harbour master said that the motor had been ordered in spring."
)


@contextmanager
def served(*arguments: str) -> Iterator[str]:
    """Run `ibidem serve` on a free port; yield its address."""
    command = [sys.executable, "-m", "ibidem", "serve", *arguments, "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            said = []
            for line in process.stderr:
                said.append(line)
                if found := re.search(r"http://[\d.:]+/\S*", line):
                    yield found.group(0)
                    break
            else:
                pytest.fail("it did not start: " + "".join(said))
        finally:
            process.terminate()
            process.wait(20)


@pytest.fixture(scope="session")
def large_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten thousand invented documents, and one that will be asked for."""
    folder = tmp_path_factory.mktemp("large") / "news.idx"
    records: list[dict[str, Any]] = [
        {"id": f"invented-{n}", "text": f"{word(n)} {word(n + 7)}. " + text(n % 900, n % 871, n % 743)}
        for n in range(N_DOCUMENTS)
    ]
    with ibidem.Index(folder) as index:
        index.add([*records, {"id": "harbour-news", "text": f"Nothing else happened. {KNOWN}"}])
    return folder


@pytest.fixture(scope="session")
def app(tmp_path_factory: pytest.TempPathFactory, large_index: Path) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("app") / "out"
    ibidem.find(str(ROOT / "examples" / "newsroom" / "documents.jsonl")).write(folder)
    with served(str(folder), "--index", str(large_index)) as address:
        yield address


def api(address: str, path: str) -> Any:
    with urlopen(f"{address}api/v1/{path}") as answer:
        return json.load(answer)


VIEWS = ["overview", "pairs", "pair=10", "flow", "families", "family=3", "documents", "document=18", "left-out"]


@pytest.mark.parametrize("view", [*VIEWS, "check", "arrivals"])
def test_every_view_opens(open_page: Open, app: str, view: str) -> None:
    with open_page(f"{app}#{view}", own=app, offline=False) as page:
        assert page.inner_text("h1").strip()
        assert page.query_selector("[role=alert]") is None
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_pasted_text_is_checked_and_added(open_page: Open, app: str) -> None:
    assert api(app, "index")["n_documents"] > N_DOCUMENTS
    with open_page(f"{app}#check", own=app, offline=False) as page:
        page.fill("textarea", f"Here is something of my own. {KNOWN} That was all I wanted to say.")
        page.click("text=Check this text")
        page.wait_for_selector("#checked-title")
        assert page.inner_text("#checked-title") == "Part of this text is already in the index."
        assert "harbour-news" in page.inner_text(".sources")
        marked = "".join(part.inner_text() for part in page.query_selector_all(".panes section:nth-of-type(1) [data-in='1']"))
        assert marked == KNOWN
        page.fill("#new-id", f"added-{time.time_ns()}")
        page.click("text=Add to the index")
        page.wait_for_selector("text=Added as")
        page.click("text=See the arrivals")
        page.wait_for_selector(".arrivals li")
        assert "added-" in page.inner_text(".arrivals li")


def test_a_new_text_is_new(open_page: Open, app: str) -> None:
    with open_page(f"{app}#check", own=app, offline=False) as page:
        page.fill("textarea", "Quite unheard of words follow one another in this note, which nobody has ever put down before.")
        page.keyboard.press("Control+Enter")
        page.wait_for_selector("#checked-title")
        assert page.inner_text("#checked-title") == "This text is new."


def test_a_file_is_checked(open_page: Open, app: str, tmp_path: Path) -> None:
    path = tmp_path / "note.html"
    path.write_text(f"<html><body><h1>Harbour</h1><script>var a;</script><p>{KNOWN}</p></body></html>", "utf-8")
    with open_page(f"{app}#check", own=app, offline=False) as page:
        page.set_input_files("input[type=file]", str(path))
        page.wait_for_selector("#checked-title")
        assert "Nearly all of this text" in page.inner_text("#checked-title")
        assert "harbour-news" in page.inner_text(".sources")


def test_a_text_is_called_a_duplicate_if_nearly_all_of_it_is_known(open_page: Open, app: str) -> None:
    with open_page(f"{app}#check", own=app, offline=False) as page:
        page.fill("textarea", KNOWN)
        page.click("text=Check this text")
        page.wait_for_selector("#checked-title")
        assert page.inner_text("#checked-title") == "Nearly all of this text is already in the index."


def test_arrivals_appear_by_themselves(open_page: Open, app: str) -> None:
    with open_page(f"{app}#arrivals", own=app, offline=False) as page:
        wait_until(page, "document.querySelector('[role=status]').textContent === 'live'")
        body = json.dumps({"id": f"late-{time.time_ns()}", "text": KNOWN}).encode()
        with urlopen(Request(f"{app}api/v1/arrivals", body, {"Content-Type": "application/json"})) as answer:
            assert json.load(answer)["duplicated"]
        wait_until(page, "document.querySelector('.arrivals').textContent.includes('late-')")
        assert "duplicate" in page.inner_text(".arrivals li:first-child")


def test_a_verdict_is_kept_and_exported(open_page: Open, app: str) -> None:
    with open_page(f"{app}#pair=12", own=app, offline=False) as page:
        page.keyboard.press("c")
        wait_until(page, "document.querySelector('.judging [aria-pressed=true]') !== null")
        page.fill("#note", "read by <b>me</b>")
        page.keyboard.press("Enter")
        wait_until(page, "fetch('api/v1/verdicts').then(a => a.json()).then(b => b.items.some(i => i.note.includes('me')))")
    with open_page(f"{app}#pairs?verdict=confirmed", own=app, offline=False) as page:
        page.wait_for_selector(".pairs tbody tr[data-pair='12']")
        assert len(page.query_selector_all(".pairs tbody tr")) == 1
    (verdict,) = api(app, "verdicts")["items"]
    assert (verdict["verdict"], verdict["note"]) == ("confirmed", "read by <b>me</b>")
    with urlopen(f"{app}api/v1/verdicts.csv") as answer:
        assert b"confirmed" in answer.read()


def test_the_judged_are_counted_and_the_rest_is_found(open_page: Open, app: str) -> None:
    with open_page(f"{app}#pair=14", own=app, offline=False) as page:
        page.keyboard.press("r")
        wait_until(page, "document.querySelector('.judging [role=status]').textContent === 'saved'")
        n_judged = api(app, "verdicts")["total"]
        page.goto(f"{app}#pairs")
        page.wait_for_selector(".pairs tbody tr")
        if not page.query_selector("details.facets[open]"):
            page.click("details.facets > summary")
        assert f"{n_judged} of 63 pairs have a verdict" in page.inner_text(".facets")
        page.click(".facets button >> text=no verdict yet")
        wait_until(page, "location.hash.includes('verdict=none')")
        wait_until(page, f"document.querySelectorAll('.pairs tbody tr').length === {63 - n_judged}")
        assert page.query_selector(".pairs tbody tr[data-pair='14']") is None
        page.fill("#search", "verdict:Rejected")
        wait_until(page, "location.hash.includes('verdict=rejected')")
        wait_until(page, "document.querySelectorAll('.pairs tbody tr').length === 1")
        page.goto(f"{app}#pair=14")
        page.click(".judging [aria-pressed=true]")
        wait_until(page, "document.querySelector('.judging [role=status]').textContent === 'saved'")


def test_nothing_is_not_checked(open_page: Open, app: str) -> None:
    with open_page(f"{app}#check", own=app, offline=False) as page:
        page.click("text=Check this text")
        assert "nothing to check yet" in page.inner_text(".result")


def test_pairs_within_one_outlet_are_left_out(open_page: Open, app: str) -> None:
    with open_page(f"{app}#pairs?across=1", own=app, offline=False) as page:
        page.wait_for_selector(".pairs tbody tr")
        pairs = api(app, "pairs?limit=500")["items"]
        n_across = sum(pair["a"]["group"] != pair["b"]["group"] for pair in pairs)
        assert 0 < len(page.query_selector_all(".pairs tbody tr")) == n_across < len(pairs)


def test_facets_narrow_down_and_tables_are_downloaded(open_page: Open, app: str) -> None:
    with open_page(f"{app}#pairs", own=app, offline=False) as page:
        if not page.query_selector("details.facets[open]"):
            page.click("details.facets > summary")
        page.click("details.facets button >> text=near")
        wait_until(page, "location.hash.includes('kind=near')")
        wait_until(page, "document.querySelectorAll('.pairs tbody tr').length < 20")
        n_rows = len(page.query_selector_all(".pairs tbody tr"))
        with page.expect_download() as download:
            page.click(".downloads >> text=CSV")
        assert len(Path(download.value.path()).read_text("utf-8").splitlines()) == n_rows + 1


def test_hostile_results_are_shown_and_never_carried_out(open_page: Open, hostile_result: Path) -> None:
    with served(str(hostile_result)) as address, open_page(address, own=address, offline=False) as page:
        for view in ("pairs", "pair=0", "pair=5&passage=1", "flow", "families", "family=1", "documents", "document=3"):
            page.goto(f"{address}#{view}")
            page.wait_for_timeout(200)
            assert page.evaluate("window.harmed") is None
        assert page.query_selector("main img, main iframe, main script, main a[href*=elsewhere], main a[href^=java]") is None


def test_hostile_texts_in_an_index_are_harmless(open_page: Open, tmp_path: Path) -> None:
    with ibidem.Index(tmp_path / "hostile.idx") as index:
        index.add([{"id": f"{hostile} {n}", "text": f"{hostile} {SHARED}"} for n, hostile in enumerate(HOSTILE)])
    with served(str(tmp_path / "hostile.idx")) as address, open_page(f"{address}#check", own=address, offline=False) as page:
        page.fill("textarea", f"{HOSTILE[2]} {SHARED} {HOSTILE[1]}")
        page.click("text=Check this text")
        page.wait_for_selector("#checked-title")
        # The numbers of sources may be between its sentences.
        shown = re.sub(r"\s*\b\d+\n|\s", "", page.inner_text(".checked-text"))
        assert re.sub(r"\s", "", HOSTILE[2]) in shown
        page.fill("#new-id", HOSTILE[3])
        page.click("text=Add to the index")
        page.wait_for_selector("text=Added as")
        page.goto(f"{address}#arrivals")
        page.wait_for_selector(".arrivals li")
        assert page.evaluate("window.harmed") is None


def test_a_token_lets_in(open_page: Open, hostile_result: Path) -> None:
    with served(str(hostile_result), "--token", "open-sesame") as address:
        plain = address.partition("?")[0]
        with open_page(f"{plain}?token=open-sesame", own=plain, offline=False) as page:
            assert "token" not in page.url
            page.goto(f"{plain}#pairs")
            page.wait_for_selector(".pairs tbody tr")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", ["pairs", "pair=10", "check", "arrivals"])
def test_views_of_the_app_are_accessible(open_page: Open, app: str, axe: str, view: str, scheme: str) -> None:
    with open_page(f"{app}#{view}", own=app, offline=False, color_scheme=scheme, bypass_csp=True) as page:
        if view == "check":
            page.fill("textarea", KNOWN)
            page.click("text=Check this text")
            page.wait_for_selector("#checked-title")
        assert serious_findings(page, axe) == []
