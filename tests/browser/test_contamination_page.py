"""The page of `decontaminate --report`, on a screen and on a phone."""

from pathlib import Path

import pytest

import ibidem
from tests.browser.conftest import Open, serious_findings
from tests.texts import text

BAD = "<img src=x onerror=alert(1)>"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
def test_items_are_listed_with_their_places(open_page: Open, axe: str, tmp_path: Path, width: int, scheme: str) -> None:
    quiz = [{"id": n, "question": text(n, n + 1) + (BAD if n == 2 else ""), "answer": "yes"} for n in range(0, 6, 2)]
    pages = [{"id": f"page/{n}{BAD}", "text": f"{text(50 + n)} {quiz[n // 2]['question']}"} for n in (0, 2)]
    path = ibidem.decontaminate(pages, {f"quiz{BAD}": quiz}).to_html(tmp_path / "page.html")
    viewport = {"width": width, "height": 844}
    with open_page(path.as_uri(), ready="main", viewport=viewport, color_scheme=scheme) as page:
        assert page.inner_text(".lead").startswith("2 of 3 benchmark items found; 2 documents and")
        items = page.eval_on_selector_all("li", "all => all.map((each) => each.innerText)")
        assert len(items) == 2
        for item, n in zip(items, (0, 2), strict=True):
            assert f"quiz{BAD} · {n} · question" in item
            assert f"page/{n}{BAD} [" in item
            assert " ".join(quiz[n // 2]["question"].split()) in item
        rows = page.eval_on_selector_all("tbody tr", "all => all.map((row) => [...row.cells].map((cell) => cell.textContent))")
        assert rows[0][:3] == [f"quiz{BAD}", "3", "2"]
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert serious_findings(page, axe) == []
