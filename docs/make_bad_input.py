"""Writes docs/operations/bad-input.md: makes each bad input, runs ibidem on it and a good file, and shows what a user sees."""

from __future__ import annotations

import io
import json
import os
import stat
import sys
import tempfile
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any, NamedTuple

from ibidem.cli.main import main

sys.path.insert(0, str(Path(__file__).parent))

from bad_input_cases import SECTIONS, Case

PAGE = Path(__file__).parent / "operations" / "bad-input.md"
_MAX_LISTED = 4
_GOOD_DOCUMENTS = 2
HEAD = """# Bad input

What ibidem does with files that are damaged, mistaken or hostile. Each input below is read together with one good file of two
documents (`ibidem find good.jsonl bad… -o out`, or another verb where it says so). What cannot be used is left out and
reported: in short on the terminal, one by one in `skipped.jsonl`, with file, position (a line in JSON lines and CSV, otherwise
a record; none if it concerns the whole file) and reason. The rest is used: *documents* counts the documents of the bad input
that are. A run ends with exit code 3 only if nothing is left to work on, if a named input does not exist, if an id appears
twice, or with `--strict`. Exit codes: 0 done, 2 usage, 3 input, 4 index, 5 resources, 130 interrupted.

A record (a line, a row, a page, a text file) may be 1 GiB long; longer ones are left out without ever being completely in
memory. A file may expand to 1,000 times its size, a small one to 100 MB; the rest is left out. In CSV, a row of many lines and
more than 128 MB counts as an unclosed quotation mark. File names are shown with `\\n`, `\\x1b` and the like for line
breaks, control characters and bytes that are not UTF-8, and `dedup` names their copies the same way.
This page is made by `python docs/make_bad_input.py`.
"""


class Seen(NamedTuple):
    """What a user sees of a run: the exit code, how many documents of the bad input were used, and the message."""

    exit_code: int
    n_documents: int | None
    told: list[str]


def call(arguments: list[str], folder: Path) -> tuple[int, str]:
    """Run the command in a folder, as a shell would; return its exit code and what it says."""
    here, words, code = os.getcwd(), sys.argv, 0
    with redirect_stderr(io.StringIO()) as said:
        try:
            os.chdir(folder)
            sys.argv = ["ibidem", *arguments]
            main()
        except SystemExit as end:
            code = int(end.code or 0)
        finally:
            os.chdir(here)
            sys.argv = words
    return code, said.getvalue().encode("utf-8", "backslashreplace").decode()


def see(case: Case, folder: Path) -> Seen:
    """Make a case in an empty folder, run it, and return what is seen."""
    arguments = case.make(folder)
    try:
        code, said = call(arguments, folder)
    finally:
        _allow_removal(folder)
    if "Traceback" in said:
        raise AssertionError(f"{case.title}: {said}")
    if code:
        lines = said.replace(str(folder), "…").strip().splitlines()
        return Seen(code, None, [line for line in lines if not line.startswith("Usage:") and not line.startswith("Try ")])
    skipped = [json.loads(line) for line in (folder / "out" / "skipped.jsonl").read_text("utf-8").splitlines()]
    told = [f"{_place(record)}: {record['reason']}" for record in skipped]
    if len(told) > _MAX_LISTED:
        n_more = len(told) - _MAX_LISTED + 1
        told[2:-1] = [f"… {n_more} more, and at last"]
    run = json.loads((folder / "out" / "run.json").read_text("utf-8"))
    return Seen(code, run["counts"]["documents"] - _GOOD_DOCUMENTS, told + _notices(said))


def _place(record: dict[str, Any]) -> str:
    return f"{record['source']}:{record['position']}" if record["position"] else str(record["source"])


def _notices(said: str) -> list[str]:
    """Return what is said of the inputs besides the records that were skipped."""
    return [line for line in said.splitlines() if " could not be parsed and " in line]


def _allow_removal(folder: Path) -> None:
    for path in folder.rglob("*"):
        if path.is_dir() and not path.is_symlink():
            path.chmod(stat.S_IRWXU)


def can_try(case: Case) -> bool:
    """Return whether a case can be made here: nothing is forbidden to the superuser."""
    with tempfile.NamedTemporaryFile() as file:
        os.chmod(file.name, 0)
        return not case.needs_permissions or not os.access(file.name, os.R_OK)


def row(case: Case, seen: Seen) -> str:
    """Return one row of the page."""
    told = "<br>".join(_cell(line) for line in seen.told) or "nothing"
    documents = "" if seen.n_documents is None else f"{seen.n_documents:,}"
    return f"| {case.title} | {told} | {documents} | {seen.exit_code} |"


def _cell(line: str) -> str:
    shown = line.replace("|", "\\|").replace("`", "'")
    return f"`{shown}`"


def bad_input_page() -> str:
    """Run all cases and return the page as Markdown; rows of cases that cannot be made here stay as they are."""
    before = PAGE.read_text("utf-8").splitlines() if PAGE.exists() else []
    page = [HEAD]
    for section, cases in SECTIONS.items():
        page.append(f"\n## {section}\n\n| input | message | documents | exit code |\n|---|---|---|---|")
        for case in cases:
            if can_try(case):
                with tempfile.TemporaryDirectory() as folder:
                    page.append(row(case, see(case, Path(folder))))
            else:
                page.extend(line for line in before if line.startswith(f"| {case.title} |"))
    return "\n".join(page) + "\n"


if __name__ == "__main__":
    PAGE.write_text(bad_input_page(), encoding="utf-8")
