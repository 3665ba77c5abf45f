"""Whatever goes wrong has one shape, and reveals nothing internal."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from anyio._backends import _asyncio

from ibidem.errors import IndexDamagedError, InputError, ResourceError, UsageError
from ibidem.viewer.server.api_errors import as_api_error
from ibidem.viewer.server.app import page_files
from ibidem.viewer.server.served import Served
from ibidem.viewer.server.socket_server import start_threads
from ibidem.viewer.store import ViewStore
from tests.viewer.server.expected import expect_error, expect_safe

API = "/api/v1"


@pytest.mark.parametrize(
    "path", ["/nothing", "/api", API, f"{API}/", f"{API}/nothing", f"{API}/pairs/", "/docs", "/redoc", "/assets/x.js"]
)
def test_an_unknown_address_is_not_found(reader: httpx.Client, path: str) -> None:
    expect_error(404, "not_found", reader.get(path))


@pytest.mark.parametrize("path", ["/assets/../app.py", "/assets/..%2fpage.py", "/assets/%2e%2e/page.py", "/assets//etc/passwd"])
def test_no_file_but_the_page_s_own_is_sent(reader: httpx.Client, path: str) -> None:
    expect_error(404, "not_found", reader.get(httpx.URL(str(reader.base_url).rstrip("/") + path)))


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "pairs"), ("DELETE", "pairs/0"), ("GET", "check"), ("PATCH", "summary"), ("PUT", "arrivals"), ("POST", "flow")],
)
def test_another_method_is_not_allowed(reader: httpx.Client, method: str, path: str) -> None:
    expect_error(405, "method_not_allowed", reader.request(method, f"{API}/{path}"))


@pytest.mark.parametrize("content", [b"{", b"", b"\xff", b'{"verdict": "confirmed"', b"nul"])
def test_broken_json_is_invalid(reader: httpx.Client, content: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    response = reader.put(f"{API}/pairs/0/verdict", content=content, headers=headers)
    expect_error(response.status_code, "invalid", response)
    assert response.status_code in (400, 422)


def refuse_to_start(thread: threading.Thread) -> None:
    raise RuntimeError("can't start new thread")


def test_no_thread_is_started_for_a_request(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    together, late = threading.Barrier(8), time.monotonic() + 1000
    assert client.get(f"{API}/distributions").status_code == 200  # from now on the server has its threads
    monkeypatch.setattr(_asyncio.WorkerThread, "start", refuse_to_start)
    monkeypatch.setattr(_asyncio.AsyncIOBackend, "current_time", lambda: late)
    assert client.get(f"{API}/distributions").status_code == 200  # anyio would end the others now: they were idle for long
    distributions = ViewStore.distributions

    def meet(store: ViewStore) -> Any:
        together.wait(60)
        return distributions(store)

    monkeypatch.setattr(ViewStore, "distributions", meet)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(client.get, [f"{API}/distributions"] * 8))
    assert [answer.status_code for answer in answers] == [200] * 8


def test_a_server_that_gets_no_threads_says_so_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_asyncio.WorkerThread, "start", refuse_to_start)
    # In a thread of its own: a browser that tests share may have a loop in this one.
    with ThreadPoolExecutor(1) as pool, pytest.raises(ResourceError, match="does not allow 3 threads"):
        pool.submit(anyio.run, start_threads, 3).result()


def test_work_that_gets_no_thread_is_refused_for_a_while(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def work(store: ViewStore) -> None:
        refuse_to_start(threading.Thread())

    with monkeypatch.context() as system:
        system.setattr(ViewStore, "distributions", work)
        expect_error(503, "busy", client.get(f"{API}/distributions"))
    assert "Traceback" not in caplog.text
    assert client.get(f"{API}/distributions").status_code == 200


def test_an_error_of_our_own_is_logged_and_not_told(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(store: ViewStore) -> None:
        raise RuntimeError("the password is swordfish")

    monkeypatch.setattr(ViewStore, "distributions", fail)
    response = client.get(f"{API}/distributions")
    expect_error(500, "internal", response)
    assert "swordfish" not in response.text
    assert "swordfish" in caplog.text


def test_a_table_that_breaks_off_does_not_look_whole(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(store: ViewStore, table: str, query: object) -> object:
        yield from ({"id": "x" * 1000} for _ in range(1000))
        raise RuntimeError("the disk is gone")

    monkeypatch.setattr(ViewStore, "rows", fail)
    with pytest.raises(httpx.RemoteProtocolError):
        client.get(f"{API}/documents.json")
    assert "the disk is gone" in caplog.text


@pytest.mark.parametrize(
    ("problem", "status", "code"),
    [
        (InputError("m", "n"), 422, "invalid"),
        (IndexDamagedError("m", "n"), 503, "unavailable"),
        (ResourceError("m", "n"), 503, "unavailable"),
        (UsageError("m", "n"), 500, "internal"),
    ],
)
def test_errors_of_ibidem_have_their_codes(problem: Exception, status: int, code: str) -> None:
    error = as_api_error(problem)
    assert (error.status_code, error.code) == (status, code)
    assert (error.message, error.next_step) == ("m", "n") or status == 500


def test_the_page_and_its_files_are_sent_once(reader: httpx.Client) -> None:
    page = reader.get("/")
    assert page.status_code == 200
    expect_safe(page)
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert 'data-mode="app"' in page.text
    for path in ["/", *(f"/assets/{name}" for name in page_files())]:
        response = reader.get(path)
        assert response.status_code == 200
        expect_safe(response)
        again = reader.get(path, headers={"If-None-Match": response.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        expect_safe(again)
        plain = reader.get(path, headers={"Accept-Encoding": "identity"})
        assert plain.content == response.content
    assert reader.get("/assets/vega.js").headers["content-encoding"] == "gzip"


def test_large_answers_are_packed(reader: httpx.Client) -> None:
    assert reader.get(f"{API}/summary").headers["content-encoding"] == "gzip"
    assert "content-encoding" not in reader.get(f"{API}/summary", headers={"Accept-Encoding": "identity"}).headers


def test_a_folder_that_is_neither_result_nor_index_is_named(opened: Callable[..., Served], tmp_path: Path, index: Path) -> None:
    with pytest.raises(InputError, match="neither a result folder nor an index"):
        opened(tmp_path)
    with pytest.raises(InputError, match="is not a folder"):
        opened(tmp_path / "absent")
    with pytest.raises(UsageError, match="is an index itself"):
        opened(index, index_path=index)
    with pytest.raises(UsageError, match="--documents"):
        opened(index, documents=["x.jsonl"])
