"""Power and heat: mains or battery, power profile, governor, temperature, throttling."""

import re

from app.core import facts
from app.core.host import Basics, Host
from app.core.machine import MachineFact
from app.core.probe import Probe
from app.core.reading import State
from app.probes.text import whole

_SUPPLIES = "/sys/class/power_supply"
_PROFILE = "/sys/firmware/acpi/platform_profile"
_CPUFREQ = "/sys/devices/system/cpu/cpu0/cpufreq"
THROTTLE = "/sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count"
_ZONES = "/sys/class/thermal"
_PROFILES_TOOL = ("powerprofilesctl", "get")
_PROFILE_NAMES = ("power-saver", "balanced", "performance")
# NSProcessInfoThermalState
_THERMAL_STATES = ("nominal", "fair", "serious", "critical")
# the zones of thermal_zone*/type that mean the processor
_CPU_ZONES = ("x86_pkg_temp", "k10temp", "coretemp", "cpu-thermal", "cpu_thermal", "TCPU")
# the three plans that Windows itself brings, and the two overlays of its power slider
_WINDOWS_PLANS = {
    "381b4222-f694-41f0-9685-ff5bb260df2e": "balanced",
    "8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c": "high performance",
    "a1841308-3541-4fab-bc81-f71556f20b4a": "power saver",
    "961cc777-2547-4f9d-8174-7d86181b8a7a": "best power efficiency",
    "ded574b5-45a0-4f42-8737-46345c09c238": "best performance",
}


def read(host: Host) -> tuple[MachineFact, ...]:
    """Return power.* and cpu.temperature facts."""
    platform = host.platform()
    if platform == "linux":
        return _linux(host)
    found = [*_battery(host.basics())]
    if platform == "darwin":
        return (*found, *_mac(host), *_mac_heat(host.basics()))
    return (*found, _windows_plan(host.basics()))


def supplies(host: Host) -> tuple[bool | None, int | None]:
    """Return whether mains power is on (None = not told) and the battery's charge in per cent."""
    online: list[bool] = []
    charge, is_discharging = None, False
    for name in host.list_dir(_SUPPLIES)[:32]:
        folder = f"{_SUPPLIES}/{name}"
        kind = (host.read_text(f"{folder}/type") or "").strip()
        if (host.read_text(f"{folder}/scope") or "").strip() == "Device":
            continue  # the battery of a mouse
        if kind in ("Mains", "USB"):
            value = whole(host.read_text(f"{folder}/online"))
            if value is not None:
                online.append(value > 0)
        elif kind == "Battery":
            charge = whole(host.read_text(f"{folder}/capacity"))
            charge = charge if charge is not None and 0 <= charge <= 100 else None
            is_discharging |= (host.read_text(f"{folder}/status") or "").strip() == "Discharging"
    # the USB-C sockets of a desktop are supplies that are never on
    if online and (any(online) or charge is not None):
        return any(online), charge
    if charge is not None:
        return not is_discharging, charge
    return None, None


def low_power_mode(text: str) -> bool | None:
    """Read `pmset -g`; None when it has no such line (desktops, older Macs)."""
    match = re.search(r"^[ \t]*lowpowermode[ \t]+([01])[ \t]*$", text, re.MULTILINE)
    return None if match is None else match[1] == "1"


def speed_limit(text: str) -> int | None:
    """Read CPU_Speed_Limit of `pmset -g therm` in per cent; Apple silicon rarely tells it."""
    match = re.search(r"CPU_Speed_Limit\s*=\s*([0-9]{1,3})\b", text)
    return int(match[1]) if match and int(match[1]) <= 100 else None


def _linux(host: Host) -> tuple[MachineFact, ...]:
    is_mains, charge = supplies(host)
    found = _supply_facts(is_mains, charge, _SUPPLIES)
    found.append(_linux_profile(host))
    # `powersave` is normal with intel_pstate and amd_pstate; the preference decides there
    for path, file in (
        ("power.governor", f"{_CPUFREQ}/scaling_governor"),
        ("power.energy_preference", f"{_CPUFREQ}/energy_performance_preference"),
    ):
        text = (host.read_text(file) or "").strip()
        if text:
            found.append(facts.known(path, text[:40], source=file))
        else:
            reason = "this computer's firmware or kernel has no such setting"
            found.append(facts.missing(path, State.UNSUPPORTED, source=file, reason=reason))
    found.append(_temperature(host))
    count = whole(host.read_text(THROTTLE))
    if count is not None and count >= 0:
        found.append(facts.known("cpu.throttle_count", count, source=THROTTLE))
    return tuple(found)


