"""`benchmarks/soak.py` for some seconds: honest clients are answered among all others, and what was acknowledged is there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs /proc")
def test_a_soak_of_some_seconds_finds_nothing() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "soak.py"), "--minutes", "0.1", "--seed", "7"]
    outcome = subprocess.run(command, capture_output=True, text=True, check=False)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
    assert "nothing found" in outcome.stdout
    assert outcome.stdout.count("acknowledged documents are there") == 2
