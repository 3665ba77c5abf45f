"""`ibidem serve` as a user runs it: what is said, what is refused, and how it ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from ibidem.cli.serve import serve
from ibidem.errors import IbidemError, InputError, NoIndexError, ResourceError, UsageError
from ibidem.web.running import address_of, bind
from tests.texts import text
from tests.waiting import LIMIT_SECONDS

TOKEN = "correct-horse-battery"


@contextmanager
def serving(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the command in a process of its own; yield it and the address that it printed."""
    command = [sys.executable, "-m", "ibidem", "serve", "--port", "0", *arguments]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        said = ""
        while not (found := re.search(r"at (http://\S+)", said)):
            line = process.stderr.readline()
            assert line, said
            said += line
        yield process, found[1]
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_it_is_told_to_end(result: Path, index: Path, number: signal.Signals) -> None:
    with serving(str(result), "--index", str(index)) as (process, address):
        with httpx.Client(base_url=address, timeout=60, trust_env=False) as client:
            assert 'data-mode="app"' in client.get("/").text
            assert client.get("/api/v1/summary").json()["has_index"]
            found = client.post("/api/v1/check", json={"text": text(1, 2, 3, 4)}).json()
            assert found["verdict"]["duplicated"]
            with client.stream("GET", "/api/v1/arrivals/stream") as stream:
                next(stream.iter_lines())
                process.send_signal(number)
                assert process.wait(LIMIT_SECONDS) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""


def test_the_address_holds_the_token(index: Path) -> None:
    with serving(str(index), "--host", "0.0.0.0", "--token", TOKEN) as (_, address):
        assert address.endswith(f"/?token={TOKEN}")
        assert address.startswith("http://127.0.0.1:")
        with httpx.Client(timeout=60, trust_env=False, follow_redirects=True) as client:
            assert client.get(address.partition("?")[0]).status_code == 401
            page = client.get(address)
            assert page.status_code == 200
            assert "token" not in str(page.url)
            assert client.get(page.url.join("/api/v1/summary")).json()["verb"] == "index"


def problem_of(*arguments: str) -> BaseException | None:
    return CliRunner().invoke(serve, list(arguments)).exception


@pytest.mark.parametrize(
    ("arguments", "kind", "told"),
    [
        (["--host", "0.0.0.0"], UsageError, "--token"),
        (["--host", "192.168.1.7"], UsageError, "anyone could read"),
        (["--host", "::"], UsageError, "--token"),
        (["--token", ""], UsageError, "at least 8 characters"),
        (["--token", "short"], UsageError, "at least 8 characters"),
        (["--token", "with a blank in it"], UsageError, "without blanks"),
        (["--token", "naïve-and-long"], UsageError, "without blanks"),
        (["--host", "no.such.host.invalid", "--token", TOKEN], ResourceError, "is not known"),
        (["--index", "absent.idx", "--port", "0"], NoIndexError, "absent.idx"),
    ],
)
def test_what_cannot_be_served_is_refused_with_a_reason(
    result: Path, arguments: list[str], kind: type[IbidemError], told: str
) -> None:
    problem = problem_of(str(result), *arguments)
    assert isinstance(problem, kind)
    assert told in str(problem)


def test_a_folder_that_is_none_is_an_error_of_input(tmp_path: Path) -> None:
    assert isinstance(problem_of(str(tmp_path), "--port", "0"), InputError)


@pytest.mark.parametrize("size", ["0", "much", "-5MB"])
def test_a_size_that_is_none_is_refused(result: Path, size: str) -> None:
    outcome = CliRunner().invoke(serve, [str(result), "--max-upload", size])
    assert outcome.exit_code == 2
    assert "is not a size" in outcome.output


def test_a_port_that_is_taken_is_named(result: Path) -> None:
    with bind("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        problem = problem_of(str(result), "--port", str(port))
    assert isinstance(problem, ResourceError)
    assert f"port {port}" in problem.message
    assert "--port" in problem.next_step


def test_without_the_extra_it_says_what_to_install(result: Path) -> None:
    program = (
        "import sys; sys.modules['fastapi'] = None\n"
        "from ibidem.cli.main import main; sys.argv = ['ibidem', 'serve', *sys.argv[1:]]; main()"
    )
    outcome = subprocess.run([sys.executable, "-c", program, str(result)], capture_output=True, text=True, check=False)
    assert outcome.returncode == 5
    assert "pip install 'ibidem[web]'" in outcome.stderr
    assert "Traceback" not in outcome.stderr


@pytest.mark.parametrize("statement", ["import ibidem.cli.main, ibidem.cli.serve", "import ibidem; ibidem.Index"])
def test_the_web_is_not_loaded_unless_it_is_used(statement: str) -> None:
    program = f"{statement}; import sys; print([name for name in ('fastapi', 'uvicorn', 'pydantic') if name in sys.modules])"
    outcome = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert outcome.stdout.strip() == "[]"


def test_an_address_of_ipv6_is_written_in_brackets() -> None:
    if not os.path.exists("/proc/net/if_inet6"):
        pytest.skip("no IPv6 here")
    try:
        listening = bind("::1", 0)
    except ResourceError:
        pytest.skip("no IPv6 here")
    with listening:
        assert address_of(listening).startswith("http://[::1]:")
