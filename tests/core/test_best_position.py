"""The position that keeps the margins: against trying every position."""

from dataclasses import replace

import pytest

from app.core.best_position import best_position
from app.core.cancel import Cancel
from app.core.machine import CpuKind, Device, DeviceKind, Host
from app.core.placement import Prepared, place, prepare
from app.core.plan import Situation, fits
from app.core.reading import Estimate
from app.core.request import LoadRequest
from app.core.units import GIB
from tests.truth import models

EIGHT_B = prepare(models.build("llama-3.1-8b", "llama", "q4_K_M", models.LLAMA_8B))
MOE = prepare(models.build("qwen3-235b", "qwen3moe", "q4_K_M", models.QWEN3_235B))
HOST = Host(CpuKind.AVX2, 256 * GIB, 250 * GIB)


class Never(Cancel):
    """Is never cancelled."""

    def check(self) -> None:
        """Go on."""


def situation(*gib: float, ngl: int | None = None, **more: object) -> Situation:
    devices = tuple(
        Device(f"CUDA{i}", DeviceKind.CUDA, "card", int(n * GIB), int(n * GIB), "test")
        for i, n in enumerate(gib)
    )
    return Situation(devices, HOST, replace(LoadRequest(ctx=8192, ngl=ngl), **more))  # type: ignore[arg-type]  # fields by name


def has_room(prepared: Prepared, asked: Situation, ngl: int, n_cpu_moe: int = 0) -> bool:
    request = replace(asked.request, ngl=ngl, n_cpu_moe=n_cpu_moe)
    tried = replace(asked, request=request)
    return fits(place(prepared, asked.devices, HOST, request), tried) is True


@pytest.mark.parametrize("gib", [(4.0,), (3.0, 4.0), (24.0,)])
@pytest.mark.parametrize("margin", [0, 1024])
def test_is_the_last_position_that_has_room(gib: tuple[float, ...], margin: int) -> None:
    asked = situation(*gib, fit_target_mib=margin)
    found = best_position(EIGHT_B, asked, Never())
    room = [ngl for ngl in range(34) if has_room(EIGHT_B, asked, ngl)]
    assert found.ngl == max(room)
    assert found.why


def test_a_larger_margin_on_one_device_means_fewer_layers() -> None:
    even = best_position(EIGHT_B, situation(3, 3, fit_targets_mib=(512, 512)), Never())
    uneven = best_position(EIGHT_B, situation(3, 3, fit_targets_mib=(2048, 512)), Never())
    assert even.ngl is not None and uneven.ngl is not None
    assert uneven.ngl < even.ngl


def test_a_mixture_of_experts_keeps_its_layers_and_moves_experts() -> None:
    asked = situation(24)
    found = best_position(MOE, asked, Never())
    assert found.ngl == 95
    assert 0 < found.n_cpu_moe < 94
    assert has_room(MOE, asked, 95, found.n_cpu_moe)
    assert not has_room(MOE, asked, 95, found.n_cpu_moe - 1)


def test_offers_no_part_where_a_part_can_be_slower_than_either_end() -> None:
    asked = replace(situation(4), r=Estimate.typed(2.0))
    found = best_position(EIGHT_B, asked, Never())
    assert found.ngl is None and "With r below 2.5" in found.why
    slower = replace(situation(24), r=Estimate.typed(0.5))
    assert best_position(EIGHT_B, slower, Never()).ngl == 0


def test_says_why_when_nothing_has_room_or_nothing_is_known() -> None:
    assert "compute buffer" in best_position(EIGHT_B, situation(0.3), Never()).why
    unknown = situation(4)
    device = replace(unknown.devices[0], free_bytes=None)
    assert "not known" in best_position(EIGHT_B, replace(unknown, devices=(device,)), Never()).why
    assert "no device" in best_position(EIGHT_B, situation(), Never()).why


def test_warns_when_system_memory_cannot_hold_the_rest() -> None:
    asked = replace(situation(24), host=Host(CpuKind.AVX2, 64 * GIB, 60 * GIB))
    found = best_position(MOE, asked, Never())
    assert found.ngl == 95
    assert "read from the drive" in found.why
    assert "drive" not in best_position(MOE, situation(24), Never()).why