def _linux_profile(host: Host) -> MachineFact:
    """Return the firmware's profile, else the one that power-profiles-daemon set by itself."""
    text = (host.read_text(_PROFILE) or "").strip()
    if text:
        return facts.known("power.profile", text[:40], source=_PROFILE)
    if host.which("powerprofilesctl"):
        answer = host.run(_PROFILES_TOOL, timeout_s=1.0)
        name = answer.stdout.strip()
        if name in _PROFILE_NAMES:
            return facts.known("power.profile", name, source=" ".join(_PROFILES_TOOL))
        if answer.state is State.TIMEOUT:
            return facts.missing(
                "power.profile",
                State.TIMEOUT,
                source=" ".join(_PROFILES_TOOL),
                reason=answer.reason,
            )
    reason = "this computer's firmware has no such setting, and no program sets one"
    return facts.missing("power.profile", State.UNSUPPORTED, source=_PROFILE, reason=reason)


def cpu_zone(host: Host) -> tuple[str, str] | None:
    """Return folder and kind of the sensor that means the processor, None when none can be read."""
    for zone in host.list_dir(_ZONES)[:64]:
        kind = (host.read_text(f"{_ZONES}/{zone}/type") or "").strip()
        found = (f"{_ZONES}/{zone}", kind)
        if kind in _CPU_ZONES and zone_degrees(host, found) is not None:
            return found
    return None


def zone_degrees(host: Host, zone: tuple[str, str]) -> float | None:
    """Return a sensor's temperature in °C; those that sleep or are broken say 0 or -274000."""
    value = whole(host.read_text(f"{zone[0]}/temp"))
    return value / 1000 if value is not None and 0 < value < 150_000 else None


def _temperature(host: Host) -> MachineFact:
    zone = cpu_zone(host)
    degrees = zone_degrees(host, zone) if zone is not None else None
    if zone is not None and degrees is not None:
        source = f"{zone[0]} ({zone[1]})"
        return facts.known("cpu.temperature", degrees, source=source, unit="°C")
    reason = "no sensor of the processor can be read (normal in a virtual machine)"
    return facts.missing(
        "cpu.temperature", State.UNSUPPORTED, source=_ZONES, reason=reason, unit="°C"
    )


def _battery(basics: Basics) -> list[MachineFact]:
    return _supply_facts(basics.is_plugged, basics.battery_percent, basics.source)


def _supply_facts(is_mains: bool | None, charge: int | None, source: str) -> list[MachineFact]:
    found = []
    if is_mains is None:
        reason = "no battery and no power supply is reported: a desktop or a virtual machine"
        found.append(facts.missing("power.is_mains", State.ABSENT, source=source, reason=reason))
    else:
        found.append(facts.known("power.is_mains", is_mains, source=source))
    if charge is None:
        reason = "no battery is reported"
        found.append(
            facts.missing("power.battery", State.ABSENT, source=source, reason=reason, unit="%")
        )
    else:
        found.append(facts.known("power.battery", charge, source=source, unit="%"))
    return found


def _windows_plan(basics: Basics) -> MachineFact:
    # the slider's overlay decides where it is set; all zeros means none
    for guid in (basics.power_overlay, basics.power_plan):
        name = _WINDOWS_PLANS.get((guid or "").lower())
        if name:
            return facts.known("power.profile", name, source="PowerGetActiveScheme")
    if basics.power_plan:
        return facts.known("power.profile", "a plan of its own", source="PowerGetActiveScheme")
    reason = "Windows does not tell its power plan"
    return facts.missing("power.profile", State.MISSING, source="powrprof", reason=reason)


def _mac_heat(basics: Basics) -> list[MachineFact]:
    state = basics.thermal_state
    if state is None or not 0 <= state < len(_THERMAL_STATES):
        return []
    source = "NSProcessInfo thermalState"
    return [facts.known("power.heat", _THERMAL_STATES[state], source=source)]


def _mac(host: Host) -> list[MachineFact]:
    answer = host.run(("pmset", "-g"), timeout_s=1.0)
    is_low = low_power_mode(answer.stdout)
    if is_low is not None:
        words = "low power" if is_low else "normal"
        found = [facts.known("power.profile", words, source="pmset -g")]
    else:
        state = State.UNSUPPORTED if answer.state is State.KNOWN else answer.state
        reason = answer.reason or "this Mac has no low power mode"
        found = [facts.missing("power.profile", state, source="pmset -g", reason=reason)]
    if answer.state is not State.KNOWN:
        return found
    limit = speed_limit(host.run(("pmset", "-g", "therm"), timeout_s=1.0).stdout)
    if limit is not None:
        found.append(facts.known("cpu.speed_limit", limit, source="pmset -g therm", unit="%"))
    return found


PROBE = Probe("power", read)
