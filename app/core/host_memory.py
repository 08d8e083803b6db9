"""What a placement needs of the host: system memory that is free, and the kind of CPU."""

from app.core.machine import CpuKind, Host, Machine
from app.core.reading import lowest

# llama.cpp's names in its system_info line, for the spelling of this program's facts
_BUILT = {
    "AVX2": "avx2",
    "AVX512": "avx512f",
    "AMX_INT8": "amx_int8",
    "NEON": "asimd",
    "DOTPROD": "asimddp",
}


def cpu_kind(machine: Machine, built: tuple[str, ...] | None = None) -> CpuKind:
    """Return the buffer kinds of the CPU; `built` are the sets in a program's system_info line.

    A program built for AVX2 offers no AMX buffers on a CPU that has AMX, so both must agree.
    """
    sets = set(machine.words("cpu.instruction_sets") or ())
    if built is not None:
        sets &= {_BUILT.get(name.upper(), name.lower()) for name in built} | {"amx_tile"}
    # ggml-cpu/amx/amx.cpp, build 11434: AMX buffers need AMX_INT8, which the kernel gives with tile
    if {"amx_int8", "amx_tile"} <= sets:
        return CpuKind.AMX
    if "avx512f" in sets:
        return CpuKind.AVX512
    if "avx2" in sets:
        return CpuKind.AVX2
    return CpuKind.ARM if "asimd" in sets else CpuKind.NONE


def host_of(machine: Machine | None, built: tuple[str, ...] | None = None) -> Host:
    """Return memory and CPU for a placement; a container's limit counts where it is lower."""
    if machine is None:
        return Host()
    limit = machine.number("memory.limit")
    left = None if limit is None else max(0, limit - (machine.number("memory.limit_used") or 0))
    return Host(
        cpu=cpu_kind(machine, built),
        total_bytes=lowest((machine.number("memory.total"), limit)),
        available_bytes=lowest((machine.number("memory.available"), left)),
    )
