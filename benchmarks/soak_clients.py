"""The clients of `soak.py`: honest ones, and those that stall, abort, flood and send rubbish. All of them on the loopback."""

from __future__ import annotations

import asyncio
import json
import random
import socket
import struct
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

API = "/api/v1"
# Every code that an error of the API may have, with its statuses; anything else is a finding.
DOCUMENTED = {
    "invalid": (400, 415, 422), "forbidden": (403,), "not_found": (404,), "method_not_allowed": (405,), "timeout": (408,),
    "known_id": (409,), "locked": (409,), "too_large": (413,), "busy": (503,), "unavailable": (503,), "read_only": (403,),
}  # fmt: skip
# Limits go by address: who floods takes places from itself, and not from those who come from elsewhere.
HONEST, BAD, FLOODING = "127.0.0.1", "127.0.0.2", "127.0.0.3"
HONEST_SECONDS = 60.0  # until an honest client gives up, which is a finding
_STALL_SECONDS = 20.0
_LINGER = struct.pack("ii", 1, 0)  # closing sends a reset
_SYLLABLES = ("ba", "do", "fi", "ku", "le", "mo", "ni", "pa", "ro", "su", "ta", "ve")


@dataclass
class Record:
    """What clients saw. `added` are the ids of documents that were acknowledged."""

    outcomes: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)

    def find(self, finding: str) -> None:
        """Note something that must not happen."""
        self.outcomes["finding"] += 1
        if len(self.findings) < 50:
            self.findings.append(finding)


@dataclass(frozen=True)
class Target:
    """The server, and until when clients go on."""

    port: int
    deadline: float
    record: Record

    def is_over(self) -> bool:
        """Return whether it is time to end."""
        return time.monotonic() >= self.deadline

    async def pause(self, seconds: float) -> None:
        """Do nothing for a while, at most until the time is over."""
        await asyncio.sleep(max(0.0, min(seconds, self.deadline - time.monotonic())))


def sentences(chance: random.Random, count: int, n_known: int = 400) -> str:
    """Return a text of invented sentences, some of which other texts have, too."""
    said = []
    for _ in range(count):
        own = random.Random(chance.randrange(n_known) if chance.random() < 0.5 else chance.getrandbits(60))
        words = ["".join(own.choice(_SYLLABLES) for _ in range(4)) for _ in range(8)]
        said.append(" ".join(words).capitalize() + ".")
    return " ".join(said)


