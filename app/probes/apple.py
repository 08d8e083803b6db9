"""Macs: chip, cores by level, instruction sets and the GPU's share of memory, all by sysctl."""

from app.core import facts
from app.core.host import Basics, Host
from app.core.machine import MachineFact
from app.core.probe import Probe
from app.core.reading import State
from app.core.units import MIB
from app.probes import apple_gpu
from app.probes.cpu import CoreClass, class_facts, instruction_sets
from app.probes.text import table, whole

_SOURCE = "sysctl"
# macOS's spelling of the sets; NEON is part of every Apple chip
_FEATURES = {
    "hw.optional.AdvSIMD": "asimd",
    "hw.optional.neon": "asimd",
    "hw.optional.arm.FEAT_DotProd": "asimddp",
    "hw.optional.arm.FEAT_I8MM": "i8mm",
    "hw.optional.arm.FEAT_BF16": "bf16",
    "hw.optional.arm.FEAT_SME": "sme",
    "hw.optional.avx1_0": "avx",
    "hw.optional.avx2_0": "avx2",
    "hw.optional.f16c": "f16c",
    "hw.optional.fma": "fma",
    "hw.optional.avx512f": "avx512f",
    "hw.optional.avx512bw": "avx512bw",
}
_MAX_LEVELS = 8
# one call: sysctl prints the keys it knows and goes on past the others
_TREES = ("machdep.cpu.brand_string", "hw", "iogpu.wired_limit_mb", "sysctl.proc_translated")


def read(host: Host) -> tuple[MachineFact, ...]:
    """Return cpu.*, gpu.* and os.is_translated facts of a Mac."""
    if host.platform() != "darwin":
        return ()
    answer = host.run((_SOURCE, *_TREES))
    keys = parse(answer.stdout)
    if not keys:
        reason = answer.reason or "sysctl printed nothing that can be read"
        state = answer.state if answer.state is not State.KNOWN else State.ERROR
        return tuple(
            facts.missing(path, state, source=_SOURCE, reason=reason)
            for path in ("cpu.model", "cpu.physical", "cpu.logical", "cpu.instruction_sets")
        )
    more = apple_gpu.read(host) if is_apple_silicon(keys) else []
    basics = host.basics()
    return (*_cpu(keys), *_gpu(keys, basics), *more, *_translated(keys))


def parse(text: str) -> dict[str, str]:
    """Return the values of `key: value` lines."""
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return table("\n".join(lines))


def core_levels(keys: dict[str, str]) -> tuple[CoreClass, ...]:
    """Return the kinds of cores by Apple's own names, fastest first; empty when all are alike.

    An M5 Pro has Super and Performance and no Efficiency; older macOS gives no names.
    """
    levels = []
    for level in range(_MAX_LEVELS):
        cores = whole(keys.get(f"hw.perflevel{level}.physicalcpu"))
        if cores is None or not 0 < cores < 4096:
            break
        name = keys.get(f"hw.perflevel{level}.name") or f"Level {level}"
        levels.append(CoreClass(name[:40], cores))
    return tuple(levels)


def _cpu(keys: dict[str, str]) -> list[MachineFact]:
    found = []
    for path, key in (
        ("cpu.physical", "hw.physicalcpu"),
        ("cpu.logical", "hw.logicalcpu"),
    ):
        value = whole(keys.get(key)) or whole(keys.get("hw.ncpu"))
        if value is not None and value > 0:
            found.append(facts.known(path, value, source=f"{_SOURCE} {key}"))
        else:
            found.append(_not_told(path, key))
    model = keys.get("machdep.cpu.brand_string")
    if model:
        found.insert(0, facts.known("cpu.model", model[:200], source=_SOURCE))
    else:
        found.insert(0, _not_told("cpu.model", "machdep.cpu.brand_string"))
    levels = core_levels(keys)
    if levels:
        found.extend(class_facts(levels, f"{_SOURCE} hw.perflevel"))
    sets = frozenset(name for key, name in _FEATURES.items() if keys.get(key) == "1")
    if "hw.optional.arm64" in keys or any(key.startswith("hw.optional.arm.") for key in keys):
        sets |= {"asimd"}
    found.append(
        facts.known("cpu.instruction_sets", instruction_sets(sets), source=f"{_SOURCE} hw.optional")
    )
    return found


def is_apple_silicon(keys: dict[str, str]) -> bool:
    """Tell Apple's own chips from Intel's, also where a part of sysctl's answer is missing."""
    name = keys.get("machdep.cpu.brand_string", "")
    if name:
        return name.startswith("Apple")
    return any(key.startswith(("hw.perflevel", "hw.optional.arm")) for key in keys)


def _gpu(keys: dict[str, str], basics: Basics) -> list[MachineFact]:
    if not is_apple_silicon(keys):
        reason = "an Intel Mac: ask llama.cpp which Metal device it has"
        return [facts.searched("apple", State.UNSUPPORTED, source=_SOURCE, reason=reason)]
    model = keys.get("machdep.cpu.brand_string") or "Apple"
    found = [
        facts.known("gpu.0.vendor", "Apple", source=_SOURCE),
        facts.known("gpu.0.name", f"{model} GPU"[:200], source=_SOURCE),
        facts.known("gpu.0.is_unified", True, source=_SOURCE),
    ]
    total = whole(keys.get("hw.memsize"))
    if total is not None and total > 0:
        how = f"{_SOURCE} hw.memsize (the GPU shares the system's memory)"
        found.append(facts.known("gpu.0.memory_total", total, source=how, unit="bytes"))
    limit = whole(keys.get("iogpu.wired_limit_mb"))
    told = apple_gpu.metal_facts(basics)
    # 0: macOS decides; the estimate is for where Metal itself was not asked
    if limit == 0 and total is not None and total > 0 and not told:
        how = "iogpu.wired_limit_mb is 0: 2/3 of the memory up to 36 GB, 3/4 above"
        size = apple_gpu.default_limit(total)
        found.append(facts.known("gpu.0.memory_default", size, source=how, unit="bytes"))
    if limit and limit > 0:
        source = f"{_SOURCE} iogpu.wired_limit_mb"
        found.append(facts.known("gpu.0.memory_limit", limit * MIB, source=source, unit="bytes"))
    return [*found, *told]


def _translated(keys: dict[str, str]) -> list[MachineFact]:
    value = keys.get("sysctl.proc_translated")
    if value is None:
        return []
    source = f"{_SOURCE} sysctl.proc_translated"
    return [facts.known("os.is_translated", value == "1", source=source)]


def _not_told(path: str, key: str) -> MachineFact:
    return facts.missing(path, State.MISSING, source=_SOURCE, reason=f"no key {key}")


PROBE = Probe("Apple", read, time_limit_s=5.0)
