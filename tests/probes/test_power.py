"""Mains or battery, power profile, temperature: three systems, and sensors that lie."""

from typing import Any

import pytest

from app.core.host import Basics
from app.core.machine import Machine, MachineFact
from app.core.reading import State
from app.probes import power
from tests.hosts import FakeHost, answered

SUPPLY = "/sys/class/power_supply"
LAPTOP = {
    f"{SUPPLY}/AC/type": "Mains\n",
    f"{SUPPLY}/AC/online": "0\n",
    f"{SUPPLY}/BAT0/type": "Battery\n",
    f"{SUPPLY}/BAT0/capacity": "61\n",
    f"{SUPPLY}/BAT0/status": "Discharging\n",
    "/sys/firmware/acpi/platform_profile": "low-power\n",
    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave\n",
    "/sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference": "balance_power\n",
    "/sys/class/thermal/thermal_zone0/type": "acpitz\n",
    "/sys/class/thermal/thermal_zone0/temp": "27800\n",
    "/sys/class/thermal/thermal_zone7/type": "x86_pkg_temp\n",
    "/sys/class/thermal/thermal_zone7/temp": "71500\n",
    "/sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count": "12\n",
}


def _linux(**files: str) -> Machine:
    return Machine(facts=power.read(FakeHost(files=LAPTOP | files)))


def test_a_laptop_on_battery() -> None:
    machine = _linux()
    assert machine.flag("power.is_mains") is False
    assert machine.number("power.battery") == 61
    assert machine.text("power.profile") == "low-power"
    assert machine.text("power.energy_preference") == "balance_power"
    assert machine.number("cpu.throttle_count") == 12
    temperature = machine.fact("cpu.temperature")
    assert temperature and temperature.reading.value == 71.5


def test_the_battery_of_a_mouse_is_not_the_computers() -> None:
    mouse = {
        f"{SUPPLY}/hidpp_battery_0/type": "Battery\n",
        f"{SUPPLY}/hidpp_battery_0/scope": "Device\n",
        f"{SUPPLY}/hidpp_battery_0/capacity": "5\n",
    }
    assert power.supplies(FakeHost(files=mouse)) == (None, None)


def test_the_usb_sockets_of_a_desktop_are_no_missing_mains() -> None:
    usb = {f"{SUPPLY}/ucsi-source-psy-USBC000:001/{n}": v
           for n, v in (("type", "USB\n"), ("online", "0\n"))}  # fmt: skip
    assert power.supplies(FakeHost(files=usb)) == (None, None)


def test_a_desktop_has_no_battery_and_says_so() -> None:
    machine = Machine(facts=power.read(FakeHost()))
    for path in ("power.is_mains", "power.battery"):
        fact = machine.fact(path)
        assert fact and fact.reading.state is State.ABSENT and fact.reading.value is None


@pytest.mark.parametrize("text", ["0\n", "-274000\n", "", "999999\n"])
def test_a_sensor_that_lies_is_no_temperature(text: str) -> None:
    machine = _linux(**{"/sys/class/thermal/thermal_zone7/temp": text})
    fact = machine.fact("cpu.temperature")
    assert fact and fact.reading.value is None


def test_windows_plan_and_its_overlay() -> None:
    balanced = "381b4222-f694-41f0-9685-ff5bb260df2e"
    basics = Basics(is_plugged=True, battery_percent=88, power_plan=balanced)
    machine = Machine(facts=power.read(FakeHost(platform="win32", basics=basics)))
    assert machine.text("power.profile") == "balanced"
    assert machine.flag("power.is_mains") is True
    saver = Basics(power_plan=balanced, power_overlay="961CC777-2547-4F9D-8174-7D86181B8A7A")
    machine = Machine(facts=power.read(FakeHost(platform="win32", basics=saver)))
    assert machine.text("power.profile") == "best power efficiency"


def test_mac_in_low_power_mode_and_throttled() -> None:
    commands = (
        answered("pmset", "-g", stdout=" hibernatemode        3\n lowpowermode         1\n"),
        answered("pmset", "-g", "therm", stdout="\tCPU_Speed_Limit \t= 64\n"),
    )
    machine = Machine(facts=power.read(FakeHost(platform="darwin", commands=commands)))
    assert machine.text("power.profile") == "low power"
    assert machine.number("cpu.speed_limit") == 64


def test_odd_output_of_pmset_is_no_value() -> None:
    assert power.low_power_mode("lowpowermode 7") is None
    assert power.speed_limit("CPU_Speed_Limit = 640") is None


def test_takes_the_profile_of_the_daemon_where_the_firmware_has_none() -> None:
    files = {k: v for k, v in LAPTOP.items() if "platform_profile" not in k}
    tool = {"powerprofilesctl": "/usr/bin/powerprofilesctl"}

    def profile(**changes: Any) -> MachineFact:
        fact = Machine(facts=power.read(FakeHost(files=files, **changes))).fact("power.profile")
        assert fact is not None
        return fact

    told = answered("powerprofilesctl", "get", stdout="power-saver\n")
    fact = profile(programs=tool, commands=(told,))
    assert (fact.reading.value, fact.reading.source) == ("power-saver", "powerprofilesctl get")
    odd = answered("powerprofilesctl", "get", stdout="Failed to communicate\n", code=1)
    assert profile(programs=tool, commands=(odd,)).reading.state is State.UNSUPPORTED
    assert profile(programs=tool, hangs=True).reading.state is State.TIMEOUT
    assert profile().reading.state is State.UNSUPPORTED


def test_says_how_hot_macos_finds_the_mac() -> None:
    machine = Machine(facts=power.read(FakeHost(platform="darwin", basics=Basics(thermal_state=2))))
    assert machine.text("power.heat") == "serious"
    cool = Machine(facts=power.read(FakeHost(platform="darwin", basics=Basics(thermal_state=7))))
    assert cool.text("power.heat") is None
