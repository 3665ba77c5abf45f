"""`ibidem.client` against a real server: every method, and every way in which a request fails."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest

import ibidem.client
from ibidem.client import Client, ClientError, shapes
from ibidem.viewer.server import client_shapes
from ibidem.viewer.server.openapi import description
from ibidem.viewer.server.security import Access
from ibidem.viewer.server.served import Served
from tests.texts import text
from tests.viewer.server.conftest import HOSTILE, RECORDS, running
from tests.waiting import LIMIT_SECONDS


@pytest.fixture
def asked(reading_address: str) -> Client:
    return Client(reading_address)


def test_the_shapes_are_those_of_the_api() -> None:
    """They are made of the OpenAPI description, and have all its fields."""
    assert client_shapes.FILE.read_text("utf-8") == client_shapes.client_shapes(), (
        "run python -m ibidem.viewer.server.client_shapes"
    )
    described = json.loads(description())["components"]["schemas"]
    own = {name: shape for name, shape in vars(shapes).items() if isinstance(shape, type) and is_dataclass(shape)}
    assert set(client_shapes.ANSWERS) < set(own)
    for name, shape in own.items():
        assert [field.name for field in fields(shape)] == list(described[name]["properties"]), name
    assert {"edits", "moves", "sentences", "is_compared"} <= {field.name for field in fields(own["CheckPassage"])}


def test_the_client_needs_no_web_framework() -> None:
    code = "import sys, ibidem.client; print(sorted({'fastapi', 'pydantic', 'numpy', 'pyarrow'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_results(asked: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = list(asked.pairs())
    assert {(pair.a.id, pair.b.id) for pair in pairs} >= {("a", "b"), (HOSTILE, "d")}
    assert asked.summary()["totals"]["pairs"] == len(pairs)
    monkeypatch.setattr(ibidem.client, "_PAGE_ROWS", 1)  # page by page, the same
    assert list(asked.pairs()) == pairs
    assert [pair.a.group for pair in asked.pairs(group="Herald", min_similarity=0.5)] == ["Herald", "Herald"]
    assert list(asked.pairs(across=True, kind="near")) == []
    detail = asked.pair(pairs[0].pair)
    assert detail.pair == pairs[0]
    (passage,) = detail.passages
    a_text, b_text = (side.segments[0].text for side in (detail.a, detail.b))
    assert a_text[passage.a_start : passage.a_end] == b_text[passage.b_start : passage.b_end] != ""
    assert sorted(each.id for each in asked.documents()) == sorted(str(record["id"]) for record in RECORDS)
    assert next(asked.documents(sort="id")).reused_share is not None
    assert {family.n_documents for family in asked.families()} == {2, 3}


def test_texts_are_checked_and_added(result: Path, index: Path, opened: Callable[..., Served]) -> None:
    with running(opened(result, index_path=index), Access("127.0.0.1", "a-long-secret")) as address:
        client = Client(address, token="a-long-secret", timeout=LIMIT_SECONDS)  # kernels may be compiled meanwhile
        before = client.index()
        assert before.may_add
        checked = client.check(f"{text(99)} {text(1, 2, 3)}", align=True)
        assert checked.verdict.duplicated
        source = checked.sources[checked.passages[0].source]
        assert source.id in ("a", "b", "f")
        assert checked.passages[0].b_text == text(1, 2, 3)
        added = client.add("neu Ä", text(1, 2, 3, 4), time="2031-03-01", group="Post")
        assert (added.id, added.n_known, added.sources[0].n_sentences) == ("neu Ä", 4, 4)
        assert client.index().n_documents == before.n_documents + 1
        assert client.check(text(1, 2, 3), id="neu Ä").verdict.is_own_id_known
        with pytest.raises(ClientError) as problem:
            client.add("neu Ä", text(5))
        assert (problem.value.status, problem.value.code) == (409, "known_id")
        judged = client.judge(0, "confirmed", "seen")
        assert (judged.verdict, judged.note) == ("confirmed", "seen")
        assert [pair.pair for pair in client.pairs(verdict="confirmed")] == [0]
        assert client.judge(0, None).verdict is None
        with pytest.raises(ClientError) as problem:
            Client(address, token="another-word").summary()
        assert problem.value.status == 401
        assert problem.value.next_step


def test_what_the_server_refuses_is_an_error(asked: Client) -> None:
    for ask, status in (
        (lambda: asked.pair(10**6), 404), (lambda: list(asked.pairs(sort="luck")), 422), (lambda: asked.check(" "), 422),
        (lambda: asked.add("x", text(1)), 403), (lambda: asked.check("x", time="yesterday"), 422),
    ):  # fmt: skip
        with pytest.raises(ClientError) as problem:
            ask()
        assert problem.value.status == status
        assert problem.value.message
        assert problem.value.code


def test_a_server_that_is_not_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(ClientError, match=r"no answer from 127\.0\.0\.1") as problem:
        Client(f"http://127.0.0.1:{port}").summary()
    assert problem.value.status == 0
    for address in ("ftp://127.0.0.1", "http://", ""):
        with pytest.raises(ClientError, match="is not the address of a server"):
            Client(address)


@pytest.mark.parametrize("content", [b"no JSON", b"[]", b'{"items": 3}', json.dumps({"error": []}).encode()])
@pytest.mark.parametrize("status", [200, 500])
def test_a_server_that_is_another_one(content: bytes, status: int) -> None:
    def answer(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n%b" % (status, len(content), content))

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=answer, args=(listening,))
        thread.start()
        with pytest.raises(ClientError):
            Client(f"127.0.0.1:{listening.getsockname()[1]}", timeout=30).index()
        thread.join()


def test_the_client_needs_nothing_but_the_standard_library() -> None:
    heavy = "sorted({'numpy', 'pyarrow', 'numba', 'fastapi', 'pydantic', 'httpx', 'ibidem.api'} & set(sys.modules))"
    code = f"import sys, ibidem.client; print({heavy})"
    answer: Any = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "[]"
