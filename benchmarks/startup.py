"""Start-up: `ibidem --help`, and for each verb the first run, with nothing compiled yet, and later ones, on bundled examples.

`execution/warmup.py` announces what a first run takes longer by these figures.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EXAMPLE = Path(__file__).parent.parent / "examples" / "newsroom" / "documents.jsonl"
SOURCES = EXAMPLE.parents[2] / "src" / "ibidem"
IBIDEM = str(Path(sys.executable).parent / "ibidem")


def seconds(command: list[str], environment: dict[str, str]) -> float:
    begin = time.perf_counter()
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - begin


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        # A copy of the sources, installed as pip does it, with their bytecode: kernels stored beside the sources would be used.
        sources = Path(shutil.copytree(SOURCES, Path(folder) / "src" / "ibidem", ignore=shutil.ignore_patterns("__pycache__")))
        subprocess.run([sys.executable, "-m", "compileall", "-q", str(sources)], check=True)
        environment = {
            **os.environ, "NUMBA_CACHE_DIR": str(Path(folder) / "cache"), "PYTHONPATH": str(sources.parent),
        }  # fmt: skip
        written = ["-o", str(Path(folder) / "out"), "--overwrite"]
        index = str(Path(folder) / "x.idx")
        essays = EXAMPLE.parents[1] / "essays"
        commands = {
            "find": ["find", str(EXAMPLE), *written],
            "find exact": ["find", str(EXAMPLE), *written, "--signature", "exact"],
            "find --no-align": ["find", str(EXAMPLE), *written, "--no-align"],
            "compare": ["compare", str(essays / "essays" / "amara.txt"), str(essays / "sources" / "tides-handbook.txt")],
            "cluster": ["cluster", str(EXAMPLE), *written],
            "dedup passages": ["dedup", str(EXAMPLE), "--dry-run", "--level", "passage"],
            "tune": ["tune", str(EXAMPLE)],
            "index add": ["index", "add", index, str(EXAMPLE), "--replace"],
            "index query": ["index", "query", index, str(EXAMPLE)],
            "index check": ["index", "check", index, str(EXAMPLE)],
            "warmup": ["warmup"],
        }
        print(f"ibidem --help            {min(seconds([IBIDEM, '--help'], environment) for _ in range(3)):.2f} s")
        for name, arguments in commands.items():
            shutil.rmtree(Path(folder) / "cache", ignore_errors=True)
            command = [IBIDEM, *arguments]
            print(f"first {name:<18} {seconds(command, environment):.2f} s (kernels are compiled)", flush=True)
            print(f"later {name:<18} {min(seconds(command, environment) for _ in range(3)):.2f} s", flush=True)


if __name__ == "__main__":
    main()
