"""Compute buffers of builds around the changes of June 2026, against what their authors measured.

The table of llama.cpp's pull request 23861: Qwen3.6 35B-A3B on an RTX 3080, `-c 150000 -b 4096
-ub 4096 -fa on -ctk q8_0 -ctv q8_0 --kv-unified --cpu-moe -np 1`.
"""

import pytest

from app.core.machine import CpuKind, Device, DeviceKind, Host
from app.core.placement import place, prepare
from app.core.request import LoadRequest, Switch
from app.core.units import GIB, MIB
from tests.truth import models
from tests.truth.params import Params

QWEN_35B = Params(
    L=40, e=2048, f=512, h=16, hk=2, dk=256, v=248320, ctx=262144, nx=256, nu=8, fx=512, fs=512,
    ds=128, nk=16, nv=32,
)  # fmt: skip
CARD = Device("CUDA0", DeviceKind.CUDA, "RTX 3080", 10 * GIB, 9 * GIB, "test")
REQUEST = LoadRequest(
    ctx=150000, batch=4096, ubatch=4096, cache_type_k="q8_0", cache_type_v="q8_0", cpu_moe=True,
    parallel=1, flash_attn=Switch.ON,
)  # fmt: skip


@pytest.mark.parametrize(
    ("build", "device", "host"),
    [
        (9409, 3976, 2408),  # F32 masks and logits of every token
        (9459, 3976, 1236),  # F16 masks (b9410)
        (9460, 1982, 1236),  # and few logits
    ],
)
def test_the_buffers_are_those_that_the_change_s_author_measured(
    build: int, device: int, host: int
) -> None:
    prepared = prepare(models.build("qwen3.6-35b-a3b", "qwen35moe", "q4_K_M", QWEN_35B))
    placed = place(prepared, (CARD,), Host(CpuKind.AVX2, 64 * GIB, 60 * GIB), REQUEST, build=build)
    # the copies of expert tensors are of another mixture of types in the author's file
    assert placed.rows[0].compute_bytes / MIB == pytest.approx(device, rel=0.002)
    assert abs(placed.total(is_host=True).compute_bytes / MIB - host) <= 1
