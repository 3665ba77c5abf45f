"""The work folder of a run: its lock, its stages, and what they are stages of.

The command line keeps it inside of the output folder, as `.work`, so that the run that follows a killed one finds it; stages
lie in it too, or in a folder of `tmp_dir` that is named after it.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from ibidem.config import Config
from ibidem.errors import OutputExistsError, ResourceError, UsageError
from ibidem.locking import FileLock, HeldByAnotherError
from ibidem.reports.writing import WORK_FOLDER
from ibidem.version import __version__

_TOLD, _STAGES = "work.json", "stages"


@dataclass(frozen=True)
class Occupied:
    """The work folder of an output folder. `was_killed`: an earlier run into it has left it as it was killed."""

    work: Path
    was_killed: bool

    def settings(self, config: Config) -> Config:
        """Return the settings of a run into this folder: where it stores stages, and that it may replace what it left."""
        replaces = config.output.overwrite or (config.engine.resume and self.was_killed)
        return Config.of(config, work_dir=str(self.work), overwrite=replaces)


@contextmanager
def occupied(output: Path) -> Iterator[Occupied]:
    """Keep an output folder for this run, and yield its work folder; who comes second is turned away.

    In the end the work folder goes, but for stages that a run has left on purpose, and so does an output folder in which
    nothing was written.
    """
    work = output / WORK_FOLDER
    was_killed = work.exists()
    made = [folder for folder in (output, *output.parents) if not folder.exists()]
    with ExitStack() as stack:
        try:
            work.mkdir(parents=True, exist_ok=True)
            stack.enter_context(FileLock(work / "lock"))
        except HeldByAnotherError as error:
            raise OutputExistsError(
                f"{error.who} has been writing to {output}{error.since}", "Wait until it has finished, or give another folder."
            ) from None
        except OSError as error:
            raise ResourceError(f"cannot write to {output}: {error.strerror or error}", "May you write there?") from error
        try:
            yield Occupied(work, was_killed)
        finally:
            if not (work / _TOLD).exists():
                shutil.rmtree(work, ignore_errors=True)
                for folder in made:
                    with suppress(OSError):  # something was written into it
                        folder.rmdir()


def check_leftovers(work: Path, config: Config) -> bool:
    """Say whether a killed run has left stages that this one goes on with; raise if it may neither use nor remove them."""
    try:
        told = _read(work)
    except UsageError:
        if config.engine.resume or not config.output.overwrite:
            raise
        told = {"stages": _STAGES}
    if told is None:
        return False
    if config.engine.resume:
        return True
    stages = work / told["stages"]
    n_stages, n_bytes = _size(stages)
    if not config.output.overwrite and n_stages:
        raise OutputExistsError(
            f"{stages} holds {n_stages} finished stages ({n_bytes / 1e9:.1f} GB) of a run that did not end, "
            f"begun {told.get('begun', 'some time ago')}",
            "Go on with it by --resume, or start anew with --overwrite.",
        )
    _remove(work, stages)
    return False


class WorkFolder:
    """Where a run stores its stages. `told` says what they are stages of; a run that goes on must be told the same."""

    def __init__(self, config: Config, told: Mapping[str, Any]) -> None:
        engine = config.engine
        self._keep_if_it_fails = False
        self._lasts = engine.work_dir != "auto"
        if not self._lasts:
            try:
                self._work = Path(tempfile.mkdtemp(prefix="ibidem-", dir=engine.tmp_folder))
            except OSError as error:
                where = engine.tmp_folder or tempfile.gettempdir()
                raise _no_room(where, error) from error
            self.stages = self._work / _STAGES
            return
        self._work = Path(engine.work_dir)
        self._keep_if_it_fails = engine.resume
        now: dict[str, Any] = json.loads(json.dumps({"version": __version__, **told}))  # as it will be read again
        if check_leftovers(self._work, config):
            before = _read(self._work) or {}
            _check_same(before, now)
            self.stages = self._work / before["stages"]
            return
        where = _STAGES  # from the work folder on, wherever it will be called from or moved to
        if engine.tmp_folder is not None:
            name = hashlib.blake2b(os.fsencode(os.path.realpath(self._work)), digest_size=8).hexdigest()
            where = str(Path(engine.tmp_folder).absolute() / f"ibidem-{name}")
        self.stages = self._work / where
        shutil.rmtree(self.stages, ignore_errors=True)
        now |= {"stages": where, "begun": datetime.now(timezone.utc).isoformat(timespec="seconds")}
        try:
            self._work.mkdir(parents=True, exist_ok=True)
            aside = self._work / f"{_TOLD}.part"
            aside.write_text(json.dumps(now, ensure_ascii=False), "utf-8", "surrogatepass")
            self.stages.mkdir(parents=True, exist_ok=True)
            os.replace(aside, self._work / _TOLD)
        except OSError as error:
            raise _no_room(str(self.stages), error) from error

    def close(self, failed: bool = False) -> None:
        """Remove all of it, unless the run has failed and is to be resumed."""
        if not (failed and self._keep_if_it_fails):
            if self._lasts:
                _remove(self._work, self.stages)
            else:
                shutil.rmtree(self._work, ignore_errors=True)


def _remove(work: Path, stages: Path) -> None:
    """Remove the stages, at once as far as anybody can see: nobody can go on with some of them."""
    gone = stages.with_name(f"{stages.name}.gone")
    shutil.rmtree(gone, ignore_errors=True)
    with suppress(OSError):
        os.rename(stages, gone)
    shutil.rmtree(gone, ignore_errors=True)
    shutil.rmtree(stages, ignore_errors=True)
    with suppress(OSError):
        (work / _TOLD).unlink(missing_ok=True)  # last: it says where the stages are


def _read(work: Path) -> dict[str, Any] | None:
    try:
        told = json.loads((work / _TOLD).read_text("utf-8", "surrogatepass"))
        return told if isinstance(told, dict) and isinstance(told.get("stages"), str) else None
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise UsageError(f"{work / _TOLD} cannot be read: {error}", "Run again with --overwrite.") from error


def _size(stages: Path) -> tuple[int, int]:
    files = [path for path in stages.iterdir() if path.is_file()] if stages.is_dir() else []
    return sum(path.suffix == ".stage" for path in files), sum(path.stat().st_size for path in files)


def _check_same(before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raise if the run that left stages was another one, naming what differs."""
    different = []
    for name, value in now.items():
        if name != "settings" and before.get(name) != value:
            different.append(_difference(name, before.get(name), value))
    old, new = before.get("settings", {}), now["settings"]
    for stage, settings in new.items():
        for name, value in settings.items():
            if (was := old.get(stage, {}).get(name)) != value:
                different.append(f"{name} was {was!r} and is {value!r}")
    if different:
        raise UsageError(
            f"the run that was killed was another one: {'; '.join(different)}",
            "Give the same inputs and settings, or start anew with --overwrite.",
        )


def _difference(name: str, before: Any, now: Any) -> str:
    if name == "plan":
        return "the sampling plan is not the same"
    if name != "inputs":
        return f"{name} was {before!r} and is {now!r}"
    known = {str(told.get("path")): told for told in before or ()}
    changed = [told for told in now if known.get(str(told.get("path"))) != told] or before
    path = changed[0].get("path", "an input") if changed else "an input"
    return f"inputs are not the same ({path} {'has changed' if path in known else 'is new'})"


def _no_room(folder: str, error: OSError) -> ResourceError:
    return ResourceError(
        f"cannot write temporary files into {folder}: {error.strerror or error}",
        "Name a folder with room by --tmp-dir, or allow more --memory.",
    )