def request(method: str, path: str, body: bytes = b"", content_type: str = "application/json", *headers: str) -> bytes:
    """Return a request as it is sent."""
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost", "Connection: close", *headers]
    if body:
        lines += [f"Content-Type: {content_type}", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode() + body


async def connect(target: Target, address: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Open a connection from one of the addresses of this machine."""
    return await asyncio.open_connection("127.0.0.1", target.port, local_addr=(address, 0))


async def exchange(target: Target, sent: bytes, address: str) -> tuple[int, bytes]:
    """Send a request and read the whole answer; return its status and body. OSError if the connection breaks."""
    reader, writer = await connect(target, address)
    try:
        with suppress(ConnectionError):  # refused before all was sent: the answer may be there
            writer.write(sent)
            await writer.drain()
        head, _, body = (await reader.read(-1)).partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 "):
            raise ConnectionError("no answer")
        return int(head[9:12]), body
    finally:
        writer.transport.abort()


def judge(record: Record, who: str, status: int, body: bytes) -> None:
    """Count an answer; one that is neither a success nor a documented error is a finding."""
    if status in (200, 303, 304):
        record.outcomes[f"{who} {status}"] += 1
        return
    try:
        code = json.loads(body)["error"]["code"]
    except (ValueError, KeyError, TypeError):
        code = None
    record.outcomes[f"{who} {status} {code}"] += 1
    if status not in DOCUMENTED.get(code, ()) or b"Traceback" in body:
        record.find(f"{who}: {status} {body[:300]!r}")


async def be_honest(target: Target, chance: random.Random, number: int) -> None:
    """Look around, check texts and add documents, with pauses; every request is to be answered."""
    count = 0
    while not target.is_over():
        count += 1
        doc_id, kind = f"honest {number}-{count}", chance.random()
        body: dict[str, Any] = {"text": sentences(chance, chance.randrange(3, 30))}
        if kind < 0.4:
            sent = request("GET", chance.choice(["/", f"{API}/summary", f"{API}/index", f"{API}/arrivals", f"{API}/pairs"]))
        elif kind < 0.8:
            sent = request("POST", f"{API}/check", json.dumps(body).encode())
        else:
            sent = request("POST", f"{API}/arrivals", json.dumps({**body, "id": doc_id}).encode())
        begin = time.monotonic()
        try:
            status, answer = await asyncio.wait_for(exchange(target, sent, HONEST), HONEST_SECONDS)
        except (OSError, asyncio.TimeoutError) as problem:
            target.record.find(f"an honest request was not answered: {problem!r}")
        else:
            target.record.seconds.append(time.monotonic() - begin)
            judge(target.record, "honest", status, answer)
            if kind >= 0.8 and status == 200:
                target.record.added.append(doc_id)
        await asyncio.sleep(chance.uniform(0.05, 0.3))


async def stall(target: Target, chance: random.Random) -> None:
    """Send a part of a request and nothing more, or read nothing of an answer."""
    _, writer = await connect(target, BAD)
    try:
        upload = f"POST {API}/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 900\r\n\r\nx"
        begun = ["", "GET / HT", upload, f"GET {API}/arrivals.csv HTTP/1.1\r\nHost: localhost\r\n\r\n"]
        writer.write(chance.choice(begun).encode())
        await target.pause(chance.uniform(1, _STALL_SECONDS))
        target.record.outcomes["stall over"] += 1
    finally:
        writer.transport.abort()


async def abort(target: Target, chance: random.Random) -> None:
    """Ask for something, and go away by a reset at once or soon after."""
    _, writer = await connect(target, BAD)
    text = json.dumps({"text": sentences(chance, 40), "id": f"aborted {chance.getrandbits(60)}"}).encode()
    sent = chance.choice(
        [
            request("GET", f"{API}/arrivals/stream"), request("GET", f"{API}/arrivals.json"),
            request("POST", f"{API}/check", text), request("POST", f"{API}/arrivals", text)[: chance.randrange(1, 400)],
        ]
    )  # fmt: skip
    writer.write(sent)
    await asyncio.sleep(chance.choice([0, 0, 0.01, 0.1]))
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER)
    writer.transport.abort()
    target.record.outcomes["abort"] += 1


async def flood(target: Target, chance: random.Random) -> None:
    """Open very many connections at a time, most of them for nothing."""
    writers: list[asyncio.StreamWriter] = []
    try:
        for _ in range(chance.randrange(50, 300)):
            with suppress(OSError):
                _, writer = await connect(target, FLOODING)
                writers.append(writer)
                writer.write(chance.choice([b"", b"GET / HTTP/1.1\r\nHost: l", request("GET", "/")]))
        await target.pause(chance.uniform(0, 3))
        target.record.outcomes["flood connections"] += len(writers)
    finally:
        for writer in writers:
            writer.transport.abort()


def _rubbish(chance: random.Random) -> bytes:
    good = bytearray(request("POST", f"{API}/check", b'{"text": "some words"}'))
    for _ in range(chance.randrange(1, 8)):
        good[chance.randrange(len(good))] = chance.randrange(256)
    return chance.choice([bytes(good), chance.randbytes(chance.randrange(1, 4000)), b"\x16\x03\x01" + chance.randbytes(200)])


def _costly(chance: random.Random) -> bytes:
    head = f"POST {API}/check HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: text/plain\r\n".encode()
    return chance.choice(
        [
            request("POST", f"{API}/check", b"a" * 320_000, "text/plain; charset=punycode"),
            request("POST", f"{API}/check", b'{"text": ' + b"[" * 1_000_000),
            request("POST", f"{API}/check", b"{" + b'"a": 1, ' * 100_000),
            request("POST", f"{API}/check", b"<div>" * 20_000, "text/html"),
            request("POST", f"{API}/check", b"x" * 11_000_000, "text/plain"),
            request("PUT", f"{API}/pairs/0/verdict", b'{"verdict": null, "note": "' + b"\\u00e9" * 100_000 + b'"}'),
            request("GET", f"{API}/pairs?search=" + "a+" * 400),
            request("GET", "/", b"", "", "X-Long: " + "y" * 60_000),
            head + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 20_000,
        ]
    )


async def ask_badly(target: Target, chance: random.Random) -> None:
    """Send rubbish or what is costly to read; whatever is answered has to be a documented error."""
    sent = _rubbish(chance) if chance.random() < 0.6 else _costly(chance)
    try:
        status, body = await asyncio.wait_for(exchange(target, sent, BAD), HONEST_SECONDS)
    except (ConnectionError, asyncio.TimeoutError):
        target.record.outcomes["bad cut off"] += 1
    else:
        judge(target.record, "bad", status, body)


async def repeat(target: Target, chance: random.Random, act: Callable[[Target, random.Random], Awaitable[None]]) -> None:
    """Let a client that is not honest act again and again. Errors of its connections are its own."""
    while not target.is_over():
        with suppress(OSError):
            await act(target, chance)
        await asyncio.sleep(chance.uniform(0.01, 0.3))


async def run_clients(target: Target, seed: int, watch: Callable[[], Awaitable[None]]) -> None:
    """Run all clients until the time is over; `watch` runs beside them."""
    numbers = iter(range(1000))
    clients = [be_honest(target, random.Random(f"{seed} {n}"), n) for n in range(4)]
    for act, n_clients in ((stall, 30), (abort, 4), (flood, 1), (ask_badly, 3)):
        clients += [repeat(target, random.Random(f"{seed} {act.__name__} {next(numbers)}"), act) for _ in range(n_clients)]
    await asyncio.gather(*clients, watch())
