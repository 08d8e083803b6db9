"""What the operating system's own calls say: psutil, and on Windows registry and kernel32."""

import platform
import sys

import psutil

from app.core.host import Basics, ListedGpu
from app.probes import apple_metal, dxgi, pdh, windows_cpu

# winnt.h PF_*: the instruction sets that IsProcessorFeaturePresent knows
_WINDOWS_SETS = (
    (39, "avx"), (40, "avx2"), (41, "avx512f"),
    (19, "asimd"), (43, "asimddp"), (66, "i8mm"), (68, "bf16"), (46, "sve"), (47, "sve2"),
    (70, "sme"),
)  # fmt: skip
# the class of display adapters; win32 AdapterRAM is 32 bits wide and wrong from 4 GB on
_WINDOWS_GPU_KEY = r"SYSTEM\CurrentControlSet\Control\Class\{4d36e968-e325-11ce-bfc1-08002be10318}"
_MAX_GPUS = 32
_WINDOWS_CPU_KEY = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"


def basics() -> Basics:
    """Ask once; each figure that the system does not give is None."""
    memory = psutil.virtual_memory()
    swap_total, swap_used = _swap()
    is_plugged, percent = _battery()
    plan, overlay = _windows_power()
    mac = apple_metal.ask()
    return Basics(
        os_name=_os_name(),
        arch=platform.machine() or None,
        cpu_name=_windows_cpu_name(),
        logical=psutil.cpu_count(logical=True),
        physical=psutil.cpu_count(logical=False),
        memory_total_bytes=memory.total,
        memory_available_bytes=memory.available,
        swap_total_bytes=swap_total,
        swap_used_bytes=swap_used,
        instruction_sets=_windows_sets(),
        gpus=_windows_gpus(),
        cpu_topology=windows_cpu.topology(),
        adapters=dxgi.adapters(),
        counters=pdh.collect(),
        is_plugged=is_plugged,
        battery_percent=percent,
        power_plan=plan,
        power_overlay=overlay,
        metal_working_set_bytes=mac.working_set_bytes,
        metal_max_buffer_bytes=mac.max_buffer_bytes,
        thermal_state=mac.thermal_state,
    )


def registry_bytes(value: object) -> int | None:
    """Return qwMemorySize, which some drivers write as a number and some as bytes."""
    if isinstance(value, bytes) and 0 < len(value) <= 8:
        value = int.from_bytes(value, "little")
    return value if isinstance(value, int) and value > 0 else None


def _swap() -> tuple[int | None, int | None]:
    try:
        swap = psutil.swap_memory()
    # RuntimeError: psutil on Linux without SwapTotal; OSError: Windows with counters disabled
    except (RuntimeError, OSError):
        return None, None
    return swap.total, swap.used


def _battery() -> tuple[bool | None, int | None]:
    """Return mains power and charge; None where there is no battery (most virtual machines)."""
    try:
        battery = psutil.sensors_battery()
    except (AttributeError, RuntimeError, OSError):  # platforms without it; broken firmware
        return None, None
    if battery is None:
        return None, None
    percent = round(battery.percent)
    return battery.power_plugged, percent if 0 <= percent <= 100 else None


def _os_name() -> str | None:
    if sys.platform == "darwin":
        return f"macOS {platform.mac_ver()[0]}".strip()
    if sys.platform == "win32":
        return f"Windows {platform.release()} ({platform.version()})"
    return None


if sys.platform == "win32":
    import ctypes
    import uuid
    import winreg

    def _windows_cpu_name() -> str | None:
        try:
            with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, _WINDOWS_CPU_KEY) as key:
                value, _ = winreg.QueryValueEx(key, "ProcessorNameString")
        except OSError:
            return None
        return str(value).strip() or None

    def _windows_sets() -> tuple[str, ...] | None:
        present = ctypes.windll.kernel32.IsProcessorFeaturePresent
        return tuple(name for number, name in _WINDOWS_SETS if present(number))

    def _windows_gpus() -> tuple[ListedGpu, ...] | None:
        found = []
        for number in range(_MAX_GPUS):
            try:
                path = f"{_WINDOWS_GPU_KEY}\\{number:04}"
                with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, path) as key:
                    name = str(_registry_value(key, "DriverDesc") or "").strip()
                    size = registry_bytes(_registry_value(key, "HardwareInformation.qwMemorySize"))
                    driver = _registry_value(key, "DriverVersion")
            except OSError:
                continue  # not there, or not ours to read
            if name:
                found.append(ListedGpu(name, size, str(driver) if driver else None))
        return tuple(found)

    def _registry_value(key: winreg.HKEYType, name: str) -> object:
        try:
            return winreg.QueryValueEx(key, name)[0]
        except OSError:
            return None

    def _windows_power() -> tuple[str | None, str | None]:
        """Return the GUIDs of the power plan and of the slider's overlay."""
        library = ctypes.windll.powrprof
        scheme = ctypes.c_void_p()
        plan = None
        if library.PowerGetActiveScheme(None, ctypes.byref(scheme)) == 0 and scheme.value:
            plan = str(uuid.UUID(bytes_le=ctypes.string_at(scheme.value, 16)))
            ctypes.windll.kernel32.LocalFree(scheme)
        overlay = (ctypes.c_ubyte * 16)()
        try:  # Windows 10 1709 and later
            is_told = library.PowerGetEffectiveOverlayScheme(ctypes.byref(overlay)) == 0
        except AttributeError:
            is_told = False
        return plan, str(uuid.UUID(bytes_le=bytes(overlay))) if is_told else None

else:

    def _windows_power() -> tuple[str | None, str | None]:
        return None, None

    def _windows_cpu_name() -> str | None:
        return None

    def _windows_sets() -> tuple[str, ...] | None:
        return None

    def _windows_gpus() -> tuple[ListedGpu, ...] | None:
        return None
