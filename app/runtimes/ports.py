"""Asks runtimes on this computer, and only where something listens."""

from app.core.host import Host, HttpAnswer

NOBODY = HttpAnswer(None, b"", "nothing listens on this port")


def get(host: Host, port: int, path: str) -> HttpAnswer:
    """GET a path of a local server; a port on which nothing listens is not tried.

    Windows needs seconds to refuse a connection. No list of listeners (macOS) means: try.
    """
    listeners = host.listeners()
    if listeners and all(listener.port != port for listener in listeners):
        return NOBODY
    return host.get(f"http://127.0.0.1:{port}{path}")
