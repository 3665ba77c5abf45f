"""A separate process that holds something until it is asked to release it, or killed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_HOLD = """
import sys
from pathlib import Path
from {module} import {name}
with {name}(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def holder(module: str, name: str, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Run a process that is inside the context manager `name` of a module, over a folder, until its input ends."""
    command = [sys.executable, "-c", _HOLD.format(module=module, name=name), str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield process
        finally:
            process.kill()
