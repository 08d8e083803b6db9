"""Finds the processes of this computer that compute for a load as devices by RPC."""

from collections.abc import Iterable

from app.core.host import Listener
from app.core.request import LoadRequest
from app.work.steps import Script, Steps

_HERE = ("127.", "localhost", "::1", "[::1]")


def processes_of(request: LoadRequest, listeners: Iterable[Listener]) -> frozenset[int]:
    """Return who listens on this computer where the request's RPC servers are."""
    ports = {
        int(port)
        for host, _colon, port in (server.rpartition(":") for server in request.rpc_servers)
        if host.startswith(_HERE) and port.isdigit()
    }
    return frozenset(one.pid for one in listeners if one.port in ports and one.pid is not None)


def own_processes(steps: Steps, request: LoadRequest) -> Script[frozenset[int]]:
    """Look for them as a part of a script: what they compute is the run's own work."""
    from app.probes.host import RealHost

    if not request.rpc_servers:
        return frozenset()
    found: frozenset[int] = yield steps.job(
        lambda _cancel, _progress: processes_of(request, RealHost().listeners()), "RPC servers"
    )
    return found
