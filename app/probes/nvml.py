"""Asks NVIDIA's library and keeps each answer or error as it came; nvidia.py makes facts of it."""

import ctypes
from collections.abc import Callable
from typing import Any

import pynvml

from app.core.host import NvmlAnswer, NvmlValue
from app.core.reading import State
from app.probes import nvml_links

WSL_LIBRARY = "/usr/lib/wsl/lib/libnvidia-ml.so.1"
_MAX_CARDS = 64
_MAX_INSTANCES = 8  # no card can be split into more

# error class of the library -> what it means for us (hardware.md section 3)
_STATES = {
    "LibraryNotFound": (
        State.ABSENT,
        "NVIDIA's library (NVML) is not installed: no NVIDIA driver, or no NVIDIA card",
    ),
    "LibRmVersionMismatch": (
        State.ERROR,
        "the NVIDIA driver was updated but its old part still runs: restart the computer; "
        "until then no program can use the card",
    ),
    "DriverNotLoaded": (
        State.ERROR,
        "the NVIDIA driver is installed but not loaded (in a container: the card was not passed)",
    ),
    "NoPermission": (State.DENIED, "the NVIDIA driver refuses this user"),
}


def ask(api: Any = pynvml, *, wsl_library: bool = False) -> NvmlAnswer:
    """Ask the driver and each card; `api` is the pynvml module, or one that acts like it.

    `wsl_library` says that WSL's copy of the library is there, outside the loader's path.
    """
    source = "NVML"
    error = _call(api, api.nvmlInit)
    if error[1] == "LibraryNotFound" and wsl_library and preload(WSL_LIBRARY):
        source = f"NVML ({WSL_LIBRARY})"
        error = _call(api, api.nvmlInit)
    if error[1]:
        state, reason = _STATES.get(error[1], (State.ERROR, f"NVML did not start: {error[1]}"))
        return NvmlAnswer(state, reason, source)
    try:
        return _ask_started(api, source)
    finally:
        _call(api, api.nvmlShutdown)


def _ask_started(api: Any, source: str) -> NvmlAnswer:
    driver = (
        _value(api, "driver", api.nvmlSystemGetDriverVersion),
        _value(api, "cuda", api.nvmlSystemGetCudaDriverVersion_v2),
    )
    count, error = _call(api, api.nvmlDeviceGetCount)
    if error:
        return NvmlAnswer(State.ERROR, f"NVML cannot count the cards: {error}", source, driver)
    if not count:
        reason = "the NVIDIA driver runs, but no card is visible (in a container: not passed)"
        return NvmlAnswer(State.ABSENT, reason, source, driver)
    found = [
        _call(api, api.nvmlDeviceGetHandleByIndex, index)
        for index in range(min(int(count), _MAX_CARDS))
    ]
    handles = {index: handle for index, (handle, error) in enumerate(found) if not error}
    cards = tuple(
        _card(api, index, handles) if index in handles else (NvmlValue("handle", None, error),)
        for index, (_handle, error) in enumerate(found)
    )
    return NvmlAnswer(State.KNOWN, "", source, driver, cards)


def _card(api: Any, index: int, handles: dict[int, Any]) -> tuple[NvmlValue, ...]:
    handle = handles[index]
    values = [_value(api, query, getattr(api, name), handle) for query, name in _PLAIN]
    values += _memory(api, handle)
    capability, error = _call(api, api.nvmlDeviceGetCudaComputeCapability, handle)
    text = ".".join(map(str, capability)) if capability is not None else None
    values.append(NvmlValue("compute_capability", text, error))
    for query, name, kind in (
        ("clock.memory_max", "nvmlDeviceGetMaxClockInfo", api.NVML_CLOCK_MEM),
        ("clock.memory", "nvmlDeviceGetClockInfo", api.NVML_CLOCK_MEM),
        ("clock.sm_max", "nvmlDeviceGetMaxClockInfo", api.NVML_CLOCK_SM),
        ("clock.sm", "nvmlDeviceGetClockInfo", api.NVML_CLOCK_SM),
        ("temperature", "nvmlDeviceGetTemperature", api.NVML_TEMPERATURE_GPU),
    ):
        values.append(_value(api, query, getattr(api, name), handle, kind))
    values += [*_use(api, handle), *_modes(api, handle), *_instances(api, handle)]
    values.append(_processes(api, handle))
    others = {number: other for number, other in handles.items() if number != index}
    values += nvml_links.of_card(api, _call, handle)
    values += nvml_links.between(api, _call, handle, others)
    return tuple(values)


