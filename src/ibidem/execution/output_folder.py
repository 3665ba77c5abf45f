"""What a results folder may contain: results, views of them, and verdicts."""

from __future__ import annotations

import shutil
from collections.abc import Collection
from pathlib import Path

from ibidem.config import FORMATS
from ibidem.config.surface import given, in_shell
from ibidem.errors import OutputExistsError

# Views are made again when results change. Verdicts are kept, whatever later runs find.
VIEW_FILES = ("view.sqlite", "report.html")
VERDICTS_FILE, ARRIVALS_FILE = "verdicts.sqlite", "arrivals.sqlite"
WORK_FOLDER = ".work"  # exists while a run lasts, or after it was killed
_OURS = (
    "passages", "hits", "repeats", "documents", "texts", "families", "sentence_pairs", "postings", "runs", "duplicates",
    "clusters", "mirrors", "removed", "cleaned", "benchmarks", "found_items", "item_places",
)  # fmt: skip
RESULT_NAMES = ("run.json", "skipped.jsonl", *(f"{name}.{suffix}" for name in _OURS for suffix in FORMATS), *VIEW_FILES)


def to_replace() -> str:
    """Return what to do if results are in the way."""
    return f"Give another folder, or {given('overwrite', True)} to replace them."


def check_is_folder(folder: Path) -> None:
    """Raise if the path, or one above it, is a file."""
    for part in (folder, *folder.parents):
        if part.exists() and not part.is_dir():
            raise OutputExistsError(f"{part} is a file, not a folder", f"Give another folder{in_shell(' with -o')}.")


def check_output(folder: Path, overwrite: bool) -> None:
    """Raise unless the folder can receive results: it is absent, empty, or contains results that may be replaced."""
    check_is_folder(folder)
    names = [path.name for path in folder.iterdir() if path.name != WORK_FOLDER] if folder.exists() else []
    if names:
        if not all(map(is_result, names)):
            raise OutputExistsError(
                f"{folder} contains files that are not results of ibidem", f"Give another folder{in_shell(' with -o')}."
            )
        if not overwrite:
            what = "results" if "run.json" in names else "an unfinished run"
            raise OutputExistsError(f"{folder} already contains {what}", to_replace())


def is_result(name: str) -> bool:
    """Return whether a file belongs in a results folder: results, complete or not, views, and verdicts."""
    for ending in ("-journal", "-wal", "-shm", ".part"):
        name = name.removesuffix(ending)
    return name in (*RESULT_NAMES, VERDICTS_FILE, ARRIVALS_FILE) or name.startswith(f"{VIEW_FILES[0]}.")


def clear_output(folder: Path, but: Collection[Path] = ()) -> None:
    """Remove what an earlier run left, in any format, also in parts; `run.json` first, because it says that the results are
    complete.
    """
    names = [*RESULT_NAMES, *(f"{name}.part" for name in RESULT_NAMES)]
    for old in (*(folder / name for name in names), *folder.glob(f"{VIEW_FILES[0]}.*.part")):
        if old in but:
            continue
        if old.is_dir():
            shutil.rmtree(old)
        else:
            old.unlink(missing_ok=True)
