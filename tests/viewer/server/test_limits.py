"""Clients that stall, trickle, abort, flood and send rubbish, over real sockets: others are answered, and nothing is logged."""

from __future__ import annotations

import json
import logging
import socket
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from ibidem.viewer.server import answers, shapes
from ibidem.viewer.server.admission import Limits
from ibidem.viewer.server.arrivals import Streams
from ibidem.viewer.server.security import Access
from ibidem.viewer.server.served import Served
from ibidem.viewer.server.uploads import Patience
from ibidem.viewer.store import ViewStore
from tests.texts import text
from tests.viewer.server.conftest import running
from tests.viewer.server.expected import expect_safe

API = "/api/v1"
TOKEN = "correct-horse-battery"
SHORT = Patience(head_seconds=0.2, still_seconds=0.2)
WAIT_SECONDS = 60  # until a test is given up: nothing here waits for that long
HEAD = "POST /api/v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
JSON_HEAD = "HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n"


@pytest.fixture
def over(opened: Callable[..., Served], result: Path, index: Path) -> Iterator[Callable[..., str]]:
    """Run an app over the result and the index; return its address."""
    with ExitStack() as stack:
        yield lambda access, limits=None: stack.enter_context(running(opened(result, index_path=index), access, limits))


@contextmanager
def connected(address: str, read_bytes: int | None = None) -> Iterator[socket.socket]:
    parts = urlsplit(address)
    with socket.socket() as client:
        if read_bytes is not None:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, read_bytes)
        client.settimeout(WAIT_SECONDS)
        client.connect((parts.hostname, parts.port))
        yield client


def answer_of(client: socket.socket) -> bytes:
    """Return all that the server sends until it closes the connection."""
    parts = []
    try:
        while part := client.recv(1 << 16):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


def expect_direct_error(status: int, code: str, answer: bytes) -> None:
    """An answer that is given without the app has the same shape and the same headers."""
    head, _, body = answer.partition(b"\r\n\r\n")
    lines = head.decode("ascii").split("\r\n")
    assert lines[0].startswith(f"HTTP/1.1 {status} ")
    headers = [tuple(line.split(": ", 1)) for line in lines[1:]]
    expect_safe(httpx.Response(status, headers=headers, content=body))
    error = shapes.Error.model_validate_json(body).error
    assert (error.status, error.code) == (status, code)


def is_served(address: str, **headers: str) -> bool:
    with httpx.Client(base_url=address, timeout=WAIT_SECONDS, trust_env=False, headers=headers) as client:
        return client.get(f"{API}/summary").status_code == 200


@pytest.mark.parametrize("sent", [b"", b"G", b"GET / HTTP/1.1\r\nHost: local"])
def test_a_head_that_does_not_come_is_not_waited_for(over: Callable[..., str], sent: bytes) -> None:
    address = over(Access(patience=SHORT))
    with connected(address) as client:
        client.sendall(sent)
        expect_direct_error(408, "timeout", answer_of(client))


def test_the_second_head_is_not_waited_for_either(over: Callable[..., str]) -> None:
    with connected(over(Access(patience=SHORT))) as client:
        client.sendall(b"GET /assets/none HTTP/1.1\r\nHost: localhost\r\n\r\nGET / HT")
        answer = answer_of(client)
        assert answer.startswith(b"HTTP/1.1 404 ")


def test_a_body_that_does_not_come_is_not_waited_for(over: Callable[..., str]) -> None:
    with connected(over(Access(patience=SHORT))) as client:
        client.sendall(f"{HEAD}Content-Length: 1000\r\n\r\nsome".encode())
        expect_direct_error(408, "timeout", answer_of(client))


def test_the_rest_of_a_body_that_was_refused_is_not_waited_for(over: Callable[..., str]) -> None:
    """It is refused at its head. What trickles in afterwards must not keep the connection open."""
    with connected(over(Access("0.0.0.0", TOKEN, patience=SHORT))) as client:
        client.sendall(f"{HEAD}Content-Length: 1000\r\n\r\n".encode())
        answer = b""
        client.settimeout(0.05)
        for _ in range(20 * WAIT_SECONDS):
            try:
                client.sendall(b"x")
                part = client.recv(1 << 16)
            except TimeoutError:
                continue
            except OSError:
                break
            if not part:
                break
            answer += part
        else:
            pytest.fail("the connection is still open")
        assert answer.startswith(b"HTTP/1.1 401 ")


def test_a_body_in_tiny_parts_is_refused(over: Callable[..., str]) -> None:
    with connected(over(Access())) as client:
        client.sendall(f"{HEAD}Transfer-Encoding: chunked\r\n\r\n".encode() + b"1\r\nx\r\n" * 1000)
        expect_direct_error(400, "invalid", answer_of(client))