def _use(api: Any, handle: Any) -> list[NvmlValue]:
    """Ask for the share of time in which a kernel ran, and the memory controller was busy."""
    use, error = _call(api, api.nvmlDeviceGetUtilizationRates, handle)
    return [NvmlValue(f"use.{name}", getattr(use, name, None), error) for name in ("gpu", "memory")]


def _modes(api: Any, handle: Any) -> list[NvmlValue]:
    """Ask for settings that come as (now, after the next start)."""
    found = []
    for query, function in (
        ("mig", api.nvmlDeviceGetMigMode),
        ("driver_model", api.nvmlDeviceGetDriverModel),
    ):
        pair, error = _call(api, function, handle)
        now = pair[0] if isinstance(pair, list | tuple) and pair else None
        found.append(NvmlValue(query, now, error))
    return found


def _instances(api: Any, handle: Any) -> list[NvmlValue]:
    """Ask each part that a card was split into (MIG) for its memory."""
    count, _error = _call(api, api.nvmlDeviceGetMaxMigDeviceCount, handle)
    found: list[NvmlValue] = []
    for index in range(min(count, _MAX_INSTANCES) if isinstance(count, int) else 0):
        part, error = _call(api, api.nvmlDeviceGetMigDeviceHandleByIndex, handle, index)
        if error:  # NotFound: fewer were made than are possible
            continue
        info, _error = _call(api, api.nvmlDeviceGetMemoryInfo, part)
        if info is not None:
            found.append(NvmlValue(f"instance.{index}.total", int(info.total)))
            found.append(NvmlValue(f"instance.{index}.free", int(info.free)))
    return found


def _processes(api: Any, handle: Any) -> NvmlValue:
    """Ask for the memory of all compute processes; None where the driver hides it."""
    found, error = _call(api, api.nvmlDeviceGetComputeRunningProcesses, handle)
    if error or not isinstance(found, list | tuple):
        return NvmlValue("process_memory", None, error or "Unknown")
    sizes = [getattr(process, "usedGpuMemory", None) for process in found]
    # under WDDM, in WSL2 and in containers the driver answers None for each process: that is not 0
    if any(size is None for size in sizes):
        return NvmlValue("process_memory", None, "NotSupported")
    return NvmlValue("process_memory", sum(int(size) for size in sizes if size is not None))


_PLAIN = (
    ("name", "nvmlDeviceGetName"),
    ("bus_width", "nvmlDeviceGetMemoryBusWidth"),
    ("pcie.generation", "nvmlDeviceGetCurrPcieLinkGeneration"),
    ("pcie.generation_max", "nvmlDeviceGetMaxPcieLinkGeneration"),
    ("pcie.width", "nvmlDeviceGetCurrPcieLinkWidth"),
    ("pcie.width_max", "nvmlDeviceGetMaxPcieLinkWidth"),
    ("power", "nvmlDeviceGetPowerUsage"),
    ("power_limit", "nvmlDeviceGetEnforcedPowerLimit"),
    ("power_limit_default", "nvmlDeviceGetPowerManagementDefaultLimit"),
    ("clock_reasons", "nvmlDeviceGetCurrentClocksEventReasons"),
    ("performance_state", "nvmlDeviceGetPerformanceState"),
    ("addressing_mode", "nvmlDeviceGetAddressingMode"),
)


def _memory(api: Any, handle: Any) -> list[NvmlValue]:
    """Ask version 2, whose used leaves out what the driver reserves, then the older version."""
    result = []
    for query, arguments in (("memory_v2", (api.nvmlMemory_v2,)), ("memory_v1", ())):
        info, error = _call(api, api.nvmlDeviceGetMemoryInfo, handle, *arguments)
        if info is None:
            result.append(NvmlValue(f"{query}.total", None, error))
            continue
        result.append(NvmlValue(f"{query}.total", int(info.total)))
        result.append(NvmlValue(f"{query}.free", int(info.free)))
        break
    return result


def _value(api: Any, query: str, function: Callable[..., Any], *arguments: Any) -> NvmlValue:
    value, error = _call(api, function, *arguments)
    if isinstance(value, bytes):  # bindings before 11.515
        value = value.decode("utf-8", "replace")
    return NvmlValue(query, value if isinstance(value, int | str) else None, error)


def _call(api: Any, function: Callable[..., Any], *arguments: Any) -> tuple[Any, str]:
    """Return (value, "") or (None, the library's name for the error)."""
    try:
        return function(*arguments), ""
    except api.NVMLError as error:
        name = type(error).__name__.removeprefix("NVMLError_")
        return None, name if name != "NVMLError" else f"code {getattr(error, 'value', '?')}"


def preload(path: str) -> bool:
    """Load a library by its full path, before it is asked for by name; False without it."""
    try:
        ctypes.CDLL(path, ctypes.RTLD_GLOBAL)
    except OSError:
        return False
    return True
