"""The page of evidence is what the studies have left, and says what became of every table and figure of the papers."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "evidence.md"
# Tables and figures with figures in them; the others are drawings of systems and examples.
PAPERS = {
    "PDC-MR": ("table 1", "table 2", "table 3", "figures 6 and 9", "figure 7", "figure 8", "figure 10", "figure 11"),
    "SWLR": ("figure 1", "figure 2"),
    "qSign": (
        "table 1: news",
        "table 1: the blogs",
        "table 2: recall",
        "table 2: candidates",
        "table 2: most matches",
        *(f"figure {k}" for k in (6, 7, "8a", "8b", 10, 11, 12, 13)),
        "figures 8a and 9 a to c",
        "figures 8b and 9 d to f",
        "abstract",
        "1.1:",
        "2.1.2: false positives",
        "2.1.2: l is the least",
        "3.2.2",
    ),
    "Fingerprints": (
        "table 1",
        *(
            f"{what}, {language}"
            for what in ("table 2", "figure 5", "figure 6", "figure 7")
            for language in ("korean", "english")
        ),
        *(f"section {k}, {language}" for k in ("1", "2", "3.1") for language in ("korean", "english")),
        "table 2 and section 4",
        "section 2: time is linear",
        "bags of words",
    ),
    "Sampling": (
        *(f"table {k}" for k in (1, 2, 3)),
        *(f"figure {k}" for k in (1, 2, "2(b)", 3, 4)),
        *(f"section {k}" for k in (1, 2.1, 3.1, 4.3, 4.4, 5.1, 5.2, 5.3, 6, 7)),
    ),
}

# Claims in the text of the papers, beside their tables and figures.
CLAIMS = {
    "PDC-MR": (
        "section 1: sentences also find", "section 1: hundreds of millions", "section 4.1.1", "section 4.1.2", "section 4.1.3",
        "section 4.2", "section 5.2", "section 5.3: oracle sets", "section 5.3: 4-shingles are best", "section 5.3: robust",
        "section 5.3: at 0.4", "section 5.4: γ", "section 5.4: most duplications", "section 5.4: partial duplicates are common",
        "section 5.4: partial duplicates are short",
    ),
    "SWLR": (
        "section 1: without the filter", "section 1: simhash", "section 3: two", "o(mn)", "section 4",
        "section 5: the filter", "section 5: efficient",
    ),
}  # fmt: skip
# Studies whose rows all name their data: collections, what is planted or fitted, how many cases decide.
WITH_DATA = ("fingerprints", "levels", "qsign", "qsign_disk", "restaurants", "sampling", "signatures")

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the studies have not been run")


def test_the_page_is_made_of_what_the_studies_left() -> None:
    done = subprocess.run([sys.executable, str(ROOT / "studies" / "page.py"), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr or "run studies/page.py"


@pytest.mark.parametrize("page", [PAGE, *sorted((PAGE.parent / "papers").glob("*.md"))], ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text("utf-8")
    links = re.findall(r"\]\(([^)#:]+)\)", text)
    assert links
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", sorted((PAGE.parent / "papers").glob("*.md")), ids=lambda page: page.stem)
def test_pages_of_papers_name_tests_that_there_are(page: Path) -> None:
    text = page.read_text("utf-8")
    for path, rest in re.findall(r"`(tests/[\w/.]+)`([^|\n]*)", text):
        assert (ROOT / path).exists(), path
        for name in re.findall(r"`(test_\w+)`", rest):
            assert f"def {name}(" in (ROOT / path).read_text("utf-8"), name


@pytest.mark.parametrize("paper", PAPERS)
def test_every_table_and_figure_has_its_row(paper: str) -> None:
    records = (json.loads(path.read_text("utf-8")) for path in (PAGE.parent / "evidence").glob("*.json"))
    of = [part["of"] for record in records for part in record["parts"] if part["kind"] == "verdict"]
    told = " ".join(name.lower() for name in of if name.startswith(f"{paper}, "))
    assert [name for name in (*PAPERS[paper], *CLAIMS.get(paper, ())) if name not in told] == []


@pytest.mark.parametrize("study", WITH_DATA)
def test_every_row_names_its_data(study: str) -> None:
    parts = json.loads((PAGE.parent / "evidence" / f"{study}.json").read_text("utf-8"))["parts"]
    verdicts = [part for part in parts if part["kind"] == "verdict"]
    assert verdicts
    assert [part["of"] for part in verdicts if len(part.get("data", "").split()) < 5] == []


def test_the_tests_that_a_page_names_exist() -> None:
    named = [
        (file, test)
        for page in (PAGE.parent / "papers").glob("*.md")
        for file, tests in re.findall(r"`(tests/[\w/]+\.py)`((?:(?:, | and )`test_\w+`)*)", page.read_text("utf-8"))
        for test in re.findall(r"test_\w+", tests) or [""]
    ]
    assert named
    assert [(file, test) for file, test in named if f"def {test}" not in (ROOT / file).read_text("utf-8")] == []


@pytest.mark.parametrize("page", ["README.md", "docs/measurements.md"])
def test_the_figures_of_other_tools_are_those_of_the_study(page: str) -> None:
    parts = json.loads((PAGE.parent / "evidence" / "peers.json").read_text("utf-8"))["parts"]
    tables = {part["key"]: part for part in parts if part["kind"] == "table"}

    def cell(key: str, tool: str, column: str) -> str:
        row = next(row for row in tables[key]["rows"] if row[0].lower().replace(",", "") == tool)
        return str(row[tables[key]["columns"].index(column)])

    rows = (ROOT / page).read_text("utf-8").split("| | whole documents: time |")[1].split("\n\n")[0].splitlines()[2:]
    assert len(rows) > 3
    for row in rows:
        name, seconds, megabytes, precision, recall, reported, located = (piece.strip() for piece in row.split("|")[1:-1])
        tool = re.sub(r" \(.*|[`,]", "", name).lower()
        if seconds:
            told = [seconds, megabytes, precision, recall]
            units = ("{} s", "{} MB", "{}", "{}")
            columns = ("seconds", "MB", "precision", "recall")
            found = [unit.format(cell("documents", tool, column)) for unit, column in zip(units, columns, strict=True)]
            assert told == [figure.replace("1.000", "1").removeprefix("0") for figure in found], name
        column = "true passages whose pair is reported"
        assert reported == cell("mail_list-pairs", tool, column).removeprefix("0"), name
        assert located in ("", cell("mail_list-pairs", tool, "characters located").removeprefix("0")), name
