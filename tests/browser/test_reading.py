"""Reading two texts in a browser: the match is seen at once, ribbons end where passages do, columns scroll together."""

from __future__ import annotations

import hashlib
import itertools
import json
import random
from pathlib import Path
from typing import Any

import pytest

import ibidem
from ibidem.columns.page_marks import with_page_marks
from tests.browser.conftest import HOSTILE, ROOT, Open, serious_findings, wait_until
from tests.texts import changed, render, text, word, words

N_PAIRS = 100
# Whether the chosen passage is seen in an element, and on the screen.
SEEN = """(selector) => {
  const pane = document.querySelector(selector);
  if (!pane) return false;
  const frame = pane.getBoundingClientRect();
  return [...pane.querySelectorAll('mark.chosen')].some((mark) => [...mark.getClientRects()].some((box) =>
    box.width > 0 && box.top >= Math.max(0, frame.top) - 1 && box.bottom <= Math.min(innerHeight, frame.bottom) + 1));
}"""
LEFT, RIGHT = ".panes section:nth-of-type(1) .text", ".panes section:nth-of-type(2) .text"


def mails(seed: int) -> list[dict[str, Any]]:
    """Mails that answer one another: headers, a few words of their own, quoted text at any place, footers."""
    chance = random.Random(seed)
    found: list[dict[str, Any]] = []
    footer = "\n-- \n" + text(900, 901)
    for number in range(90):
        own = [
            text(*(chance.randrange(200, 800) for _ in range(chance.randrange(1, 9)))) for _ in range(chance.randrange(1, 14))
        ]
        if found and chance.random() < 0.85:
            source = chance.choice(found)["text"].split("\n\n")
            some = source[chance.randrange(len(source)) :][: chance.randrange(1, 4)]
            quoted = "\n".join("> " + line if chance.random() < 0.5 else line for line in some)
            own.insert(chance.randrange(len(own) + 1), quoted)
        lines = f"From: {text(number % 40, count=2)}\nSubject: Re: {text(number % 7)}\n\n"
        found.append(
            {
                "id": f"<{number}.{chance.randrange(10**6)}@mail.example>",
                "time": f"2031-03-{1 + number // 9:02}T10:{chance.randrange(3):02}:00Z",
                "text": lines + "\n\n".join(own) + (footer if chance.random() < 0.5 else ""),
            }
        )
    return found


