"""Runs the steps of the Dockerfile without Docker: what is copied, installed and compiled, in a folder that stands for `/`.

    python -m tests.container

installs ibidem and its dependencies as the image does, compiles everything, lets nobody write there, and runs the image's
command. The tests do the same with the packages that are installed here, and compile less.
"""

from __future__ import annotations

import fnmatch
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent


class Stage(NamedTuple):
    """One stage of the image: its name, its variables, and its instructions in order."""

    name: str
    variables: dict[str, str]
    steps: list[tuple[str, str]]

    def all(self, word: str) -> list[str]:
        return [rest for each, rest in self.steps if each == word]


def stages() -> list[Stage]:
    """Return the stages of the Dockerfile."""
    text = re.sub(r"\\\n", "", (ROOT / "Dockerfile").read_text("utf-8"))
    found: list[Stage] = []
    given: dict[str, str] = {}
    for line in filter(None, (line.strip() for line in text.splitlines() if not line.startswith("#"))):
        word, _, rest = line.partition(" ")
        if word == "FROM":
            found.append(Stage(rest.partition(" AS ")[2], {}, []))
        known = found[-1].variables if found else given
        if word in ("ARG", "ENV"):
            for assignment in shlex.split(rest):
                name, _, value = assignment.partition("=")
                for other, of_other in {**os.environ, **known}.items():
                    value = value.replace(f"${{{other}}}", of_other)
                known[name] = value
        elif found:
            found[-1].steps.append((word, rest))
    return found


def is_sent(path: str) -> bool:
    """Say whether .dockerignore lets a path of the repository into the image: the last pattern that matches decides."""
    sent = True
    for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines():
        pattern = line.strip().removeprefix("!")
        parts = Path(path).parts
        heads = ["/".join(parts[: n + 1]) for n in range(len(parts))]
        if pattern and not pattern.startswith("#"):
            if any(fnmatch.fnmatch(head, pattern) or fnmatch.fnmatch(f"/{head}", pattern.replace("**", "*")) for head in heads):
                sent = line.startswith("!")
    return sent


def build(root: Path, replaced: Mapping[str, str]) -> dict[str, str]:
    """Do the steps of the first stage below a folder; `replaced` are commands done in another way. Return its variables."""
    stage = stages()[0]
    source = root / "source"
    source.mkdir(parents=True)
    environment = {**os.environ, **stage.variables}
    for name in ("PYTHONPATH", "NUMBA_CACHE_DIR"):
        environment.pop(name, None)
    for word, rest in stage.steps:
        if word == "COPY":
            *names, _ = rest.split()
            for name in names:
                if (ROOT / name).is_dir():
                    shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
                else:
                    shutil.copy(ROOT / name, source)
        elif word == "RUN":
            command = replaced.get(rest, rest).replace("/opt/ibidem", str(root / "opt" / "ibidem"))
            command = re.sub(r"^python ", f"{shlex.quote(sys.executable)} ", command)
            subprocess.run(["sh", "-ec", command], cwd=source, env=environment, check=True)
    return stage.variables


def obeying_modes() -> list[str]:
    """Return what makes a command obey the modes of files, as those of all users do but root's.

    Root stays root without that right: other users cannot run a Python that is installed in root's home.
    """
    rights = "-dac_override,-dac_read_search"
    return ["setpriv", f"--bounding-set={rights}", f"--inh-caps={rights}"] if os.geteuid() == 0 else []


def main() -> None:
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    try:
        variables = build(folder, {})
        subprocess.run(["chmod", "-R", "a-w,a+rX", str(folder)], check=True)
        news = ROOT / "examples" / "newsroom" / "documents.jsonl"
        size = subprocess.run(["du", "-sh", str(folder / "opt")], capture_output=True, text=True, check=True).stdout
        print(f"installed: {size.split()[0]}")
        for command in (["dedup", str(news), "--dry-run"], ["tune", str(news)]):
            done = [*obeying_modes(), str(folder / "opt/ibidem/bin/ibidem"), *command]
            subprocess.run(done, env={"PATH": os.environ["PATH"], **variables}, cwd="/", check=True)
    finally:
        subprocess.run(["chmod", "-R", "u+w", str(folder)], check=True)
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
