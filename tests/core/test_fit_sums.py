"""The order in which layers are offloaded, in the sums of the Fit table."""

import pytest

from app.core.fit_table import FitWish, fit_rows
from app.core.machine import CpuKind, Device, DeviceKind, Host
from app.core.placement import place, prepare
from app.core.request import LoadRequest
from app.core.units import GIB
from tests.truth import models

EIGHT_B = models.build("llama-3.1-8b", "llama", "q4_K_M", models.LLAMA_8B)
HOST = Host(CpuKind.AVX2, 64 * GIB, 60 * GIB)


@pytest.mark.parametrize("free", [4.0, 2.5], ids=str)
@pytest.mark.parametrize("build", [6699, 8173])
def test_the_sums_follow_the_order_of_the_build(free: float, build: int) -> None:
    devices = (Device("CUDA0", DeviceKind.CUDA, "", None, int(free * GIB), "test"),)
    wish = FitWish(quantisations=(), cache_types=("f16",), contexts=(4096,), build=build)
    cell = next(fit_rows(EIGHT_B, devices, HOST, LoadRequest(), wish)).cells[0]
    assert 0 < cell.ngl < cell.layers_total
    placed = place(
        prepare(EIGHT_B), devices, HOST, LoadRequest(ngl=cell.ngl, ctx=4096), build=build
    )
    assert (placed.layers[-1].device is None) is (build == 6699)
    device, host = placed.rows[0], placed.total(is_host=True)
    assert device.weights_bytes + device.context_bytes < cell.device_bytes
    assert cell.device_bytes <= (free - 1) * GIB
    assert host.weights_bytes + host.context_bytes < cell.host_bytes
    # weights and cache of both sides, and nothing twice
    held = sum(row.weights_bytes + row.context_bytes for row in placed.rows)
    compute = sum(row.compute_high_bytes for row in placed.rows)
    assert held < cell.device_bytes + cell.host_bytes < held + 2 * compute + placed.output_bytes
