"""Batches of Ray Data, in actors. Ray is started once, with little of everything."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from ibidem import Index
from ibidem.errors import NoIndexError
from ibidem.integrations.frames import drop_known
from tests.integrations.test_guide import ROOT, ray_block

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    ray = pytest.importorskip("ray", reason="Ray has no wheel for every Python and system")
    pytest.importorskip("ray.data")

from ibidem.integrations import ray_data

pytestmark = pytest.mark.filterwarnings("ignore")  # those of Ray, which differ from version to version


@pytest.fixture(scope="module")
def _running() -> Iterator[None]:
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR", object_store_memory=100 << 20)
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield
    ray.shutdown()


@pytest.mark.usefixtures("_running")
def test_the_guide_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Rows are dropped in an actor, by an index with a relative path, as they are here. To start actors takes seconds."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    records = [json.loads(line) for line in Path("examples/newsroom/documents.jsonl").read_text("utf-8").splitlines()]
    with Index("known.idx") as index:
        index.add(records[:30])
    left = len(drop_known(records, "known.idx"))
    assert 0 < left < 15
    exec(ray_block(), {})
    assert capsys.readouterr().out.splitlines()[-1] == str(left)


def test_what_is_wrong_shows_before_an_actor_starts(tmp_path: Path) -> None:
    with pytest.raises(NoIndexError):
        ray_data.drop_known(None, tmp_path / "missing.idx")
