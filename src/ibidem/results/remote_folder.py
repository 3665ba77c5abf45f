"""Results in a folder elsewhere: written on this machine first, and sent when they are complete, `run.json` last."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ibidem.config.addresses import is_remote, shown_address
from ibidem.config.surface import in_shell
from ibidem.errors import IbidemError, OutputExistsError, ResourceError
from ibidem.execution.output_folder import RESULT_NAMES, check_output, is_result, to_replace
from ibidem.formats.remote_access import place_elsewhere
from ibidem.formats.remote_files import check_writable, names_under, remove, send
from ibidem.formats.remote_streams import read_json
from ibidem.formats.sources import FileSource, Source, place_of

RUN_FILE = "run.json"


def check_results_folder(folder: str | os.PathLike[str], overwrite: bool) -> None:
    """Raise unless results can be written into a folder, here or elsewhere; they may replace those of an earlier run."""
    if not is_remote(folder):
        check_output(Path(folder), overwrite)
        return
    address = str(folder)
    names = names_under(address)
    _check_names(address, names, [name for name in names if not is_result(name)], overwrite)
    check_writable(address)


def check_not_replaced(sources: Iterable[Source], folder: str | os.PathLike[str]) -> None:
    """Raise if an input is among the files that results replace."""
    root = str(folder).rstrip("/") if is_remote(folder) else os.path.realpath(folder)
    places = {place_elsewhere(f"{root}/{name}") if is_remote(root) else os.path.join(root, name) for name in RESULT_NAMES}
    if any(place_of(source) in places for source in sources if isinstance(source, FileSource)):
        raise among_results(shown_address(str(folder)))


def check_copies_replace_none(names: Iterable[str], sources: Iterable[Source], address: str) -> None:
    """Raise if an input is among the copies that are written to a folder elsewhere, or that they replace there."""
    root = address.rstrip("/")
    written = {place_elsewhere(f"{root}/{name}") for name in names}
    if (copies_among(address) | written) & {place_of(source) for source in sources if isinstance(source, FileSource)}:
        raise among_results(shown_address(address))


def among_results(folder: object) -> OutputExistsError:
    """Return the error for inputs that results would replace."""
    return OutputExistsError(f"inputs are among the results in {folder}", f"Give another folder{in_shell(' with -o')}.")


def check_cleaned_folder(address: str, overwrite: bool) -> None:
    """Raise unless a cleaned copy can be written into a folder elsewhere; it may replace an earlier one."""
    names = names_under(address)
    ours = _earlier_copies(address, names)
    _check_names(address, names, [] if ours is not None else names, overwrite)
    check_writable(address)


def _check_names(address: str, names: Collection[str], others: Collection[str], overwrite: bool) -> None:
    shown = shown_address(address)
    if others:
        message = f"{shown} contains files that are not results of ibidem"
        raise OutputExistsError(message, f"Give another folder{in_shell(' with -o')}.")
    if names and not overwrite:
        raise OutputExistsError(f"{shown} already contains results", to_replace())


def _earlier_copies(address: str, names: Collection[str]) -> list[str] | None:
    """Return the files of an earlier cleaning that are there; None if there was none."""
    described = read_json(f"{address.rstrip('/')}/{RUN_FILE}") if RUN_FILE in names else None
    written = described.get("written") if isinstance(described, dict) else None
    if not isinstance(written, list):
        return None
    return [name for name in (*map(str, written), "removed.jsonl", "skipped.jsonl", RUN_FILE) if name in names]


def copies_among(address: str) -> set[str]:
    """Return where the files of an earlier cleaning are."""
    return {place_elsewhere(f"{address.rstrip('/')}/{name}") for name in _earlier_copies(address, names_under(address)) or ()}


@contextmanager
def results_sent_to(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the folder that results are written to: this one, or one whose files are sent there after the block.

    Earlier results there are replaced.
    """
    if not is_remote(folder):
        yield Path(folder)
        return
    with _sent_to(str(folder), lambda names: [name for name in names if name in RESULT_NAMES]) as place:
        yield place


@contextmanager
def copies_sent_to(address: str, parent: str | None) -> Iterator[Path]:
    """Yield a folder for a cleaned copy, which is sent after the block; it replaces an earlier one there."""
    with _sent_to(address, lambda names: _earlier_copies(address, names) or (), parent) as place:
        yield place


@contextmanager
def _sent_to(address: str, earlier: Callable[[Collection[str]], Collection[str]], parent: str | None = None) -> Iterator[Path]:
    place = Path(tempfile.mkdtemp(prefix="ibidem-", dir=parent))
    try:
        yield place / "results"
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise
    try:
        _replace(place / "results", address, earlier)
    except IbidemError as error:  # what took hours must not be lost
        message = f"{error.message.rstrip('.')}; the results are in {place / 'results'}"
        raise ResourceError(message, f"Copy them to {shown_address(address)}, {RUN_FILE} last.") from None
    shutil.rmtree(place, ignore_errors=True)


def _replace(place: Path, address: str, earlier: Callable[[Collection[str]], Collection[str]]) -> None:
    root = address.rstrip("/")
    names = sorted(path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file())
    before = earlier(names_under(address))
    if RUN_FILE in before:  # it says that results are complete
        remove(f"{root}/{RUN_FILE}")
    for name in sorted(names, key=RUN_FILE.__eq__):
        if name == RUN_FILE:
            for old in before:
                if old not in names:
                    remove(f"{root}/{old}")
        send(place / name, f"{root}/{name}")


@contextmanager
def file_sent_to(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield the path that a file is written to: this one, or one whose file is sent there after the block."""
    if not is_remote(path):
        yield Path(path)
        return
    with tempfile.TemporaryDirectory(prefix="ibidem-") as folder:
        place = Path(folder) / str(path).rpartition("/")[2]
        yield place
        send(place, str(path))
