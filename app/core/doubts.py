"""Figures that cannot be right: each is shown with the reason, and never quietly corrected."""

import re
from collections.abc import Iterator

from app.core import units
from app.core.machine import Machine

_GPU = re.compile(r"gpu\.(\d+)\.")
# no card has more memory; the largest of 2026 have 288 GB
_MOST_CARD_BYTES = 2 << 40
_MOST_CELSIUS = 125.0
_SAME = 1.02  # two sources round one figure differently
# makers round the bandwidth of HBM parts by up to 3 %; a changed memory clock moves it further
_BANDWIDTH_TOLERANCE = 0.08


def doubts(machine: Machine) -> dict[str, str]:
    """Return why a fact is not believed, by its path."""
    found = dict(_host(machine))
    for index in sorted({int(m[1]) for fact in machine.facts if (m := _GPU.match(fact.path))}):
        found |= dict(_gpu(machine, f"gpu.{index}"))
    return found


def _host(machine: Machine) -> Iterator[tuple[str, str]]:
    total = machine.number("memory.total")
    for path, limit, of in (
        ("memory.available", total, "the memory"),
        ("swap.used", machine.number("swap.total"), "the swap"),
        ("cpu.usable", machine.number("cpu.logical"), "the CPUs"),
        ("cpu.physical", machine.number("cpu.logical"), "the CPUs"),
    ):
        value = machine.number(path)
        if value is not None and limit is not None and value > limit:
            yield path, f"more than all of {of}"
    rated, speed = machine.number("memory.speed_rated"), machine.number("memory.speed")
    if rated is not None and speed is not None and speed > 2 * rated:
        yield "memory.speed", "more than twice what the modules are made for"
    yield from _temperature(machine, "cpu.temperature")


def _gpu(machine: Machine, prefix: str) -> Iterator[tuple[str, str]]:
    total, free = (machine.number(f"{prefix}.{name}") for name in ("memory_total", "memory_free"))
    computer = machine.number("memory.total")
    if total is not None and total > _MOST_CARD_BYTES:
        yield f"{prefix}.memory_total", "no card has that much memory"
    elif total == 0:
        yield f"{prefix}.memory_total", "a card without any memory"
    elif (
        machine.flag(f"{prefix}.is_unified")
        and total is not None
        and computer is not None
        and total > computer * _SAME
    ):
        yield f"{prefix}.memory_total", _more_than(computer)
    if free is not None and total is not None and free > total:
        yield f"{prefix}.memory_free", "more free than there is"
    yield from _bandwidth(machine, prefix)
    for name in ("gtt_total", "gtt_limit", "shared_limit", "memory_limit", "working_set"):
        value = machine.number(f"{prefix}.{name}")
        if value is not None and computer is not None and value > computer:
            yield f"{prefix}.{name}", _more_than(computer)
    for now, most in (("pcie_width", "pcie_width_max"), ("pcie_generation", "pcie_generation_max")):
        value, limit = machine.number(f"{prefix}.{now}"), machine.number(f"{prefix}.{most}")
        if value is not None and limit is not None and value > limit:
            yield f"{prefix}.{now}", "more than the most it can have"
    yield from _temperature(machine, f"{prefix}.temperature")


def _bandwidth(machine: Machine, prefix: str) -> Iterator[tuple[str, str]]:
    told = machine.number(f"{prefix}.bandwidth")
    table = machine.number(f"{prefix}.bandwidth_table")
    if not told or not table or abs(told - table) <= _BANDWIDTH_TOLERANCE * table:
        return
    share = abs(told - table) / table
    yield (
        f"{prefix}.bandwidth",
        f"{share:.0%} {'more' if told > table else 'less'} than the {units.bandwidth(table)} of "
        "the table: its memory clock was changed, or it is another board of this name",
    )


def _temperature(machine: Machine, path: str) -> Iterator[tuple[str, str]]:
    fact = machine.fact(path)
    value = fact.reading.value if fact else None
    if isinstance(value, int | float) and not 0 < value <= _MOST_CELSIUS:
        yield path, "no part works at that temperature: the sensor is wrong"


def _more_than(computer: int | None) -> str:
    return f"more than the {units.size(computer)} that this computer has"
