"""Where compiled kernels are stored: no run needs a cache it can write, and `ibidem warmup` leaves nothing to compile."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ibidem.execution import kernel_cache
from ibidem.version import __version__
from tests.container import obeying_modes
from tests.waiting import LIMIT_SECONDS

ROOT = Path(__file__).parent.parent
NEWS = ROOT / "examples" / "newsroom" / "documents.jsonl"
ESSAYS = ROOT / "examples" / "essays"
NOBODY = 65534
# Runs a command, and says at the end how many kernels it has compiled, and where it stores them.
COUNTING = """
import sys, tempfile
tempfile.tempdir = sys.argv.pop(1)
from ibidem.execution.kernel_cache import n_compiled, storage_folder
from ibidem.cli.main import main
try:
    main()
finally:
    print("compiled", n_compiled(), storage_folder(), file=sys.stderr)
"""
# Runs all rehearsals, then commands; says which forms of kernels the commands had to look for.
REHEARSING = """
import json, sys, tempfile
from pathlib import Path
from ibidem.cli import rehearsals
from ibidem.cli.main import main
from ibidem.cli.warmup import VERBS
from ibidem.execution.kernel_cache import KernelCache
for verb in VERBS:
    with tempfile.TemporaryDirectory() as name:
        for job in rehearsals.rehearsals(verb, Path(name)):
            job()
looked_for, plain = [], KernelCache.load_overload
def load(self, signature, context):
    looked_for.append(f"{self._py_func.__module__}.{self._py_func.__name__}{signature}")
    return plain(self, signature, context)
KernelCache.load_overload = load
for command in json.loads(sys.argv[1]):
    sys.argv = ["ibidem", *command]
    try:
        main()
    except SystemExit as end:
        assert not end.code, command
print("\\n".join(looked_for), file=sys.stderr)
"""
# Calls a kernel, or one of its own that contains it; says how much room there is, and how many stored forms had to be compiled.
CALLING = """
import sys
import numpy as np
from ibidem.execution.compiler import growing_kernel, twice
from ibidem.execution.kernel_cache import n_compiled
@growing_kernel
def four_times(column):
    return twice(twice(column))
print(len(globals()[sys.argv[1]](np.zeros(3))), n_compiled())
"""


def set_writable(folder: Path, writable: bool) -> None:
    for path in [folder, *folder.rglob("*")]:
        mode = stat.S_IMODE(path.stat().st_mode) | 0o444 | (0o111 if path.is_dir() else 0)
        path.chmod(mode | 0o200 if writable else mode & ~0o222)


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """Return a folder that every user can look into, which the folder of pytest is not."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    set_writable(folder, True)
    shutil.rmtree(folder)


def package(place: Path, name: str, warmed: bool) -> Path:
    """Copy the package, compile what `tune` needs if it shall be `warmed`, and let nobody write there."""
    folder = place / name
    shutil.copytree(ROOT / "src" / "ibidem", folder / "ibidem", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(NEWS, folder / "documents.jsonl")
    if warmed:
        environment = {**os.environ, "PYTHONPATH": str(folder)}
        environment.pop("NUMBA_CACHE_DIR", None)
        command = [sys.executable, "-m", "ibidem", "warmup", "tune"]
        done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=True)
        assert f"kernels: {folder / 'ibidem'} (" in done.stderr
    set_writable(folder, False)
    return folder


@pytest.fixture(scope="module")
def warmed(place: Path) -> Path:
    return package(place, "warmed", True)


@pytest.fixture(scope="module")
def bare(place: Path) -> Path:
    return package(place, "bare", False)


