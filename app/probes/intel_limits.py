"""What holds an Intel GPU's clock down, and its heat and power limits, from sysfs and hwmon."""

from app.core import facts
from app.core.host import Host
from app.core.machine import MachineFact
from app.probes import drm
from app.probes.text import whole

# xe_gt_throttle.c: device/tile0/gt0/freq0/throttle/reason_*; i915: gt/gt0/throttle_reason_*
_REASONS = (
    ("pl1", "power limit (PL1)"),
    ("pl2", "power limit for moments (PL2)"),
    ("pl4", "current limit (PL4)"),
    ("thermal", "heat"),
    ("prochot", "heat of another part (PROCHOT)"),
    ("ratl", "heat on average (RATL)"),
    ("vr_thermalert", "heat of the voltage regulator"),
    ("vr_tdc", "current of the voltage regulator"),
)
_XE = "device/tile0/gt0/freq0/throttle"
_I915 = "gt/gt0"
_HOTTEST = 150_000  # milli-degrees
_MOST_WATT = 5_000_000_000  # microwatt


def read(host: Host, name: str, prefix: str) -> list[MachineFact]:
    """Return clock_reasons, temperature and power_limit, where the driver tells them."""
    found = _clock_reasons(host, name, prefix)
    for hwmon in host.list_dir(f"{drm.ROOT}/{name}/device/hwmon")[:1]:
        folder = f"{drm.ROOT}/{name}/device/hwmon/{hwmon}"
        for path, files, most, unit in (
            # xe writes temp2 (package) and temp3 (memory); i915 one temperature
            ("temperature", ("temp2_input", "temp1_input"), _HOTTEST, "°C"),
            ("temperature_memory", ("temp3_input",), _HOTTEST, "°C"),
            ("power_limit", ("power1_max",), _MOST_WATT, "W"),
            ("power_default", ("power1_rated_max",), _MOST_WATT, "W"),
        ):
            for file in files:
                value = whole(host.read_text(f"{folder}/{file}"))
                if value is not None and 0 < value < most:
                    figure = value / (1000 if unit == "°C" else 1_000_000)
                    source = f"{folder}/{file}"
                    found.append(facts.known(f"{prefix}.{path}", figure, source=source, unit=unit))
                    break
    return found


def _clock_reasons(host: Host, name: str, prefix: str) -> list[MachineFact]:
    for folder, start in ((_XE, "reason_"), (_I915, "throttle_reason_")):
        source = f"{drm.ROOT}/{name}/{folder}"
        states = {key: whole(host.read_text(f"{source}/{start}{key}")) for key, _ in _REASONS}
        if all(state is None for state in states.values()):
            continue
        words = tuple(text for key, text in _REASONS if states[key] == 1)
        return [facts.known(f"{prefix}.clock_reasons", words, source=f"{source}/{start}*")]
    return []
