"""Compute buffers of older builds in closed form, against what their logs print."""

import pytest

from app.core import cache
from app.core.compute import Case, compute_of
from app.core.placement import prepare
from app.core.request import LoadRequest, Switch, Tool
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


def computed(arch: str, params: Params, ctx: int, build: int | None, tool: Tool) -> Compute:
    """Return the buffers with every layer on one device and one sequence."""
    shape = prepare(models.build("one", arch, "q4_K_M", params)).shape
    request = LoadRequest(tool=tool, ctx=ctx, parallel=1, flash_attn=Switch.ON)
    context = cache.context_of(shape, request)
    caches = cache.caches_of(shape, context, request)
    return compute_of(
        shape, context, caches, request,
        case=Case.ONE_ALL, layers=(shape.layers_total,), build=build,
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
