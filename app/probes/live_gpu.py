"""What the GPUs do at this moment, for the live charts: NVIDIA's library, or AMD's sysfs."""

from dataclasses import dataclass
from typing import Any

from app.core.host import Host
from app.core.reading import Reading
from app.probes import amd_sensors, drm
from app.probes.text import whole

_AMD = "0x1002"
_MAX_GPUS = 4


@dataclass(frozen=True, slots=True)
class GpuReading:
    """One GPU; None = it does not tell."""

    name: str
    busy: float | None = None  # share of time, 0 to 1
    memory_used_bytes: int | None = None
    memory_total_bytes: int | None = None
    clock_mhz: int | None = None
    memory_clock_mhz: int | None = None
    temperature: float | None = None  # °C
    power_w: float | None = None
    power_limit_w: float | None = None
    clock_reasons: int | None = None  # NVML's bits
    link_bytes_s: float | None = None  # over PCIe, both ways


class NvidiaMeter:
    """Keeps NVIDIA's library open between readings; use it from one thread at a time."""

    def __init__(self, api: Any = None) -> None:
        """Take the pynvml module, or one that acts like it; None loads it at the first reading."""
        self._api = api
        self._handles: list[tuple[Any, str]] | None = None

    def read(self) -> tuple[GpuReading, ...]:
        """Return a reading of each card; empty where the library does not start."""
        if self._handles is None:
            self._handles = self._open()
        return tuple(self._card(handle, name) for handle, name in self._handles)

    def _open(self) -> list[tuple[Any, str]]:
        if self._api is None:
            import pynvml  # the window's start must not wait for it

            self._api = pynvml
        if self._ask(self._api.nvmlInit) is None:
            return []
        found = []
        for index in range(min(self._ask(self._api.nvmlDeviceGetCount) or 0, _MAX_GPUS)):
            handle = self._ask(self._api.nvmlDeviceGetHandleByIndex, index)
            if handle is not None:
                name = self._ask(self._api.nvmlDeviceGetName, handle) or f"GPU {index}"
                found.append((handle, name if isinstance(name, str) else name.decode()))
        return found

    def _card(self, handle: Any, name: str) -> GpuReading:
        api = self._api
        use = self._ask(api.nvmlDeviceGetUtilizationRates, handle)
        memory = self._ask(api.nvmlDeviceGetMemoryInfo, handle)
        power = self._ask(api.nvmlDeviceGetPowerUsage, handle)
        limit = self._ask(api.nvmlDeviceGetEnforcedPowerLimit, handle)
        heat = self._ask(api.nvmlDeviceGetTemperature, handle, api.NVML_TEMPERATURE_GPU)
        return GpuReading(
            name=name,
            busy=use.gpu / 100 if use is not None else None,
            memory_used_bytes=memory.total - memory.free if memory is not None else None,
            memory_total_bytes=memory.total if memory is not None else None,
            clock_mhz=self._ask(api.nvmlDeviceGetClockInfo, handle, api.NVML_CLOCK_SM),
            memory_clock_mhz=self._ask(api.nvmlDeviceGetClockInfo, handle, api.NVML_CLOCK_MEM),
            temperature=float(heat) if heat is not None else None,
            power_w=power / 1000 if power is not None else None,
            power_limit_w=limit / 1000 if limit is not None else None,
            clock_reasons=self._ask(api.nvmlDeviceGetCurrentClocksEventReasons, handle),
            link_bytes_s=self._link(handle),
        )

    def _link(self, handle: Any) -> float | None:
        """Return KiB/s of both directions in bytes; the driver counts over 20 ms."""
        directions = (self._api.NVML_PCIE_UTIL_TX_BYTES, self._api.NVML_PCIE_UTIL_RX_BYTES)
        found = [self._ask(self._api.nvmlDeviceGetPcieThroughput, handle, d) for d in directions]
        return None if None in found else float(sum(v for v in found if v is not None) * 1024)

    def _ask(self, function: Any, *arguments: Any) -> Any:
        """Return the answer, True for a call that has none, None for an error."""
        try:
            answer = function(*arguments)
        except self._api.NVMLError:
            return None
        return True if answer is None else answer


class AmdMeter:
    """Reads the cards of the amdgpu driver."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._cards = drm.cards(host, _AMD)[:_MAX_GPUS] if host.platform() == "linux" else ()

    def read(self) -> tuple[GpuReading, ...]:
        """Return a reading of each card."""
        return tuple(self._card(name) for name in self._cards)

    def _card(self, name: str) -> GpuReading:
        readings: dict[str, Reading[Any]] = {
            fact.path.removeprefix("x."): fact.reading
            for fact in amd_sensors.read(self._host, name, "x")
        }

        def value(path: str) -> Any:
            return readings[path].value if path in readings else None

        busy = value("busy")
        return GpuReading(
            name=drm.title(self._host, name, "AMD"),
            busy=busy / 100 if busy is not None else None,
            memory_used_bytes=whole(drm.first_line(self._host, name, "mem_info_vram_used")),
            memory_total_bytes=whole(drm.first_line(self._host, name, "mem_info_vram_total")),
            clock_mhz=value("clock"),
            memory_clock_mhz=value("memory_clock"),
            temperature=value("temperature"),
            power_w=value("power"),
            power_limit_w=value("power_limit"),
        )
