"""Makes docs/evidence.md, the page that shows all studies at once, and a page per paper in docs/papers, from what the studies
left in docs/evidence.

Their text is in page.md and papers/*.md; tables, plots, verdicts and single cells are taken from the studies:

    {table NAME.KEY}                 a table with its title and its note
    {plot NAME.KEY}                  a plot
    {verdicts PAPER}                 the rows of one paper: what it claims, what came out, and the evidence
    {cell NAME.KEY | ROW | COLUMN}   a cell, by its row's first cell, a version after it aside, and its column
    {count VERDICT}                  how many rows have this verdict
    {counts PAPER}                   how many rows of one paper have which verdict
    {preset NAME}                    how `--as NAME` runs a paper: commands, settings and rules, from the reference
    {studies}                        all studies, their commands and their times
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

from evidence import EVIDENCE, VERDICTS, markdown_table

PAGE = EVIDENCE.parent / "evidence.md"
TEMPLATE = Path(__file__).with_name("page.md")
PAPERS = EVIDENCE.parent / "papers"
PAPER_TEMPLATES = Path(__file__).with_name("papers")
REFERENCE = EVIDENCE.parent / "reference" / "papers.md"
_MARK = re.compile(r"\{(table|plot|verdicts|cell|counts|count|preset|studies)((?: [^{}]*)?)\}")


class Evidence:
    """What all studies have left."""

    def __init__(self, folder: Path, to_folder: str = "evidence") -> None:
        self.to_folder = to_folder  # from the page to the studies
        self.studies: dict[str, dict[str, Any]] = {}
        for path in sorted(folder.glob("*.json")):
            record = json.loads(path.read_text("utf-8"))
            self.studies[record["name"]] = record

    def part(self, kind: str, name: str) -> dict[str, Any]:
        """Return a table or plot, by the names of the study and of the part."""
        study, key = name.split(".")
        parts = self.studies[study]["parts"]
        found: dict[str, Any] = next(part for part in parts if part["kind"] == kind and part["key"] == key)
        return found

    def cell(self, name: str, row: str, column: str) -> str:
        """Return a cell of a table."""
        table = self.part("table", name)
        cells: list[str] = next(cells for cells in table["rows"] if re.sub(r" \d[\d.]*( |$)", r"\1", cells[0]) == row)
        return cells[table["columns"].index(column)]

    def verdicts(self, paper: str) -> str:
        """Return what became of a paper's tables, figures and claims, with links to the studies."""
        rows = ["| of the paper | here | evidence | data | command |", "|---|---|---|---|---|"]
        for name, study in self.studies.items():
            for part in study["parts"]:
                if part["kind"] == "verdict" and part["of"].startswith(f"{paper}, "):
                    of = part["of"].removeprefix(f"{paper}, ")
                    words = f"{part['words']} ([study]({self.to_folder}/{name}.md))"
                    rows.append(f"| {of} | **{part['verdict']}** | {words} | {part.get('data', '')} | `{study['command']}` |")
        return "\n".join(rows)

    def claims(self, verdict: str) -> list[str]:
        """Return what has a verdict."""
        parts = [part for study in self.studies.values() for part in study["parts"]]
        return [part["of"] for part in parts if part["kind"] == "verdict" and part["verdict"] == verdict]

    def counts(self, paper: str) -> str:
        """Return how many rows of a paper have which verdict."""
        numbers = {each: sum(of.startswith(f"{paper}, ") for of in self.claims(each)) for each in VERDICTS}
        return ", ".join(f"{number} {each}" for each, number in numbers.items() if number)

    def list_studies(self) -> str:
        """Return all studies with their commands."""
        rows = ["| study | command | time | processor time |", "|---|---|---|---|"]
        for name, study in self.studies.items():
            processor = f"{study['processor_seconds']} s" if "processor_seconds" in study else ""
            title = f"[{study['title']}]({self.to_folder}/{name}.md)"
            rows.append(f"| {title} | `{study['command']}` | {study['seconds']} s | {processor} |")
        total = sum(study["seconds"] for study in self.studies.values())
        machines = sorted({study["machine"] for study in self.studies.values()})
        return "\n".join([*rows, f"| together | | {total / 60:.0f} min | |", "", f"On {'; on '.join(machines)}."])

    def fill(self, template: str) -> str:
        """Return the page: the text with everything in its place."""

        def put(match: re.Match[str]) -> str:
            kind, told = match[1], match[2].strip()
            if kind == "table":
                table = self.part("table", told)
                return "\n\n".join(piece for piece in (f"**{table['title']}**", markdown_table(table), table["note"]) if piece)
            if kind == "plot":
                plot = self.part("plot", told)
                return f"![{plot['title']}]({self.to_folder}/{plot['file']})"
            if kind == "verdicts":
                return self.verdicts(told)
            if kind == "cell":
                name, row, column = (piece.strip() for piece in told.split("|"))
                return self.cell(name, row, column)
            if kind == "counts":
                return self.counts(told)
            if kind == "preset":
                return preset(told)
            if kind == "count":
                return str(len(self.claims(told)))
            return self.list_studies()

        return _MARK.sub(put, template)


def preset(name: str) -> str:
    """Return the section of a paper in the reference, without its heading."""
    sections = re.split(r"^## ", REFERENCE.read_text("utf-8"), flags=re.MULTILINE)
    return next(section.split("\n", 1)[1].strip() for section in sections if section.startswith(f"{name}\n"))


def main() -> None:
    """Write the page, or with --check say whether it is what the studies have left."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 if the page is another one")
    options = parser.parse_args()
    pages = {PAGE: Evidence(EVIDENCE).fill(TEMPLATE.read_text("utf-8"))}
    of_papers = Evidence(EVIDENCE, "../evidence")
    for template in sorted(PAPER_TEMPLATES.glob("*.md")):
        pages[PAPERS / template.name] = of_papers.fill(template.read_text("utf-8"))
    if options.check:
        sys.exit(any(not path.exists() or path.read_text("utf-8") != page for path, page in pages.items()))
    PAPERS.mkdir(exist_ok=True)
    for path, page in pages.items():
        path.write_text(page, "utf-8")
        print(f"written: {path}")


if __name__ == "__main__":
    main()
