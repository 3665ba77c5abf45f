"""What a study leaves behind: its tables, plots and verdicts, with the command, the versions and the machine they come from.

A study is a script. It makes a `Study`, adds tables (which are printed at once), plots and verdicts to it, and writes it: a
page, `docs/evidence/NAME.md`, its plots beside it, and `NAME.json`, from which `page.py` makes the overview.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert

ROOT = Path(__file__).resolve().parent.parent
EVIDENCE = ROOT / "docs" / "evidence"
VERDICTS = ("reproduced", "in shape", "in part", "contradicted", "not available")
MISSING = 3  # exit code of a study whose collections are missing
_PLACES = ("--data", "--out", "--work")  # options that do not change what is measured
_VERSIONS = ("ibidem", "numpy", "numba", "pyarrow")
_FONT = "system-ui, sans-serif"


@dataclass
class Study:
    """A study of one paper, or of several tools. `about` says what is done, on what, and what replaces what is missing."""

    name: str
    title: str
    about: str
    out: Path = EVIDENCE
    parts: list[dict[str, Any]] = field(default_factory=list)
    begun: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        trial = [word for word in sys.argv[1:] if word.startswith("--") and word.split("=")[0] not in _PLACES]
        if trial and self.out.resolve() == EVIDENCE:
            sys.exit(f"With {', '.join(trial)} the study is only tried, and is no evidence: give another folder with --out.")

    def table(self, key: str, title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], note: str = "") -> None:
        """Add a table, and print it."""
        cells = [[shown(value) for value in row] for row in rows]
        part = {"kind": "table", "key": key, "title": title, "columns": list(columns), "rows": cells, "note": note}
        self.parts.append(part)
        print(f"\n{title}\n\n{markdown_table(part)}", flush=True)

    def plot(self, key: str, title: str, chart: alt.TopLevelMixin) -> None:
        """Add a plot; its title says what it shows to those who cannot see it."""
        self.out.mkdir(parents=True, exist_ok=True)
        path = self.out / f"{self.name}-{key}.svg"
        styled = chart.configure(font=_FONT, background="white").configure_axis(labelFontSize=11, titleFontSize=12)
        path.write_text(vl_convert.vegalite_to_svg(styled.to_json()) + "\n", "utf-8")
        self.parts.append({"kind": "plot", "key": key, "title": title, "file": path.name})

    def verdict(self, of: str, verdict: str, words: str, data: str = "") -> None:
        """Say of a table, figure or claim of a paper whether it was reproduced, and by which evidence.

        `data` names the collections, says what is planted in them and what was fitted to the paper, and how many cases decide.
        """
        assert verdict in VERDICTS, verdict
        self.parts.append({"kind": "verdict", "of": of, "verdict": verdict, "words": words, "data": data})
        print(f"\n{of}: {verdict}. {words} ({data})", flush=True)

    def judge(self, of: str, holds: bool | Sequence[bool], words: str, data: str = "") -> None:
        """Say of a claim whether it holds, or of its parts, here: on other data than the paper's."""
        parts = list(holds) if isinstance(holds, Sequence) else [holds]
        self.verdict(of, "in shape" if all(parts) else "in part" if any(parts) else "contradicted", words, data)

    def write(self) -> None:
        """Write the page and the data of the study."""
        self.out.mkdir(parents=True, exist_ok=True)
        record = {
            "name": self.name,
            "title": self.title,
            "about": " ".join(self.about.split()),
            "command": f"python studies/{Path(sys.argv[0]).name} --data DIR",
            "seconds": round(time.perf_counter() - self.begun),
            "processor_seconds": round(sum(os.times()[:4])),  # of this process and those it has waited for
            "machine": machine(),
            "parts": self.parts,
        }
        (self.out / f"{self.name}.json").write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", "utf-8")
        (self.out / f"{self.name}.md").write_text(study_page(record), "utf-8")
        print(f"\nwritten: {self.out / self.name}.md", flush=True)


def study_page(record: Mapping[str, Any]) -> str:
    """Return the page of a study as Markdown."""
    processor = f" ({record['processor_seconds']} s of processor time)" if "processor_seconds" in record else ""
    made = f"Made by `{record['command']}` in {record['seconds']} s{processor} on {record['machine']}."
    lines = [f"# {record['title']}", "", record["about"], "", made, ""]
    verdicts = [part for part in record["parts"] if part["kind"] == "verdict"]
    if verdicts:
        lines += ["| of the paper | here | evidence | data |", "|---|---|---|---|"]
        lines += [f"| {part['of']} | {part['verdict']} | {part['words']} | {part['data']} |" for part in verdicts] + [""]
    for part in record["parts"]:
        if part["kind"] == "table":
            lines += [f"## {part['title']}", "", markdown_table(part), ""]
            lines += [part["note"], ""] if part["note"] else []
        elif part["kind"] == "plot":
            lines += [f"![{part['title']}]({part['file']})", ""]
    return "\n".join(lines)


def markdown_table(part: Mapping[str, Any]) -> str:
    """Return a table of a study as Markdown."""
    rows = [part["columns"], ["---"] * len(part["columns"]), *part["rows"]]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def shown(value: Any) -> str:
    """Return a cell: shares with three digits, whole numbers with commas, anything else as it is."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: ""}[value]
    if isinstance(value, int) or (hasattr(value, "dtype") and value.dtype.kind in "iu"):
        return f"{int(value):,}"
    if isinstance(value, float) or hasattr(value, "dtype"):
        return f"{float(value):.3f}" if abs(value) < 10 else f"{float(value):,.1f}"
    return str(value)


def machine() -> str:
    """Return the versions and the machine in words."""
    model = platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
        model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), model)
    except OSError:
        pass
    gigabytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    versions = ", ".join(f"{name} {version(name)}" for name in _VERSIONS)
    return f"{model}, {os.cpu_count()} cores, {gigabytes:.0f} GB; Python {platform.python_version()}, {versions}"


def study_options(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options of all studies."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", help="folder with the real collections")
    parser.add_argument("--out", type=Path, default=EVIDENCE, help="folder for tables and plots")
    return parser


def require(folder: str | None, *names: str) -> Path:
    """Return the folder of the collections; end the study with the exit code MISSING, saying so, if a file is not there."""
    if folder is None:
        print("This study needs real collections: give their folder with --data DIR.", file=sys.stderr)
        sys.exit(MISSING)
    path = Path(folder)
    missing = [name for name in names if not (path / name).exists()]
    if missing:
        print(f"{path} does not contain {', '.join(missing)}: nothing was measured.", file=sys.stderr)
        sys.exit(MISSING)
    return path
