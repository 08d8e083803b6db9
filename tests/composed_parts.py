"""Parts of composed machines: a Linux computer, llama.cpp's answers, files of a card."""

from collections.abc import Mapping

from app.core.host import Basics, CommandResult
from tests.hosts import FakeHost, answered, sample

SERVER = "/home/user/llama.cpp/llama-server"
AMD_CARD = "/sys/class/drm/card1/device"
CPUS = "/sys/devices/system/cpu"


def with_llama(
    files: Mapping[str, str],
    devices: str,
    *commands: CommandResult,
    programs: Mapping[str, str] | None = None,
    arch: str = "x86_64",
) -> FakeHost:
    """Return a Linux computer with llama.cpp, which lists these devices."""
    text = f"Available devices:\n{devices}"
    return FakeHost(
        files={**files, SERVER: "x"},
        programs={"llama-server": SERVER, **(programs or {})},
        commands=(*llama(SERVER, text), *commands),
        basics=Basics(arch=arch),
    )


def llama(server: str, devices: str) -> tuple[CommandResult, ...]:
    """Return what llama.cpp answers when it is asked for version and devices."""
    version = "version: 0.6.0 (build 11434, commit abc)\n"
    return (
        answered(server, "--version", stderr=version),
        answered(server, "--list-devices", stdout=devices),
    )


def linux(cpu: str, cores: int, total_kib: int) -> dict[str, str]:
    """Return the files of a quiet Linux computer."""
    files = {
        "/proc/cpuinfo": f"model name\t: {cpu}\nflags\t\t: avx avx2 f16c fma\n",
        "/proc/meminfo": f"MemTotal: {total_kib} kB\nMemAvailable: {total_kib * 9 // 10} kB\n"
        "SwapTotal: 8388608 kB\nSwapFree: 8388608 kB\n",
        "/proc/pressure/memory": sample("pressure-memory.txt"),
        "/proc/sys/kernel/osrelease": "6.14.0-27-generic\n",
        "/etc/os-release": 'PRETTY_NAME="Ubuntu 24.04.2 LTS"\n',
    }
    for number in range(cores):
        folder = f"{CPUS}/cpu{number}/topology"
        files[f"{folder}/thread_siblings_list"] = f"{number}\n"
        files[f"{folder}/physical_package_id"] = "0\n"
    return files


def sysfs(text: str) -> dict[str, str]:
    """Return the files of an AMD card from a sample."""
    rows = (line.partition(":") for line in text.splitlines() if line)
    found = {f"{AMD_CARD}/{name}": f"{value}\n" for name, _, value in rows}
    return {f"{AMD_CARD}/vendor": "0x1002\n", **found}