def test_a_body_in_small_parts_is_taken(over: Callable[..., str]) -> None:
    def parts() -> Iterator[bytes]:
        words = text(*range(1, 400)).encode()
        yield from (words[begin : begin + 100] for begin in range(0, len(words), 100))

    response = httpx.post(
        f"{over(Access())}api/v1/check", content=parts(), headers={"Content-Type": "text/plain"}, trust_env=False, timeout=60
    )
    assert response.status_code == 200


def test_a_client_that_does_not_read_is_not_waited_for(over: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    is_ended = threading.Event()

    def endless(store: ViewStore, table: str, query: object) -> Iterator[dict[str, Any]]:
        try:
            while True:
                yield {"id": "x" * 100_000}
        finally:
            is_ended.set()

    monkeypatch.setattr(ViewStore, "rows", endless)
    address = over(Access(patience=SHORT))
    with connected(address, read_bytes=4096) as client:
        client.sendall(b"GET /api/v1/documents.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert is_ended.wait(WAIT_SECONDS)
    assert is_served(address)


@pytest.mark.parametrize("token", [None, TOKEN])
def test_half_sent_requests_lock_nobody_out(over: Callable[..., str], token: str | None) -> None:
    """The first of them make room for those who come later."""
    limits = Limits(most=24, most_of_one_address=16, for_this_machine=4)
    address = over(Access("0.0.0.0" if token else "127.0.0.1", token), limits)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with ExitStack() as stack:
        stalled = [stack.enter_context(connected(address)) for _ in range(limits.most_of_one_address)]
        for client in stalled:
            client.sendall(b"GET / HTTP/1.1\r\n")
        for _ in range(4):
            stalled.append(stack.enter_context(connected(address)))
            assert is_served(address, **headers)
        for client in stalled[:4]:
            assert answer_of(client) == b""


def test_connections_that_are_known_are_not_closed_for_others(over: Callable[..., str]) -> None:
    address = over(Access(), Limits(most=5, most_of_one_address=4, for_this_machine=0))
    with ExitStack() as stack:
        for _ in range(4):
            client = stack.enter_context(connected(address))
            client.sendall(b"GET /api/v1/arrivals/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert client.recv(100).startswith(b"HTTP/1.1 200 ")
        with connected(address) as newcomer:
            expect_direct_error(503, "busy", answer_of(newcomer))
        client.sendall(b"")  # the others are still there
    assert is_served(address)


@pytest.mark.parametrize(
    "rubbish",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"\0" * 100, b"GET\r\n\r\n", b"A" * 100_000,
        b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /api/v1/check HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 100_000 + b"\r\n\r\n",
    ],
)  # fmt: skip
def test_rubbish_is_answered_in_the_one_shape_and_not_logged(
    over: Callable[..., str], rubbish: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    address = over(Access())
    with connected(address) as client:
        client.sendall(rubbish)
        expect_direct_error(400, "invalid", answer_of(client))
    assert is_served(address)
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


@pytest.mark.parametrize(
    "begun",
    [
        f"{HEAD}Content-Length: 1000\r\n\r\nsome",
        f"POST /api/v1/arrivals {JSON_HEAD}{{",
        f"PUT /api/v1/pairs/0/verdict {JSON_HEAD}{{",
        "GET /api/v1/documents.csv HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "GET /api/v1/arrivals/stream HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n",
        "GET /api/v1/arrivals/stream HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
)
def test_a_request_that_is_given_up_is_not_logged(
    over: Callable[..., str], begun: str, caplog: pytest.LogCaptureFixture
) -> None:
    address = over(Access())
    for _ in range(5):
        with connected(address) as client:
            client.sendall(begun.encode())
    assert is_served(address)
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def test_streams_that_are_given_up_at_once_do_not_count(opened: Callable[..., Served], index: Path) -> None:
    """They never begin, so that they never end either."""
    streams = Streams(opened(index).log)
    for _ in range(200):
        streams.open(None)


def test_a_large_answer_is_packed_by_a_thread(over: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[str] = []
    make_packer = zlib.compressobj

    class Packer:
        def __init__(self, *arguments: Any) -> None:
            self._packer = make_packer(*arguments)

        def compress(self, data: bytes) -> bytes:
            threads.append(threading.current_thread().name)
            return self._packer.compress(data)

        def flush(self) -> bytes:
            return self._packer.flush()

    monkeypatch.setattr(answers.zlib, "compressobj", Packer)
    words = text(*range(500, 900))
    response = httpx.post(f"{over(Access())}api/v1/check", json={"text": words}, trust_env=False, timeout=60)
    assert response.headers["content-encoding"] == "gzip"
    assert json.loads(response.text)["text"]["segments"][0]["text"] == words
    assert threads
    assert all("AnyIO" in thread for thread in threads)
