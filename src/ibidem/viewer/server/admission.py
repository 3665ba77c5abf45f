"""Limits on connections: in total and per address; connections that only wait make room for new ones.

A connection is *known* once it has sent a request that is allowed (`Guard`). When there are too many, the oldest unknown
connection is dropped. So thousands of half-sent requests lock nobody out: a client that sends a whole request at once becomes
known before its turn to be dropped. Known connections are never closed for others; if all are known, the new one is refused.
The last places are reserved for this machine.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Protocol

from ibidem.errors import ResourceError
from ibidem.execution.operating_system import file_limit

_MOST = 400
_MOST_OF_ONE_ADDRESS = 200  # behind a TLS proxy, all clients share its address
_FOR_THIS_MACHINE = 16
_FEWEST = 16
_OTHER_FILES = 64  # for the index, SQLite and threads
_AT_ONCE = 8  # few enough to read a prompt client's request before accepting many others
_ROUNDS = 4  # from accepting to admitting a connection, and from dropping it to closing its file

Client = tuple[str, int]
PEER = "ibidem.peer"  # in a scope: the connected peer; behind a proxy, "client" is the original client


class Connection(Protocol):
    """A connection that can be admitted."""

    def drop(self) -> None:
        """Close at once."""


@dataclass(frozen=True)
class Limits:
    """Numbers of connections; `at_once` are accepted before open ones are served again."""

    most: int = _MOST
    most_of_one_address: int = _MOST_OF_ONE_ADDRESS
    for_this_machine: int = _FOR_THIS_MACHINE
    at_once: int = _AT_ONCE


def limits_of_process() -> Limits:
    """Return the limits, lowered if the process may open few files (`ulimit -n`); raise if those are too few."""
    allowed = file_limit()
    if allowed is None:
        return Limits()
    room = allowed - _n_open_files() - _OTHER_FILES
    most = min(_MOST, room - _ROUNDS * _AT_ONCE)
    if most < _FEWEST:
        needed = allowed - most + _FEWEST
        raise ResourceError(
            f"this process may open {allowed} files at a time, which is too few to serve",
            f"Allow {needed} or more: ulimit -n {needed}",
        )
    return Limits(most, most // 2, min(_FOR_THIS_MACHINE, most // 4))


class Admission:
    """The open connections. Use it only from the thread of the event loop."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._unknown: dict[Client, Connection] = {}  # oldest first
        self._known: dict[Client, Connection] = {}
        self._n_of: defaultdict[str, int] = defaultdict(int)

    def __len__(self) -> int:
        return len(self._unknown) + len(self._known)

    def admit(self, client: Client, connection: Connection) -> bool:
        """Admit a connection, dropping another one if needed; return False if there is no room."""
        address = client[0]
        if self._n_of.get(address, 0) >= self.limits.most_of_one_address and not self._make_room(address):
            return False
        most = self.limits.most - (0 if _is_this_machine(address) else self.limits.for_this_machine)
        if len(self) >= most and not self._make_room(self._busiest()):
            return False
        self._unknown[client] = connection
        self._n_of[address] += 1
        return True

    def know(self, client: Client | None) -> None:
        """Note that this client has sent an allowed request."""
        if client is not None and (connection := self._unknown.pop(client, None)) is not None:
            self._known[client] = connection

    def release(self, client: Client) -> None:
        """Forget a closed connection."""
        if self._unknown.pop(client, None) is None and self._known.pop(client, None) is None:
            return
        self._n_of[client[0]] -= 1
        if not self._n_of[client[0]]:
            del self._n_of[client[0]]

    def _make_room(self, address: str | None) -> bool:
        """Drop the oldest unknown connection of an address; return False if there is none."""
        oldest = next(self._unknown_of(address), None)
        if oldest is None:
            return False
        connection = self._unknown[oldest]
        self.release(oldest)
        connection.drop()
        return True

    def _unknown_of(self, address: str | None) -> Iterator[Client]:
        return (client for client in self._unknown if client[0] == address)

    def _busiest(self) -> str | None:
        """Return the address with the most unknown connections: a flood loses its own connections first."""
        counts: defaultdict[str, int] = defaultdict(int)
        for address, _ in self._unknown:
            counts[address] += 1
        return max(counts, key=counts.__getitem__, default=None)


def _is_this_machine(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


def _n_open_files() -> int:
    with suppress(OSError):
        return len(os.listdir("/proc/self/fd"))
    return 0
