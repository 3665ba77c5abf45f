"""Prints the oldest versions that pyproject.toml allows, as constraints for pip.

python -m tests.oldest > oldest.txt && pip install -c oldest.txt .
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10, where nothing but pip may be installed
    from pip._vendor import tomli as tomllib

PROJECT = Path(__file__).parent.parent / "pyproject.toml"
# name, extras, lower bound, upper bounds that do not matter here, marker
_REQUIREMENT = re.compile(r"([\w.-]+)(\[[\w,]+\])?>=([\w.]+)(?:,<[\w.]+)?(; .+)?")


def read_project() -> dict[str, Any]:
    """Return the table `project` of pyproject.toml."""
    project: dict[str, Any] = tomllib.loads(PROJECT.read_text("utf-8"))["project"]
    return project


def oldest_versions(requirements: list[str]) -> list[str]:
    """Return each requirement with its lower bound as the only version; each must have one."""
    oldest = []
    for requirement in requirements:
        parts = _REQUIREMENT.fullmatch(requirement)
        if parts is None:
            raise ValueError(f"{requirement}: write it as NAME>=VERSION, then at most an upper bound and a marker")
        name, _, version, marker = parts.groups()
        oldest.append(f"{name}=={version}{marker or ''}")
    return oldest


def constraints() -> list[str]:
    """Return the oldest versions of all dependencies: of the package, and of what is needed to test it without Spark."""
    project = read_project()
    return oldest_versions([*project["dependencies"], *project["optional-dependencies"]["web"], *packages_for_tests()])


def packages_for_tests() -> list[str]:
    """Return the packages of the extra `dev` that run tests; the others check the code, or need a browser."""
    dev = project_extra("dev")
    wanted = ("httpx", "hypothesis", "pytest", "pytest-xdist")
    return [requirement for requirement in dev if re.split(r"[>=\[]", requirement)[0] in wanted]


def project_extra(name: str) -> list[str]:
    """Return the requirements of an extra."""
    extra: list[str] = read_project()["optional-dependencies"][name]
    return extra


if __name__ == "__main__":
    print("\n".join(constraints()))
