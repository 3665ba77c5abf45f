"""The recipes in docs/operations: the image, whose steps are run without Docker, and the script that cron starts."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import ibidem
import tests.container as container
from ibidem.cli.verbs import VERBS
from tests.waiting import LIMIT_SECONDS

ROOT = Path(__file__).parent.parent
NEWS = (ROOT / "examples" / "newsroom" / "documents.jsonl").read_text("utf-8").splitlines(keepends=True)
USER = 10001


# The image.


def test_the_image_is_built_in_two_stages_and_run_by_a_user_without_rights() -> None:
    build, image = container.stages()
    assert build.name == "build"
    assert image.all("COPY") == ["--from=build /opt/ibidem /opt/ibidem"]
    assert f"--uid {USER} " in image.all("RUN")[0]
    assert [word for word, _ in image.steps[-4:]] == ["USER", "WORKDIR", "ENTRYPOINT", "CMD"]
    assert (image.all("USER"), image.all("ENTRYPOINT")) == (["ibidem"], ['["ibidem"]'])
    for name in ("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"):  # or everything would be compiled again
        assert build.variables[name] == image.variables[name]
    assert build.variables["NUMBA_CPU_NAME"] == "generic"
    assert "NUMBA_CACHE_DIR" not in image.variables


def test_the_image_gets_what_it_copies_and_nothing_else() -> None:
    copied = [name for rest in container.stages()[0].all("COPY") for name in rest.split()[:-1]]
    assert copied
    assert [name for name in copied if not ((ROOT / name).exists() and container.is_sent(name))] == []
    assert container.is_sent("src/ibidem/pipeline.py")
    for name in (
        "tests/texts.py",
        ".git/config",
        "docs/index.md",
        ".venv/bin/python",
        "src/ibidem/__pycache__/x.pyc",
        "demo/run.json",
    ):
        assert not container.is_sent(name), name


def test_the_commands_of_the_page_are_those_of_the_program() -> None:
    page = (ROOT / "docs/operations/containers.md").read_text("utf-8")
    verbs = re.findall(r"^docker run .* ibidem (\w+) ", page, re.MULTILINE)
    assert verbs
    assert set(verbs) <= set(VERBS)


def test_the_steps_of_the_image() -> None:
    """Install, compile, forbid to write, and run: nothing is compiled again."""
    if os.geteuid() == 0 and not shutil.which("setpriv"):
        pytest.skip("setpriv is not installed")
    root = Path(tempfile.mkdtemp())  # the folder of pytest is closed to others
    root.chmod(0o755)
    packages = [path for path in sys.path if path.endswith("site-packages")]
    # Without network: what is installed here is visible there, and the package is copied as a wheel would be.
    installed = (
        "for folder in /opt/ibidem/lib/python*/site-packages; do cp -r src/ibidem $folder; "
        + "".join(f"echo {shlex.quote(path)} >> $folder/here.pth; " for path in packages)
        + "done; printf '#!/bin/sh\\nexec /opt/ibidem/bin/python -m ibidem \"$@\"\\n' > /opt/ibidem/bin/ibidem; "
        "chmod +x /opt/ibidem/bin/ibidem"
    )
    replaced = {
        "python -m venv /opt/ibidem": "python -m venv --without-pip /opt/ibidem",
        "/opt/ibidem/bin/pip install '.[web]'": installed,
        "/opt/ibidem/bin/ibidem warmup": "/opt/ibidem/bin/ibidem warmup tune",
    }
    assert set(replaced) == set(container.stages()[0].all("RUN"))
    try:
        variables = container.build(root, replaced)
        (root / "data.jsonl").write_text("".join(NEWS), "utf-8")
        subprocess.run(["chmod", "-R", "a-w,a+rX", str(root)], check=True)
        # The line about compiling is the only one that a run may write to standard error here, and it must not come.
        command = [*container.obeying_modes(), str(root / "opt/ibidem/bin/ibidem"), "tune", str(root / "data.jsonl")]
        environment = {"PATH": os.environ["PATH"], "TMPDIR": "/dev/null/nowhere", **variables}
        done = subprocess.run(
            command, env=environment, cwd="/", capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert "precision" in done.stdout
        # The same without the variables of the image is another processor: it is said, and works.
        if not {"NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"} & set(os.environ):
            others = {"PATH": os.environ["PATH"], "TMPDIR": "/dev/null/nowhere", "HOME": "/dev/null/nowhere"}
            done = subprocess.run(
                command, env=others, cwd="/", capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False
            )
            assert done.returncode == 0
            assert "ibidem: compiling code" in done.stderr
    finally:
        subprocess.run(["chmod", "-R", "u+w", str(root)], check=True)
        shutil.rmtree(root)


# Every night.


class Night:
    """The folder that the script works in, and the script."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (script,) = re.findall(r"```bash\n(.*?)```", (ROOT / "docs/operations/nightly.md").read_text("utf-8"), re.DOTALL)
        self._script = folder.parent / "nightly.sh"
        self._script.write_text(script, "utf-8")
        command = folder.parent / "bin" / "ibidem"
        command.parent.mkdir()
        command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m ibidem "$@"\n', "utf-8")
        command.chmod(0o755)
        (folder / "inbox").mkdir(parents=True)

    def arrive(self, name: str, lines: list[str]) -> None:
        (self.folder / "inbox" / name).write_text("".join(lines), "utf-8")

    def run(self, arguments: tuple[str, ...] | None = None) -> subprocess.CompletedProcess[str]:
        path = f"{self._script.parent / 'bin'}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        given = (str(self.folder),) if arguments is None else arguments
        return subprocess.run(
            ["bash", str(self._script), *given], env=environment, cwd="/", capture_output=True, text=True,
            timeout=LIMIT_SECONDS, check=False,
        )  # fmt: skip

    def names(self, folder: str) -> list[str]:
        return sorted(path.name for path in (self.folder / folder).glob("*"))


