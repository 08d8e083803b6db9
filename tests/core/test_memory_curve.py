"""The curve of memory over context and slots, and the moment it ends."""

import pytest

from app.core.cancel import Cancel
from app.core.machine import CpuKind, Device, DeviceKind, Host
from app.core.memory_curve import SLOTS, contexts, memory_curve
from app.core.placement import place, prepare
from app.core.request import LoadRequest
from app.core.units import GIB, MIB
from tests.truth import models

EIGHT_B = prepare(models.build("llama-3.1-8b", "llama", "q4_K_M", models.LLAMA_8B))
HOST = Host(CpuKind.AVX2, 64 * GIB, 60 * GIB)


def cards(*free_gib: float) -> tuple[Device, ...]:
    return tuple(
        Device(f"CUDA{i}", DeviceKind.CUDA, "", int(gib * GIB), int(gib * GIB), "test")
        for i, gib in enumerate(free_gib)
    )


def test_grows_with_context_and_with_slots() -> None:
    found = memory_curve(EIGHT_B, cards(24), HOST, LoadRequest(), build=11434)
    assert [line.slots for line in found.lines] == list(SLOTS)
    for line in found.lines:
        sizes = [point.n_bytes for point in line.points]
        assert sizes == sorted(sizes)
    one, four, sixteen = (line.points[3].n_bytes for line in found.lines)
    assert one < four < sixteen
    # 128 KiB of cache per token (32 blocks, 8 KV heads of 128, f16), compute beside
    assert four - one == 3 * 8192 * 128 * 1024


def test_ends_at_the_last_context_that_fits() -> None:
    found = memory_curve(EIGHT_B, cards(8), HOST, LoadRequest(), build=11434)
    end = found.lines[0].end
    assert end is not None and 4096 < end < 131_072 and end % 256 == 0
    for ctx, fits in ((end, True), (end + 256, False)):
        placed = place(EIGHT_B, cards(8), HOST, LoadRequest(ctx=ctx, parallel=1), build=11434)
        # 500 MiB are the driver's on a CUDA card
        assert (placed.total(is_host=False).high_bytes <= 8 * GIB - 500 * MIB) is fits
    ends = [line.end or 0 for line in found.lines]
    assert ends == sorted(ends, reverse=True)


def test_ends_where_the_first_of_two_devices_is_full() -> None:
    whole = memory_curve(EIGHT_B, cards(10, 2), HOST, LoadRequest(tensor_split=(1, 1)))
    assert whole.lines[0].end == 0  # half of 4.6 GiB does not fit on 2 GiB
    assert whole.limit_bytes == 12 * GIB - 2 * 500 * MIB
    assert "500 MiB each are kept for the driver's own use on CUDA0 and CUDA1" in whole.kept


@pytest.mark.parametrize(
    ("devices", "host", "limit", "end"),
    [
        (cards(80), HOST, 80 * GIB - 500 * MIB, None),
        ((), HOST, 60 * GIB, None),
        ((), Host(), None, None),
    ],
)
def test_has_no_end_where_all_fits_or_nothing_is_known(
    devices: tuple[Device, ...], host: Host, limit: int | None, end: int | None
) -> None:
    found = memory_curve(EIGHT_B, devices, host, LoadRequest())
    assert found.limit_bytes == limit
    assert found.is_host is not bool(devices)
    assert found.lines[0].end is end


@pytest.mark.parametrize("trained", [0, 512, 4096, 131_072, 40_960])
def test_the_training_context_is_the_last_point(trained: int) -> None:
    shown = contexts(trained)
    assert shown[-1] == (trained or 131_072)
    assert len(set(shown)) == len(shown)


def test_stops_between_two_points() -> None:
    class Stop(Exception):
        pass

    class Cancelled(Cancel):
        def check(self) -> None:
            raise Stop

    with pytest.raises(Stop):
        memory_curve(EIGHT_B, cards(8), HOST, LoadRequest(), cancel=Cancelled())
