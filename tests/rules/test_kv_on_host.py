"""A cache in system memory beside layers on the device is told by the KV buffers."""

from app.core.log import Role
from app.core.request import LoadRequest
from app.rules.kv_on_host import check, silent
from tests.rules import made

WEIGHTS = made.buffer("CUDA0", Role.WEIGHTS, 4455, 100)
ON_HOST = made.buffer("CPU", Role.KV, 576, 110)


def test_names_the_cache_when_it_is_all_on_the_host() -> None:
    evidence = made.seen(made.story(made.offloaded(37, 37), buffers=(WEIGHTS, ON_HOST)),
                         request=LoadRequest(kv_offload=False, ctx=4096))  # fmt: skip
    finding = check(evidence)
    assert finding is not None
    assert "576.00 MiB" in finding.cause
    assert [cite.line for cite in finding.cites] == [110]
    assert finding.fix.command == "llama-server -m /models/m.gguf -c 4096"


def test_is_silent_when_the_device_holds_its_share() -> None:
    on_device = made.buffer("CUDA0", Role.KV, 288, 109)
    evidence = made.seen(made.story(buffers=(WEIGHTS, ON_HOST, on_device)))
    assert check(evidence) is None
    assert silent(evidence) == "288.00 MiB of the KV cache are on a device"


def test_is_silent_when_nothing_is_on_a_device() -> None:
    on_host = made.buffer("CPU_Mapped", Role.WEIGHTS, 4455, 100)
    evidence = made.seen(made.story(buffers=(on_host, ON_HOST)))
    assert check(evidence) is None
    assert "no weights are on a device" in silent(evidence)
