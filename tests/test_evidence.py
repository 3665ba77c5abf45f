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
    "qSign": ("table 1", "table 2", *(f"figure {k}" for k in (6, 7, 8, 10, 11, 12, 13))),
    "Fingerprints": ("table 1", "table 2", "figure 5", "figure 6", "figure 7"),
    "Sampling": ("tables 1 and 2", "figure 1", "table 3", "figure 2", "figure 3", "figure 4"),
}

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the studies have not been run")


def test_the_page_is_made_of_what_the_studies_left() -> None:
    done = subprocess.run([sys.executable, str(ROOT / "studies" / "page.py"), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr or "run studies/page.py"


def test_links_lead_somewhere() -> None:
    text = PAGE.read_text("utf-8")
    links = re.findall(r"\]\(([^)#:]+)\)", text)
    assert links
    assert [link for link in links if not (PAGE.parent / link).exists()] == []


@pytest.mark.parametrize("paper", PAPERS)
def test_every_table_and_figure_has_its_row(paper: str) -> None:
    records = (json.loads(path.read_text("utf-8")) for path in (PAGE.parent / "evidence").glob("*.json"))
    of = [part["of"] for record in records for part in record["parts"] if part["kind"] == "verdict"]
    told = " ".join(name.lower() for name in of if name.startswith(f"{paper}, "))
    assert [name for name in PAPERS[paper] if name not in told] == []
