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

from ibidem.cli.serve import page_that_leads_to, serve
from ibidem.errors import IbidemError, InputError, NoIndexError, ResourceError, UsageError
from ibidem.viewer.server.addresses import address_of, bind
from tests.texts import text
from tests.waiting import LIMIT_SECONDS

TOKEN = "correct-horse-battery"
# Runs the server, and sends it a signal from inside, at a call after its line "serving" that is counted: no clock, no luck.
SIGNALLED = """
import signal, sys
import click
from ibidem.cli.main import main
number, place, left = getattr(signal, sys.argv.pop(1)), sys.argv.pop(1), int(sys.argv.pop(1))
def look(frame, event, argument):
    global left
    if event == "call" and place in frame.f_code.co_filename:
        left -= 1
        if left == 0:
            sys.setprofile(None)
            signal.raise_signal(number)
def echo(message=None, plain=click.echo, **more):
    plain(message, **more)
    if "serving" in str(message):
        sys.setprofile(look)
click.echo = echo
main()
"""


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


@pytest.mark.parametrize(
    ("number", "place", "calls"),
    [
        ("SIGINT", "", 1), ("SIGINT", "", 30), ("SIGINT", "", 300), ("SIGTERM", "", 3000),
        ("SIGINT", "importlib", 1), ("SIGTERM", "importlib", 20), ("SIGHUP", "importlib", 20),
    ],
)  # fmt: skip
def test_no_signal_after_the_line_serving_is_missed(result: Path, number: str, place: str, calls: int) -> None:
    """Parts of the server are still being loaded then, which is when signals are otherwise postponed."""
    command = [sys.executable, "-c", SIGNALLED, number, place, str(calls), "serve", "--port", "0", str(result)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.splitlines()[-1].startswith("ibidem: serving")


def test_a_terminal_shows_the_address_with_the_token(index: Path) -> None:
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "ibidem", "serve", "--port", "0", str(index), "--token", TOKEN]
    with open(ours, "rb", buffering=0) as terminal, subprocess.Popen(command, stderr=theirs) as process:
        os.close(theirs)
        try:
            said = b""
            while not (found := re.search(rb"at (http://\S+)", said)):
                said += terminal.read(1000)
        finally:
            process.kill()
    assert found[1].decode().endswith(f"/?token={TOKEN}")


def test_a_token_is_in_no_log_and_in_no_list_of_processes(index: Path) -> None:
    arguments = (str(index), "--host", "0.0.0.0", f"--token={TOKEN}", "--verbose")
    with serving(*arguments) as (process, address):
        assert address.startswith("http://127.0.0.1:")
        if os.path.exists("/proc/self/stat"):
            listed = Path(f"/proc/{process.pid}/cmdline").read_bytes()
            assert b"--verbose" in listed
            assert TOKEN.encode() not in listed
        with httpx.Client(base_url=address, timeout=60, trust_env=False, follow_redirects=True) as client:
            assert client.get("/").status_code == 401
            page = client.get("/", params={"token": TOKEN})
            assert page.status_code == 200
            assert "token" not in str(page.url)
            assert TOKEN not in str(page.history[0].headers)
            assert client.get("/api/v1/summary").json()["verb"] == "index"  # by the cookie
            for asked in (f"/?%74oken={TOKEN}", f"/token={TOKEN}", f"/{TOKEN[:5]}%{ord(TOKEN[5]):x}{TOKEN[6:]}"):
                client.get(asked)
            client.get("/api/v1/summary", params={"token": TOKEN, "x": 1})
            client.get("/nothing", headers={"Referer": f"{address}?token={TOKEN}"})
        process.send_signal(signal.SIGINT)
        said = "".join(process.communicate(timeout=60))
    assert '"GET /nothing HTTP/1.1" 404' in said
    assert '"GET /?… HTTP/1.1" 303' in said
    assert TOKEN[6:] not in said


def test_a_browser_is_opened_by_a_file_that_others_cannot_read() -> None:
    address = f"http://127.0.0.1:1/?token={TOKEN}&x=%22"
    with page_that_leads_to(address) as path:
        assert TOKEN not in path
        assert os.stat(path).st_mode & 0o077 == 0
        assert f"url={address.replace('&', '&amp;')}" in Path(path).read_text("utf-8")
    assert not os.path.exists(path)


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
        (["--token", "with a blank in it"], UsageError, "no spaces"),
        (["--token", "naïve-and-long"], UsageError, "no spaces"),
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
