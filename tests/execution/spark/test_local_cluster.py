"""Real worker processes, and one of them killed in the middle of a run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ibidem.errors import ResourceError
from ibidem.execution.spark.session import check_pyspark, find_java

ROOT = Path(__file__).parents[3]


def test_a_lost_worker_costs_its_tasks_only(tmp_path: Path) -> None:
    try:
        find_java()
        check_pyspark()
    except ResourceError as error:
        pytest.skip(f"no Spark here: {error.message}")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    command = [sys.executable, "-m", "tests.execution.spark.lose_a_worker", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout.split("\n")[:2] == ["killed a worker", "equal"]
