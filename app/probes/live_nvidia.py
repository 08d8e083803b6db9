"""What NVIDIA's cards do at this moment: the library stays open from one reading to the next."""

from dataclasses import dataclass
from typing import Any

from app.core.live import GpuReading

MAX_GPUS = 8
_MOST_LINKS = 2  # the driver counts 20 ms for each direction of each card
SOURCE = "NVML"


@dataclass(frozen=True, slots=True)
class _Card:
    """A card, and what of it does not change."""

    handle: Any
    name: str
    temperature_limit: float | None
    power_default_w: float | None
    link_width_max: int | None
    link_generation_max: int | None


class NvidiaMeter:
    """Reads cards through NVIDIA's library; use it from one thread at a time."""

    def __init__(self, api: Any = None) -> None:
        """Take the pynvml module, or one that acts like it; None loads it at the first reading."""
        self._api = api
        self._cards: list[_Card] | None = None

    def read(self) -> tuple[GpuReading, ...]:
        """Return a reading of each card; empty where the library does not start."""
        if self._cards is None:
            self._cards = self._open()
        return tuple(self._reading(card) for card in self._cards)

    def process_bytes(self) -> dict[int, int]:
        """Return what each process holds on the cards, by its number, where the driver tells it.

        Under WDDM, in WSL2 and in containers it answers None for each: those are left out.
        """
        found: dict[int, int] = {}
        for card in self._cards or ():
            for name in (
                "nvmlDeviceGetComputeRunningProcesses",
                "nvmlDeviceGetGraphicsRunningProcesses",
            ):
                for process in self._list(name, card.handle):
                    size = getattr(process, "usedGpuMemory", None)
                    if size is not None:
                        found[process.pid] = found.get(process.pid, 0) + int(size)
        return found

    def source(self) -> str:
        """Name the library while it tells of cards, "" otherwise."""
        return SOURCE if self._cards else ""

    def close(self) -> None:
        """Let go of the library, so that an idle card may sleep; the next reading opens it."""
        if self._cards:
            self._ask(self._api.nvmlShutdown)
        self._cards = None

    def _open(self) -> list[_Card]:
        if self._api is None:
            import pynvml  # the window's start must not wait for it

            self._api = pynvml
        if self._ask(self._api.nvmlInit) is None and not self._started_in_wsl():
            return []
        found = []
        for index in range(min(self._ask(self._api.nvmlDeviceGetCount) or 0, MAX_GPUS)):
            handle = self._ask(self._api.nvmlDeviceGetHandleByIndex, index)
            if handle is not None:
                found.append(self._card(handle, index))
        return found

    def _started_in_wsl(self) -> bool:
        """Try again with WSL's copy of the library, which may lie outside of the loader's path."""
        from app.probes import nvml

        return nvml.preload(nvml.WSL_LIBRARY) and self._ask(self._api.nvmlInit) is not None

    def _card(self, handle: Any, index: int) -> _Card:
        api = self._api
        name = self._ask(api.nvmlDeviceGetName, handle) or f"GPU {index}"
        # the driver slows the card down from there (nvml.h, GPU_MAX; SLOWDOWN comes later)
        heat = self._ask(
            api.nvmlDeviceGetTemperatureThreshold, handle, api.NVML_TEMPERATURE_THRESHOLD_GPU_MAX
        ) or self._ask(
            api.nvmlDeviceGetTemperatureThreshold, handle, api.NVML_TEMPERATURE_THRESHOLD_SLOWDOWN
        )
        default = self._ask(api.nvmlDeviceGetPowerManagementDefaultLimit, handle)
        return _Card(
            handle=handle,
            name=name if isinstance(name, str) else name.decode(),
            temperature_limit=float(heat) if heat else None,
            power_default_w=default / 1000 if default else None,
            link_width_max=self._ask(api.nvmlDeviceGetMaxPcieLinkWidth, handle),
            link_generation_max=self._ask(api.nvmlDeviceGetMaxPcieLinkGeneration, handle),
        )

    def _reading(self, card: _Card) -> GpuReading:
        api, handle = self._api, card.handle
        use = self._ask(api.nvmlDeviceGetUtilizationRates, handle)
        memory = self._ask(api.nvmlDeviceGetMemoryInfo, handle)
        power = self._ask(api.nvmlDeviceGetPowerUsage, handle)
        limit = self._ask(api.nvmlDeviceGetEnforcedPowerLimit, handle)
        heat = self._ask(api.nvmlDeviceGetTemperature, handle, api.NVML_TEMPERATURE_GPU)
        return GpuReading(
            name=card.name,
            busy=use.gpu / 100 if use is not None else None,
            memory_used_bytes=memory.total - memory.free if memory is not None else None,
            memory_total_bytes=memory.total if memory is not None else None,
            clock_mhz=self._ask(api.nvmlDeviceGetClockInfo, handle, api.NVML_CLOCK_SM),
            memory_clock_mhz=self._ask(api.nvmlDeviceGetClockInfo, handle, api.NVML_CLOCK_MEM),
            temperature=float(heat) if heat is not None else None,
            power_w=power / 1000 if power is not None else None,
            power_limit_w=limit / 1000 if limit is not None else None,
            clock_reasons=self._reasons(handle),
            link_bytes_s=self._link(handle) if len(self._cards or ()) <= _MOST_LINKS else None,
            memory_busy=use.memory / 100 if use is not None else None,
            temperature_limit=card.temperature_limit,
            power_default_w=card.power_default_w,
            link_width=self._ask(api.nvmlDeviceGetCurrPcieLinkWidth, handle),
            link_width_max=card.link_width_max,
            link_generation=self._ask(api.nvmlDeviceGetCurrPcieLinkGeneration, handle),
            link_generation_max=card.link_generation_max,
            source=SOURCE,
        )

    def _reasons(self, handle: Any) -> int | None:
        """Return the bits; drivers before 535 know the question by its older name."""
        found: int | None = self._ask(self._api.nvmlDeviceGetCurrentClocksEventReasons, handle)
        if found is None:
            found = self._ask(self._api.nvmlDeviceGetCurrentClocksThrottleReasons, handle)
        return found

    def _link(self, handle: Any) -> float | None:
        """Return KiB/s of both directions in bytes; the driver counts over 20 ms."""
        directions = (self._api.NVML_PCIE_UTIL_TX_BYTES, self._api.NVML_PCIE_UTIL_RX_BYTES)
        found = [self._ask(self._api.nvmlDeviceGetPcieThroughput, handle, d) for d in directions]
        return None if None in found else float(sum(v for v in found if v is not None) * 1024)

    def _list(self, name: str, handle: Any) -> list[Any]:
        found = self._ask(getattr(self._api, name), handle)
        return list(found) if isinstance(found, list | tuple) else []

    def _ask(self, function: Any, *arguments: Any) -> Any:
        """Return the answer, True for a call that has none, None for an error."""
        try:
            answer = function(*arguments)
        except self._api.NVMLError:
            return None
        return True if answer is None else answer