@pytest.fixture(scope="module")
def mail_report(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("mail") / "report.html"
    ibidem.find(mails(1)).to_html(path)
    return path.as_uri()


def some_pairs(page: Any, n_pairs: int) -> list[int]:
    numbers = page.evaluate("JSON.parse(document.getElementById('ibidem-data').textContent).pairs.map((pair) => pair.pair)")
    assert len(numbers) >= n_pairs
    return random.Random(7).sample(numbers, n_pairs)


def go(page: Any, report: str, address: str) -> None:
    page.evaluate("document.querySelector('.reading')?.setAttribute('data-old', '')")
    page.goto(f"{report}#{address}")
    page.wait_for_selector(".reading:not([data-old])")
    page.wait_for_selector("main:not([aria-busy])")


def test_the_match_is_seen_in_both_columns(open_page: Open, mail_report: str) -> None:
    with open_page(mail_report, viewport={"width": 1440, "height": 900}) as page:
        unseen = []
        for pair in some_pairs(page, N_PAIRS):
            go(page, mail_report, f"pair={pair}")
            unseen += [(pair, pane) for pane in (LEFT, RIGHT) if not page.evaluate(SEEN, pane)]
        assert unseen == []


def test_the_match_is_on_the_first_screen_of_a_telephone(open_page: Open, mail_report: str) -> None:
    with open_page(mail_report, viewport={"width": 390, "height": 844}) as page:
        unseen = []
        for pair in some_pairs(page, N_PAIRS):
            go(page, mail_report, f"pair={pair}")
            assert page.evaluate("window.scrollY") == 0
            if not page.evaluate(SEEN, ".single .text"):
                unseen.append(pair)
        assert unseen == []


# Every ribbon: where it is drawn, and where the words that it joins begin and end.
RIBBONS = """() => {
  const svg = document.querySelector('.ribbons'), frame = svg.getBoundingClientRect();
  const panes = [...document.querySelectorAll('.panes .text')];
  const marks = panes.map((pane) => [...pane.querySelectorAll('mark')]);
  return [...svg.querySelectorAll('path')].map((path) => {
    const [l0, , , r0, r1, , , l1] = path.getAttribute('d').match(/,(-?[\\d.]+)/g).map((found) => Number(found.slice(1)));
    const ends = marks.map((own) => {
      const boxes = own.filter((mark) => mark.dataset.in === path.dataset.in).flatMap((mark) => [...mark.getClientRects()]);
      return [boxes.map((box) => box.top - frame.top), boxes.map((box) => box.bottom - frame.top)];
    });
    return { drawn: [[l0, l1], [r0, r1]], ends };
  });
}"""

ENDS_MEET = """({ drawn, ends }) => drawn.every((bounds, side) => bounds.every((bound, end) =>
  ends[side][end].some((each) => Math.abs(each - bound) < 1.5)))"""


@pytest.mark.parametrize("scrolled", [0, 240])
def test_ribbons_end_where_passages_do(open_page: Open, mail_report: str, scrolled: int) -> None:
    with open_page(mail_report, viewport={"width": 1440, "height": 900}) as page:
        n_checked = 0
        for pair in some_pairs(page, 15):
            go(page, mail_report, f"pair={pair}")
            page.evaluate(f"document.querySelector('{LEFT}').scrollTop += {scrolled}")
            page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
            for ribbon in page.evaluate(RIBBONS):
                for (top, bottom), (tops, bottoms) in zip(ribbon["drawn"], ribbon["ends"], strict=True):
                    assert min(abs(top - each) for each in tops) < 1.5
                    assert min(abs(bottom - each) for each in bottoms) < 1.5
                    n_checked += 1
        assert n_checked >= 15


def two_long_texts() -> list[dict[str, Any]]:
    """Texts that share paragraphs, one of which was moved, with much of their own between them."""
    shared = [text(*range(10 * n, 10 * n + 6)) for n in range(8)]
    own = [[text(*range(300 + 100 * side + 9 * n, 309 + 100 * side + 9 * n)) for n in range(8)] for side in (0, 1)]
    moved = [*shared[1:7], shared[0], shared[7]]
    return [
        {"id": "long a", "text": "\n\n".join(part for each in zip(own[0], shared, strict=True) for part in each)},
        {
            "id": "long b",
            "text": "\n\n".join(part for each in zip(own[1], moved, strict=True) for part in (each[0] * 2, each[1])),
        },
    ]


@pytest.fixture(scope="module")
def long_report(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("long") / "report.html"
    ibidem.find(two_long_texts(), align=False).to_html(path)
    return path.as_uri()


# How far apart, in pixels, the nearest passage at the reader's eye is in both columns.
APART = f"""() => {{
  const panes = ['{LEFT}', '{RIGHT}'].map((each) => document.querySelector(each));
  const top = (pane, number) => pane.querySelector(`mark[data-in="${{number}}"]`).getBoundingClientRect().top - pane.getBoundingClientRect().top;
  const eye = panes[0].clientHeight * 0.2;
  const numbers = [...new Set([...panes[0].querySelectorAll('mark')].map((mark) => mark.dataset.in))];
  const near = numbers.filter((number) => Math.abs(top(panes[0], number) - eye) < 40);
  return near.map((number) => Math.abs(top(panes[0], number) - top(panes[1], number)));
}}"""  # noqa: E501


def test_columns_scroll_together(open_page: Open, long_report: str) -> None:
    with open_page(f"{long_report}#pair=0&passage=3", viewport={"width": 1440, "height": 900}) as page:
        n_near = 0
        for side in (LEFT, RIGHT):
            height = page.evaluate(f"document.querySelector('{side}').scrollHeight")
            before = None
            for top in range(0, height, 60):
                page.evaluate(f"document.querySelector('{side}').scrollTop = {top}")
                page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
                other = page.evaluate(f"document.querySelector('{LEFT if side == RIGHT else RIGHT}').scrollTop")
                assert before is None or other >= before - 1  # never backwards
                before = other
                if side == LEFT:
                    apart = page.evaluate(APART)
                    n_near += len(apart) > 0 and min(apart) < 60
            assert before is not None
            assert before > 0
        assert n_near >= 3


def test_moved_text_is_followed_as_long_as_it_is_near(open_page: Open, long_report: str) -> None:
    with open_page(f"{long_report}#pair=0&passage=1", viewport={"width": 1440, "height": 900}) as page:
        for by in (30, -30):
            page.evaluate(f"document.querySelector('{LEFT}').scrollTop += {by}")
            page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
            assert page.evaluate(SEEN, RIGHT)


def test_a_chosen_passage_is_in_the_address_and_keys_lead_on(open_page: Open, long_report: str) -> None:
    with open_page(f"{long_report}#pair=0", viewport={"width": 1440, "height": 900}) as page:
        n_passages = int(page.inner_text(".stepping .detail").split(" of ")[1].split(":")[0])
        assert n_passages >= 3
        seen = set()
        for _ in range(n_passages):
            before = page.url
            page.keyboard.press("n")
            wait_until(page, f"location.href !== {json.dumps(before)}")
            assert page.evaluate(SEEN, LEFT)
            assert page.evaluate(SEEN, RIGHT)
            seen.add(page.url)
        assert len(seen) == n_passages
        wanted = page.inner_text(".stepping .detail")
        page.reload()
        page.wait_for_selector("html[data-ready=true]")
        assert page.inner_text(".stepping .detail") == wanted
        page.keyboard.press("ArrowLeft")
        wait_until(page, f"document.querySelector('.stepping .detail').textContent !== {json.dumps(wanted)}")


def test_the_dot_plot_leads_to_a_passage(open_page: Open, long_report: str) -> None:
    with open_page(f"{long_report}#pair=0", viewport={"width": 1440, "height": 900}) as page:
        data = page.evaluate("JSON.parse(document.getElementById('ibidem-data').textContent)")
        first = data["passages"]["0"]["stretches"][0]
        box = page.query_selector(".dotplot").bounding_box()
        n_chars = [data["texts"][side]["n_chars"] for side in ("0", "1")]
        places = [(first[f"{side}_start"] + first[f"{side}_end"]) / 2 for side in "ab"]
        shares = [4 / 208 + place / n * 200 / 208 for place, n in zip(places, n_chars, strict=True)]
        page.mouse.click(box["x"] + box["width"] * shares[0], box["y"] + box["height"] * shares[1])
        wait_until(page, f"location.hash.endsWith('passage={first['passages'][0]}')")
        assert page.evaluate(SEEN, LEFT)
        assert page.evaluate(SEEN, RIGHT)


def test_equal_times_give_no_precedence(open_page: Open, tmp_path: Path) -> None:
    moments = {"equal": ("2031-01-02", "2031-01-02"), "later": ("2031-01-03", "2031-01-02"), "none": (None, None)}
    for name, times in moments.items():
        records = [
            {
                "id": f"{name} {k}",
                "group": f"Outlet {k}",
                "text": f"{text(1, 2, 3)} {text(40 + k)}",
                **({"time": time} if time else {}),
            }
            for k, time in enumerate(times)
        ]
        ibidem.find(records).to_html(tmp_path / f"{name}.html")
        with open_page(f"{(tmp_path / f'{name}.html').as_uri()}#pair=0") as page:
            said = page.inner_text("main")
            if name == "later":
                assert page.inner_text("h1").startswith("Outlet 0 repeated")
                assert "1 day later" in page.inner_text("h1").replace("24 hours", "1 day")
                assert page.inner_text(".panes section:nth-of-type(1) h2") == "later 1"
                assert page.query_selector_all(".panes .tag")[0].inner_text() == "first"
            else:
                assert page.inner_text("h1").startswith(f"“{name} 0” and “{name} 1” share")
                assert "first" not in [tag.inner_text() for tag in page.query_selector_all(".panes .tag")]
                assert "repeated" not in said
                assert "removed" not in said


def test_differences_are_in_one_column_on_a_telephone(open_page: Open, tmp_path: Path) -> None:
    before, after = (f"{text(1, 2, 3)} {middle} {text(4, 5, 6)}" for middle in (text(9, count=14), changed(9, count=14)))
    records = [{"id": "old", "time": "2031-01-01", "text": before}, {"id": "new", "time": "2031-01-02", "text": after}]
    ibidem.find(records).to_html(tmp_path / "report.html")
    with open_page(f"{(tmp_path / 'report.html').as_uri()}#pair=0", viewport={"width": 390, "height": 844}) as page:
        assert not page.is_visible(".panes")
        column = page.query_selector(".single .text")
        old, new = (each.split()[-1] for each in (text(9, count=14), changed(9, count=14)))
        assert [each.inner_text().strip() for each in column.query_selector_all("del")] == [old]
        assert [each.inner_text().strip() for each in column.query_selector_all("ins")] == [new]
        without = page.evaluate(
            "(e) => { const c = e.cloneNode(true); c.querySelectorAll('del').forEach((d) => d.remove()); return c.innerText; }",
            column,
        )
        assert without.split() == after.split()


def test_sixteen_hundred_passages_are_all_marked_and_open_at_once(open_page: Open, tmp_path: Path) -> None:
    n_passages = 1600
    record = {"title": None, "group": None, "time": None, "segments": [], "is_complete": True, "boilerplate": []}
    pieces = [text(n % 900, n % 37) for n in range(2 * n_passages)]
    whole, starts = "", []
    for piece in pieces:
        starts.append(len(whole))
        whole += piece + "\n"
    stretches = [
        {
            "number": n + 1, "passages": [n + 1], "a_start": starts[2 * n], "a_end": starts[2 * n] + len(pieces[2 * n]),
            "b_start": starts[2 * n], "b_end": starts[2 * n] + len(pieces[2 * n]), "similarity": 1.0, "kind": "exact",
            "family": None, "edits": [], "sentences": [], "is_compared": True,
        }
        for n in range(n_passages)
    ]  # fmt: skip
    sides = [
        {**record, "document": k, "id": name, "n_chars": len(whole), "segments": [{"start": 0, "text": whole}]}
        for k, name in enumerate("ab")
    ]
    ibidem.find(two_long_texts()).to_html(tmp_path / "report.html")
    with open_page(f"{(tmp_path / 'report.html').as_uri()}#pair=0", viewport={"width": 1440, "height": 900}) as page:
        took = page.evaluate(
            """([left, right, stretches]) => {
              const begun = performance.now();
              const made = ibidem.reading({ kind: "pair", left, right, stretches, base: null, shares: [0.5, 0.5], title: () => "" });
              document.querySelector(".view").replaceChildren(made.element);
              made.open(null);
              document.body.getBoundingClientRect();
              ibidem.far = made;
              return performance.now() - begun;
            }""",  # noqa: E501
            [*sides, stretches],
        )
        print("milliseconds", took)
        numbers = "new Set([...document.querySelectorAll('{} mark')].map((mark) => mark.dataset.in)).size"
        assert page.evaluate(numbers.format(LEFT)) == page.evaluate(numbers.format(RIGHT)) == n_passages
        # Only blocks near what is seen are laid out; the passage is seen all the same, and ribbons end where it does.
        blocks = f"[...document.querySelectorAll('{LEFT} .block')]"
        assert page.evaluate(f"{blocks}.map((each) => each.textContent).join('')") == whole
        for step in range(2):
            for pane in (LEFT, RIGHT):
                wait_until(page, f"({SEEN})('{pane}')")
            wait_until(page, f"({RIBBONS})().length > 0 && ({RIBBONS})().every({ENDS_MEET})")
            if not step:
                page.evaluate("ibidem.far.choose(ibidem.far.stretches[1500])")


def overlapping(seed: int) -> tuple[str, list[dict[str, Any]]]:
    chance = random.Random(seed)
    whole = text(1, 2, 3, count=3)
    spans = [sorted(chance.randrange(len(whole) + 1) for _ in range(2)) for _ in range(chance.randrange(12))]
    return whole, [{"id": k, "start": start, "end": end, "changes": []} for k, (start, end) in enumerate(spans)]


def test_pieces_cover_what_spans_cover_and_never_overlap(open_page: Open, long_report: str) -> None:
    with open_page(long_report) as page:
        for seed in range(60):
            _, spans = overlapping(seed)
            pieces = page.evaluate(
                "(spans) => ibidem.piecesOf(spans, []).map(({ start, end, all, span }) => "
                "({ start, end, shown: span.id, all: all.map(({ id }) => id) }))",
                spans,
            )
            reached = 0
            for piece in pieces:
                assert reached <= piece["start"] < piece["end"]
                reached = piece["end"]
                for place in range(piece["start"], piece["end"]):
                    inside = {span["id"] for span in spans if span["start"] <= place < span["end"]}
                    assert set(piece["all"]) == inside
                    assert piece["shown"] in inside
            covered = {place for span in spans for place in range(span["start"], span["end"])}
            assert sum(piece["end"] - piece["start"] for piece in pieces) == len(covered)


def test_the_way_that_columns_follow_weighs_most(open_page: Open, long_report: str) -> None:
    with open_page(long_report) as page:
        for seed in range(60):
            chance = random.Random(seed)
            items = [
                {"left": left, "right": chance.randrange(20), "weight": chance.randrange(1, 9)}
                for left in sorted(chance.sample(range(40), chance.randrange(1, 9)))
            ]
            way = page.evaluate("(items) => ibidem.alignment.inOrder(items, null)", items)
            best = 0
            for chosen in range(1 << len(items)):
                some = [item for k, item in enumerate(items) if chosen >> k & 1]
                if all(one["right"] < other["right"] for one, other in itertools.pairwise(some)):
                    best = max(best, sum(item["weight"] for item in some))
            assert sum(item["weight"] for item in way) == best


@pytest.fixture(scope="module")
def many_wordings(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A report with a family of 39 wordings."""
    path = tmp_path_factory.mktemp("wordings") / "report.html"
    records = []
    for n in range(39):
        own = [list(words(k, 14)) for k in range(12)]
        if n:  # one word of one sentence
            own[1 + n % 10][2 + n // 10] = word(9000 + n)
        records.append(
            {
                "id": f"copy {n}",
                "group": f"Outlet {n % 9}",
                "time": f"2031-01-{1 + n % 28:02}T0{n % 10}:00:00Z",
                "text": " ".join(map(render, own)),
            }
        )
    ibidem.find(records).to_html(path)
    return path.as_uri()


def widest(page: Any) -> int:
    """Return the number of the family with most wordings."""
    families = page.evaluate("JSON.parse(document.getElementById('ibidem-data').textContent).families")
    found = max(families, key=lambda each: len(each["variants"]))
    assert len(found["variants"]) >= 30
    return int(found["family"]["family"])


@pytest.mark.parametrize("width", [1440, 390])
def test_a_family_of_many_wordings_is_one_text(open_page: Open, axe: str, many_wordings: str, width: int) -> None:
    with open_page(many_wordings, viewport={"width": width, "height": 844}, bypass_csp=True) as page:
        number = widest(page)
        page.goto(f"{many_wordings}#family={number}")
        page.wait_for_selector(".collation .base")
        assert page.evaluate("document.documentElement.scrollHeight") < 7_000
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        page.wait_for_selector(".wordings-strip circle")
        assert page.query_selector(".descent li li") is not None
        assert len(page.query_selector_all(".descent details")) >= 30
        page.click(".variation >> nth=2")
        wait_until(page, "document.querySelector('.readings .chosen') !== null")
        assert serious_findings(page, axe) == []


def test_a_collation_gives_back_every_wording(open_page: Open, many_wordings: str) -> None:
    with open_page(many_wordings) as page:
        number = widest(page)
        given_back = page.evaluate(
            """(number) => {
              const data = JSON.parse(document.getElementById('ibidem-data').textContent);
              const { variants } = data.families.find((each) => each.family.family === number);
              const places = ibidem.collation.placesOf(variants);
              return variants.map((variant, at) => {
                let words = '', reached = 0;
                for (const place of places) {
                  const own = place.readings.find(({ wordings }) => wordings.includes(at));
                  words += variants[0].text.slice(reached, place.start) + ' ';
                  words += (own ? own.words : variants[0].text.slice(place.start, place.end)) + ' ';
                  reached = place.end;
                }
                return [words + variants[0].text.slice(reached), variant.text];
              });
            }""",
            number,
        )
        for made, wording in given_back:
            assert made.split() == wording.split()


@pytest.fixture(scope="module")
def two_texts(tmp_path_factory: pytest.TempPathFactory) -> str:
    from ibidem.viewer.comparison_page import comparison_page

    a, b = f"{text(50)} {text(*range(1, 9))} {text(51)}", f"{text(*range(1, 8))} {changed(8)} {text(60, 61)}"
    path = tmp_path_factory.mktemp("two") / "page.html"
    path.write_text(comparison_page(ibidem.compare(a, b), "left.txt", "right.txt", a, b, 25), "utf-8")
    return path.as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_the_page_of_two_texts(open_page: Open, axe: str, two_texts: str, width: int, scheme: str) -> None:
    with open_page(two_texts, viewport={"width": width, "height": 844}, color_scheme=scheme, bypass_csp=True) as page:
        assert page.inner_text("h1").startswith("“left.txt” and “right.txt” share")
        assert page.evaluate(SEEN, LEFT if width > 800 else ".single .text")
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert serious_findings(page, axe) == []


def test_nothing_shared_is_said(open_page: Open, tmp_path: Path) -> None:
    from ibidem.viewer.comparison_page import comparison_page

    (tmp_path / "page.html").write_text(comparison_page([], "left.txt", "right.txt", "one", "two", 25), "utf-8")
    with open_page((tmp_path / "page.html").as_uri()) as page:
        assert "left.txt and right.txt share no passage of 25 words or more" in page.inner_text("main")
        assert page.query_selector(".text mark") is None


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_texts_and_names_are_read_and_never_carried_out(open_page: Open, tmp_path: Path, hostile: str) -> None:
    from ibidem.viewer.comparison_page import comparison_page

    shared = f"{text(*range(10, 20))} {hostile} {text(4, 5, 6)}"
    page_text = comparison_page(ibidem.compare(shared, shared), f"a{hostile}", f"b{hostile}", shared, shared, 25)
    (tmp_path / "page.html").write_text(page_text, "utf-8")
    with open_page((tmp_path / "page.html").as_uri()) as page:
        assert page.evaluate("window.harmed") is None
        assert page.query_selector("main img, main iframe, main script, main a[href*=elsewhere], main a[href^=java]") is None
        shown = page.evaluate(f"document.querySelector('{LEFT}').textContent")
        assert text(4, 5, 6) in shown
        assert len(shown) == len(shared.encode("utf-16-le")) // 2


def test_writing_from_right_to_left_and_without_spaces(open_page: Open, tmp_path: Path) -> None:
    lines = (ROOT / "examples" / "newsroom" / "documents.jsonl").read_text("utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    arabic = "كان الحارس يعد السفن في الليل، ولم يكن أي منها يحمل مصباحا. كتب عددها في الدفتر الكبير. وفي الصباح اختفى الدفتر."
    rtl = [{"id": f"عربي {k}", "text": f"مقدمة رقم {k} هنا وحدها. {arabic} خاتمة {k} مختلفة تماما."} for k in (1, 2)]
    ibidem.find([*rtl, *records]).to_html(tmp_path / "report.html")
    address = (tmp_path / "report.html").as_uri()
    with open_page(address, viewport={"width": 1440, "height": 900}) as page:
        data = page.evaluate("JSON.parse(document.getElementById('ibidem-data').textContent)")
        beginnings = {number: text["segments"][0]["text"][:30] for number, text in data["texts"].items()}
        wanted = [p["pair"] for p in data["pairs"] if max(beginnings[str(p["a"]["document"])]) > "\u0600"]
        assert len(wanted) >= 3
        for pair in wanted:
            go(page, address, f"pair={pair}")
            assert page.evaluate(SEEN, LEFT)
            assert page.evaluate(SEEN, RIGHT)
            page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
            assert page.query_selector(".ribbon") is not None


def test_ignored_text_is_grey(open_page: Open, tmp_path: Path) -> None:
    law = "Whoever borrows a book returns it within four weeks of the day on which it was borrowed."
    (tmp_path / "law.txt").write_text(law, "utf-8")
    records = [{"id": name, "text": f"{text(50 + n)} {law} {text(1, 2, 3)} {text(60 + n)}"} for n, name in enumerate("ab")]
    report = tmp_path / "report.html"
    ibidem.find(records, ignore=str(tmp_path / "law.txt")).to_html(report)
    with open_page(f"{report.as_uri()}#pair=0", viewport={"width": 1440, "height": 900}) as page:
        page.wait_for_selector(".reading .ribbon")
        for pane in (LEFT, RIGHT):
            assert marked(page, f"{pane} .boilerplate") == law.rstrip(".")
            assert marked(page, f"{pane} mark") == text(1, 2, 3)
        assert page.inner_text(".meanings li:last-child") == "ignored"


RELEASE, ARTICLE = "meridian-wire/reservoir-level", "harbour-post/reservoir-level"
# The newspaper moved this from the end of a sentence to its beginning.
MOVED = "according to figures that the regional water office released in the afternoon"


@pytest.fixture(scope="module")
def moved_report(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, int]:
    """The report of the two, and the number of their pair."""
    path = tmp_path_factory.mktemp("moved") / "report.html"
    lines = (ROOT / "examples" / "newsroom" / "documents.jsonl").read_text("utf-8").splitlines()
    records = [record for record in map(json.loads, lines) if record["id"] in (RELEASE, ARTICLE)]
    ibidem.find(records, align=True).to_html(path)
    return path.as_uri(), 0


def marked(page: Any, selector: str) -> str:
    """The words that a selector finds, as one line, without the labels of marks."""
    words_ = "(selector) => [...document.querySelectorAll(selector)].map((each) => each.textContent).join(' ')"
    return " ".join(page.evaluate(words_, selector).split())


def test_moved_words_are_neither_removed_nor_added(open_page: Open, moved_report: tuple[str, int], axe: str) -> None:
    with open_page(
        f"{moved_report[0]}#pair={moved_report[1]}", viewport={"width": 1440, "height": 900}, bypass_csp=True
    ) as page:
        page.wait_for_selector(".ribbon.moved")
        for pane in (LEFT, RIGHT):
            assert marked(page, f"{pane} mark.moved").casefold().rstrip(".,") == MOVED
            assert "figures" not in marked(page, f"{pane} :is(.removed, .added)")
        assert page.inner_text("h1").endswith("edited and one part moved")
        assert page.query_selector(".meanings .moved") is not None
        assert serious_findings(page, axe) == []
        # The mark leads to the other place: there, its words are at the reader's eye.
        page.click(f"{LEFT} .moved-mark")
        place = f"document.querySelector('{RIGHT} mark.moved').getBoundingClientRect()"
        pane = f"document.querySelector('{RIGHT}').getBoundingClientRect()"
        wait_until(page, f"{place}.top >= {pane}.top - 1 && {place}.top < {pane}.bottom")


def test_moved_words_on_a_telephone_and_in_evidence(open_page: Open, moved_report: tuple[str, int]) -> None:
    with open_page(f"{moved_report[0]}#pair={moved_report[1]}", viewport={"width": 390, "height": 844}) as page:
        page.wait_for_selector(".single .text")
        assert marked(page, ".single mark.moved").casefold().rstrip(".,") == MOVED
        assert "moved" in page.inner_text(".single .moved-mark")
        assert "figures" not in marked(page, ".single :is(.removed, .added)")
        page.click("text=Evidence")
        assert marked(page, ".paper .moved").casefold().count(MOVED) == 2
        assert "figures" not in marked(page, ".paper td u")
        page.click(".paper-tools >> text=Close")
        page.goto(f"{moved_report[0]}#overview")
        page.wait_for_selector(".story .words")
        assert "figures" not in marked(page, ".story .words :is(del, ins)")
        assert marked(page, ".story .words .moved").casefold().count(MOVED) == 2
        assert "1 part moved" in page.inner_text(".story-facts")


def test_evidence_of_stories_and_families_says_where_and_in_what_text(open_page: Open, moved_report: tuple[str, int]) -> None:
    lines = (ROOT / "examples" / "newsroom" / "documents.jsonl").read_text("utf-8").splitlines()
    texts = {record["id"]: record["text"] for record in map(json.loads, lines)}
    digests = [hashlib.sha256(texts[name].encode()).hexdigest() for name in (RELEASE, ARTICLE)]
    with open_page(f"{moved_report[0]}#overview") as page:
        page.wait_for_selector(".story")
        page.click(".story-actions >> text=Evidence")
        assert [row.inner_text() for row in page.query_selector_all(".paper-places code")] == digests
        assert page.inner_text(".paper-places tbody tr:first-child td:nth-child(4)").startswith("characters ")
        page.click(".paper-tools >> text=Close")
        with page.expect_download() as download:
            page.click(".story-actions >> text=SVG")
        drawn = Path(download.value.path()).read_text("utf-8")
        assert all(digest in drawn for digest in digests)
        page.click(".story-actions >> text=Wordings")
        page.wait_for_selector(".collation")
        page.click(".reading-actions >> text=Evidence")
        assert [row.inner_text() for row in page.query_selector_all(".paper-places code")] == digests


def test_pages_are_named_wherever_a_passage_is(open_page: Open, tmp_path: Path) -> None:
    shared = text(*range(1, 7))
    paged = with_page_marks([text(60, 61), text(62), f"{text(63)} {shared}", text(64)])
    report = tmp_path / "report.html"
    ibidem.find([{"id": "book", "text": paged}, {"id": "note", "text": f"{shared} {text(70)}"}]).to_html(report)
    with open_page(f"{report.as_uri()}#pair=0", viewport={"width": 1440, "height": 900}) as page:
        page.wait_for_selector(".stepping .detail:not(:empty)")
        assert "p. 3 / –" in page.inner_text(".detail")
        page.click("text=Positions")
        assert page.inner_text(".positions tbody td:nth-of-type(2)").startswith("p. 3: ")
        page.click("text=Evidence")
        assert "p. 3, characters" in page.inner_text(".paper")
        page.click(".paper-tools >> text=Close")
        page.goto(f"{report.as_uri()}#families")
        page.click(".excerpt")
        page.wait_for_selector(".members")
        assert "p. 3, characters" in page.inner_text(".collation")


@pytest.mark.parametrize("width", [390, 1440])
def test_the_strip_of_a_family_can_be_read(open_page: Open, tmp_path: Path, width: int) -> None:
    """Forty places, many at equal or close times: every label is at least 11 pixels high, and no two overlap."""
    moments = [0, 0, 0, 20, 25, 30, 3600, 3605, 86_400, 86_401, *(90_000 + n for n in range(30))]
    records = [
        {"id": f"d{n}", "time": 1_900_000_000 + moment, "text": f"{text(200 + n)} {text(1, 2, 3)} {changed(4, n % 4)}"}
        for n, moment in enumerate(moments)
    ]
    report = tmp_path / "report.html"
    ibidem.find(records, align=True).to_html(report)
    with open_page(f"{report.as_uri()}#families", viewport={"width": width, "height": 900}) as page:
        page.click(".excerpt")
        page.wait_for_selector(".wordings-strip")
        boxes = page.evaluate(
            "[...document.querySelectorAll('.wordings-strip text')].map((each) => each.getBoundingClientRect().toJSON())"
        )
        assert min(box["height"] for box in boxes) >= 11
        for one, other in itertools.combinations(boxes, 2):
            apart = one["right"] <= other["left"] or other["right"] <= one["left"]
            assert apart or one["bottom"] <= other["top"] + 2 or other["bottom"] <= one["top"] + 2
        dots = page.evaluate("document.querySelectorAll('.wordings-strip circle').length")
        assert 4 <= dots < len(records)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_reference_is_on_the_left_and_kinds_of_changes_are_named(open_page: Open, tmp_path: Path) -> None:
    shared = text(*range(1, 6))
    essay = {"id": "course/essays/essay", "time": "2031-01-01", "text": f"{shared} It cost 4500 crowns. {text(6, 7)}"}
    source = {"id": "course/sources/source", "time": "2031-02-01", "text": f"{shared} It cost 4200 crowns. {text(6, 7)}"}
    report = tmp_path / "report.html"
    ibidem.find([essay], against=[source], align=True).to_html(report)
    with open_page(f"{report.as_uri()}#pair=0", viewport={"width": 1440, "height": 900}) as page:
        page.wait_for_selector(".reading .ribbon")
        names = [each.inner_text() for each in page.query_selector_all(".panes h2")]
        assert names == ["sources/source", "essays/essay"]  # without the folder that both are in
        assert "reference" in page.inner_text(".panes section:nth-of-type(1) header")
        assert page.inner_text(f"{LEFT} .removed").strip() == "4200"
        assert page.inner_text(f"{RIGHT} .added").strip() == "4500"
        assert "number changed" in page.get_attribute(f"{RIGHT} .added", "title")
        assert "1 number" in page.inner_text(".below .lead")


def test_without_times_a_document_shares_text_with_its_reference(open_page: Open, tmp_path: Path) -> None:
    essay = {"id": "essay", "text": f"{text(*range(20, 40))} {text(1, 2, 3)}"}
    source = {"id": "source", "text": text(*range(1, 8))}
    report = tmp_path / "report.html"
    ibidem.find([essay], against=[source]).to_html(report)
    with open_page(f"{report.as_uri()}#pair=0", viewport={"width": 1440, "height": 900}) as page:
        page.wait_for_selector(".reading .ribbon")
        assert page.inner_text("h1") == "“essay” shares one passage with “source”, word for word"
    with open_page(f"{report.as_uri()}#flow", viewport={"width": 1440, "height": 900}) as page:
        page.wait_for_selector(".network canvas")
        assert "Arrows lead from the reference to what was compared with it." in page.inner_text(".lead")
        row = page.eval_on_selector_all("table tbody tr td", "cells => cells.map((cell) => cell.textContent)")
        assert (row[0], row[1], row[4]) == ("source", "essay", "left is the reference")
