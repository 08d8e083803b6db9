"""Compute buffers of older builds in closed form, against what their logs print."""

import pytest

from app.core import cache
from app.core.compute import Case, compute_of
from app.core.machine import DeviceKind
from app.core.placement import prepare
from app.core.request import LoadRequest, Switch, Tool
from app.core.scratch import SINCE, scratch_bytes
from app.core.spans import Compute
from app.core.units import MIB
from tests.truth import models
from tests.truth.params import Params

LLAMA_3B = Params(
    L=28, e=3072, f=8192, h=24, hk=8, v=128256, ctx=131072, rope_freqs=1, tied=1
)  # fmt: skip
QWEN_27B = Params(
    L=64, e=5120, f=17408, h=24, hk=4, dk=256, v=248320, ctx=262144, ds=128, nk=16, nv=48
)  # fmt: skip
QWEN3_4B = Params(
    L=36, e=2560, f=9728, h=32, hk=8, dk=128, v=151936, ctx=40960, tied=1
)  # fmt: skip


def computed(
    arch: str, params: Params, ctx: int, build: int | None, tool: Tool, *,
    kind: DeviceKind = DeviceKind.SYCL, cache_type: str = "f16",
) -> Compute:  # fmt: skip
    """Return the buffers with every layer on one device and one sequence."""
    shape = prepare(models.build("one", arch, "q4_K_M", params)).shape
    request = LoadRequest(
        tool=tool, ctx=ctx, parallel=1, flash_attn=Switch.ON,
        cache_type_k=cache_type, cache_type_v=cache_type,
    )  # fmt: skip
    context = cache.context_of(shape, request)
    caches = cache.caches_of(shape, context, request)
    return compute_of(
        shape, context, caches, request,
        case=Case.ONE_ALL, layers=(shape.layers_total,), build=build,
        scratch={SINCE[kind]: scratch_bytes(kind, shape, caches, request)} if kind in SINCE else {},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("arch", "params", "ctx", "build", "tool", "host", "device"),
    [
        # logs G16, G28, G32 and G09 of tests/data/truth/gpu_loads.jsonl
        ("llama", LLAMA_3B, 131072, 7079, Tool.FIT_PARAMS, 262, 408),
        ("qwen3", QWEN3_4B, 8192, 7079, Tool.SERVER, 21, 301.75),
        ("qwen35", QWEN_27B, 177152, 8500, Tool.SERVER, 366, 579),
        ("qwen35", QWEN_27B, 196608, 11258, Tool.SERVER, 212, 314),
    ],
)
def test_the_rule_of_a_build_is_what_its_log_prints(
    *, arch: str, params: Params, ctx: int, build: int, tool: Tool, host: float, device: float
) -> None:
    found = computed(arch, params, ctx, build, tool)
    assert found.host.n_bytes == host * MIB
    assert found.devices[0].n_bytes == device * MIB


def test_an_unknown_build_has_the_range_of_all() -> None:
    unknown = computed("llama", LLAMA_3B, 131072, None, Tool.SERVER)
    for build in (5466, 7079, 8173, 9430, 10434, 11342, 11434):
        known = computed("llama", LLAMA_3B, 131072, build, Tool.SERVER)
        pairs = zip((unknown.host, *unknown.devices), (known.host, *known.devices), strict=True)
        for wide, narrow in pairs:
            assert wide.low <= narrow.n_bytes <= wide.high
    newest = computed("llama", LLAMA_3B, 131072, 11434, Tool.SERVER)
    assert unknown.host.n_bytes == newest.host.n_bytes


def test_the_server_kept_logits_of_every_token_until_june_2026() -> None:
    before, after = (computed("qwen3", QWEN3_4B, 2048, b, Tool.SERVER) for b in (9459, 9460))
    logits = 4 * 512 * 151936
    assert before.devices[0].n_bytes > logits > after.devices[0].n_bytes


def test_flash_attention_has_copies_in_the_buffer_since_autumn_2026() -> None:
    # log G25: 1377.52 MiB on an M4 Max
    metal = computed("qwen35", QWEN_27B, 262144, 11300, Tool.SERVER, kind=DeviceKind.METAL)
    assert metal.devices[0].n_bytes / MIB == pytest.approx(1377.52, rel=0.05)
    # log G41: 372.09 MiB with a q8_0 cache on an RX 6700 XT, before b9489 without the copies
    qwen1 = Params(L=40, e=2560, f=6912, h=20, hk=20, v=151936, ctx=32768)
    with_copies, without = (
        computed(
            "qwen2", qwen1, 32768, build, Tool.SERVER, kind=DeviceKind.ROCM, cache_type="q8_0"
        ).devices[0]
        for build in (9489, 9488)
    )
    assert with_copies.n_bytes / MIB == pytest.approx(372.09, rel=0.03)
    assert without.n_bytes / MIB < 100
