"""`ibidem mcp`, asked by a real client: over standard input and output, and over HTTP."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import ibidem
from tests.cli.test_find import COMMAND, Run, said
from tests.texts import changed, documents, text
from tests.waiting import LIMIT_SECONDS

mcp = pytest.importorskip("mcp")
anyio = pytest.importorskip("anyio")
httpx2 = pytest.importorskip("httpx2")

READING = ["check_text", "find_passages", "verify_quotation", "compare_texts"]
LONG = text(*range(100, 110))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mcp") / "news.idx"
    with ibidem.Index(path, workers=1) as index:
        index.add(documents(known=text(1, 2, 3, 4), Äther=LONG))
    return path


def in_thread(talk: Callable[[], Awaitable[None]]) -> None:
    """Run a conversation in a thread of its own: in this one, a browser's loop may be running."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(anyio.run, talk).result()


def ask(target: Any, conversation: Callable[[Any], Awaitable[None]]) -> None:
    """Have a conversation with a server; it must not take for ever."""

    async def talk() -> None:
        with anyio.fail_after(LIMIT_SECONDS):
            async with mcp.Client(target) as client:
                await conversation(client)

    in_thread(talk)


def over_stdio(folder: Path, *options: str) -> Any:
    from mcp.client.stdio import stdio_client

    arguments = [*COMMAND[1:], "mcp", str(folder), *options]
    return stdio_client(mcp.StdioServerParameters(command=COMMAND[0], args=arguments, env=dict(os.environ)))


