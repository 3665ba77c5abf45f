"""A small result and a small index, and the app over both. All texts are invented."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

import ibidem
from ibidem.viewer.server.addresses import address_of, bind
from ibidem.viewer.server.admission import Admission, Limits
from ibidem.viewer.server.app import make_app
from ibidem.viewer.server.arrivals import Streams
from ibidem.viewer.server.security import Access
from ibidem.viewer.server.served import Served, open_served
from ibidem.viewer.server.socket_server import Server
from ibidem.viewer.store_cache import open_views
from tests.texts import text

HOSTILE = "=1+1\n</script><script>alert(1)</script>"
RECORDS: list[dict[str, Any]] = [
    {"id": "a", "text": text(1, 2, 3, 4), "time": "2031-01-01T08:00:00Z", "group": "Herald", "title": "First"},
    {"id": "b", "text": text(50, 1, 2, 3, 4), "time": "2031-01-03T08:00:00Z", "group": "Post", "title": "Second"},
    {"id": HOSTILE, "text": text(60, 61, 62, 63), "time": "2031-02-01T08:00:00Z", "group": "@Wire", "title": "+Third"},
    {"id": "d", "text": text(70, 60, 61, 62, 63), "time": "2031-02-02T08:00:00Z", "group": "Post", "title": "-Fourth"},
    {"id": "e", "text": text(80, 81, 82)},
    {"id": "f", "text": text(1, 2, 3, 4, 90), "group": "Post"},
]

AppMaker = Callable[..., httpx.Client]


def write_lines(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def made_result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    documents = write_lines(folder / "documents.jsonl", [*RECORDS, {"id": "empty", "text": " "}])
    ibidem.find(str(documents)).write(folder / "out")
    open_views(folder / "out").close()  # the views are made once for all tests
    return folder / "out"


@pytest.fixture(scope="session")
def made_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "news.idx"
    with ibidem.Index(folder) as index:
        index.add(RECORDS)
        list(index.watch([{"id": "passing", "text": text(200, 201)}]))  # compiles what adding needs
        index.remove("passing")
    return folder


@pytest.fixture
def result(made_result: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made_result, tmp_path / "out"))


@pytest.fixture
def index(made_index: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made_index, tmp_path / "news.idx"))


@pytest.fixture
def opened() -> Iterator[Callable[..., Served]]:
    """Open what is to be served; it is closed after the test."""
    with ExitStack() as stack:
        yield lambda path, **options: stack.enter_context(open_served(path, **options))


@contextmanager
def running(served: Served, access: Access, limits: Limits | None = None, verbose: bool = False) -> Iterator[str]:
    """Run the app in a thread, on a port of its own; yield its address. It ends in time, whatever is still open."""
    streams, admission = Streams(served.log), Admission(limits)
    with bind("127.0.0.1", 0) as listening:
        server = Server(make_app(served, access, streams, admission), streams, admission, access, verbose)
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            yield address_of(listening)
        finally:
            server.should_exit = True
            thread.join(10)
            assert not thread.is_alive()


@pytest.fixture
def app_over(opened: Callable[..., Served]) -> Iterator[AppMaker]:
    """Run an app over a folder, and make a client of it."""
    with ExitStack() as stack:

        def make(path: Path, access: Access | None = None, **options: Any) -> httpx.Client:
            address = stack.enter_context(running(opened(path, **options), access or Access()))
            return stack.enter_context(httpx.Client(base_url=address, timeout=60, trust_env=False))

        yield make


@pytest.fixture
def client(app_over: AppMaker, result: Path, index: Path) -> httpx.Client:
    """The app over the result and the index."""
    return app_over(result, index_path=index)


@pytest.fixture(scope="session")
def reading_address(made_result: Path, made_index: Path) -> Iterator[str]:
    with open_served(made_result, index_path=made_index, may_write=False) as served, running(served, Access()) as address:
        yield address


@pytest.fixture
def reader(reading_address: str) -> Iterator[httpx.Client]:
    """A client of one app for all tests that change nothing, which is quicker; it could not change anything either."""
    with httpx.Client(base_url=reading_address, timeout=60, trust_env=False) as client:
        yield client
