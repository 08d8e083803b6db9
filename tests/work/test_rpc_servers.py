"""A device by RPC on this computer is a part of the run, not another program."""

from app.core.host import Listener
from app.core.request import LoadRequest
from app.work.rpc_servers import processes_of

LISTENERS = (
    Listener("127.0.0.1", 50052, 10),
    Listener("0.0.0.0", 50053, 11),
    Listener("127.0.0.1", 8080, 12),
    Listener("127.0.0.1", 50054, None),
)


def test_finds_the_servers_of_this_computer_by_their_ports() -> None:
    request = LoadRequest(rpc_servers=("127.0.0.1:50052", "localhost:50053", "127.0.0.1:50054"))
    assert processes_of(request, LISTENERS) == {10, 11}


def test_leaves_those_of_other_computers_alone() -> None:
    request = LoadRequest(rpc_servers=("192.0.2.7:50052", "10.0.0.1:8080"))
    assert processes_of(request, LISTENERS) == frozenset()
    assert processes_of(LoadRequest(), LISTENERS) == frozenset()
