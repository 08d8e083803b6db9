"""What Vulkan itself lists, by vulkaninfo where it is installed: llama.cpp's own list beside it."""

import re
from dataclasses import dataclass, field

from app.core import facts
from app.core.host import CommandResult, Host
from app.core.machine import MachineFact
from app.core.probe import Probe
from app.core.reading import State

PROGRAM = "vulkaninfo"
_KINDS = {
    "PHYSICAL_DEVICE_TYPE_DISCRETE_GPU": "card",
    "PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU": "integrated",
    "PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU": "virtual",
    "PHYSICAL_DEVICE_TYPE_CPU": "software",
}
_DEVICE = re.compile(r"GPU([0-9]{1,2}):?\s*$")
_VALUE = re.compile(r"\s+(\w+)\s+= (.*)")
_HEAP = re.compile(r"\s*memoryHeaps\[[0-9]{1,2}\]")
_BYTES = re.compile(r"([0-9]{1,15})\b")
_LOCAL = "MEMORY_HEAP_DEVICE_LOCAL_BIT"
_MAX_DEVICES, _MAX_LINES = 16, 60_000


@dataclass(slots=True)
class _Heap:
    """One heap while its lines are read."""

    values: dict[str, int] = field(default_factory=dict)
    is_local: bool = False


@dataclass(frozen=True, slots=True)
class VulkanDevice:
    """One device; sizes in bytes, None = not told."""

    name: str
    kind: str  # card, integrated, virtual, software, or ""
    vendor: int | None
    device: int | None  # PCI, as sysfs has them
    memory_bytes: int | None  # the heaps that ggml-vulkan counts
    free_bytes: int | None  # None: no VK_EXT_memory_budget, so programs cannot see it
    driver: str = ""


def read(host: Host) -> tuple[MachineFact, ...]:
    """Return vulkan.* facts; macOS has Metal instead."""
    if host.platform() == "darwin":
        return ()
    answer = ask(host)
    found = parse(answer.stdout)
    if not found:
        return (_none(answer),)
    told = [facts.known("vulkan.devices", len(found), source=PROGRAM)]
    for index, device in enumerate(found):
        told.extend(_facts(device, f"vulkan.{index}"))
    return tuple(told)


def ask(host: Host) -> CommandResult:
    """Run vulkaninfo; two probes that ask in one look at the machine run it once (Snapshot)."""
    program = host.which(PROGRAM)
    if program is None:
        return CommandResult((PROGRAM,), State.MISSING, None, "", "", "vulkaninfo is not installed")
    return host.run((program,), timeout_s=2.0)


def parse(text: str) -> tuple[VulkanDevice, ...]:
    """Return the devices of vulkaninfo's long text; empty for anything else."""
    found: list[VulkanDevice] = []
    seen: dict[str, str] = {}
    heaps: list[_Heap] = []
    for line in (*text.splitlines()[:_MAX_LINES], "GPU99:"):
        if _DEVICE.fullmatch(line):
            if "deviceName" in seen and len(found) < _MAX_DEVICES:
                found.append(_device(seen, heaps))
            seen, heaps = {}, []
        elif _HEAP.match(line):
            heaps.append(_Heap())
        elif heaps and _LOCAL in line:
            heaps[-1].is_local = True
        elif (match := _VALUE.fullmatch(line)) is not None:
            seen.setdefault(match[1], match[2].strip())
            size = _BYTES.match(match[2])
            # the first device's heaps end where its memory types begin
            if heaps and size and match[1] in ("size", "budget", "usage"):
                heaps[-1].values.setdefault(match[1], int(size[1]))
    return tuple(found)


def _device(seen: dict[str, str], heaps: list[_Heap]) -> VulkanDevice:
    kind = _KINDS.get(seen.get("deviceType", ""), "")
    # ggml-vulkan.cpp, ggml_backend_vk_get_device_memory: all heaps of an integrated GPU
    counted = [h for h in heaps if (h.is_local or kind == "integrated") and "size" in h.values]
    budgets = [
        h.values["budget"] - h.values.get("usage", 0) for h in counted if "budget" in h.values
    ]
    has_budget = bool(counted) and len(budgets) == len(counted)
    driver = " ".join(seen[key] for key in ("driverName", "driverInfo") if seen.get(key))
    return VulkanDevice(
        name=seen["deviceName"][:200],
        kind=kind,
        vendor=_hexadecimal(seen.get("vendorID", "")),
        device=_hexadecimal(seen.get("deviceID", "")),
        memory_bytes=sum(h.values["size"] for h in counted) if counted else None,
        free_bytes=max(0, sum(budgets)) if has_budget else None,
        driver=driver[:120],
    )


def _hexadecimal(text: str) -> int | None:
    match = re.fullmatch(r"0x([0-9a-fA-F]{1,8})", text)
    return int(match[1], 16) if match else None


def _facts(device: VulkanDevice, prefix: str) -> list[MachineFact]:
    found = [facts.known(f"{prefix}.name", device.name, source=PROGRAM)]
    if device.kind:
        found.append(facts.known(f"{prefix}.kind", device.kind, source=PROGRAM))
    if device.driver:
        found.append(facts.known(f"{prefix}.driver", device.driver, source=PROGRAM))
    heaps = f"{PROGRAM}: {'all' if device.kind == 'integrated' else 'device-local'} heaps"
    found.append(
        _size(f"{prefix}.memory_total", device.memory_bytes, heaps, "it lists no such heap")
    )
    reason = "its driver lacks VK_EXT_memory_budget: programs cannot see what others use"
    budget = f"{PROGRAM}: budget less usage of the heaps"
    found.append(_size(f"{prefix}.memory_free", device.free_bytes, budget, reason))
    return found


def _size(path: str, value: int | None, source: str, reason: str) -> MachineFact:
    if value is not None:
        return facts.known(path, value, source=source, unit="bytes")
    return facts.missing(path, State.UNSUPPORTED, source=source, reason=reason, unit="bytes")


def _none(answer: CommandResult) -> MachineFact:
    state, reason = answer.state, answer.reason
    if state is State.KNOWN:  # it ran, and says that there is no driver
        lines = [line.strip() for line in (answer.stderr or answer.stdout).splitlines()]
        last = next((line for line in reversed(lines) if line), "it printed nothing")
        state, reason = State.ABSENT, f"vulkaninfo lists no device: {last[:200]}"
    return facts.missing(
        "vulkan.devices", state, source=PROGRAM, reason=reason or "vulkaninfo gave no answer"
    )


PROBE = Probe("Vulkan", read)
