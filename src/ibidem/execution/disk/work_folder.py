"""The work folder of a run: its lock, its stages, and the description of the run.

The command line keeps it inside the output folder, as `.work`, so that the run after a killed one finds it. Stages are in it
too, or in a folder of `tmp_dir` named after it.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from ibidem.config import Config
from ibidem.config.quantities import size_of
from ibidem.config.surface import given, in_shell, named
from ibidem.errors import OutputExistsError, ResourceError, UsageError
from ibidem.execution.disk_limit import no_room
from ibidem.execution.durable_files import make_folder, replace_file, sync_file, sync_folder
from ibidem.execution.locks import FileLock, HeldByAnotherError
from ibidem.execution.output_folder import WORK_FOLDER, check_is_folder
from ibidem.version import __version__

# A run is resumed only by the program that began it: `program` is raised whenever stages or their data change.
_PROGRAM = {"version": __version__, "program": 2}
_DESCRIPTION, _STAGES = "work.json", "stages"
_LEFTOVERS = (f"{_STAGES}.part", f"{_STAGES}.gone")  # without `work.json`, these are the only stages
_OWNER = "owner"  # in the folder of stages: the run it belongs to, so that no other folder is mistaken for it
_TRIES = 5
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


@dataclass(frozen=True)
class Occupied:
    """The work folder of an output folder. `is_unfinished`: the output folder contains the files of a killed run."""

    work: Path
    is_unfinished: bool

    def settings(self, config: Config) -> Config:
        """Return the settings of a run into this folder: where it stores stages, and that it may replace its own leftovers."""
        replaces = config.output.overwrite or (config.engine.resume and self.is_unfinished)
        return Config.of(config, work_dir=str(self.work), overwrite=replaces)


_held: set[str] = set()  # work folders locked by the command line for its run


@contextmanager
def occupied(output: Path) -> Iterator[Occupied]:
    """Lock an output folder for this run and yield its work folder; a second run is refused.

    Afterwards the work folder is removed, except for stages that a run has left on purpose, and so is an output folder in which
    nothing was written.
    """
    check_is_folder(output)
    work = output / WORK_FOLDER
    made = [folder for folder in (output, *output.parents) if not folder.exists()]
    lock = FileLock(work / "lock")
    with ExitStack() as stack:
        try:
            stack.enter_context(_locked(lock, str(output)))
            name = os.path.realpath(work)
            _held.add(name)
            stack.callback(_held.discard, name)
            yield Occupied(work, (work / _DESCRIPTION).exists() or not (output / "run.json").exists())
        finally:
            try:
                _tidy(lock, made)
            except KeyboardInterrupt:  # one signal raises it once, so the second try is not interrupted
                _tidy(lock, made)
                raise


def _tidy(lock: FileLock, made: Sequence[Path]) -> None:
    """Remove the work folder, unless a run can be resumed from it or another run has it, and folders created for nothing.

    Only files that runs make are deleted: other files stay, and the folder with them.
    """
    work = lock.path.parent
    with ExitStack() as stack:
        is_held = lock.is_held()
        if not is_held:  # the run ended before locking it, perhaps just after creating it
            with suppress(HeldByAnotherError, OSError):
                stack.enter_context(FileLock(lock.path))
                is_held = True
        if is_held and not (work / _DESCRIPTION).exists():
            for name in _LEFTOVERS:
                shutil.rmtree(work / name, ignore_errors=True)
            for name in (f"{_DESCRIPTION}.part", lock.path.name):
                with suppress(OSError):
                    (work / name).unlink()
            with suppress(OSError):  # something else is in it
                work.rmdir()
        for folder in made:
            with suppress(OSError):  # something is in it
                folder.rmdir()


@contextmanager
def _locked(lock: FileLock, what: str) -> Iterator[None]:
    with ExitStack() as stack:
        problem = None
        for _ in range(_TRIES):
            try:
                make_folder(lock.path.parent)
                stack.enter_context(lock)
                break
            except FileNotFoundError as error:  # its last owner removed it in between
                problem = error.strerror
                continue
            except HeldByAnotherError as error:
                next_step = "Wait until it has finished, or give another folder."
                raise OutputExistsError(f"{error.who} has been writing to {what}{error.since}", next_step) from None
            except OSError as error:
                if error.errno in _NO_LOCKS:
                    message = f"{what} is on a file system without locks: {error.strerror}"
                    raise ResourceError(message, "Choose a folder on a local disk.") from error
                raise ResourceError(f"cannot write to {what}: {error.strerror or error}", "Check permissions.") from error
        else:
            raise ResourceError(f"cannot write to {what}: {problem}", "Check permissions, and that no other run uses it.")
        yield


def check_leftovers(work: Path, config: Config) -> bool:
    """Return whether a killed run left stages to continue with; raise if they may neither be used nor removed."""
    try:
        description = _read(work)
    except UsageError:
        if config.engine.resume or not config.output.overwrite:
            raise
        description = {"stages": _STAGES, "owner": _owner_of(work / _STAGES)}
    if description is None:
        return False
    if config.engine.resume:
        return True
    stages = work / description["stages"]
    n_stages, n_bytes = _size(stages)
    if not config.output.overwrite and n_stages:
        raise OutputExistsError(
            f"{stages} contains {n_stages} finished stages ({size_of(n_bytes)}) of a run of "
            f"`ibidem {description.get('verb', '…')}` that did not finish, begun {description.get('begun', 'some time ago')}",
            f"Continue with {given('resume', True)}, or start over with {given('overwrite', True)}.",
        )
    _remove(work, stages, description.get("owner"))
    return False


def earlier_seed(config: Config) -> int | None:
    """Return the seed of the run that is resumed, or None if there is none."""
    if not config.engine.resume or config.engine.work_dir == "auto":
        return None
    try:
        seed = (_read(Path(config.engine.work_dir)) or {})["settings"]["sentences"]["hash_seed"]
    except (UsageError, KeyError, TypeError):
        return None  # the run itself will report what is wrong
    return seed if isinstance(seed, int) else None


class WorkFolder:
    """Where a run stores its stages. `description` identifies the run; a resumed run must have the same.

    `goes_on` says whether this run resumes another.
    """

    def __init__(self, config: Config, description: Mapping[str, Any]) -> None:
        engine = config.engine
        self._pid = os.getpid()
        self._keep_if_it_fails = False
        self.goes_on = False
        self._lasts = engine.work_dir != "auto"
        self._stack = ExitStack()
        self._owner: str | None = uuid.uuid4().hex
        if not self._lasts:
            try:
                self._work = Path(tempfile.mkdtemp(prefix="ibidem-", dir=engine.tmp_folder))
            except OSError as error:
                where = engine.tmp_folder or tempfile.gettempdir()
                raise no_room(where, error) from error
            self.stages = self._work / _STAGES
            self.stages.mkdir()
            return
        self._work = Path(engine.work_dir)
        self._keep_if_it_fails = engine.resume
        if os.path.realpath(self._work) not in _held:
            self._stack.enter_context(_locked(FileLock(self._work / "lock"), str(self._work)))
        try:
            self._open(config, json.loads(json.dumps({**_PROGRAM, **description})))  # in the form it will be read back
        except BaseException:
            self._stack.close()
            raise

    def _open(self, config: Config, now: dict[str, Any]) -> None:
        if check_leftovers(self._work, config):
            self.goes_on = True
            before = _read(self._work) or {}
            _check_same(before, now)
            self.stages, self._owner = self._work / before["stages"], before.get("owner")
            if not self.stages.exists() or not any(self.stages.iterdir()):  # killed before it stored anything
                self._make_stages()
            elif _owner_of(self.stages) != self._owner:
                raise UsageError(f"{self.stages} is not what the run stored", f"Start over with {given('overwrite', True)}.")
            return
        others = {path.name for path in self._work.iterdir()} - {"lock", f"{_DESCRIPTION}.part"}
        if others:
            raise UsageError(
                f"{self._work} contains files other than stages ({min(others)})",
                f"Give another {in_shell('folder with -o', named('work_dir'))}.",
            )
        where = _STAGES  # from the work folder on, wherever it will be called from or moved to
        try:
            if config.engine.tmp_folder is not None:
                where = config.engine.tmp_folder
                os.scandir(where).close()  # a missing folder may be a typo: it is not created
                where = str(Path(where).absolute() / f"ibidem-{self._owner}")
            self.stages = self._work / where
            now |= {"stages": where, "owner": self._owner, "begun": datetime.now(timezone.utc).isoformat(timespec="seconds")}
            aside = self._work / f"{_DESCRIPTION}.part"
            aside.write_text(json.dumps(now, ensure_ascii=False), "utf-8", "surrogatepass")
            replace_file(aside, self._work / _DESCRIPTION)
            self._make_stages()
        except OSError as error:
            raise no_room(where, error) from error

    def _make_stages(self) -> None:
        """Create the folder of stages. It gets its name once its owner file is in it, after `work.json` is durable."""
        aside = self.stages.with_name(f"{self.stages.name}.part")
        shutil.rmtree(aside, ignore_errors=True)  # left by a killed run
        aside.mkdir(mode=0o700, parents=True)
        (aside / _OWNER).write_text(str(self._owner), "ascii")
        sync_file(aside / _OWNER)
        sync_folder(aside)
        os.rename(aside, self.stages)
        sync_folder(self.stages.parent)

    def close(self, failed: bool = False) -> None:
        """Remove everything, unless the run failed and can be resumed. A forked process does nothing."""
        if os.getpid() != self._pid:
            return
        if not (failed and self._keep_if_it_fails):
            if self._lasts:
                _remove(self._work, self.stages, self._owner)
            else:
                shutil.rmtree(self._work, ignore_errors=True)
        self._stack.close()


def _remove(work: Path, stages: Path, owner: str | None) -> None:
    """Remove the stages atomically: a run must not resume from part of them. Folders of other runs are kept."""
    gone = stages.with_name(f"{stages.name}.gone")
    for name in (gone, stages.with_name(f"{stages.name}.part")):
        shutil.rmtree(name, ignore_errors=True)  # left by an earlier try
    if _owner_of(stages) == owner:
        with suppress(OSError):
            os.rename(stages, gone)
            sync_folder(stages.parent)  # otherwise the owner file could be gone while the folder still has its name
        shutil.rmtree(gone, ignore_errors=True)
    with suppress(OSError):
        stages.rmdir()  # an empty folder has no owner
    with suppress(OSError):
        sync_folder(stages.parent)
    with suppress(OSError):
        (work / _DESCRIPTION).unlink(missing_ok=True)  # last, also on disk: it says where the stages are


def _owner_of(stages: Path) -> str | None:
    try:
        return (stages / _OWNER).read_text("ascii")
    except (OSError, ValueError):
        return None


def _read(work: Path) -> dict[str, Any] | None:
    try:
        description = json.loads((work / _DESCRIPTION).read_text("utf-8", "surrogatepass"))
        return description if isinstance(description, dict) and isinstance(description.get("stages"), str) else None
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{work / _DESCRIPTION} cannot be read: {error}", f"Run again with {given('overwrite', True)}."
        ) from error


def _size(stages: Path) -> tuple[int, int]:
    files = [path for path in stages.iterdir() if path.is_file()] if stages.is_dir() else []
    return sum(path.suffix == ".stage" for path in files), sum(path.stat().st_size for path in files)


def _check_same(before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raise if the stages belong to a different run, naming what differs."""
    different = []
    for name, value in now.items():
        if name != "settings" and before.get(name) != value:
            different.append(_difference(name, before.get(name), value))
    old, new = before.get("settings", {}), now["settings"]
    for stage, settings in new.items():
        for name, value in settings.items():
            if (was := old.get(stage, {}).get(name)) != value:
                different.append(f"{named(name)} was {was!r} and is {value!r}")
    if different:
        raise UsageError(
            f"the unfinished run was a different one: {'; '.join(different)}",
            f"Give the same inputs and settings, or start over with {given('overwrite', True)}.",
        )


def _difference(name: str, before: Any, now: Any) -> str:
    if name == "plan":
        return "the sampling plan is not the same"
    if name == "words":
        changed = [setting for setting in now if setting not in (before or {}) or before[setting] != now[setting]]
        return f"the words of {' and '.join(map(named, changed))} are not the same"
    if name not in ("inputs", "benchmarks"):
        return f"{name} was {before!r} and is {now!r}"
    known = {str(description.get("path")): description for description in before or ()}
    changed = [description for description in now if known.get(str(description.get("path"))) != description] or before
    path = changed[0].get("path", "an input") if changed else "an input"
    if path in known:
        return f"{name} are not the same ({path} has changed)"
    gone = sorted(known.keys() - {str(description.get("path")) for description in now})
    instead = f"; {gone[0]} was read before: continue in the folder in which the run began" if gone else ""
    return f"{name} are not the same ({path} is new{instead})"
