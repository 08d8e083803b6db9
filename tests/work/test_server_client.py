"""The client of servers on this computer, against small real ones."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from app.work import server_client
from app.work.server_client import Answer, Endpoint

DEEP = b"[" * 200_000


@contextmanager
def serving(status: int, body: bytes) -> Iterator[tuple[int, list[str]]]:
    """Serve one answer to all; gives the port, and what was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        """Answers each request alike."""

        def do_GET(self) -> None:
            """Answer without a body read."""
            asked.append(f"{self.command} {self.path} {self.headers.get('Authorization')}")
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            """Answer after the body."""
            asked.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self.do_GET()

        def log_message(self, format: str, *args: object) -> None:
            """Stay silent."""

    server = HTTPServer((server_client.HOST, 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server.server_address[1], asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_asks_without_a_key_where_there_is_none_and_with_it_where_there_is() -> None:
    with serving(200, b'{"a": 1}') as (port, asked):
        assert server_client.ask(Endpoint(port), "/props", timeout_s=5) == Answer(200, {"a": 1})
        server_client.ask(Endpoint(port, "k"), "/tokenize", {"content": "x"}, timeout_s=5)
    assert asked == ["GET /props None", '{"content": "x"}', "POST /tokenize Bearer k"]


@pytest.mark.parametrize("body", [b"", b"<html>", b'{"a": ', b"\xff\xfe", DEEP])
def test_what_is_no_json_is_no_body_whoever_answers(body: bytes) -> None:
    with serving(503, body) as (port, _asked):
        assert server_client.ask(Endpoint(port), "/health", timeout_s=5) == Answer(503, None)


def test_nobody_there_is_an_error_of_the_system() -> None:
    with serving(200, b"{}") as (port, _asked):
        pass
    with pytest.raises(OSError, match="refused"):
        server_client.ask(Endpoint(port), "/health", timeout_s=5)
