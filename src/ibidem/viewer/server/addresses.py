"""Where a server listens: its socket, the address of it, and who can reach it."""

from __future__ import annotations

import socket
from ipaddress import ip_address

from ibidem.errors import ResourceError

MOST_WAITING = 2048  # connections not yet accepted


def is_local(host: str) -> bool:
    """Return whether a server listening on this host can only be reached from this machine."""
    if host == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def bind(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 picks a free port."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except socket.gaierror as problem:
        raise ResourceError(f"the host {host} is not known: {problem.strerror}", "Give an address of this machine.") from None
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(MOST_WAITING)
    except OSError as problem:
        listening.close()
        next_step = "Choose another one with --port; 0 takes a free one."
        raise ResourceError(f"cannot listen on port {port} of {host}: {problem.strerror}", next_step) from None
    return listening


def address_of(listening: socket.socket) -> str:
    """Return the URL of a socket as seen from this machine."""
    host, port = listening.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"
