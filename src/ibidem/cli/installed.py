"""`ibidem --version --verbose`: what is installed, what is missing, and how to get it."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
from collections.abc import Iterator
from importlib import metadata

from ibidem.version import __version__

_NAME = re.compile(r"[A-Za-z0-9._-]+")
_EXTRA = re.compile(r"""extra\s*==\s*['"]([^'"]+)['"]""")
_FOR_DEVELOPERS = ("all", "dev", "docs")


def described() -> Iterator[str]:
    """Yield lines about this installation."""
    yield f"ibidem {__version__}"
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    yield f"Python {platform.python_version()}, {system}, {os.cpu_count()} cores"
    yield f"location: {os.path.dirname(os.path.dirname(os.path.abspath(__file__)))}"
    by_extra = _requirements()
    yield f"required packages: {', '.join(_found(name) for name in by_extra.pop('', []))}"
    for extra, names in sorted(by_extra.items()):
        missing = [name for name in names if _version(name) is None]
        if not missing:
            yield f"{extra}: {', '.join(map(_found, names))}"
        else:
            yield f"{extra}: not installed ({', '.join(missing)}); pip install 'ibidem[{extra}]'"
    if "spark" in by_extra:
        java = shutil.which("java")
        yield f"java: {java}" if java else "java: not found; Spark needs it"


def _requirements() -> dict[str, list[str]]:
    """Return the names of required packages by extra; "" are those that are always needed."""
    by_extra: dict[str, list[str]] = {"": []}
    for line in metadata.requires("ibidem") or ():
        requirement, _, condition = line.partition(";")
        name, extra = _NAME.match(requirement), _EXTRA.search(condition)
        if name is None or name[0] == "ibidem" or (extra is not None and extra[1] in _FOR_DEVELOPERS):
            continue
        if "python_version" not in condition or sys.version_info < (3, 11):
            by_extra.setdefault("" if extra is None else extra[1], []).append(name[0])
    return by_extra


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _found(name: str) -> str:
    return f"{name} {_version(name) or 'MISSING'}"
