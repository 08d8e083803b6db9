"""The table of devices: sound figures, and names that never match the wrong row."""

import pytest

from app import paths
from app.core import device_table
from app.core.device_table import match
from app.core.units import GIB

ROWS = device_table.parse((paths.resources() / "devices.csv").read_text(encoding="utf-8"))


def test_each_bandwidth_is_bus_times_pin_rate_and_has_a_source() -> None:
    assert len(ROWS) > 200
    for row in ROWS:
        assert row.bandwidth == pytest.approx(row.bus_bits * row.pin_gbps / 8 * 1e9, rel=0.04), row
        assert row.source and row.confidence in device_table.CONFIDENCE


def test_no_device_is_in_it_twice() -> None:
    keys = [(row.name.lower(), row.memory_gb) for row in ROWS]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize(
    ("name", "total", "gbs"),
    [
        ("NVIDIA GeForce RTX 4090", 24 * GIB, 1008),
        ("GeForce RTX 4090", None, 1008),  # old drivers leave NVIDIA out
        ("NVIDIA GeForce RTX 4090 Laptop GPU", 16 * GIB, 576),
        ("NVIDIA GeForce RTX 3060", 12 * GIB, 360),
        ("NVIDIA GeForce RTX 3060", 8 * GIB, 240),
        ("AMD Radeon RX 7900 XTX (RADV NAVI31)", 24 * GIB, 960),
        ("Intel(R) Arc(TM) A770 Graphics (DG2)", 16 * GIB, 560),
        ("Radeon 8060S Graphics", None, None),
    ],
)
def test_finds_a_device_by_its_name_and_memory(
    name: str, total: int | None, gbs: float | None
) -> None:
    row = match(ROWS, name, total)
    assert (row.bandwidth if row else None) == (None if gbs is None else round(gbs * 1e9))


def test_a_laptop_never_matches_the_desktop_and_a_ti_not_the_plain_one() -> None:
    for row in ROWS:
        for other in (f"{row.name} Laptop GPU", f"{row.name} Ti", f"{row.name} with Max-Q Design"):
            found = match(ROWS, other, round(row.memory_gb * GIB))
            assert found is None or found.name.lower().endswith(
                other.lower().rpartition(row.name.lower())[2]
            )


@pytest.mark.parametrize(("cores", "gbs"), [(32, 409.6), (40, 546.1), (None, None), (10, None)])
def test_apples_max_is_told_by_its_gpu_cores(cores: int | None, gbs: float | None) -> None:
    row = match(ROWS, "Apple M4 Max GPU", 64 * GIB, cores)
    assert (row.bandwidth if row else None) == (None if gbs is None else round(gbs * 1e9))


def test_an_m6_is_told_by_its_memory() -> None:
    for total, gbs in ((16, 153.6), (24, 170.7), (32, 170.7)):
        row = match(ROWS, "Apple M6", total * GIB)
        assert row and row.bandwidth == round(gbs * 1e9)


@pytest.mark.parametrize("name", ["", "NVIDIA", "llvmpipe (LLVM 15.0.6, 256 bits)", "GPU 0"])
def test_other_names_match_nothing(name: str) -> None:
    assert match(ROWS, name, 8 * GIB) is None
