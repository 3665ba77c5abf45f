"""The report in a browser: opened from disk, with the network off, by mouse and by keyboard."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import ibidem
from ibidem.viewer.material import material_of_folder
from ibidem.viewer.report import write_report
from ibidem.viewer.store_cache import passing_views
from tests.browser.conftest import HOSTILE, SHARED, Open, serious_findings, wait_until
from tests.texts import text

VIEWS = ["overview", "pairs", "pair=10", "flow", "families", "family=3", "documents", "document=18", "left-out"]


def texts(page: Any, selector: str) -> list[str]:
    return [element.inner_text() for element in page.query_selector_all(selector)]


def rows(page: Any) -> int:
    return len(page.query_selector_all(".pairs tbody tr"))


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_opens_by_its_address(open_page: Open, example_report: str, view: str) -> None:
    with open_page(f"{example_report}#{view}") as page:
        assert page.inner_text("h1").strip()
        assert page.query_selector("[role=alert]") is None
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize("view", VIEWS)
def test_views_fit_a_telephone(open_page: Open, example_report: str, view: str) -> None:
    with open_page(f"{example_report}#{view}", viewport={"width": 390, "height": 800}) as page:
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_the_overview_tells_what_was_found(open_page: Open, example_report: str) -> None:
    with open_page(example_report) as page:
        assert page.inner_text("h1") == "Harbour Post was first with 6 of 14 shared stories, more than any other"
        masthead = page.inner_text(".masthead")
        assert "The newsroom example" in masthead
        assert "45 documents of 14 outlets, February to November 2031." in masthead
        assert "64 passages in 63 pairs" in masthead
        # Who took most from whom: the widest band.
        widest = max(page.query_selector_all(".sankey .band"), key=lambda band: float(band.get_attribute("stroke-width")))
        assert widest.text_content().startswith("Meridian Wire → Northreach Tribune\n3,253 characters")
        assert page.inner_text(".three-facts li").startswith("Most text: Meridian Wire → Northreach Tribune (3,253 characters")
        assert [side.text_content() for side in page.query_selector_all(".sankey .side-name")] == ["first in", "later in"]
        assert len(page.query_selector_all(".cutoff canvas, .cutoff svg")) >= 3


def test_a_cut_off_refilters_the_page_and_is_in_the_address(open_page: Open, example_report: str) -> None:
    with open_page(example_report) as page:
        page.focus("#cut-coverage")
        for _ in range(20):
            page.keyboard.press("ArrowRight")
        wait_until(page, "location.hash.includes('min_coverage=0.5')")
        all_pairs = page.evaluate("JSON.parse(document.getElementById('ibidem-data').textContent).pairs")
        n_left = sum(max(pair["coverage_a"], pair["coverage_b"]) >= 0.5 for pair in all_pairs)
        assert 0 < n_left < len(all_pairs)
        wait_until(page, f"document.querySelector('.remaining').textContent.startsWith('{n_left} pairs')")
        page.click("nav[aria-label=Views] >> text=Pairs")
        page.wait_for_selector(".pairs tbody tr")
        assert rows(page) == n_left
        page.click("nav[aria-label=Views] >> text=Flow")
        page.wait_for_selector(".as-table tbody tr")
        assert len(page.query_selector_all(".as-table tbody tr")) == n_left


def test_a_click_on_a_bar_moves_the_cut_off(open_page: Open, example_report: str) -> None:
    with open_page(example_report) as page:
        chart = page.query_selector_all(".cutoff .chart")[2]
        chart.scroll_into_view_if_needed()
        box = chart.bounding_box()
        for share in range(20, 100):  # until a bar is met
            page.mouse.click(box["x"] + box["width"] * share / 100, box["y"] + box["height"] * 0.75)
            if "min_longest" in page.url:
                break
        wait_until(page, "location.hash.includes('min_longest')")


def test_a_link_restores_filters_and_order(open_page: Open, example_report: str) -> None:
    with open_page(f"{example_report}#pairs?search=ferry&sort=longest&order=asc") as page:
        page.wait_for_selector(".pairs tbody tr")
        assert page.input_value("#search") == "ferry"
        longest = [int(text.replace(",", "")) for text in texts(page, ".pairs tbody td[data-label=Longest]")]
        assert longest == sorted(longest)
        assert 0 < len(longest) < 63


def test_search_with_words_and_conditions(open_page: Open, example_report: str) -> None:
    with open_page(f"{example_report}#pairs") as page:
        page.keyboard.press("/")
        page.keyboard.type("kind:near coverage>50%")
        wait_until(page, "location.hash.includes('kind=near') && location.hash.includes('min_coverage=0.5')")
        wait_until(page, "document.querySelectorAll('.pairs tbody tr').length < 63")
        assert set(texts(page, ".pairs tbody td[data-label=Kind]")) == {"near"}
        page.fill("#search", "no such words anywhere")
        page.wait_for_selector("text=No pair matches")


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("kind:exakt", "kind:exakt (must be exact, near or quote)"),
        ("days>5", "days>5"),
        ("coverage<50%", "coverage<50%"),
        ("similarity>1.5", "similarity>1.5"),
        ("longest>abc", "longest>abc"),
        ("group:harbour", '"Harbour Post"'),
        ("verdict:confirmed", "there are no verdicts here"),
    ],
)
def test_the_search_tells_what_it_does_not_understand(open_page: Open, example_report: str, typed: str, told: str) -> None:
    with open_page(f"{example_report}#pairs") as page:
        page.fill("#search", typed)
        page.wait_for_selector(".unclear:not([hidden])")
        assert told in page.inner_text(".unclear")
        assert page.url.endswith("#pairs")
        assert rows(page) == 63
        page.fill("#search", "")
        wait_until(page, "document.querySelector('.unclear').hidden")


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        ("kind:EXACT", "kind=exact"),
        ("coverage > 50 %", "min_coverage=0.5"),
        ("coverage >=.5", "min_coverage=0.5"),
        ("similarity>90", "min_similarity=0.9"),
        ("group:harbour post", "group=Harbour+Post"),
        ('"kind:near at hand"', "search=%22kind%3Anear+at+hand%22"),
        ("Re: heat", "search=Re%3A+heat"),
    ],
)
def test_the_search_is_generous(open_page: Open, example_report: str, typed: str, address: str) -> None:
    with open_page(f"{example_report}#pairs") as page:
        page.fill("#search", typed)
        wait_until(page, f"location.hash === '#pairs?{address}'")
        assert not page.is_visible(".unclear")


def test_pairs_within_one_outlet_are_left_out(open_page: Open, example_report: str) -> None:
    with open_page(f"{example_report}#pairs") as page:
        all_pairs = page.evaluate("JSON.parse(document.getElementById('ibidem-data').textContent).pairs")
        n_across = sum(pair["a"]["group"] != pair["b"]["group"] for pair in all_pairs)
        assert 0 < n_across < len(all_pairs)
        page.click("[data-action=across]")
        wait_until(page, "location.hash === '#pairs?across=1'")
        wait_until(page, f"document.querySelectorAll('.pairs tbody tr').length === {n_across}")
        page.click("nav[aria-label=Views] >> text=Flow")
        page.wait_for_selector(".as-table tbody tr")
        assert len(page.query_selector_all(".as-table tbody tr")) == n_across
        assert page.get_attribute("[data-action=across]", "aria-pressed") == "true"
        page.click(".active .chip >> text=between different outlets")
        wait_until(page, "location.hash === '#flow'")
        assert page.get_attribute("[data-action=across]", "aria-pressed") == "false"


@pytest.mark.parametrize("view", ["overview", "flow", "pair=10", "left-out", "pairs"])
def test_a_slash_leads_to_the_search_box(open_page: Open, example_report: str, view: str) -> None:
    with open_page(f"{example_report}#{view}") as page:
        page.keyboard.press("/")
        wait_until(page, "document.activeElement.id === 'search'")
        assert page.url.endswith("#pairs")
        page.keyboard.press("ArrowDown")
        wait_until(page, "document.activeElement.matches('.pairs tbody tr:first-child')")
        page.keyboard.press("ArrowUp")
        wait_until(page, "document.activeElement.id === 'search'")


def test_the_network_has_an_address(open_page: Open, example_report: str) -> None:
    with open_page(f"{example_report}#flow?min_coverage=0.5") as page:
        page.click(".drawing >> text=As a network")
        wait_until(page, "location.hash.includes('as=network') && location.hash.includes('min_coverage=0.5')")
        page.click("[data-action=across]")
        wait_until(page, "location.hash.includes('as=network') && location.hash.includes('across=1')")
    with open_page(f"{example_report}#flow?as=network") as page:
        assert page.get_attribute(".drawing >> text=As a network", "aria-pressed") == "true"
        page.click(".drawing >> text=Over time")
        wait_until(page, "location.hash === '#flow'")


@pytest.mark.parametrize("address", ["nonsense", "pair=abc", "document=zzz", "check"])
def test_an_address_that_leads_nowhere_is_told(open_page: Open, example_report: str, address: str) -> None:
    with open_page(f"{example_report}#{address}") as page:
        assert f"#{address}" in page.inner_text(".notice")
        assert "The newsroom example" in page.inner_text(".masthead")
        page.click("nav[aria-label=Views] >> text=Pairs")
        wait_until(page, "!document.querySelector('.notice')")
        page.wait_for_selector(".pairs tbody tr")


def test_what_is_not_held_is_not_asked_for_again(open_page: Open, example_report: str) -> None:
    with open_page(f"{example_report}#pair=9999") as page:
        assert "It has 63 pairs." in page.inner_text("[role=alert]")
        assert page.query_selector("[role=alert] button") is None


def test_a_curve_stands_out(open_page: Open, example_report: str) -> None:
    opacities = "[...document.querySelectorAll('.chart .mark-line path')].map((path) => Number(path.getAttribute('opacity')))"
    with open_page(f"{example_report}#flow") as page:
        page.wait_for_selector(".chart .mark-line path")
        usual = page.evaluate(opacities)
        page.hover(".as-table tbody tr:first-child")
        wait_until(page, f"Math.max(...{opacities}) > {max(usual)}")
        changed = page.evaluate(opacities)
        assert sum(opacity > max(usual) for opacity in changed) == 1
        page.hover("h1")
        wait_until(page, f"{opacities}.every((opacity) => opacity === {usual[0]})")


def test_columns_sort(open_page: Open, example_report: str) -> None:
    with open_page(f"{example_report}#pairs") as page:
        page.click("th >> text=Shared")
        wait_until(page, "location.hash.includes('sort=shared')")
        shared = [int(text.replace(",", "")) for text in texts(page, ".pairs tbody td[data-label=Shared]")]
        assert shared == sorted(shared, reverse=True)
        assert page.get_attribute("th[aria-sort]", "aria-sort") == "descending"


def test_the_table_is_walked_by_keys(open_page: Open, example_report: str) -> None:
    with open_page(f"{example_report}#pairs") as page:
        page.focus(".pairs tbody tr")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        third = page.get_attribute(".pairs tbody tr:nth-child(3)", "data-pair")
        page.keyboard.press("Enter")
        page.wait_for_selector(".panes")
        assert page.url.endswith(f"#pair={third}")
        page.go_back()
        page.wait_for_selector(".pairs tbody tr")


def test_passages_are_stepped_through_and_linked(open_page: Open, example_report: str) -> None:
    with open_page(f"{example_report}#pairs?sort=n_passages") as page:
        page.click(".pairs tbody tr:first-child td.figure")
        page.wait_for_selector(".panes .text")
        page.click(".panes section:nth-of-type(1) button[data-passage='1']")
        wait_until(page, "location.hash.includes('passage=1')")
        page.keyboard.press("n")
        wait_until(page, "location.hash.includes('passage=2')")
        for side in (1, 2):
            chosen = page.query_selector_all(f".panes section:nth-of-type({side}) mark.chosen")
            assert {mark.get_attribute("data-in") for mark in chosen} == {"2"}
        page.keyboard.press("p")
        wait_until(page, "location.hash.includes('passage=1')")
        page.click(".panes section:nth-of-type(2) mark[data-in='2']")
        wait_until(page, "location.hash.includes('passage=2')")


def test_a_link_to_a_passage_shows_it_on_both_sides(open_page: Open, example_report: str) -> None:
    with open_page(f"{example_report}#pair=10&passage=1") as page:
        for side in (1, 2):
            place = page.query_selector(f".panes section:nth-of-type({side}) mark.chosen")
            pane = page.query_selector(f".panes section:nth-of-type({side}) .text")
            assert place is not None
            inside = "(e, p) => { const a = e.getBoundingClientRect(), b = p.getBoundingClientRect(); return a.top >= b.top - 1 && a.bottom <= b.bottom + 1; }"  # noqa: E501
            assert page.evaluate(f"([e, p]) => ({inside})(e, p)", [place, pane])


def test_sides_are_swapped(open_page: Open, example_report: str) -> None:
    with open_page(f"{example_report}#pair=10") as page:
        before = texts(page, ".panes section h2")
        page.keyboard.press("s")
        wait_until(page, "location.hash.includes('swap=1')")
        # The address changes before the panes are drawn again.
        wait_until(page, f"document.querySelector('.panes section h2')?.textContent !== {json.dumps(before[0])}")
        wait_until(page, "document.querySelectorAll('.panes section h2').length === 2")
        assert texts(page, ".panes section h2") == before[::-1]
        page.click("text=Swap sides")
        wait_until(page, "!location.hash.includes('swap=1')")


def test_changed_words_are_not_marked_by_colour_alone(open_page: Open, example_report: str) -> None:
    with open_page(f"{example_report}#pairs?kind=near") as page:
        page.click(".pairs tbody tr:first-child td.figure")
        page.wait_for_selector(".panes .text")
        for tag, line in (("del", "line-through"), ("ins", "underline"), ("mark.edited", "underline")):
            changed = page.query_selector(f".panes {tag}")
            assert changed is not None
            assert line in page.evaluate("e => getComputedStyle(e).textDecorationLine", changed)


def test_marked_text_is_the_text_of_the_passage(open_page: Open, tmp_path: Path) -> None:
    import ibidem

    # Characters beyond the first plane take two places in a browser, and one in an offset.
    shared = "𝔗𝔥𝔢 old mill 🦊 stood by the river. Its wheel had not turned for years 👩‍🚀. Nobody asked why it had stopped."
    documents = [
        {"id": "a", "text": f"🎈🎈🎈 Balloons first, here. {shared} And then 🎈 an end."},
        {"id": "b", "text": f"日本語が先にあります。 {shared} نهاية مختلفة هنا."},
    ]
    ibidem.find(documents).to_html(tmp_path / "report.html")
    with open_page((tmp_path / "report.html").as_uri() + "#pair=0") as page:
        for side in (1, 2):
            marked = "".join(texts(page, f".panes section:nth-of-type({side}) [data-in='1']"))
            assert marked.replace("\n", " ").strip() == shared


def test_flow_says_how_many_pairs_have_a_curve(open_page: Open, tmp_path: Path) -> None:
    import ibidem

    documents = [{"id": str(n), "text": SHARED, **({"time": f"2026-01-0{n}"} if n < 4 else {})} for n in range(1, 5)]
    ibidem.find(documents).to_html(tmp_path / "report.html")
    with open_page(f"{(tmp_path / 'report.html').as_uri()}#flow") as page:
        wait_until(page, "document.querySelector('.limits').textContent.includes('drawn')")
        said = page.inner_text(".limits")
        assert said == "3 of 6 pairs are drawn; the other 3 lack a date and are only in the table."


def test_flow_opens_a_pair(open_page: Open, example_report: str) -> None:
    with open_page(f"{example_report}#flow") as page:
        assert page.query_selector(".chart canvas, .chart svg") is not None
        page.click(".as-table tbody tr:first-child a")
        page.wait_for_selector(".panes")


def test_families_and_documents_lead_to_one_another(open_page: Open, example_report: str) -> None:
    with open_page(f"{example_report}#families") as page:
        page.click("main a[href^='#family=']")
        wait_until(page, "location.hash.startsWith('#family=')")
        page.click("main a[href^='#document=']")
        wait_until(page, "location.hash.startsWith('#document=')")
        page.wait_for_selector("main .text")


def test_a_document_is_shaded_by_numbers_and_colour(open_page: Open, example_report: str) -> None:
    with open_page(f"{example_report}#document=8") as page:
        assert page.query_selector("main .text [class*=shade]") is not None
        assert re.search(r"\b7\b", page.inner_text("main"))


def test_keys_are_explained(open_page: Open, example_report: str) -> None:
    with open_page(example_report) as page:
        page.keyboard.press("?")
        assert page.is_visible("dialog[open] >> text=next and previous passage")
        page.keyboard.press("Escape")
        assert not page.is_visible("dialog")


def test_the_page_can_be_used_by_tab_alone(open_page: Open, example_report: str) -> None:
    with open_page(example_report) as page:
        page.keyboard.press("Tab")
        assert "Skip" in page.evaluate("document.activeElement.textContent")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"
        seen = set()
        for _ in range(200):  # links of stories come first
            page.keyboard.press("Tab")
            seen.add(page.evaluate("document.activeElement.id || document.activeElement.tagName"))
        assert {"cut-similarity", "cut-coverage", "cut-longest"} <= seen


def test_dark_and_light(open_page: Open, example_report: str) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    with open_page(example_report, color_scheme="light") as page:
        light = page.evaluate(ground)
        page.click("[data-action=theme]")
        assert page.evaluate(ground) != light
    with open_page(example_report, color_scheme="dark") as page:
        assert page.evaluate(ground) != light


def test_print_shows_passages_row_by_row(open_page: Open, example_report: str) -> None:
    with open_page(f"{example_report}#pair=10") as page:
        page.emulate_media(media="print")
        page.wait_for_selector(".print-rows table")
        assert page.is_visible(".print-rows table")
        assert not page.is_visible("nav[aria-label=Views]")
        assert not page.is_visible(".panes")
        assert len(page.pdf()) > 5_000


def test_duplicates_are_told_without_passages(open_page: Open, tmp_path: Path) -> None:
    import ibidem

    records = [{"id": "a", "text": f"{SHARED} Dawn."}, {"id": "b", "text": f"{SHARED} Noon."}, {"id": "c", "text": "Other."}]
    ibidem.cluster(records).to_html(tmp_path / "report.html")
    with open_page((tmp_path / "report.html").as_uri()) as page:
        assert "1 pair of similar documents in 1 cluster" in page.inner_text(".masthead")
        assert "passages" not in page.inner_text(".masthead")
        assert "word sequences" in page.inner_text(".cutoffs")
        page.click("nav[aria-label=Views] >> text=Pairs")
        page.wait_for_selector(".pairs tbody tr")
        assert not {"Longest", "Passages"} & set(texts(page, ".pairs th"))
        page.click(".pairs tbody tr a")
        page.wait_for_selector(".panes")
        assert "Similarity" in page.inner_text(".below")
        assert "0 passages" not in page.inner_text("main")


def test_hostile_texts_are_shown_and_never_carried_out(open_page: Open, hostile_result: Path, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    with passing_views(material_of_folder(hostile_result)) as store:
        write_report(store, path, title=HOSTILE[1])
    with open_page(path.as_uri()) as page:
        for view in ("overview", "pairs", "pair=0", "pair=5&passage=1", "flow", "families", "family=1", "document=3"):
            page.goto(f"{path.as_uri()}#{view}")
            page.wait_for_timeout(150)
            assert page.evaluate("window.harmed") is None
        page.goto(f"{path.as_uri()}#document=2")
        page.wait_for_selector("main .text")
        assert HOSTILE[2] in page.inner_text("main .text")
        assert page.query_selector("main img, main iframe, main script, main a[href*=elsewhere], main a[href^=java]") is None
        page.goto(f"{path.as_uri()}#pairs?search=" + "%3Cimg%20src%3Dx%20onerror%3Dwindow.harmed%3D9%3E")
        page.wait_for_timeout(150)
        assert page.evaluate("window.harmed") is None
        for broken in ("pair=999999", "pair=-1", "family=99999", "document=99999", "%00", "pairs?sort=__proto__", "toString"):
            page.goto(f"{path.as_uri()}#{broken}")
            page.wait_for_timeout(60)
            assert page.inner_text("main").strip()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_views_are_accessible(open_page: Open, example_report: str, axe: str, view: str, scheme: str) -> None:
    with open_page(f"{example_report}#{view}", color_scheme=scheme, bypass_csp=True) as page:
        assert serious_findings(page, axe) == []


@pytest.mark.parametrize("width", [1280, 390])
def test_groups_that_share_documents_are_a_table(open_page: Open, axe: str, tmp_path: Path, width: int) -> None:
    hostile = HOSTILE[0]
    pages = [("mirror.example/a-rather-long-name-of-a-site", n) for n in range(4)] + [(hostile, n) for n in range(3)]
    records = [{"id": f"{n} on {site}", "site": site, "text": text(*range(10 * n, 10 * n + 9))} for site, n in pages]
    written = tmp_path / "report.html"
    ibidem.cluster(records, by_group=True, group_field="site").to_html(written)
    with open_page(written.as_uri(), viewport={"width": width, "height": 800}) as page:
        page.wait_for_selector(".mirrors tbody tr")
        (row,) = texts(page, ".mirrors tbody tr")
        assert [told for told in ("3 of 4 (75", "3 of 3 (100", hostile) if told not in row] == []
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert serious_findings(page, axe) == []
