"""The warm-up runs what a run runs."""

from __future__ import annotations

import pytest

from ibidem.config import Config
from ibidem.execution.warmup import run_later_stages


@pytest.mark.parametrize("signature", ["exact", "words", "shingles"])
def test_the_later_stages_find_the_one_passage(signature: str) -> None:
    assert run_later_stages(Config.of(signature=signature)) == 1


@pytest.mark.parametrize("comparing", [False, True])
def test_the_alignment_finds_it_too(comparing: bool) -> None:
    assert run_later_stages(Config.of(signature="exact", align=True), comparing) == 1
