"""The process that is traced: it changes folders, and says on standard output what it promises."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.crash.all_kinds import KINDS
from tests.crash.tracing import MARK


def main() -> None:
    given, folder, *names = sys.argv[1:]
    # Marks are distinguished by their folder: a trace is read once for each.
    for name in names:
        KINDS[name](Path(given)).change(Path(folder) / name, lambda text, name=name: _promise(name, text))  # type: ignore[misc]


def _promise(name: str, text: str) -> None:
    os.write(1, MARK + f"{name} {text}\n".encode())


if __name__ == "__main__":
    main()
