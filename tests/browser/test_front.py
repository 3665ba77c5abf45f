"""The front page and the pictures in a browser, on collections of every kind: none is a line, a point or nothing."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ibidem
from tests.browser.conftest import Open, serious_findings, wait_until
from tests.texts import render, text, word

N_MANY = 1_050  # pairs of documents, in the network of many


def quoting(n: int) -> str:
    """A message that quotes the start of its thread, and every third also a footer."""
    return f"{text(100 + n)} {text(*range(8 * (n % 6), 8 * (n % 6) + 5))} {text(200 + n)} {text(90, 91) if n % 3 == 0 else ''}"


def messages() -> list[dict[str, Any]]:
    """No groups, and times from minutes to months apart."""
    return [
        {"id": f"m{n}", "subject": f"Message {n}", "time": 1_900_000_000 + 97 * 3**n, "text": quoting(n)} for n in range(14)
    ]


def pages() -> list[dict[str, Any]]:
    """Folders, one date for all, a script without spaces."""
    shared = "潮位在夜里上涨得很快。渔船因此没有出海。港口的灯一直亮到早晨。居民们在堤上守了一夜。"
    names = ("web", "games", "learn")
    return [
        {
            "id": f"zh/{names[n % 3]}/{n}",
            "time": "2031-08-01",
            "text": f"这是第{n}页的开头，与别处不同。{shared}本页到此为止，共{n}行。",
        }
        for n in range(9)
    ]


def essays() -> list[dict[str, Any]]:
    """Neither times nor groups nor folders."""
    return [{"id": f"essay-{n}", "text": quoting(n)} for n in range(12)]


def outlets() -> list[dict[str, Any]]:
    """Groups without times."""
    return [{"id": f"o{n}", "group": f"Outlet {n % 4}", "text": quoting(n)} for n in range(12)]


def snapshots() -> list[dict[str, Any]]:
    """The same pages twice: clusters of two."""
    return [
        {
            "id": f"site/{folder}/{n}@{year}",
            "time": f"{year}-01-01",
            "text": f"{text(*range(40 * n, 40 * n + 36))} {text(year - 1500)}",
        }
        for year, folder in ((2029, "learn"), (2030, "guides"))
        for n in range(5)
    ]


COLLECTIONS: dict[str, tuple[Callable[..., Any], Callable[[], list[dict[str, Any]]]]] = {
    "messages": (ibidem.find, messages),
    "pages": (ibidem.find, pages),
    "essays": (ibidem.find, essays),
    "outlets": (ibidem.find, outlets),
    "snapshots": (ibidem.cluster, snapshots),
}
NAMES = [*COLLECTIONS, "newsroom"]


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory, example_report: str) -> dict[str, str]:
    """The report of each collection, as an address."""
    folder = tmp_path_factory.mktemp("collections")
    found = {"newsroom": example_report}
    for name, (verb, records) in COLLECTIONS.items():
        source = folder / f"{name}.jsonl"
        source.write_text("".join(json.dumps(record) + "\n" for record in records()), "utf-8")
        verb(str(source)).to_html(folder / f"{name}.html", title=name)
        found[name] = (folder / f"{name}.html").as_uri()
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_front_page_tells_what_happened(open_page: Open, reports: dict[str, str], name: str) -> None:
    with open_page(reports[name]) as page:
        assert len(page.inner_text("h1")) > 20
        assert page.query_selector("[role=alert]") is None
        assert page.query_selector_all(".three-facts li")
        cards = page.query_selector_all("article.story")
        assert cards
        for card in cards:
            assert card.query_selector(".words").inner_text().strip()
            assert card.query_selector("a[href^='#pair=']")
        picture = page.query_selector(".sankey").bounding_box()
        assert (picture["width"] > 200, picture["height"] > 35) == (True, True)
        assert page.query_selector_all(".sankey .band")
        assert len(page.query_selector_all(".sankey .end")) >= 2


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("way", ["", "?as=network", "?as=time", "?as=time&by=document"])
def test_no_flow_is_a_line_or_a_point(open_page: Open, reports: dict[str, str], name: str, way: str) -> None:
    with open_page(f"{reports[name]}#flow{way}") as page:
        page.wait_for_selector(".lanes .curve, .network canvas")
        assert page.query_selector(".as-table tbody tr")
        if page.query_selector(".lanes"):
            spread = "[...document.querySelectorAll('.lanes .dot')].map((dot) => dot.getAttribute('{}'))"
            assert len(set(page.evaluate(spread.format("cx")))) > 1
            assert page.evaluate("document.querySelector('.lanes .mark-line').getBBox().width") > 100
            assert page.evaluate("document.querySelector('.lanes .mark-line').getBBox().height") > 10
        else:
            # Painted columns and rows of the canvas.
            painted = """(() => {
              const canvas = document.querySelector('.network canvas');
              const { data, width, height } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
              const [columns, rows] = [new Set(), new Set()];
              for (let at = 3; at < data.length; at += 4) {
                if (data[at]) columns.add(((at - 3) / 4) % width) && rows.add(Math.floor((at - 3) / 4 / width));
              }
              return [columns.size / width, rows.size / height];
            })()"""
            wait_until(page, f"{painted}.every((share) => share > 0.05)")


@pytest.mark.parametrize("name", NAMES)
def test_sliders_lie_under_their_bars(open_page: Open, reports: dict[str, str], name: str) -> None:
    with open_page(reports[name]) as page:
        wait_until(page, "document.querySelectorAll('.cutoff .mark-rect.role-mark path').length > 1")
        for part in page.query_selector_all(".cutoff"):
            slider = part.query_selector("input").bounding_box()
            axis = part.query_selector(".role-axis-domain line, .role-axis-domain path").bounding_box()
            assert abs(slider["x"] + 8 - axis["x"]) < 4
            assert abs(slider["x"] + slider["width"] - axis["x"] - axis["width"]) < 0.1 * axis["width"]


def test_bars_count_what_the_list_shows(open_page: Open, example_report: str) -> None:
    with open_page(f"{example_report}#pairs?group=Harbour+Post&kind=near") as page:
        page.wait_for_selector(".pairs tbody tr")
        listed = len(page.query_selector_all(".pairs tbody tr"))
        page.click("text=Distributions and cut-offs")
        wait_until(page, "document.querySelectorAll('.cutoff .mark-rect.role-mark path').length > 0")
        source = "window.ibidem.Embedded.open(document.getElementById('ibidem-data'))"
        counted = page.evaluate(f"{source}.then((s) => s.distributions({{ group: 'Harbour Post', kind: 'near' }}))")
        assert {sum(each["counts"]) for each in counted.values()} == {listed}


def test_a_card_shows_order_only_where_times_differ(open_page: Open, tmp_path: Path) -> None:
    shared = text(*range(1, 9))
    records = [
        {"id": "1", "group": "Bell", "time": "2031-01-01", "text": f"{text(100)} {shared}"},
        {"id": "2", "group": "Tide", "time": "2031-01-01", "text": f"{text(101)} {shared}"},
        {"id": "3", "group": "Moor", "time": "2031-01-05", "text": f"{text(102)} {shared}"},
    ]
    ibidem.find(records).to_html(tmp_path / "report.html")
    with open_page((tmp_path / "report.html").as_uri()) as page:
        trail = page.inner_text(".trail")
        assert " · Tide " in trail or " · Bell " in trail
        assert trail.endswith("Moor")
        assert "→" in trail
        assert page.query_selector(".strip") is None  # nobody is known to be the first
        assert page.inner_text("h1").endswith("which was first is not known")


def test_a_card_marks_changes_and_leads_to_the_pair(open_page: Open, example_report: str) -> None:
    with open_page(example_report) as page:
        card = page.query_selector("article.story:has(del):has(ins)")
        assert "words changed" in card.inner_text()
        assert "later" in card.inner_text()
        assert card.query_selector(".strip .dot")
        card.query_selector("text=Compare").click()
        wait_until(page, "location.hash.startsWith('#pair=')")
        page.wait_for_selector(".view-pair h1")


def test_what_is_folded_away_has_an_address(open_page: Open, example_report: str) -> None:
    with open_page(example_report) as page:
        assert "5 texts stay inside one outlet" in page.inner_text(".folded")
        assert not page.query_selector_all(".folded article.story")
        page.click("[data-action=folded]")
        wait_until(page, "document.querySelectorAll('.folded article.story').length === 5")
        wait_until(page, "location.hash.includes('folded=1')")
    with open_page(f"{example_report}#overview?folded=1") as page:
        wait_until(page, "document.querySelectorAll('.folded article.story').length === 5")
        page.click("[data-action=folded]")
        wait_until(page, "!location.hash.includes('folded')")


def test_a_band_leads_to_its_pairs(open_page: Open, example_report: str) -> None:
    with open_page(example_report) as page:
        page.evaluate("document.querySelector('.sankey [data-open*=\"Northreach\"]').dispatchEvent(new MouseEvent('click'))")
        wait_until(page, "location.hash.includes('group=Meridian')")
        page.wait_for_selector(".pairs tbody tr")
        assert all("Northreach Tribune" in row.inner_text() for row in page.query_selector_all(".pairs tbody tr"))


def test_pairs_show_their_words(open_page: Open, example_report: str) -> None:
    with open_page(f"{example_report}#pairs?search=ferry") as page:
        page.wait_for_selector(".pairs tbody tr")
        assert "Passengers on the early ferry" in page.inner_text(".pairs tbody td.snippet")


def invented(n: int) -> str:
    """Three sentences that no other number has."""
    chance = random.Random(n)
    return " ".join(render([word(chance.randrange(20_000)) for _ in range(7)]) for _ in range(3))


def test_a_network_of_two_thousand_documents(open_page: Open, tmp_path: Path) -> None:
    records = [{"id": f"{side}{n}", "text": f"{invented(n)} {side} {n}."} for n in range(N_MANY) for side in ("left", "right")]
    ibidem.find(records).to_html(tmp_path / "report.html")
    with open_page(f"{(tmp_path / 'report.html').as_uri()}#flow") as page:
        page.wait_for_selector(".network canvas", timeout=90_000)
        assert int(page.get_attribute(".network canvas", "data-nodes")) >= 2_000
        canvas = page.query_selector(".network canvas")
        canvas.scroll_into_view_if_needed()
        for key in ("+", "+", "ArrowLeft", "0"):
            canvas.press(key)
        # A click on a point opens its document.
        box = canvas.bounding_box()
        for share in range(5, 95):
            page.mouse.click(box["x"] + box["width"] * share / 100, box["y"] + box["height"] * 0.3)
            if "#flow" not in page.url:
                break
        wait_until(page, "/^#(document|pair)=/.test(location.hash)")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", ["overview?folded=1", "flow", "flow?as=network"])
def test_everybody_can_use_the_front_page(open_page: Open, example_report: str, axe: str, view: str, scheme: str) -> None:
    with open_page(f"{example_report}#{view}", color_scheme=scheme) as page:
        assert serious_findings(page, axe) == []


@pytest.mark.parametrize("name", NAMES)
def test_it_fits_a_telephone(open_page: Open, reports: dict[str, str], name: str) -> None:
    for view in ("overview", "flow", "flow?as=network", "pairs"):
        with open_page(f"{reports[name]}#{view}", viewport={"width": 390, "height": 844}) as page:
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
