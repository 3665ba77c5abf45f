"""Runs the suite on every Python that is declared and installed, and once with the oldest dependencies: `make test-versions`.

python -m tests.versions [3.12 oldest …]

Each gets an environment of its own in build/versions. The package is installed as users install it, without extras, and the
main verbs are tried; only then the packages for tests are added. Properties are tried on few examples unless
HYPOTHESIS_PROFILE says otherwise. Tests of Spark and of the browser are left to `make test`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.oldest import constraints, packages_for_tests, project_extra, read_project

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "build" / "versions"
NEWS = ROOT / "examples" / "newsroom" / "documents.jsonl"
UPCOMING = ["3.14"]  # tried as soon as all dependencies have wheels for them
OLDEST = "oldest"
OLDEST_ON = ["3.10", "3.11", "3.12"]  # the oldest numba, numpy and pyarrow have wheels for these
SMOKE = (
    f"find {NEWS} -o found --report",
    f"cluster {NEWS} -o clusters",
    f"dedup {NEWS} -o cleaned",
    f"index add news.idx {NEWS}",
    f"index check news.idx {NEWS} --format text",
    "report found -o page.html",
)
NOT_HERE = ("tests/browser", "tests/execution/spark/test_spark.py", "tests/execution/spark/test_local_cluster.py")


class NoWheelsError(Exception):
    """A dependency has no wheel for this Python."""


def declared_versions() -> list[str]:
    """Return the versions of Python that the classifiers of the package name."""
    names = [name.rpartition(" :: ")[2] for name in read_project()["classifiers"] if "Python :: 3." in name]
    return sorted(names, key=lambda name: int(name.partition(".")[2]))


def find_python(version: str) -> str | None:
    """Return the interpreter of a version: this one, one on the PATH, or one that pyenv has installed."""
    if version == f"{sys.version_info[0]}.{sys.version_info[1]}":
        return sys.executable
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    installed = [str(path) for path in sorted(pyenv.glob(f"{version}.*/bin/python"))]
    on_path = shutil.which(f"python{version}")
    return next((path for path in [*filter(None, [on_path]), *reversed(installed)] if _answers(path, version)), None)


def _answers(path: str, version: str) -> bool:
    """Return whether an interpreter runs, and is what its name says: pyenv has names for versions that are not installed."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    return subprocess.run([path, "-c", code], capture_output=True, text=True).stdout.strip() == version


def run_version(name: str, python: str, wheel: Path) -> str:
    """Install the package into a new environment and test it there; return how it ended."""
    folder = FOLDER / name
    _run([python, "-m", "venv", "--clear", str(folder)])
    install = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--only-binary", ":all:"]
    if name == OLDEST:
        (FOLDER / "oldest.txt").write_text("\n".join(constraints()), "utf-8")
        install += ["--constraint", str(FOLDER / "oldest.txt")]
    if subprocess.run([*install, str(wheel)], env=_environment()).returncode:
        raise NoWheelsError
    with tempfile.TemporaryDirectory() as elsewhere:
        for command in SMOKE:
            _run([str(folder / "bin" / "ibidem"), *command.split()], Path(elsewhere), subprocess.DEVNULL)
    print(f"{name}: the main verbs run without extras", flush=True)
    _run([*install, *project_extra("web"), *packages_for_tests()])
    ignored = [word for path in NOT_HERE for word in ("--ignore", path)]
    jobs = os.environ.get("JOBS", "auto")
    suite = ["-m", "pytest", "--numprocesses", jobs, "--dist", "loadfile", "--no-loadscope-reorder", *ignored]
    _run([str(folder / "bin" / "python"), *suite])
    return "passed"


def _environment() -> dict[str, str]:
    """Return the environment without what would lead to this folder's sources."""
    return {"HYPOTHESIS_PROFILE": "quick", **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"}}


def _run(command: list[str], folder: Path = ROOT, output: int | None = None) -> None:
    subprocess.run(command, cwd=folder, env=_environment(), stdout=output, check=True)


def main(wanted: list[str]) -> int:
    """Test the wanted versions, or all; return 0 if none has failed and one was there."""
    declared = declared_versions()
    FOLDER.mkdir(parents=True, exist_ok=True)
    pythons = {name: find_python(name) for name in [*declared, *UPCOMING]}
    pythons[OLDEST] = next((python for version in OLDEST_ON if (python := pythons.get(version))), None)
    for name, path in pythons.items():
        print(f"{name:8}{path or 'not installed'}", flush=True)
    _run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(FOLDER), str(ROOT)])
    wheel = max(FOLDER.glob("ibidem-*.whl"), key=lambda path: path.stat().st_mtime)
    endings = {}
    for name, python in pythons.items():
        if wanted and name not in wanted:
            continue
        if python is None:
            endings[name] = "skipped: no such Python is installed"
            continue
        try:
            endings[name] = run_version(name, python, wheel)
        except NoWheelsError:
            endings[name] = "skipped: a dependency has no wheel for it" if name in UPCOMING else "FAILED to install"
        except subprocess.CalledProcessError as error:
            endings[name] = f"FAILED: {' '.join(map(str, error.cmd))} ended with {error.returncode}"
    print("\n".join(f"{name:8}{ending}" for name, ending in endings.items()))
    return int("passed" not in endings.values() or any(ending.startswith("FAILED") for ending in endings.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