@contextmanager
def over_http(folder: Path, *options: str) -> Iterator[str]:
    """Start the server over HTTP; yield its address. It ends by a signal, as promised."""
    command = [*COMMAND, "mcp", str(folder), "--http", "--port", "0", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            address = ""
            for line in server.stderr:
                if found := re.search(r"serving .* at (http://\S+)", line):
                    address = found[1]
                    break
            yield address
        finally:
            server.send_signal(signal.SIGTERM)
            assert server.wait(LIMIT_SECONDS) == 0
            assert "Traceback" not in server.stderr.read()


async def use_all_tools(client: Any) -> None:
    """Ask every tool that reads, and compare with what is in the index."""
    listed = (await client.list_tools()).tools
    assert [tool.name for tool in listed] == READING
    assert all(tool.annotations.read_only_hint and tool.output_schema for tool in listed)

    async def call(name: str, **arguments: Any) -> Any:
        answer = await client.call_tool(name, arguments)
        assert not answer.is_error, answer.content
        return answer.structured_content

    checked = await call("check_text", text=text(9) + " " + text(1, 2, 3))
    assert checked["duplicated"]
    assert (checked["n_known"], checked["n_sentences"], checked["known_share"]) == (3, 4, 0.75)
    assert checked["sources"] == [{"id": "known", "n_sentences": 3}]
    assert not (await call("check_text", text=text(70, 71)))["duplicated"]

    mine = " ".join([*LONG.split()[:24], *("veveveve",), *LONG.split()[25:]])
    (passage,) = (await call("find_passages", text=mine))["passages"]
    assert (passage["b_id"], passage["kind"], passage["a_text"]) == ("Äther", "near", mine)
    assert passage["b_text"] == LONG
    assert [change["a"] for change in passage["changes"]] == ["veveveve"]
    assert (await call("find_passages", text=text(70, 71)))["passages"] == []

    quoted = await call("verify_quotation", quotation=text(2), source="known")
    assert (quoted["status"], quoted["id"], quoted["start"]) == ("verbatim", "known", len(text(1)) + 1)
    assert (await call("verify_quotation", quotation=text(2), source="Äther"))["status"] == "elsewhere"
    altered = await call("verify_quotation", quotation=changed(2))
    assert (altered["status"], altered["source_text"]) == ("altered", text(2).rstrip("."))
    assert (await call("verify_quotation", quotation=text(80)))["status"] == "absent"

    compared = await call("compare_texts", a=LONG, b=text(5) + " " + LONG)
    assert compared["covered_share"] == 1.0
    assert [(p["a_start"], p["b_start"], p["b_id"]) for p in compared["passages"]] == [(0, len(text(5)) + 1, None)]


async def refused(client: Any, name: str, **arguments: Any) -> str:
    """Return what the tool says instead of an answer."""
    answer = await client.call_tool(name, arguments)
    assert answer.is_error
    (content,) = answer.content
    return str(content.text)


def test_all_tools_over_standard_input_and_output(folder: Path) -> None:
    ask(over_stdio(folder), use_all_tools)


def test_all_tools_over_http(folder: Path) -> None:
    with over_http(folder) as address:
        ask(address, use_all_tools)
        # Pages of other sites must not reach it through a name that leads to this machine.
        answer = httpx2.post(address, json={}, headers={"Host": "evil.example"}, trust_env=False)
        assert answer.status_code == 421


def test_limits(folder: Path) -> None:
    async def conversation(client: Any) -> None:
        assert "at most 500 are allowed" in await refused(client, "check_text", text="a" * 501)
        assert "at most 500" in await refused(client, "compare_texts", a="short", b="b" * 501)
        assert "the text is empty" in await refused(client, "find_passages", text=" \n ")
        assert "at least 3 words" in await refused(client, "verify_quotation", quotation="two words")
        assert "Unknown tool" in await refused(client, "add_document", id="x", text=text(1))
        answer = await client.call_tool("find_passages", {"text": f"{text(1, 2, 3)} {text(100, 101, 102)}"})
        found = answer.structured_content
        assert (len(found["passages"]), found["n_passages"]) == (1, 2)

    ask(over_stdio(folder, "--max-chars", "500", "--max-answers", "1"), conversation)
    with ibidem.Index(folder, create=False) as index:
        assert len(index) == 2


def test_a_call_that_takes_too_long_is_answered(folder: Path) -> None:
    async def conversation(client: Any) -> None:
        slow = " ".join(text(number) for number in range(200))
        assert "took longer than 0.001 seconds" in await refused(client, "find_passages", text=slow)
        assert [tool.name for tool in (await client.list_tools()).tools] == READING

    ask(over_stdio(folder, "--max-seconds", "0.001"), conversation)


def test_documents_are_added_only_if_that_is_allowed(tmp_path: Path) -> None:
    with ibidem.Index(tmp_path / "own.idx", workers=1) as index:
        index.add(documents(first=text(1, 2, 3)))

    async def conversation(client: Any) -> None:
        listed = (await client.list_tools()).tools
        assert [tool.name for tool in listed] == [*READING, "add_document"]
        assert not listed[-1].annotations.read_only_hint
        added = await client.call_tool("add_document", {"id": "second", "text": text(1, 2, 3), "time": "2031-01-01"})
        assert added.structured_content == {"id": "second", "n_documents": 2, "same_text_as": "first"}
        assert "second" in await refused(client, "add_document", id="second", text=text(5))
        assert "time cannot be parsed" in await refused(client, "add_document", id="third", text=text(5), time="yesterday")
        checked = await client.call_tool("check_text", {"text": text(1, 2, 3)})
        assert {source["id"] for source in checked.structured_content["sources"]} == {"first", "second"}

    ask(over_stdio(tmp_path / "own.idx", "--allow-add"), conversation)
    with ibidem.Index(tmp_path / "own.idx", create=False) as index:
        assert sorted(name for name in ("first", "second", "third") if name in index) == ["first", "second"]


def test_a_token_is_needed_where_one_is_set(folder: Path) -> None:
    with over_http(folder, "--token", "a-long-secret") as address:
        for headers in ({}, {"Authorization": "Bearer another-word"}):
            assert httpx2.post(address, json={}, headers=headers, trust_env=False).status_code == 401

        async def talk() -> None:
            from mcp.client.streamable_http import streamable_http_client

            headers = {"Authorization": "Bearer a-long-secret"}
            async with (
                httpx2.AsyncClient(headers=headers, trust_env=False) as http,
                mcp.Client(streamable_http_client(address, http_client=http)) as client,
            ):
                assert [tool.name for tool in (await client.list_tools()).tools] == READING

        in_thread(talk)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_at_once(folder: Path, number: signal.Signals) -> None:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([*COMMAND, "mcp", str(folder)], **pipes) as server:  # type: ignore[call-overload]
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        server.stdin.flush()
        assert server.stdout.readline().startswith(b'{"jsonrpc"')  # it listens
        server.send_signal(number)
        assert server.wait(LIMIT_SECONDS) == 128 + number
        assert server.stderr.read() == b""


def test_mistakes_are_explained(run: Run, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said(run("mcp", str(tmp_path / "none.idx")), 4, "none.idx")
    said(run("mcp", str(folder), "--http", "--host", "0.0.0.0"), 2, "lets other machines reach this server", "--token WORD")
    said(run("mcp", str(folder), "--port", "1"), 2, "--port has no effect without --http", "leave out --port")
    said(run("mcp", str(folder), "--http", "--token", "short"), 2, "--token must have at least 8 characters")
    for name in [name for name in sys.modules if name.startswith("ibidem.agents")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    monkeypatch.setitem(sys.modules, "mcp", None)
    said(run("mcp", str(folder)), 5, "ibidem mcp needs mcp", "pip install 'ibidem[mcp]'")
