"""A GET to a server on this computer that a slow, huge or lying server cannot hold up."""

import http.client
import io
import socket
import time
from urllib.parse import urlsplit

from app import product
from app.core.host import HttpAnswer

_LOOPBACK = {"127.0.0.1": "127.0.0.1", "localhost": "127.0.0.1", "::1": "::1"}
_HEADER_LIMIT = 64 << 10
_CHUNK = 64 << 10


class _Received:
    """What was received, in the shape http.client parses."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, _mode: str) -> io.BytesIO:
        """Return the received bytes as a file."""
        return io.BytesIO(self._data)


def get(url: str, *, timeout_s: float, limit: int) -> HttpAnswer:
    """GET a loopback address within timeout_s in all; a redirect is an answer, not followed."""
    parts = urlsplit(url)
    address = _LOOPBACK.get(parts.hostname or "")
    if parts.scheme != "http" or address is None:
        return HttpAnswer(None, b"", "only http on this computer is asked")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    deadline = time.monotonic() + timeout_s
    try:
        port = parts.port or 80
        with socket.create_connection((address, port), timeout_s) as connection:
            connection.sendall(_request(path, parts.netloc))
            data, is_cut = _receive(connection, deadline, limit)
    except TimeoutError:
        return HttpAnswer(None, b"", f"no answer within {timeout_s:g} s")
    except (OSError, ValueError) as error:
        return HttpAnswer(None, b"", f"no connection: {error}")
    return _parse(data, limit, is_cut=is_cut)


def _request(path: str, netloc: str) -> bytes:
    # HTTP/1.0: no chunks, and the server closes after the answer
    return (
        f"GET {path} HTTP/1.0\r\nHost: {netloc}\r\nUser-Agent: {product.SLUG}\r\n"
        "Accept: application/json, text/plain\r\nConnection: close\r\n\r\n"
    ).encode("ascii")


def _receive(connection: socket.socket, deadline: float, limit: int) -> tuple[bytes, bool]:
    """Return what came, and whether it was cut off by the time or the size limit."""
    data = b""
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or len(data) > limit + _HEADER_LIMIT:
            return data, True
        connection.settimeout(left)
        try:
            chunk = connection.recv(_CHUNK)
        except TimeoutError:
            return data, True
        if not chunk:
            return data, False
        data += chunk
        if _is_whole(data):
            return data, False


def _is_whole(data: bytes) -> bool:
    """Tell whether all of the announced length is there (a server that keeps the line open)."""
    head, blank, body = data.partition(b"\r\n\r\n")
    if not blank:
        return False
    for line in head.lower().split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name == b"content-length" and value.strip().isdigit():
            return len(body) >= int(value)
    return False


def _parse(data: bytes, limit: int, *, is_cut: bool) -> HttpAnswer:
    if not data:
        return HttpAnswer(None, b"", "no answer in time" if is_cut else "the answer was empty")
    response = http.client.HTTPResponse(_Received(data))  # type: ignore[arg-type] # only makefile
    try:
        response.begin()
        body = response.read(limit + 1)
    except (http.client.HTTPException, ValueError, OSError):
        return HttpAnswer(None, b"", "the answer is not HTTP")
    server = response.headers.get("Server", "")[:200]
    if len(body) > limit:
        return HttpAnswer(None, b"", f"the answer is larger than {limit} bytes", server)
    if is_cut:
        return HttpAnswer(None, b"", "the answer was not complete in time", server)
    return HttpAnswer(response.status, body, "", server)
