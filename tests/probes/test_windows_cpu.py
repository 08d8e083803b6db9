"""Windows' list of cores: classes, caches, sockets, and bytes that are no list."""

import struct

from hypothesis import given
from hypothesis import strategies as st

from app.core.host import Basics, CpuTopology
from app.core.machine import Machine
from app.core.reading import State
from app.core.units import MIB
from app.probes import cpu, windows_cpu
from tests.hosts import FakeHost


def _record(relationship: int, body: bytes) -> bytes:
    padded = body.ljust(40, b"\0")
    return struct.pack("<II", relationship, 8 + len(padded)) + padded


def _core(efficiency: int, *, smt: bool) -> bytes:
    return _record(0, bytes([1 if smt else 0, efficiency]))


def _cache(level: int, n_bytes: int, kind: int = 0) -> bytes:
    return _record(2, struct.pack("<BBHII", level, 8, 64, n_bytes, kind))


I7 = b"".join(
    (
        *(_core(1, smt=True) for _ in range(6)),
        *(_core(0, smt=False) for _ in range(8)),
        *(_cache(2, 2 * MIB) for _ in range(8)),
        _cache(2, 9 * MIB, kind=1),  # of instructions: not counted
        _cache(3, 24 * MIB),
        _record(3, b""),
        _record(1, b""),
    )
)


def _machine(topology: CpuTopology | None) -> Machine:
    basics = Basics(logical=20, physical=14, cpu_name="i7", cpu_topology=topology)
    return Machine(facts=cpu.read(FakeHost(platform="win32", basics=basics)))


def test_counts_cores_by_class_and_caches() -> None:
    assert windows_cpu.parse(I7) == CpuTopology(((1, 6), (0, 8)), True, 1, 1, 16 * MIB, 24 * MIB)


def test_a_hybrid_cpu_has_fast_cores_and_the_others() -> None:
    machine = _machine(windows_cpu.parse(I7))
    assert machine.words("cpu.core_classes") == ("Performance: 6", "Efficiency: 8")
    assert machine.number("cpu.fast_cores") == 6
    assert machine.number("cpu.cache_l3") == 24 * MIB
    assert machine.number("cpu.sockets") == 1


def test_cores_that_are_alike_are_all_fast() -> None:
    alike = windows_cpu.parse(b"".join(_core(0, smt=True) for _ in range(8)))
    machine = _machine(alike)
    assert machine.number("cpu.fast_cores") == 14  # what psutil counts
    fact = machine.fact("cpu.efficiency_cores")
    assert fact and fact.reading.state is State.ABSENT


def test_without_the_list_the_classes_are_missing_and_not_zero() -> None:
    machine = _machine(None)
    assert machine.fact("cpu.core_classes") is None
    assert machine.number("cpu.physical") == 14


@given(st.binary(max_size=300), st.integers(0, len(I7)))
def test_reads_any_bytes(noise: bytes, cut: int) -> None:
    for data in (noise, I7[:cut], I7[:cut] + noise, noise + I7):
        found = windows_cpu.parse(data)
        assert found is None or all(count > 0 for _, count in found.cores_by_class)
