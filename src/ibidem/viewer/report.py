"""From views to a report on disk."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from ibidem.errors import OutputExistsError, ResourceError
from ibidem.execution.durable_files import replace_file
from ibidem.viewer.material import material_of_result
from ibidem.viewer.page import report_page
from ibidem.viewer.report_data import MOST_PAIRS, report_data
from ibidem.viewer.store import ViewStore
from ibidem.viewer.store_cache import passing_views

_REPORT_BEGINS = b'<html lang="en" data-mode="report">'
_TOLD = ("further pairs", "further families", "texts", "changed texts")


def check_report(path: Path, overwrite: bool) -> None:
    """Raise unless a report may be written there: nothing is lost but an earlier report."""
    if os.path.isdir(path):
        raise OutputExistsError(f"{path} is a folder", "Give the name of a file, such as report.html.")
    if not os.path.isdir(path.parent):
        raise OutputExistsError(f"there is no folder {path.parent}", "Make it, or give another place with -o.")
    try:
        with open(path, "rb") as old:
            is_report = _REPORT_BEGINS in old.read(200)
    except OSError:
        return
    if not is_report and not overwrite:
        raise OutputExistsError(f"{path} is there, and no report", "Give another name with -o, or --overwrite to replace it.")


def write_report(store: ViewStore, path: Path, title: str | None = None, max_pairs: int = MOST_PAIRS) -> list[str]:
    """Write a report as one page, aside and renamed; return what is to be said of what is not in it."""
    data = report_data(store, title, max_pairs)
    aside = path.with_name(f"{path.name}.part")
    try:
        aside.write_text(report_page(data), "utf-8")
        replace_file(aside, path)
    except OSError as error:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        raise ResourceError(
            f"cannot write {path}: {error.strerror or error}", "Is there room, and may you write there?"
        ) from error
    told = [entry for entry in data["summary"]["left_out"] if entry["what"] in _TOLD]
    return [f"{entry['what']}: {entry['why']}" for entry in told]


def report_result(
    result: Any, path: Path, title: str | None = None, max_pairs: int | None = None, overwrite: bool = False
) -> Path:
    """Write a report of a result that is in memory; return its path."""
    check_report(path, overwrite)
    with passing_views(material_of_result(result)) as store:
        write_report(store, path, title, MOST_PAIRS if max_pairs is None else max_pairs)
    return path
