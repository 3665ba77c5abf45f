"""The code of the guide runs, section by section, and prints what its comments say. Ray's is run where Ray is running."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent
GUIDE = ROOT / "docs/guides/python-pipelines.md"
NEEDS = ("datasets", "datatrove", "polars", "langchain_core", "llama_index")
pytestmark = pytest.mark.filterwarnings("ignore")  # those of the libraries


def blocks() -> list[str]:
    return re.findall(r"```python\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)


def ray_block() -> str:
    (block,) = [each for each in blocks() if "import ray" in each]
    return block


def test_the_guide_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for library in NEEDS:
        pytest.importorskip(library)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "guide"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for block in blocks():
            if block == ray_block():
                continue
            capsys.readouterr()
            exec(block, names)
            printed = capsys.readouterr().out.splitlines()
            for line, answer in re.findall(r"^(print\(.*?\))\s+# (\[.*\])$", block, re.MULTILINE):
                assert answer in printed, line
    assert len(list((tmp_path / "clean").iterdir())) == 1
    assert names["found"].spans[0].matched_id == "tidewatch/sand-and-axles"
