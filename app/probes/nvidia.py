"""NVIDIA cards: from NVIDIA's library, or from nvidia-smi where the library does not start."""

from dataclasses import dataclass

from app.core import clock_reasons, facts, units
from app.core.host import CommandResult, Host, NvmlAnswer, NvmlValue
from app.core.machine import MachineFact
from app.core.probe import Probe
from app.core.reading import State
from app.probes import drm, nvidia_links, nvidia_smi
from app.probes.memory import MEMINFO, kib_line
from app.probes.text import table, whole

_VENDOR = "0x10de"  # PCI
_STATES = {
    "NotSupported": State.UNSUPPORTED,
    "FunctionNotFound": State.UNSUPPORTED,
    "NoPermission": State.DENIED,
    "Timeout": State.TIMEOUT,
}
_REASONS = {
    "NotSupported": "the card does not report it",
    "FunctionNotFound": "this driver does not know the question",
    "NoPermission": "the driver refuses this user",
    "GpuIsLost": "the driver lost the card: restart the computer",
}
_PLAIN = (
    ("temperature", "temperature", "°C"),
    ("pcie.generation", "pcie_generation", ""),
    ("pcie.generation_max", "pcie_generation_max", ""),
    ("pcie.width", "pcie_width", "lanes"),
    ("pcie.width_max", "pcie_width_max", "lanes"),
    ("compute_capability", "compute_capability", ""),
    ("clock.memory", "memory_clock", "MHz"),
    ("clock.memory_max", "memory_clock_max", "MHz"),
    ("clock.sm", "clock", "MHz"),
    ("clock.sm_max", "clock_max", "MHz"),
    ("bus_width", "memory_bus_width", "bits"),
    ("performance_state", "performance_state", ""),
    ("use.gpu", "busy", "%"),
    ("use.memory", "memory_busy", "%"),
    ("process_memory", "process_memory", "bytes"),
)
_DRIVER_MODELS = {0: "WDDM", 1: "TCC", 2: "MCDM"}
_ADDRESSING = {1: "HMM", 2: "ATS"}


@dataclass(frozen=True, slots=True)
class SystemMemory:
    """What a card without memory of its own uses: total and free, in bytes."""

    total_bytes: int | None
    free_bytes: int | None
    source: str


def read(host: Host) -> tuple[MachineFact, ...]:
    """Return the facts of all NVIDIA cards, or nvidia.search with the reason for none."""
    answer = host.nvml()
    if answer.state is State.KNOWN:
        return nvml_facts(answer, system_memory(host))
    smi, silence = _ask_nvidia_smi(host)
    if smi:
        return smi
    if silence:
        return (facts.searched("nvidia", State.TIMEOUT, source="nvidia-smi", reason=silence),)
    reason = answer.reason
    if answer.state is State.ABSENT and drm.cards(host, _VENDOR):
        reason = "an NVIDIA card is built in, but NVIDIA's driver is not installed"
    elif answer.state is State.ABSENT and _is_forgotten_in_container(host):
        reason = "the container was made for NVIDIA cards but got none: start it with --gpus all"
    return (facts.searched("nvidia", answer.state, source=answer.source, reason=reason),)


def nvml_facts(answer: NvmlAnswer, system: SystemMemory) -> tuple[MachineFact, ...]:
    """Return the facts of the cards from the library's answers."""
    driver = {value.query: value for value in answer.driver}
    shared = []
    if "driver" in driver:
        shared.append(_fact("driver", driver["driver"], answer.source))
    cuda = driver.get("cuda")
    if cuda is not None:
        shared.append(_fact("cuda", _cuda_version(cuda), answer.source))
    found: list[MachineFact] = []
    for index, card in enumerate(answer.cards):
        own = _card(card, answer.source, system)
        found.extend(
            MachineFact(f"gpu.{index}.{fact.path}", fact.reading) for fact in (*own, *shared)
        )
    return tuple(found)


def system_memory(host: Host) -> SystemMemory:
    """Return the memory that CUDA uses on parts without their own (llama.cpp ggml-cuda.cu).

    On such parts it takes MemAvailable, or the pool of huge pages when one is set up.
    """
    text = host.read_text(MEMINFO) if host.platform() == "linux" else None
    page = kib_line(text, "Hugepagesize")
    lines = table(text)
    pages, free_pages = whole(lines.get("HugePages_Total")), whole(lines.get("HugePages_Free"))
    if page and pages and free_pages is not None:
        return SystemMemory(pages * page, free_pages * page, f"{MEMINFO} (huge pages)")
    return SystemMemory(kib_line(text, "MemTotal"), kib_line(text, "MemAvailable"), MEMINFO)


def _card(
    values: tuple[NvmlValue, ...], source: str, system: SystemMemory
) -> tuple[MachineFact, ...]:
    by_query = {value.query: value for value in values}
    handle = by_query.get("handle")
    if handle is not None:
        return (_fact("name", handle, source),)
    found = [_fact("vendor", NvmlValue("vendor", "NVIDIA"), source)]
    if "name" in by_query:
        found.append(_fact("name", by_query["name"], source))
    found.extend(_memory(by_query, source, system))
    for query, path, unit in _PLAIN:
        if query in by_query:
            found.append(_fact(path, by_query[query], source, unit))
    for query, path in (
        ("power", "power"),
        ("power_limit", "power_limit"),
        ("power_limit_default", "power_default"),
    ):
        value = by_query.get(query)
        if value is not None:  # milliwatt
            watts = value.value / 1000 if isinstance(value.value, int) else None
            found.append(
                facts.known(path, watts, source=source, unit="W")
                if watts is not None
                else _fact(path, value, source, "W")
            )
    found.extend(_settings(by_query, source))
    found.extend(nvidia_links.read(by_query, source))
    for query, path, unit in nvidia_links.ASKED:
        value = by_query.get(query)
        if value is not None and value.value is None:
            found.append(_fact(path, value, source, unit))
    bandwidth = _bandwidth(by_query)
    if bandwidth is not None:
        how = f"{source}: 2 x memory clock x bus width"
        found.append(facts.known("bandwidth", bandwidth, source=how, unit="bytes/s"))
    return tuple(found)