def tune(folder: Path, temporary: Path | str) -> tuple[int, str, list[str]]:
    """Run `tune` as a user without a home that can be written. Return the kernels compiled, their folder, and what was said."""
    if os.geteuid() == 0 and not shutil.which("setpriv"):
        pytest.skip("setpriv is not installed")
    command = [*obeying_modes(), sys.executable, "-c", COUNTING, str(temporary)]
    environment = {
        name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR")
    }
    environment |= {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1", "HOME": "/dev/null/nowhere"}
    done = subprocess.run(
        [*command, "tune", "documents.jsonl"], cwd=folder, env=environment, capture_output=True, text=True,
        timeout=LIMIT_SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    *said, counted = done.stderr.splitlines()
    _, number, where = counted.split(" ", 2)
    return int(number), where, said


def test_kernels_beside_a_package_that_cannot_be_written_are_used(warmed: Path) -> None:
    """As in an image whose file system is read-only, and without any temporary folder."""
    assert tune(warmed, "/dev/null/nowhere") == (0, "None", [])


def test_without_package_and_home_they_are_stored_in_a_private_temporary_folder(bare: Path, place: Path) -> None:
    temporary = place / "tmp"
    temporary.mkdir()
    temporary.chmod(0o1777)
    user = os.geteuid()
    folder = temporary / f"ibidem-kernels-{user}-{__version__}"
    compiled, where, said = tune(bare, temporary)
    assert (compiled > 0, where) == (True, str(folder))
    assert [line.partition("about")[0] for line in said] == ["ibidem: compiling code this run needs: "]
    found = folder.stat()
    assert (stat.S_IMODE(found.st_mode), found.st_uid) == (0o700, user)
    assert tune(bare, temporary) == (0, str(folder), [])


def test_without_any_place_a_run_compiles_for_itself_and_says_so(bare: Path) -> None:
    compiled, where, said = tune(bare, "/dev/null/nowhere")
    assert (compiled > 0, where) == (True, "None")
    (line,) = said
    assert "in every run, as no folder can be written" in line
    assert "NUMBA_CACHE_DIR" in line


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="only root can become an unknown user")
def test_a_user_unknown_to_the_system_gets_no_folder_of_that_name(warmed: Path, place: Path) -> None:
    """Nobody knows where ~ is then, and numba would make a folder named ~ in the current one."""
    unknown = ["setpriv", "--reuid=54321", "--regid=54321", "--clear-groups"]
    here = place / "here"
    here.mkdir()
    here.chmod(0o777)
    program = "import os, sys; os.chdir(sys.argv[1]); import ibidem.execution.compiler as c; print(c.twice._cache.cache_path)"
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(warmed), "TMPDIR": str(here)}
    if subprocess.run([*unknown, sys.executable, "-c", "import numba"], capture_output=True, check=False).returncode:
        pytest.skip("other users cannot run this Python")
    done = subprocess.run(
        [*unknown, sys.executable, "-c", program, str(here)], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(f"{here}/ibidem-kernels-54321-")
    assert [path.name for path in here.iterdir()] == [f"ibidem-kernels-54321-{__version__}"]


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    kernel_cache.private_folder.cache_clear()
    yield tmp_path / f"ibidem-kernels-{os.geteuid()}-{__version__}"
    kernel_cache.private_folder.cache_clear()


def test_a_private_folder_is_made_and_found_again(temporary: Path) -> None:
    assert kernel_cache.private_folder() == str(temporary)
    kernel_cache.private_folder.cache_clear()
    assert kernel_cache.private_folder() == str(temporary)
    assert stat.S_IMODE(temporary.stat().st_mode) == 0o700


@pytest.mark.parametrize("what", ["a link", "a file", "open to others", "of another user"])
def test_what_others_may_have_prepared_is_not_used(temporary: Path, what: str) -> None:
    if what == "a link":
        (temporary.parent / "elsewhere").mkdir(mode=0o700)
        temporary.symlink_to("elsewhere")
    elif what == "a file":
        temporary.touch(0o700)
    else:
        temporary.mkdir(0o700)
        if what == "open to others":
            temporary.chmod(0o770)
        elif os.geteuid() == 0:
            os.chown(temporary, NOBODY, NOBODY)
        else:
            pytest.skip("only root can give a folder away")
    assert kernel_cache.private_folder() is None


def test_warmup_leaves_nothing_to_compile(tmp_path: Path) -> None:
    """Whatever form of a kernel these commands need has been used by a rehearsal before, so it is stored."""
    news, part, index, out = str(NEWS), str(tmp_path / "part.jsonl"), str(tmp_path / "x.idx"), str(tmp_path / "out")
    Path(part).write_text("".join(NEWS.read_text("utf-8").splitlines(keepends=True)[:20]), "utf-8")
    amara, handbook = (str(ESSAYS / name) for name in ("essays/amara.txt", "sources/tides-handbook.txt"))
    written = ["-o", out, "--overwrite", "-q"]
    small = ["--memory", "1MB"]
    commands = [
        *(["find", news, "--signature", signature, *written] for signature in ("words", "exact", "shingles", "fingerprint")),
        ["find", str(ESSAYS / "essays"), "--against", str(ESSAYS / "sources"), "--align", *written],
        ["find", news, "--same-document", *small, *written],
        ["cluster", news, *written],
        ["cluster", part, "--against", news, "--min-containment", "0.5", *written],
        ["cluster", news, *small, *written],
        *(["dedup", news, "--level", level, "--dry-run", "-q"] for level in ("document", "passage", "sentence")),
        ["dedup", part, "--against", news, "--level", "sentence", "--dry-run", "-q", *small],
        ["compare", amara, handbook],
        ["tune", news, "-q"],
        ["index", "add", index, part, "-q"],
        ["index", "add", index, news, "--replace", "-q"],
        ["index", "query", index, part, "-q"],
        ["index", "check", index, amara, "-q"],
        ["index", "compact", index, "-q"],
    ]
    command = [sys.executable, "-c", REHEARSING, json.dumps(commands)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=2 * LIMIT_SECONDS, cwd=tmp_path, check=False)
    assert (done.returncode, done.stderr.strip()) == (0, "")


def test_a_stored_kernel_becomes_part_of_another_one(tmp_path: Path) -> None:
    def called(name: str) -> str:
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        command = [sys.executable, "-c", CALLING, name]
        return subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout

    assert called("twice") == "6 1\n"
    assert called("twice") == "6 0\n"
    assert called("four_times") == "12 0\n"


def test_the_stamp_of_a_kernel_covers_all_that_it_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba copies the kernels that a kernel calls into it: it is stale if one of them has changed."""
    monkeypatch.setattr(kernel_cache, "_ROOT", str(tmp_path))
    package = tmp_path / "ibidem"
    (package / "inner").mkdir(parents=True)
    outer, inner, constants, other = (package / name for name in ("outer.py", "inner/sums.py", "constants.py", "other.py"))
    outer.write_text("from ibidem.inner import (\n    sums,\n)\n")
    inner.write_text("import numpy\nfrom ibidem.constants import ONE\nfrom ibidem.outer import loop\n")
    constants.write_text("ONE = 1\n")
    other.write_text("TWO = 2\n")

    def stamp() -> str:
        kernel_cache._source_of.cache_clear()
        kernel_cache.sources_stamp.cache_clear()
        return kernel_cache.sources_stamp(str(outer))

    first = stamp()
    other.write_text("TWO = 3\n")
    assert stamp() == first
    constants.write_text("ONE = 2\n")
    second = stamp()
    assert second != first
    inner.write_text(inner.read_text() + "\n")
    assert stamp() not in (first, second)
    assert kernel_cache.sources_stamp(str(package / "missing.py"))
    kernel_cache._source_of.cache_clear()
    kernel_cache.sources_stamp.cache_clear()


@pytest.mark.parametrize("n_left", [0, 7], ids=["empty", "cut off"])
@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_damaged_files_are_written_again(tmp_path: Path, kind: str, n_left: int) -> None:
    """As a power cut leaves them."""
    script = (
        "import numpy as np\n"
        "from ibidem.execution.compiler import twice\n"
        "from ibidem.execution.kernel_cache import n_compiled\n"
        "print(len(twice(np.arange(3))), n_compiled())\n"
    )

    def run() -> str:
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "TMPDIR": str(tmp_path)}
        # A copy of the sources without compiled code beside them.
        environment["PYTHONPATH"] = str(tmp_path / "src")
        command = [sys.executable, "-B", "-c", script]
        return subprocess.run(command, env=environment, cwd=tmp_path, check=True, capture_output=True, text=True).stdout.strip()

    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    assert [run(), run()] == ["6 1", "6 0"]
    damaged = list((tmp_path / "cache").rglob(f"*.{kind}"))
    assert damaged
    for file in damaged:
        file.write_bytes(file.read_bytes()[:n_left])
    assert [run(), run()] == ["6 1", "6 0"]
