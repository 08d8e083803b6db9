"""The processor's clock and heat, live: of a machine that tells them, and of one that does not."""

from app.probes.live_heat import HeatMeter, HeatReading
from tests.hosts import FakeHost

CPU = "/sys/devices/system/cpu"
ZONE = "/sys/class/thermal/thermal_zone1"
LAPTOP = {
    f"{CPU}/cpu0/cpufreq/scaling_cur_freq": "2400000\n",
    f"{CPU}/cpu1/cpufreq/scaling_cur_freq": "3900000\n",
    f"{CPU}/cpu0/thermal_throttle/package_throttle_count": "42\n",
    "/sys/class/thermal/thermal_zone0/type": "acpitz\n",
    "/sys/class/thermal/thermal_zone0/temp": "27800\n",
    f"{ZONE}/type": "x86_pkg_temp\n",
    f"{ZONE}/temp": "97000\n",
}


def test_reads_the_fastest_core_the_processors_sensor_and_the_count() -> None:
    assert HeatMeter(FakeHost(files=LAPTOP)).read() == HeatReading(3900, 97.0, 42)


def test_a_virtual_machine_tells_nothing() -> None:
    assert HeatMeter(FakeHost()).read() == HeatReading()
    assert HeatMeter(FakeHost(platform="win32")).read() == HeatReading()


def test_a_sensor_that_sleeps_is_no_reading() -> None:
    files = LAPTOP | {f"{ZONE}/temp": "0\n", f"{CPU}/cpu1/cpufreq/scaling_cur_freq": "x\n"}
    assert HeatMeter(FakeHost(files=files)).read() == HeatReading(2400, None, 42)
