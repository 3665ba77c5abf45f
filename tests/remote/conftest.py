"""File systems elsewhere, on this machine: a web server, an S3 server, and the memory of fsspec."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from ibidem.formats import remote_access
from tests.cli.test_find import run
from tests.remote.web_server import Site, serving

__all__ = ["run"]


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try again at once."""
    monkeypatch.setattr(remote_access, "WAITS_SECONDS", (0.0, 0.0, 0.0))


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(Site()) as served:
        yield served


@pytest.fixture
def memory() -> Iterator[Any]:
    """The file system memory://, empty."""
    fsspec = pytest.importorskip("fsspec")
    system = fsspec.filesystem("memory")
    system.store.clear()
    system.pseudo_dirs[:] = [""]
    yield system
    system.store.clear()


@pytest.fixture(scope="session")
def s3_server() -> Iterator[str]:
    """The address of a server that speaks S3, on a free port."""
    moto = pytest.importorskip("moto.server")
    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def s3(s3_server: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Any, str]]:
    """An S3 file system with an empty bucket; how it is reached is in the environment, as for users."""
    import s3fs
    from fsspec.config import conf, set_conf_env

    named = {"AWS_ENDPOINT_URL": s3_server, "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "do-not-tell"}
    for name, value in {**named, "AWS_DEFAULT_REGION": "us-east-1", "FSSPEC_S3_ENDPOINT_URL": s3_server}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setitem(conf, "s3", {})
    set_conf_env(conf)  # which fsspec reads when it is imported
    system = s3fs.S3FileSystem()
    bucket = f"b{uuid.uuid4().hex[:12]}"
    system.mkdir(bucket)
    yield system, bucket
    s3fs.S3FileSystem.clear_instance_cache()
