"""What a placement takes from a machine: the kind of CPU and the memory that is free."""

import pytest

from app.core import facts
from app.core.host_memory import cpu_kind, host_of
from app.core.machine import CpuKind, Host, Machine
from app.core.units import GIB


def _machine(*sets: str, **numbers: int) -> Machine:
    found = [facts.known("cpu.instruction_sets", sets, source="x")]
    for name, value in numbers.items():
        found.append(facts.known(f"memory.{name}", value, source="x", unit="bytes"))
    return Machine(facts=tuple(found))


@pytest.mark.parametrize(
    ("sets", "kind"),
    [
        (("avx", "avx2", "avx512f", "amx_tile", "amx_int8"), CpuKind.AMX),
        (("avx", "avx2", "avx512f"), CpuKind.AVX512),
        (("avx", "avx2"), CpuKind.AVX2),
        (("avx",), CpuKind.NONE),
        (("asimd", "asimddp"), CpuKind.ARM),
        ((), CpuKind.NONE),
    ],
)
def test_names_the_kind_by_the_instruction_sets(sets: tuple[str, ...], kind: CpuKind) -> None:
    assert cpu_kind(_machine(*sets)) is kind


@pytest.mark.parametrize(
    ("built", "kind"),
    [
        (("SSE3", "AVX", "AVX2", "F16C"), CpuKind.AVX2),
        (("AVX2", "AVX512"), CpuKind.AVX512),
        (("AVX2", "AVX512", "AMX_INT8"), CpuKind.AMX),
        ((), CpuKind.NONE),
    ],
)
def test_a_program_offers_no_more_than_it_was_built_for(
    built: tuple[str, ...], kind: CpuKind
) -> None:
    machine = _machine("avx", "avx2", "avx512f", "amx_tile", "amx_int8")
    assert cpu_kind(machine, built) is kind


def test_a_program_built_for_more_than_the_cpu_has_gains_nothing() -> None:
    assert cpu_kind(_machine("avx", "avx2"), ("AVX2", "AVX512", "AMX_INT8")) is CpuKind.AVX2


def test_takes_a_containers_limit_where_it_is_lower() -> None:
    machine = _machine(
        "avx2", total=64 * GIB, available=60 * GIB, limit=8 * GIB, limit_used=3 * GIB
    )
    assert host_of(machine) == Host(CpuKind.AVX2, 8 * GIB, 5 * GIB)


def test_takes_the_machine_where_the_limit_is_higher() -> None:
    machine = _machine(total=16 * GIB, available=4 * GIB, limit=12 * GIB)
    assert host_of(machine) == Host(CpuKind.NONE, 12 * GIB, 4 * GIB)


def test_knows_nothing_without_a_machine() -> None:
    assert host_of(None) == Host()
    assert host_of(Machine()) == Host()
