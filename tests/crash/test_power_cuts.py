"""What a power cut leaves of an index, a stored run, a cleaned collection, verdicts and arrivals: nothing promised is lost.

`python -m tests.crash` looks at many more states.
"""

from __future__ import annotations

import pytest

from tests.crash.conftest import Traced
from tests.crash.replay import check_sampled, check_without, syncs_by_role

# What is lost without the calls of fsync of each role, one role at a time. Roles that are not listed here or below are new.
INDEX_ROLES = {
    "name of new", "name of deep", "name of index",  # folders above the index that are made with it
    "content of catalog-*.ibi.tmp", "name of catalog.sqlite",
    "content of segment-*.ibi.new", "content of words-*.ibi.new",
    "content of catalog.sqlite-journal", "name of catalog.sqlite-journal",
    "content of catalog.sqlite", "end of catalog.sqlite-journal",
    "name of segment-*.ibi", "name of words-*.ibi",  # or, with an older catalog, files would count as never committed
}  # fmt: skip
# SQLite syncs the folder when it makes its journal, before the catalog names the files: these come for free, and the index
# does not rely on how SQLite keeps its journal.
SAVED_TWICE = {"name of segment-*.ibi.new", "name of words-*.ibi.new"}

OTHER_ROLES = {
    "cleaned": (
        "content of same.jsonl", "content of unfinished.json.part", "name of unfinished.json", "end of gone.jsonl",
        "name of new.jsonl", "end of unfinished.json",
    ),
    "served": ("content of arrivals.sqlite-wal", "content of verdicts.sqlite", "end of verdicts.sqlite-journal"),
    "runs": (
        "name of out", "content of owner", "content of passages.jsonl.part", "content of run.json.part",
        "name of skipped.jsonl", "end of run.json",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("name", "n_states"), [("index", 120), ("served", 60), ("cleaned", 60), ("runs", 25)])
def test_nothing_promised_is_lost(traced: Traced, name: str, n_states: int) -> None:
    report = check_sampled(traced.kinds[name], name, traced.traces[name], n_states, 1, traced.place)
    assert report.losses == []
    assert report.n_states == n_states


def test_every_fsync_of_the_index_has_a_known_role(traced: Traced) -> None:
    assert set(syncs_by_role(traced.traces["index"])) == INDEX_ROLES | SAVED_TWICE


@pytest.mark.parametrize("role", sorted(INDEX_ROLES))
def test_without_an_fsync_of_the_index_something_is_lost(traced: Traced, role: str) -> None:
    trace = traced.traces["index"]
    assert check_without(traced.kinds["index"], "index", trace, syncs_by_role(trace)[role], traced.place, 200).losses


def test_names_of_new_files_of_the_index_are_saved_twice(traced: Traced) -> None:
    trace = traced.traces["index"]
    forgotten = {number for role in SAVED_TWICE for number in syncs_by_role(trace)[role]}
    report = check_without(traced.kinds["index"], "index", trace, forgotten, traced.place, 60)
    assert report.losses == []
    assert report.n_states == 60


@pytest.mark.parametrize(("name", "role"), [(name, role) for name, roles in OTHER_ROLES.items() for role in roles])
def test_without_an_fsync_of_others_something_is_lost(traced: Traced, name: str, role: str) -> None:
    trace = traced.traces[name]
    assert check_without(traced.kinds[name], name, trace, syncs_by_role(trace)[role], traced.place, 60).losses
