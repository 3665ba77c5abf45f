"""A web server for tests: with or without ranges and sizes, asking for a password, and failing when it should."""

from __future__ import annotations

import base64
import re
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit


@dataclass
class Site:
    """Files by path, and how they are served. `failures` are answered first, one for each request of a body.

    A failure is a status, or how many bytes are sent before the connection breaks.
    """

    files: dict[str, bytes] = field(default_factory=dict)
    has_ranges: bool = True
    has_sizes: bool = True
    password: str | None = None
    failures: list[int] = field(default_factory=list)
    requests: list[tuple[str, str, str | None]] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    address: str = ""

    def bodies(self) -> list[str | None]:
        """Return the ranges of the requests of bodies, None where the whole file was asked for."""
        return [asked for method, _, asked in self.requests if method == "GET"]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    site: Site

    def log_message(self, *arguments: Any) -> None:
        """Say nothing."""

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def _answer(self, with_body: bool) -> None:
        site, path = self.site, unquote(urlsplit(self.path).path)
        asked = self.headers.get("Range")
        site.requests.append((self.command, self.path, asked))
        if site.password is not None:
            expected = "Basic " + base64.b64encode(site.password.encode()).decode()
            if self.headers.get("Authorization") != expected:
                self._end(401)
                return
        if path.endswith("/") and path not in site.files:
            below = sorted({name[len(path) :].partition("/") for name in site.files if name.startswith(path)})
            links = "".join(f'<a href="{first}{slash}">{first}</a>' for first, slash, _ in below)
            self._send(200, links.encode(), {}, with_body)
            return
        if path not in site.files:
            self._end(404)
            return
        failure = site.failures.pop(0) if with_body and site.failures else None
        if failure is not None and failure >= 400 and failure < 600:
            self._end(failure)
            return
        data, headers = site.files[path], {"ETag": site.versions.get(path, f'"{hash(site.files[path])}"')}
        status, place = 200, re.fullmatch(r"bytes=(\d+)-(\d*)", asked or "")
        if site.has_ranges and place is not None:
            start, end = int(place[1]), int(place[2]) + 1 if place[2] else len(data)
            status, headers["Content-Range"] = 206, f"bytes {start}-{min(end, len(data)) - 1}/{len(data)}"
            data = data[start:end]
        self._send(status, data, headers, with_body, failure)

    def _end(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _send(self, status: int, data: bytes, headers: dict[str, str], with_body: bool, cut: int | None = None) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if self.site.has_sizes:
            self.send_header("Content-Length", str(len(data)))
        else:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if not with_body:
            return
        sent = data if cut is None else data[:cut]
        if self.site.has_sizes:
            self.wfile.write(sent)
        else:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(sent), sent) if sent else b"")
            if cut is None:
                self.wfile.write(b"0\r\n\r\n")
        if cut is not None:
            self.close_connection = True


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of readers that have gone."""


@contextmanager
def serving(site: Site, certificate: str | None = None) -> Iterator[Site]:
    """Serve a site on a free port, at its `address`; with a certificate and its key in one file, over TLS."""
    handler = type("Handler", (_Handler,), {"site": site})
    with _Server(("127.0.0.1", 0), handler) as server:
        site.address = f"http://127.0.0.1:{server.server_address[1]}"
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
            site.address = f"https://localhost:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield site
        finally:
            server.shutdown()
            thread.join()
