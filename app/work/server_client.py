"""Speaks with a llama-server, or one like it, on this computer: one request, one JSON answer."""

import http.client
import json
from dataclasses import dataclass
from typing import Any

HOST = "127.0.0.1"
_LIMIT_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a server listens; a key keeps other programs out of ours, "" = it takes none."""

    port: int
    key: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back; body is None where it was no JSON."""

    status: int
    body: Any


def ask(
    endpoint: Endpoint, path: str, body: dict[str, Any] | None = None, *, timeout_s: float
) -> Answer:
    """Ask, with POST where there is a body; OSError or HTTPException when nothing came back."""
    headers = {"Content-Type": "application/json"}
    if endpoint.key:
        headers["Authorization"] = f"Bearer {endpoint.key}"
    connection = http.client.HTTPConnection(HOST, endpoint.port, timeout=timeout_s)
    try:
        if body is None:
            connection.request("GET", path, headers=headers)
        else:
            connection.request("POST", path, json.dumps(body).encode(), headers)
        response = connection.getresponse()
        status, data = response.status, response.read(_LIMIT_BYTES)
    finally:
        connection.close()
    try:
        return Answer(status, json.loads(data))
    except (ValueError, RecursionError):  # another program may listen there
        return Answer(status, None)
