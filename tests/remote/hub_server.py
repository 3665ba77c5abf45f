"""A hub that answers what `huggingface_hub` asks to list and read the files of a dataset."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

_COMMIT = "0123456789abcdef0123456789abcdef01234567"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    dataset: str
    files: dict[str, bytes]

    def log_message(self, *arguments: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        repository, place = f"/api/datasets/{self.dataset}", f"/datasets/{self.dataset}/resolve/"
        if path == repository:
            self._send_json({"id": self.dataset, "sha": _COMMIT})
        elif path.startswith(f"{repository}/tree/"):
            self._send_json(self._below(path.removeprefix(f"{repository}/tree/").partition("/")[2]))
        elif path.startswith(place):
            name = path.removeprefix(place).partition("/")[2]
            begin, _, end = self.headers.get("Range", "bytes=0-").removeprefix("bytes=").partition("-")
            self._send(206, self.files[name][int(begin) : int(end) + 1 if end else None])
        else:
            self._send(404, b"")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        is_json = self.headers.get("Content-Type", "").startswith("application/json")
        wanted = json.loads(body)["paths"] if is_json else parse_qs(body)["paths"]
        self._send_json([each for each in self._entries() if each["path"] in wanted])

    def _entries(self) -> list[dict[str, Any]]:
        folders = {name.rpartition("/")[0] for name in self.files if "/" in name}
        files = [
            {"type": "file", "path": name, "size": len(data), "oid": hashlib.sha1(data).hexdigest()}
            for name, data in self.files.items()
        ]
        return [*({"type": "directory", "path": name, "oid": "0"} for name in folders), *files]

    def _below(self, folder: str) -> list[dict[str, Any]]:
        return [each for each in self._entries() if each["path"].rpartition("/")[0] == folder]

    def _send_json(self, answer: Any) -> None:
        self._send(200, json.dumps(answer).encode())

    def _send(self, status: int, data: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def serving_hub(dataset: str, files: dict[str, bytes]) -> Iterator[str]:
    """Serve the files of one dataset, and yield the address of the hub."""
    handler = type("Handler", (_Handler,), {"dataset": dataset, "files": files})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
