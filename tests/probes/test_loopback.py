"""A GET that slow, huge, lying or redirecting servers on this computer cannot hold up."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from app.probes import loopback

Handler = Callable[[socket.socket, threading.Event], None]
LIMIT = 1 << 20


def _says(data: bytes) -> Handler:
    def handle(connection: socket.socket, _stop: threading.Event) -> None:
        connection.recv(4096)
        connection.sendall(data)

    return handle


def _says_and_stays(data: bytes) -> Handler:
    def handle(connection: socket.socket, stop: threading.Event) -> None:
        connection.recv(4096)
        connection.sendall(data)
        stop.wait(10)

    return handle


def _drips(data: bytes) -> Handler:
    def handle(connection: socket.socket, stop: threading.Event) -> None:
        connection.recv(4096)
        for byte in data:
            if stop.wait(0.02):
                return
            connection.sendall(bytes([byte]))

    return handle


def _floods(connection: socket.socket, stop: threading.Event) -> None:
    connection.recv(4096)
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while not stop.is_set():
        connection.sendall(b"x" * 65536)


@contextmanager
def _server(handler: Handler) -> Iterator[int]:
    """Serve one connection on a free port."""
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(10)

        def serve() -> None:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                try:
                    handler(connection, stop)
                except OSError:
                    return  # the client hung up

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            stop.set()
            thread.join(10)


def _http(status: str, body: bytes, *headers: str) -> bytes:
    head = "\r\n".join((f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers))
    return head.encode() + b"\r\n\r\n" + body


@pytest.mark.parametrize(
    "status", ["200 OK", "401 Unauthorized", "404 Not Found", "501 No", "503 Loading"]
)
def test_returns_status_body_and_server_name(status: str) -> None:
    with _server(_says(_http(status, b'{"a":1}', "Server: llama.cpp"))) as port:
        answer = loopback.get(f"http://127.0.0.1:{port}/health", timeout_s=5, limit=LIMIT)
    assert (answer.status, answer.body) == (int(status[:3]), b'{"a":1}')
    assert answer.server == "llama.cpp"


def test_does_not_follow_a_redirect() -> None:
    moved = _http("302 Found", b"", "Location: http://example.org/")
    with _server(_says(moved)) as port:
        answer = loopback.get(f"http://localhost:{port}/", timeout_s=5, limit=LIMIT)
    assert (answer.status, answer.body) == (302, b"")


def test_does_not_wait_for_the_end_when_the_whole_length_came() -> None:
    with _server(_says_and_stays(_http("200 OK", b"all"))) as port:
        started = time.monotonic()
        answer = loopback.get(f"http://127.0.0.1:{port}/", timeout_s=8, limit=LIMIT)
    assert answer.body == b"all"
    assert time.monotonic() - started < 4


@pytest.mark.parametrize(
    "handler",
    [
        _drips(b"HTTP/1.1 200 OK\r\nX: " + b"y" * 5000),
        _drips(_http("200 OK", b"z" * 5000)),
        _says_and_stays(b""),
        _says_and_stays(b"HTTP/1.1 200 OK\r\nContent-Length: 900\r\n\r\nshort"),
    ],
    ids=["drips its header", "drips its body", "says nothing", "promises more than it sends"],
)
def test_cuts_a_slow_server_off_in_time(handler: Handler) -> None:
    with _server(handler) as port:
        started = time.monotonic()
        answer = loopback.get(f"http://127.0.0.1:{port}/", timeout_s=0.3, limit=LIMIT)
        elapsed_s = time.monotonic() - started
    assert answer.status is None
    assert answer.reason
    assert elapsed_s < 2


def test_cuts_a_huge_answer_off() -> None:
    with _server(_floods) as port:
        answer = loopback.get(f"http://127.0.0.1:{port}/", timeout_s=20, limit=1000)
    assert (answer.status, answer.body) == (None, b"")
    assert "larger than 1000 bytes" in answer.reason


@pytest.mark.parametrize("data", [b"SSH-2.0-OpenSSH_9.2\r\n", b"\0\xff" * 500, b"HTTP/1.1 abc"])
def test_says_so_when_the_answer_is_not_http(data: bytes) -> None:
    with _server(_says(data)) as port:
        answer = loopback.get(f"http://127.0.0.1:{port}/", timeout_s=5, limit=LIMIT)
    assert answer.status is None
    assert answer.reason == "the answer is not HTTP"


def test_gives_the_reason_when_nothing_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    answer = loopback.get(f"http://127.0.0.1:{port}/", timeout_s=2, limit=LIMIT)
    assert answer.status is None
    assert "no connection" in answer.reason


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/",
        "http://192.168.1.2:11434/",
        "https://127.0.0.1/",
        "file:///etc/passwd",
        "http://127.0.0.1.example.org/",
        "http://user@10.0.0.1:80/",
    ],
)
def test_asks_no_other_computer(url: str) -> None:
    answer = loopback.get(url, timeout_s=1, limit=LIMIT)
    assert answer.reason == "only http on this computer is asked"
