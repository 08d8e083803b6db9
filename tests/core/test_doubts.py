"""What cannot be right is marked, with the figure that its source gave."""

import pytest

from app.core import facts
from app.core.doubts import doubts
from app.core.hardware_json import hardware_json
from app.core.machine import Machine
from app.core.machine_text import machine_text
from app.core.units import GIB
from tests.machines import strix_halo, two_cards

V = int | float | bool


def _doubts(**values: V) -> dict[str, str]:
    paths = {name.replace("__", "."): value for name, value in values.items()}
    return doubts(Machine(facts=tuple(facts.known(p, v, source="test") for p, v in paths.items())))


@pytest.mark.parametrize(
    ("path", "values"),
    [
        ("gpu.0.memory_free", {"gpu__0__memory_total": GIB, "gpu__0__memory_free": 2 * GIB}),
        ("gpu.0.memory_total", {"gpu__0__memory_total": 0}),
        ("gpu.0.memory_total", {"gpu__0__memory_total": 4 << 40}),
        (
            "gpu.0.memory_total",
            {"gpu__0__memory_total": 64 * GIB, "gpu__0__is_unified": True,
             "memory__total": 32 * GIB},
        ),
        ("gpu.0.gtt_total", {"gpu__0__gtt_total": 128 * GIB, "memory__total": 125 * GIB}),
        ("gpu.1.pcie_width", {"gpu__1__pcie_width": 16, "gpu__1__pcie_width_max": 8}),
        ("gpu.0.temperature", {"gpu__0__temperature": 255}),
        ("memory.available", {"memory__total": GIB, "memory__available": 2 * GIB}),
        ("swap.used", {"swap__total": GIB, "swap__used": 2 * GIB}),
        ("cpu.physical", {"cpu__logical": 4, "cpu__physical": 8}),
    ],
)  # fmt: skip
def test_marks_what_cannot_be(path: str, values: dict[str, V]) -> None:
    assert list(_doubts(**values)) == [path]


def test_marks_nothing_on_a_sound_machine() -> None:
    assert doubts(two_cards()) == {}
    shared = {"gpu__0__memory_total": 32 * GIB, "memory__total": 32 * GIB}
    assert _doubts(gpu__0__is_unified=True, **shared) == {}
    assert _doubts() == {}


def test_shows_the_figure_and_the_doubt_in_text_and_json() -> None:
    machine = strix_halo()
    assert "gpu.0.gtt_total" in doubts(machine)
    text = machine_text(machine)
    assert "128 GiB" in text and "!! not plausible: more than the 125 GiB" in text
    found = hardware_json(machine)["facts"]
    assert isinstance(found, list)
    gtt = next(fact for fact in found if fact["path"] == "gpu.0.gtt_total")
    assert gtt["value"] == 128 * GIB and "125 GiB" in gtt["doubt"]
