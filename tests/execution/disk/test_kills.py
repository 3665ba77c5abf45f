"""Real kills: processes that end without a word, and the runs that follow them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_find import Run, said, write_jsonl
from tests.execution.disk.sameness import files_of
from tests.execution.disk.test_resume import VERBS
from tests.execution.random_collections import random_records

# Runs the command line, and kills it after so many finished stages, or as soon as a file of some name is put in its place.
KILLED = """
import os, signal, sys
from ibidem.cli.main import main
last, left = sys.argv[1], int(sys.argv[2])
replace = os.replace
def counting(source, target):
    global left
    replace(source, target)
    left -= str(target).endswith(last)
    if left <= 0:
        os.kill(os.getpid(), signal.SIGKILL)
os.replace = counting
sys.argv = ["ibidem", *sys.argv[3:]]
main()
"""


def killed(last: str, count: int, *arguments: str) -> str:
    command = [sys.executable, "-c", KILLED, last, str(count), *arguments]
    process = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert process.returncode == -9, process.stderr
    return process.stderr


@pytest.mark.parametrize("verb", ["find words", "cluster", "dedup passages"])
def test_killed_twice(verb: str, run: Run, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "news.jsonl", [*random_records(3, 14), {"id": "no text"}])
    name, *flags = VERBS[verb]
    said(run(name, "news.jsonl", "-o", "whole", *flags), 0)
    call = (name, "news.jsonl", "-o", "out", *flags, "--partitions", "3")
    killed(".stage", 5, *call)
    said(run(*call), 2, "contains 5 finished stages")
    last = "news.jsonl" if name == "dedup" else {"find": "documents.jsonl", "cluster": "clusters.jsonl"}[name]
    assert "continuing after 5 finished stages" in killed(last, 1, *call, "--resume")  # while results are written
    said(run(*call), 2, "finished stages")
    said(run(*call, "--resume"), 0, "continuing after ")
    assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")
    assert not (tmp_path / "out" / ".work").exists()


def test_a_run_in_memory_that_was_killed_is_started_again(run: Run, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "news.jsonl", random_records(3, 14))
    call = ("find", "news.jsonl", "-o", "out", "--format", "jsonl")
    killed("passages.jsonl", 1, *call)
    assert (tmp_path / "out" / ".work").exists()
    shutil.copytree(tmp_path / "out", tmp_path / "again")
    said(run(*call, "--resume"), 0)
    assert not (tmp_path / "out" / ".work").exists()
    again = ("find", "news.jsonl", "-o", "again", "--format", "jsonl")
    said(run(*again), 2, "again already contains an unfinished run")
    said(run(*again, "--overwrite"), 0)
    assert files_of(tmp_path / "again") == files_of(tmp_path / "out")
