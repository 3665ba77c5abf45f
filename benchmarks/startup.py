"""Start-up: `ibidem --help`, the first `find` with nothing compiled yet, and later ones, on the bundled example."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EXAMPLE = Path(__file__).parent.parent / "examples" / "newsroom" / "documents.jsonl"
IBIDEM = str(Path(sys.executable).parent / "ibidem")


def seconds(command: list[str], environment: dict[str, str]) -> float:
    begin = time.perf_counter()
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - begin


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(Path(folder) / "cache")}
        find = [IBIDEM, "find", str(EXAMPLE), "-o", str(Path(folder) / "out"), "--overwrite"]
        print(f"ibidem --help            {min(seconds([IBIDEM, '--help'], environment) for _ in range(3)):.2f} s")
        for signature in ("words", "exact"):
            shutil.rmtree(Path(folder) / "cache", ignore_errors=True)
            command = [*find, "--signature", signature]
            print(f"first find, {signature:6}       {seconds(command, environment):.2f} s (kernels are compiled)")
            print(f"later find, {signature:6}       {min(seconds(command, environment) for _ in range(3)):.2f} s")


if __name__ == "__main__":
    main()
