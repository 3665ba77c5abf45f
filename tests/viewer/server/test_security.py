"""Who may ask: tokens, host names, pages of others; and how much may be sent."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ibidem.viewer.server.addresses import is_local
from ibidem.viewer.server.security import Access, name_of
from ibidem.viewer.server.served import open_served
from tests.viewer.server.conftest import AppMaker, running
from tests.viewer.server.expected import expect_error, expect_safe

API = "/api/v1"
TOKEN = "correct-horse-battery"


@pytest.fixture(scope="module")
def guarded_address(made_result: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = shutil.copytree(made_result, tmp_path_factory.mktemp("guarded") / "out")
    with open_served(folder) as served, running(served, Access("0.0.0.0", TOKEN)) as address:
        yield address


@pytest.fixture
def guarded(guarded_address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=guarded_address, timeout=60, trust_env=False) as client:
        yield client


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True), ("localhost", True), ("::1", True), ("[::1]", True), ("127.1.2.3", True),
        ("0.0.0.0", False), ("::", False), ("192.168.1.7", False), ("example.org", False), ("", False),
    ],
)  # fmt: skip
def test_local_hosts_are_told_apart(host: str, expected: bool) -> None:
    assert is_local(host) is expected


@pytest.mark.parametrize("host", ["localhost", "localhost:8765", "127.0.0.1:1", "[::1]:8765", "LOCALHOST"])
def test_names_of_this_machine_are_answered(reader: httpx.Client, host: str) -> None:
    assert reader.get(f"{API}/summary", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "evil.example:8765", "localhost.evil.example", "localhost@evil.example", "[::2]", "[", "10.0.0.1",
        "evil@localhost", "localhost:8765@evil.example", "evil.example@localhost:8765", "localhost.", "127.0.0.1.",
        "localhost:",
        "localhost:99999", "localhost:8765x", "localhost:1:2", "localhost/", "localhost#x", "localhost?x", "localhost\\evil",
        "localhost, evil.example", "xlocalhost", "localhost-evil", "::1", "[::1", "[::1]x", "[::1%25lo]", "127.1", "2130706433",
        "0x7f.1", "127.0.0.1.evil.example", "0.0.0.0", "[::]", "", "[::ffff:127.0.0.1]", "LOCALHOST.EVIL.EXAMPLE",
        "localhost\tx",
    ],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/", "/assets/app.js", f"{API}/summary", f"{API}/pairs.csv", "/nothing"])
def test_a_foreign_name_for_this_machine_is_refused(reader: httpx.Client, host: str, path: str) -> None:
    expect_error(403, "forbidden", reader.get(path, headers={"Host": host}))


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:1"},
        {"Origin": "rubbish"},
        {"Origin": ""},
        {"Origin": "http://localhost@evil.example"},
        {"Origin": "ftp://HOST"},
        {"Origin": "HOST"},
        {"Origin": "http://HOST/"},
        {"Origin": "http://HOST.evil.example"},
        {"Origin": "http://evil@HOST"},
        {"Origin": "http://HOST, http://evil.example"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "rubbish"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
def test_other_pages_may_change_nothing(client: httpx.Client, headers: dict[str, str]) -> None:
    host = f"{client.base_url.host}:{client.base_url.port}"
    headers = {name: value.replace("HOST", host) for name, value in headers.items()}
    expect_error(403, "forbidden", client.put(f"{API}/pairs/0/verdict", json={"verdict": "confirmed"}, headers=headers))
    expect_error(403, "forbidden", client.post(f"{API}/arrivals", json={"id": "x", "text": "x"}, headers=headers))
    expect_error(403, "forbidden", client.post(f"{API}/check", json={"text": "x"}, headers=headers))
    assert client.get(f"{API}/verdicts").json()["total"] == 0


def test_the_page_itself_may_change_things(client: httpx.Client) -> None:
    origin = str(client.base_url).rstrip("/")
    headers = {"Origin": origin, "Sec-Fetch-Site": "same-origin"}
    assert client.put(f"{API}/pairs/0/verdict", json={"verdict": "confirmed"}, headers=headers).status_code == 200


def test_scripts_of_other_pages_may_not_call_the_api_but_links_may_lead_to_it(reader: httpx.Client) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    expect_error(403, "forbidden", reader.get(f"{API}/arrivals/stream", headers=headers))
    assert reader.get(f"{API}/pairs.csv", headers={**headers, "Sec-Fetch-Mode": "navigate"}).status_code == 200


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_json_is_taken_as_json_only(reader: httpx.Client, content_type: str) -> None:
    headers = {"Content-Type": content_type}
    expect_error(422, "invalid", reader.put(f"{API}/pairs/0/verdict", content=b'{"verdict":"confirmed"}', headers=headers))
    expect_error(422, "invalid", reader.post(f"{API}/arrivals", content=b'{"id":"x","text":"x"}', headers=headers))


@pytest.mark.parametrize(
    ("request_lines", "status"),
    [
        ("GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n", 400),
        ("GET http://localhost/api/v1/summary HTTP/1.1\r\nHost: localhost\r\n", 400),
        ("GET /api/v1/summary HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n", 400),
        ("GET /api/v1/summary HTTP/1.0\r\n", 403),
        ("OPTIONS * HTTP/1.1\r\nHost: localhost\r\n", 400),
        ("CONNECT evil.example:443 HTTP/1.1\r\nHost: localhost\r\n", 400),
        ("GET /api/v1/summary HTTP/1.0\r\nHost: localhost\r\n", 200),
    ],
)
def test_a_request_names_this_server_once_and_by_its_header(reader: httpx.Client, request_lines: str, status: int) -> None:
    with socket.create_connection((reader.base_url.host, reader.base_url.port or 80), timeout=60) as client:
        client.sendall(f"{request_lines}Connection: close\r\n\r\n".encode())
        assert client.recv(12) == f"HTTP/1.1 {status}".encode()


def test_two_origins_are_one_too_many(client: httpx.Client) -> None:
    own = str(client.base_url).rstrip("/")
    headers = httpx.Headers([("Origin", own), ("Origin", own)])
    expect_error(403, "forbidden", client.put(f"{API}/pairs/0/verdict", json={"verdict": "confirmed"}, headers=headers))


@given(st.text(max_size=12) | st.from_regex(r"\A[a-z.:@\[\]0-9]*localhost[a-z.:@\[\]0-9]*\Z"))
def test_a_host_is_a_name_and_a_port_and_nothing_else(host: str) -> None:
    name = name_of(host)
    if name is not None:
        port = host[len(name) :]
        assert host.lower().startswith(name)
        assert port == "" or (port[0] == ":" and port[1:].isascii() and port[1:].isdecimal())


def test_there_is_no_sharing_with_other_origins(reader: httpx.Client) -> None:
    preflight = {"Origin": "http://evil.example", "Access-Control-Request-Method": "PUT"}
    response = reader.options(f"{API}/pairs/0/verdict", headers=preflight)
    assert not [name for name in response.headers if name.startswith("access-control")]
    expect_error(405, "method_not_allowed", response)


@pytest.mark.parametrize("path", ["/", "/assets/page.js", f"{API}/summary", f"{API}/pairs.csv", f"{API}/openapi.json", "/none"])
@pytest.mark.parametrize(
    "headers",
    [
        {}, {"Authorization": "Bearer wrong-horse"}, {"Authorization": f"Basic {TOKEN}"}, {"Authorization": "Bearer"},
        {"Cookie": "ibidem_1=x; =;;"}, {"Authorization": b"Bearer \xff\xfe"},
    ],
)  # fmt: skip
def test_without_the_token_nothing_is_answered(guarded: httpx.Client, path: str, headers: dict[str, str]) -> None:
    response = guarded.get(path, headers=headers)
    error = expect_error(401, "unauthorised", response)
    assert response.headers["www-authenticate"] == "Bearer"
    assert TOKEN not in response.text
    assert error["next_step"]


def test_with_the_token_everything_is_answered_under_any_name(guarded: httpx.Client) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "Host": "archive.example:8765"}
    assert guarded.get(f"{API}/summary", headers=headers).status_code == 200
    response = guarded.put(f"{API}/pairs/0/verdict", json={"verdict": "confirmed"}, headers=headers)
    assert response.status_code == 200
    foreign = {**headers, "Origin": "http://evil.example"}
    expect_error(403, "forbidden", guarded.put(f"{API}/pairs/0/verdict", json={"verdict": "confirmed"}, headers=foreign))


def test_a_link_with_the_token_becomes_a_cookie_and_an_address_without_it(guarded: httpx.Client) -> None:
    response = guarded.get("/", params={"token": TOKEN, "a": "1 &"})
    assert response.status_code == 303
    expect_safe(response)
    assert response.headers["location"] == "/?a=1+%26"
    cookie = response.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert guarded.get(f"{API}/summary").status_code == 200  # the client keeps the cookie
    assert guarded.get("/", params={"token": TOKEN}).status_code == 303


@pytest.mark.parametrize("path", ["//evil.example/", "/%2f%2fevil.example", "/\\evil.example"])
def test_the_way_back_leads_nowhere_else(guarded: httpx.Client, path: str) -> None:
    url = httpx.URL(str(guarded.base_url).rstrip("/") + path, params={"token": TOKEN})
    location = guarded.get(url).headers.get("location", "/")
    assert location.startswith("/")
    assert not location.startswith(("//", "/\\"))


@pytest.mark.parametrize("path", ["/", f"{API}/summary"])
def test_a_wrong_token_in_a_link_opens_nothing(guarded: httpx.Client, path: str) -> None:
    expect_error(401, "unauthorised", guarded.get(path, params={"token": "wrong-horse"}))


def test_the_api_takes_no_token_from_the_address(guarded: httpx.Client) -> None:
    """Addresses end up in logs."""
    expect_error(401, "unauthorised", guarded.get(f"{API}/summary", params={"token": TOKEN}))


@pytest.fixture
def small(app_over: AppMaker, result: Path, index: Path) -> httpx.Client:
    return app_over(result, Access(max_upload_bytes=1000), index_path=index)


def test_a_body_that_is_announced_as_too_large_is_refused(small: httpx.Client) -> None:
    for path, method in ((f"{API}/check", "POST"), (f"{API}/arrivals", "POST"), (f"{API}/pairs/0/verdict", "PUT")):
        error = expect_error(413, "too_large", small.request(method, path, json={"text": "x" * 1000}))
        assert "--max-upload" in error["next_step"]


@pytest.mark.parametrize("content_type", ["text/plain", "text/html", "application/json"])
def test_a_body_that_turns_out_too_large_is_refused(small: httpx.Client, content_type: str) -> None:
    """Sent in parts, without a length that could be believed."""

    def parts() -> Iterator[bytes]:
        for _ in range(11):
            yield b"x" * 100

    expect_error(413, "too_large", small.post(f"{API}/check", content=parts(), headers={"Content-Type": content_type}))
    expect_error(413, "too_large", small.post(f"{API}/arrivals", content=parts(), headers={"Content-Type": "application/json"}))


def test_a_body_that_just_fits_is_taken(small: httpx.Client) -> None:
    headers = {"Content-Type": "text/plain"}
    assert small.post(f"{API}/check", content=b"word " * 200, headers=headers).status_code == 200
