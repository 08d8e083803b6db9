"""NVIDIA's library over time for tests; `python -m tests.live_recordings` composes the recordings.

docs/fixtures.md describes the files.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from app.core.live import LiveReading, ProcessReading
from app.probes.live_nvidia import NvidiaMeter

LIVE = Path(__file__).parent / "data" / "live"
HEAT = "rtx3090-heat"
_GIB = 1 << 30
_FIELDS = {
    "nvmlDeviceGetUtilizationRates": ("gpu", "memory"),
    "nvmlDeviceGetMemoryInfo": ("total", "free"),
}
_CONSTANTS = {
    "NVML_CLOCK_SM": 1, "NVML_CLOCK_MEM": 2, "NVML_TEMPERATURE_GPU": 0,
    "NVML_TEMPERATURE_THRESHOLD_SLOWDOWN": 1, "NVML_TEMPERATURE_THRESHOLD_GPU_MAX": 3,
    "NVML_PCIE_UTIL_TX_BYTES": 0, "NVML_PCIE_UTIL_RX_BYTES": 1,
}  # fmt: skip


class ReplayedError(Exception):
    """Stands for pynvml.NVMLError."""


class ReplayedNvml:
    """Acts like the pynvml module with one card, and answers as was recorded; turn to go on."""

    NVMLError = ReplayedError

    def __init__(self, name: str) -> None:
        lines = (LIVE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        self._always: dict[str, Any] = json.loads(lines[0])["always"]
        self._moments = [json.loads(line) for line in lines[1:]]
        self._now: dict[str, Any] = {}

    def turn(self) -> Iterator[float]:
        """Go from moment to moment; gives the time of each in seconds."""
        for moment in self._moments:
            self._now = moment["answers"]
            yield float(moment["at_s"])

    def __getattr__(self, name: str) -> Any:
        if name in _CONSTANTS:
            return _CONSTANTS[name]
        if not name.startswith("nvml"):
            raise AttributeError(name)
        return self._function(name)

    def _function(self, name: str) -> Callable[..., Any]:
        def answer(*arguments: Any) -> Any:
            if name in ("nvmlInit", "nvmlShutdown"):
                return None
            if name == "nvmlDeviceGetHandleByIndex":
                return arguments[0]
            # what is asked of one card: a clock's or sensor's number comes second
            key = f"{name}({arguments[1]})" if len(arguments) > 1 else name
            found = self._now.get(key, self._always.get(key))
            if found is None:
                raise ReplayedError("NotSupported")
            fields = _FIELDS.get(name)
            return SimpleNamespace(**dict(zip(fields, found, strict=True))) if fields else found

        return answer


def readings(name: str = HEAT) -> tuple[LiveReading, ...]:
    """Return the live readings that a recording gives, through the meter that reads real cards."""
    api = ReplayedNvml(name)
    meter = NvidiaMeter(api)
    return tuple(LiveReading(at_s, gpus=meter.read()) for at_s in api.turn())


def whole_readings() -> tuple[LiveReading, ...]:
    """Return the readings of the card inside a computer that is composed too, for pictures."""
    found = []
    for reading in readings():
        works = bool(reading.gpus[0].busy)
        wave = int(reading.at_s * 2) % 5 / 100
        server = ProcessReading(
            4711, "llama.cpp: llama-server", "llama-server -m ~/qwen3-32b-q4_k_m.gguf -ngl 99",
            (1.0 if works else 0.0) + wave, round(1.9 * _GIB), round(18.7 * _GIB) if works else 0,
        )  # fmt: skip
        found.append(
            replace(
                reading, cpu_share=0.04 + wave + (0.06 if works else 0.0),
                memory_used_bytes=round((11.2 if works else 9.3) * _GIB),
                memory_total_bytes=32 * _GIB, swap_in_bytes_s=0.0, swap_out_bytes_s=0.0,
                refault_bytes_s=0.0, processes=(server,),
            )
        )  # fmt: skip
    return tuple(found)


def compose() -> None:
    """Write the card that runs into its heat limit: idle, at work, hot, and cool again."""
    always = {
        "nvmlDeviceGetCount": 1, "nvmlDeviceGetName": "NVIDIA GeForce RTX 3090",
        "nvmlDeviceGetTemperatureThreshold(1)": 95, "nvmlDeviceGetTemperatureThreshold(3)": 93,
        "nvmlDeviceGetPowerManagementDefaultLimit": 350_000,
        "nvmlDeviceGetEnforcedPowerLimit": 350_000,
        "nvmlDeviceGetMaxPcieLinkWidth": 16, "nvmlDeviceGetMaxPcieLinkGeneration": 4,
        "nvmlDeviceGetCurrPcieLinkWidth": 16,
    }  # fmt: skip
    note = (
        "composed by hand, no card was read: an RTX 3090 whose memory gets too hot while a model "
        "writes; values as NVML documents them, clocks and limits of the reference card"
    )
    lines: list[dict[str, Any]] = [{"note": note, "always": always}]
    lines += [{"at_s": step / 2, "answers": _moment(step / 2)} for step in range(120)]
    LIVE.mkdir(exist_ok=True)
    text = "".join(f"{json.dumps(line)}\n" for line in lines)
    (LIVE / f"{HEAT}.jsonl").write_text(text, encoding="utf-8", newline="\n")


def _moment(at_s: float) -> dict[str, Any]:
    works, wave = at_s >= 6, 2 * (int(at_s * 2) % 3 - 1)
    is_hot, is_capped = 34 <= at_s < 52, 12 <= at_s < 34
    heat = 41 + (min(52.0, 2.1 * (at_s - 6)) if works else 0) - (4 if at_s >= 44 else 0)
    clock, memory_clock, power = (210, 405, 24_000)
    if works:
        clock, memory_clock, power = 1860 + 5 * wave, 9501, 318_000 + 4_000 * wave
    if is_capped:
        clock, power = 1740 + 5 * wave, 348_500 + 400 * wave
    if is_hot:
        clock, memory_clock, power = 1230 + 15 * wave, 5001, 214_000 + 3_000 * wave
    reasons = 0x1 if not works else 0x48 if is_hot else 0x4 if is_capped else 0x0
    used = 19.6 if works else 0.9
    return {
        "nvmlDeviceGetUtilizationRates": [97 + wave // 2, 86 if not is_hot else 95]
        if works else [0, 0],
        "nvmlDeviceGetMemoryInfo": [24 * _GIB, round((24 - used) * _GIB)],
        "nvmlDeviceGetPowerUsage": power,
        "nvmlDeviceGetTemperature(0)": round(heat),
        "nvmlDeviceGetClockInfo(1)": clock,
        "nvmlDeviceGetClockInfo(2)": memory_clock,
        "nvmlDeviceGetCurrentClocksEventReasons": reasons,
        "nvmlDeviceGetCurrPcieLinkGeneration": 4 if works else 1,
        "nvmlDeviceGetPcieThroughput(0)": 40_000 + 3_000 * wave if works else 0,
        "nvmlDeviceGetPcieThroughput(1)": 160_000 + 20_000 * wave if works else 100,
    }  # fmt: skip


if __name__ == "__main__":
    compose()
