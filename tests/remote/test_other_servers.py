"""TLS, and the Hugging Face hub as its own library speaks to it: the command in a process of its own, as for users."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.test_find import COMMAND
from tests.execution.random_collections import random_records
from tests.remote.hub_server import serving_hub
from tests.remote.web_server import Site, serving

pytest.importorskip("fsspec")  # of the extra `remote`
LINES = "".join(json.dumps(record) + "\n" for record in random_records(3, 8, "d")).encode()


def find(folder: Path, address: str, **environment: str) -> Any:
    command = [*COMMAND, "find", address, "-o", str(folder / "out"), "--overwrite", "-q"]
    return subprocess.run(command, env={**os.environ, **environment}, cwd=folder, capture_output=True, text=True, check=False)


def expected(folder: Path) -> str:
    (folder / "here.jsonl").write_bytes(LINES)
    done = find(folder, "here.jsonl")
    assert done.returncode == 0, done.stderr
    return (folder / "out" / "documents.parquet").read_bytes().hex()


def test_https_with_a_certificate_that_is_trusted_and_without(tmp_path: Path) -> None:
    pytest.importorskip("aiohttp")
    pem = tmp_path / "server.pem"
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    make += ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(tmp_path / "key"), "-out", str(tmp_path / "crt")]
    subprocess.run(make, check=True, capture_output=True)
    pem.write_text((tmp_path / "key").read_text() + (tmp_path / "crt").read_text())
    tables = expected(tmp_path)
    with serving(Site({"/news.jsonl.gz": gzip.compress(LINES)}), str(pem)) as site:
        done = find(tmp_path, f"{site.address}/news.jsonl.gz", SSL_CERT_FILE=str(tmp_path / "crt"))
        assert (done.returncode, done.stderr) == (0, "")
        assert (tmp_path / "out" / "documents.parquet").read_bytes().hex() == tables
        refused = find(tmp_path, f"{site.address}/news.jsonl.gz")
    assert refused.returncode == 3
    assert "certificate" in refused.stderr.lower()
    assert "Traceback" not in refused.stderr


def test_a_dataset_of_the_hub(tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub")
    tables = expected(tmp_path)
    files = {"train/part.jsonl": LINES, "test/other.jsonl": b'{"text": "Something else."}\n'}
    with serving_hub("someone/corpus", files) as address:
        settings = {"HF_ENDPOINT": address, "HF_HUB_DISABLE_XET": "1", "HF_HOME": str(tmp_path / "hub")}
        for place in ("train", "train/*.jsonl"):
            done = find(tmp_path, f"hf://datasets/someone/corpus/{place}", **settings)
            assert (done.returncode, done.stderr) == (0, "")
            assert (tmp_path / "out" / "documents.parquet").read_bytes().hex() == tables
        missing = find(tmp_path, "hf://datasets/someone/corpus/valid", **settings)
    assert missing.returncode == 3
    assert "Traceback" not in missing.stderr
