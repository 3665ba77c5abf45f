"""The machine finds nothing lost, and finds a loss as soon as one of the guards is taken away."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import replace

import pytest

from ibidem.index import sweep
from ibidem.index.catalog import Catalog
from ibidem.index.catalog_state import Change
from ibidem.index.commits import Commits, WriterLock
from ibidem.index.folder import OpenFolder, Place
from tests.environments.machine import Environment, run
from tests.environments.world import LostError

# Steps for a longer run than that of every day; `python -m tests.environments.machine` makes as many as are wanted.
N_RUNS = int(os.environ.get("IBIDEM_ENVIRONMENT_RUNS", "12"))


def test_nothing_is_ever_lost() -> None:
    before = sum(Environment.n_steps.values())
    run(N_RUNS, 1)
    assert sum(Environment.n_steps.values()) - before > 10 * N_RUNS
    assert Environment.errors["IndexChangedError"] > 0


def by_path(patch: pytest.MonkeyPatch) -> None:
    """Files are named by path, as in earlier versions, without checking where it leads."""
    patch.setattr(OpenFolder, "is_in_place", lambda folder: True)
    patch.setattr(Catalog, "_check_in_place", lambda catalog: None)
    patch.setattr(Place, "_handle", property(lambda place: None))
    patch.setattr(Place, "_target", property(lambda place: str(place.path)))
    patch.setattr(OpenFolder, "names", lambda folder: sorted(os.listdir(folder.path)))
    init = WriterLock.__init__
    patch.setattr(WriterLock, "__init__", lambda lock, folder: init(lock, getattr(folder, "path", folder)))


def without_identity(patch: pytest.MonkeyPatch) -> None:
    """A sweep deletes every file that the catalog does not name."""

    def sort_out(
        folder: OpenFolder, identity: str | None, named: Collection[str], dropped: Collection[str]
    ) -> tuple[list[str], list[str]]:
        return [name for name in folder.names() if name not in named and name.endswith((".ibi", ".new"))], []

    patch.setattr(sweep, "_sort_out", sort_out)


def without_lock(patch: pytest.MonkeyPatch) -> None:
    """Without checks whether the lock is still held and whose commit was the last."""
    patch.setattr(WriterLock, "check", lambda lock: None)
    commit = Catalog.commit
    patch.setattr(Catalog, "commit", lambda catalog, change, check=None: commit(catalog, _free(change)))


def _free(change: Change) -> Change:
    return replace(change, after=None)


def with_hard_links(patch: pytest.MonkeyPatch) -> None:
    """A copy of hard links is written to."""
    patch.setattr(Commits, "refuse_shared", lambda commits: None)


def restored(machine: Environment) -> None:
    """A catalog is restored that is one commit older."""
    machine.back_up(0)
    machine.open(0, "absolute")
    machine.add(0, 1, False)
    machine.restore_catalog(0, 0, True, False, True)


def two_writers(machine: Environment) -> None:
    """A lock is deleted while it is held, and another process writes."""
    for _ in range(2):
        machine.open(0, "absolute")
    machine.begin_stream(0)
    machine.delete_lock(0)
    machine.add(1, 1, False)
    machine.end_stream(0)


def hard_links(machine: Environment) -> None:
    """One of two copies of hard links is changed."""
    machine.copy_folder(0, 0, True)
    machine.open(0, "absolute")
    machine.add(0, 1, False)


def play(script: Callable[[Environment], None]) -> None:
    machine = Environment()
    try:
        machine.two_indexes()
        script(machine)
    finally:
        machine.teardown()


@pytest.mark.parametrize(
    ("take_away", "script"), [(without_identity, restored), (without_lock, two_writers), (with_hard_links, hard_links)]
)
def test_without_a_guard_the_machine_finds_the_loss(
    take_away: Callable[[pytest.MonkeyPatch], None], script: Callable[[Environment], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    play(script)
    take_away(monkeypatch)
    with pytest.raises(LostError):
        play(script)


def test_with_paths_instead_of_an_open_folder_the_machine_finds_the_loss_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    by_path(monkeypatch)
    with pytest.raises(LostError):
        run(300, 1, shrink=False)