@pytest.fixture
def night(tmp_path: Path) -> Iterator[Night]:
    if not (shutil.which("flock") and shutil.which("bash")):
        pytest.skip("flock or bash is not installed")
    return Night(tmp_path / "archive")


def test_nights_are_silent_and_leave_answers(night: Night) -> None:
    for name, lines in (("monday.jsonl", NEWS[:25]), ("tuesday.jsonl", [*NEWS[25:], "{\n"])):
        night.arrive(name, lines)
        done = night.run()
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        assert night.names("inbox") == []
    assert [night.names(f"batches/{name}") for name in night.names("batches")] == [["monday.jsonl"], ["tuesday.jsonl"]]
    assert night.names("added") == night.names("batches")
    (answers,) = night.names("answers")  # on the first night there was nothing to compare with
    assert "passages.parquet" in night.names(f"answers/{answers}")
    logs = "".join((night.folder / "log" / name).read_text("utf-8") for name in night.names("log"))
    assert f"{len(NEWS)} documents" in logs
    assert "1 record skipped" in logs
    assert (night.folder / "log" / f"{answers}.skipped.jsonl").read_text("utf-8").count("\n") == 1
    assert night.run().returncode == 0  # nothing has arrived
    assert len(night.names("answers")) == 1


def test_a_night_that_fails_says_why_and_loses_nothing(night: Night) -> None:
    night.arrive("monday.jsonl", NEWS[:5])
    (night.folder / "archive.idx").mkdir()
    (night.folder / "archive.idx" / "catalog.sqlite").write_text("no index", "utf-8")
    done = night.run()
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.startswith("nightly.sh: exit code 4, see ")
    assert "ibidem: " in done.stderr
    (batch,) = night.names("batches")
    assert (night.names(f"batches/{batch}"), night.names("added")) == (["monday.jsonl"], [])
    shutil.rmtree(night.folder / "archive.idx")
    done = night.run()  # nothing new has arrived; what failed is tried again
    assert (done.returncode, done.stderr) == (0, "")
    assert night.names("added") == [batch]


def test_files_of_the_same_name_do_not_take_each_others_place(night: Night) -> None:
    without_ids = [json.dumps({"text": json.loads(line)["text"]}) + "\n" for line in NEWS[:6]]
    for lines in (without_ids[:4], without_ids[4:]):
        night.arrive("pages.jsonl", lines)
        done = night.run()
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    kept = [(night.folder / "batches" / name / "pages.jsonl").read_text("utf-8") for name in night.names("batches")]
    assert kept == ["".join(without_ids[:4]), "".join(without_ids[4:])]
    with ibidem.Index(night.folder / "archive.idx", create=False) as index:
        assert len(index) == 6


def test_a_file_that_cannot_be_read_is_mailed(night: Night) -> None:
    night.arrive("monday.jsonl", NEWS[:5])
    night.arrive("broken.parquet", ["no table"])
    done = night.run()
    assert (done.returncode, done.stdout) == (0, "")
    assert "files that could not be read" in done.stderr
    assert "broken.parquet" in done.stderr


def test_a_night_without_a_folder_says_what_it_needs(night: Night) -> None:
    done = night.run(())
    assert done.returncode != 0
    assert "usage: nightly.sh FOLDER" in done.stderr


def test_two_nights_do_not_meet(night: Night) -> None:
    night.arrive("monday.jsonl", NEWS[:5])
    with open(night.folder / "nightly.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = night.run()
    assert (done.returncode, done.stdout) == (75, "")
    assert "an earlier run is still at work" in done.stderr
    assert night.names("inbox") == ["monday.jsonl"]