def _settings(by_query: dict[str, NvmlValue], source: str) -> list[MachineFact]:
    """Return what is set on the card, and what holds its clocks down."""
    found = []
    reasons = by_query.get("clock_reasons")
    if reasons is not None and isinstance(reasons.value, int) and reasons.value >= 0:
        words = clock_reasons.words(reasons.value)
        found.append(facts.known("clock_reasons", words, source=source))
    elif reasons is not None:
        found.append(_fact("clock_reasons", reasons, source))
    for query, path, names in (
        ("driver_model", "driver_model", _DRIVER_MODELS),
        ("addressing_mode", "addressing_mode", _ADDRESSING),
    ):
        value = by_query.get(query)
        if value is not None and isinstance(value.value, int) and value.value in names:
            found.append(facts.known(path, names[value.value], source=source))
    if (mig := by_query.get("mig")) is not None and isinstance(mig.value, int):
        found.append(facts.known("is_split", mig.value == 1, source=source))
        totals = [
            value.value
            for query, value in by_query.items()
            if query.startswith("instance.") and query.endswith(".total")
        ]
        parts = tuple(units.size(total) for total in totals if isinstance(total, int))
        if mig.value == 1:
            found.append(facts.known("instances", parts, source=source))
    return found


def _memory(by_query: dict[str, NvmlValue], source: str, system: SystemMemory) -> list[MachineFact]:
    """Return total and free; occupied is their difference, used is not trusted (section 3)."""
    for version in ("memory_v2", "memory_v1"):
        total = by_query.get(f"{version}.total")
        free = by_query.get(f"{version}.free")
        if total is not None and isinstance(total.value, int) and free is not None:
            return [
                _fact("memory_total", total, source, "bytes"),
                _fact("memory_free", free, source, "bytes"),
            ]
    asked = [by_query[q] for q in ("memory_v2.total", "memory_v1.total") if q in by_query]
    errors = {value.error for value in asked}
    # both versions: GB10 and other parts that share the system's memory (driver 580)
    if errors == {"NotSupported"} and len(asked) == 2 and system.total_bytes is not None:
        how = f"{system.source} (the card shares the system's memory; NVML reports none)"
        free_value = NvmlValue("free", system.free_bytes)
        return [
            facts.known("is_unified", True, source=source),
            facts.known("memory_total", system.total_bytes, source=how, unit="bytes"),
            _fact("memory_free", free_value, how, "bytes"),
        ]
    value = asked[-1] if asked else NvmlValue("memory", None, "not asked")
    return [_fact(path, value, source, "bytes") for path in ("memory_total", "memory_free")]


def _bandwidth(by_query: dict[str, NvmlValue]) -> int | None:
    """Return 2 x MHz x bits / 8 in bytes per s: 10501 x 384 is 1008 GB/s on a 4090."""
    clock, width = by_query.get("clock.memory_max"), by_query.get("bus_width")
    if clock is None or width is None:
        return None
    if not isinstance(clock.value, int) or not isinstance(width.value, int):
        return None
    product = 2 * clock.value * 1_000_000 * width.value // 8
    return product or None


def _cuda_version(value: NvmlValue) -> NvmlValue:
    if not isinstance(value.value, int):
        return value
    return NvmlValue("cuda", f"{value.value // 1000}.{value.value % 1000 // 10}")


def _fact(path: str, value: NvmlValue, source: str, unit: str = "") -> MachineFact:
    if isinstance(value.value, int):
        return facts.known(path, value.value, source=source, unit=unit)
    if isinstance(value.value, str):
        return facts.known(path, value.value, source=source, unit=unit)
    state = _STATES.get(value.error, State.ERROR)
    reason = _REASONS.get(value.error, f"NVML answers {value.error or 'nothing'}")
    return facts.missing(path, state, source=source, reason=reason, unit=unit)


def _ask_nvidia_smi(host: Host) -> tuple[tuple[MachineFact, ...], str]:
    """Return the facts of the cards, and why the program gave none in time."""
    program = host.which("nvidia-smi")
    if program is None:
        program = next((path for path in nvidia_smi.PLACES if host.is_file(path)), None)
    if program is None:
        return (), ""
    # 2 s: with persistence mode off the first call wakes the driver up
    answers: list[CommandResult] = []
    for fields in nvidia_smi.GROUPS:
        answers.append(host.run(nvidia_smi.argv(program, fields), timeout_s=2.0))
        if answers[-1].state is not State.KNOWN:
            break
    silence = ""
    if answers[-1].state is State.TIMEOUT:
        silence = "nvidia-smi gives no answer: the driver hangs; restart the computer"
    return nvidia_smi.card_facts(tuple(answers), system_memory(host)), silence


def _is_forgotten_in_container(host: Host) -> bool:
    wanted = host.env().get("NVIDIA_VISIBLE_DEVICES", "")
    return wanted not in ("", "void", "none") and "nvidia0" not in host.list_dir("/dev")


PROBE = Probe("NVIDIA", read, time_limit_s=7.0)
