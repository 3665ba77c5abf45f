"""Access to files elsewhere through fsspec: file systems by address, calls that are repeated, and errors in our words."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from ibidem.config.addresses import is_chained, is_web, scheme_of, shown_address
from ibidem.errors import IbidemError, InputError, ResourceError
from ibidem.formats.printable_names import printable

Value = TypeVar("Value")
# Before each further try.
WAITS_SECONDS = (0.5, 1.0, 2.0, 4.0, 8.0)
_CONNECT_SECONDS, _READ_SECONDS = 30, 60
_EXTRA = "Install it with: pip install 'ibidem[remote]'"
_NO_CREDENTIALS = {
    "NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError", "TokenRetrievalError", "GatedRepoError",
    "LocalTokenNotFoundError", "DefaultCredentialsError", "RefreshError", "ProfileNotFound",
}  # fmt: skip
_FINAL = _NO_CREDENTIALS | {"ClientConnectorCertificateError", "SSLCertVerificationError"}
_COMMON = {
    "the connection broke": {"ClientPayloadError", "ServerDisconnectedError", "IncompleteReadError", "ConnectionResetError"},
    "the server did not answer in time": {
        "TimeoutError", "FSTimeoutError", "ServerTimeoutError", "ReadTimeoutError", "ConnectTimeoutError", "SocketTimeoutError",
    },
}  # fmt: skip
_MOST_REASON_CHARS = 300


class MissingError(InputError):
    """There is nothing at an address."""


class NoRangesError(Exception):
    """A server sends whole files only."""


def system(address: str) -> tuple[Any, str]:
    """Return the file system of an address, and the path in it. What it takes to log in is known to fsspec."""
    from fsspec import get_filesystem_class
    from fsspec.core import url_to_fs

    options = _web_options() if is_web(address) else {}
    if is_chained(address):
        files, path = url_to_fs(address, **options)
        return files, path
    # Not by `url_to_fs`: it takes any `::` for a chain, also in the name of a file or of a host.
    scheme = str(scheme_of(address))
    kind, address = get_filesystem_class(scheme), f"{scheme}{address[len(scheme) :]}"
    return kind(**{**kind._get_kwargs_from_urls(address), **options}), kind._strip_protocol(address)


def place_elsewhere(address: str) -> str:
    """Return the one address of a file, the same for all that lead there, such as s3a://bucket/file and s3://bucket/file."""
    files, path = system(address)
    protocol = files.protocol if isinstance(files.protocol, str) else files.protocol[0]
    return f"{protocol}://{path}"


def _web_options() -> dict[str, Any]:
    """Return how web servers are asked: bytes as they are stored, proxies and passwords of the environment, no total limit."""
    import aiohttp
    from fsspec.config import conf

    theirs = {**conf.get("http", {}), **conf.get("https", {})}
    limits = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS, sock_read=_READ_SECONDS)
    return {
        **theirs,
        "client_kwargs": {"trust_env": True, "timeout": limits, **theirs.get("client_kwargs", {})},
        "headers": {"Accept-Encoding": "identity", **theirs.get("headers", {})},
    }


def tried(address: str, call: Callable[[], Value], what: str = "read") -> Value:
    """Return what a call returns, repeated if the network may be to blame; an IbidemError says what went wrong."""
    for wait in (*WAITS_SECONDS, None):
        try:
            return call()
        except (IbidemError, NoRangesError):
            raise
        except Exception as error:  # each file system has its own
            if wait is None or not _may_pass(error):
                raise _explained(address, error, what) from None  # tracebacks of clients show addresses whole
            time.sleep(wait)
    raise AssertionError("unreachable")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _status(error: BaseException) -> int | None:
    """Return what a server has answered, if it has."""
    for cause in _causes(error):
        # What aiohttp says of a body that broke off also has a `code`.
        names = ("status", "code") if type(cause).__name__ == "HttpError" else ("status",)
        response = getattr(cause, "response", None)
        if isinstance(response, Mapping):  # of S3
            response = response.get("ResponseMetadata", {}).get("HTTPStatusCode")
        statuses = getattr(response, "status_code", response), *(getattr(cause, name, None) for name in names)
        status = next((each for each in statuses if each is not None), None)
        if isinstance(status, int) and 400 <= status < 600:
            return status
    return None


def _may_pass(error: Exception) -> bool:
    status = _status(error)
    if status is not None:
        return status >= 500 or status in (408, 425, 429)
    if _names_of(error) & _FINAL or isinstance(error, (ImportError, PermissionError, ValueError, TypeError)):
        return False
    return not isinstance(error, (FileNotFoundError, IsADirectoryError)) or error.__cause__ is not None


def _names_of(error: BaseException) -> set[str]:
    return {type(cause).__name__ for cause in _causes(error)}


def _explained(address: str, error: Exception, what: str) -> IbidemError:
    """Return what went wrong with what was tried, in our words; nothing secret of the address is in it."""
    shown, status = printable(shown_address(address)), _status(error)
    if isinstance(error, ImportError):
        return ResourceError(f"{shown} needs {_missing(address, error)}, which is not installed", _EXTRA)
    if isinstance(error, ValueError) and "rotocol" in str(error):
        known = "Use s3, gs, hf, https or another protocol of fsspec."
        return InputError(f"cannot {what} {shown}: unknown protocol {scheme_of(address)}://", known)
    if status in (401, 403) or isinstance(error, PermissionError) or _names_of(error) & _NO_CREDENTIALS:
        how = " For a public bucket, set FSSPEC_S3_ANON=true." if scheme_of(address) == "s3" else ""
        return InputError(f"no access to {shown}", f"Check your credentials, and that the file exists.{how}")
    if status in (404, 410) or (isinstance(error, (FileNotFoundError, IsADirectoryError)) and error.__cause__ is None):
        return MissingError(f"there is no file or folder {shown}", "Check the spelling.")
    reason = f"the server answered {status}" if status is not None else _plain(error, address)
    return InputError(f"cannot {what} {shown}: {reason}", "Check the network, and try again.")


def _missing(address: str, error: ImportError) -> str:
    known = {"s3": "s3fs", "gs": "gcsfs", "gcs": "gcsfs", "hf": "huggingface_hub", "http": "aiohttp", "https": "aiohttp"}
    name = (error.name or "").partition(".")[0]
    return "fsspec" if name == "fsspec" else known.get(str(scheme_of(address)), name or "a library")


def _plain(error: Exception, address: str) -> str:
    """Return what an error says in one line, without anything that may be secret."""
    for reason, names in _COMMON.items():
        if names & _names_of(error):
            return reason
    cause = error if str(error) and not isinstance(error, FileNotFoundError) else list(_causes(error))[-1]
    said = " ".join(str(cause).split()).replace(address, shown_address(address))
    said = re.sub(r"(?<=://)[^\s/@]+@", "…@", re.sub(r"\?\S+", "?…", said))
    return printable(said[:_MOST_REASON_CHARS]) or type(cause).__name__
