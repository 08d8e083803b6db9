"""Computers for tests of what is shown: read by the real probes from made-up answers."""

from app.core.host import Basics, CommandResult, NvmlAnswer, NvmlValue
from app.core.machine import Machine
from app.core.reading import State
from app.work.machine_reader import read_machine
from tests.hosts import FakeHost, answered, fake_host, sample

SERVER = "/home/user/llama.cpp/llama-server"
MIB = 1 << 20
NO_NVML = NvmlAnswer(State.ABSENT, "NVIDIA's library (NVML) is not installed")
PLAIN_CPU = "model name\t: AMD Ryzen 9 7950X 16-Core Processor\nflags\t\t: avx avx2 avx512f\n"
# memory clock in MHz and bus width; other cards get those of a 4090
_CLOCKS = {"NVIDIA GeForce RTX 3060": (7501, 192), "NVIDIA L40": (9001, 384)}
MEMINFO = (
    "MemTotal:       65700000 kB\nMemAvailable:   48000000 kB\n"
    "SwapTotal:       8388608 kB\nSwapFree:        {swap_free} kB\n"
)


def linux(
    devices: str | None = None,
    nvml: NvmlAnswer = NO_NVML,
    files: dict[str, str] | None = None,
    swap_free: int = 8388608,
) -> Machine:
    """Return a 16-core computer; devices is what --list-devices prints, None = no llama.cpp."""
    texts = {
        "/proc/meminfo": MEMINFO.format(swap_free=swap_free),
        "/proc/cpuinfo": PLAIN_CPU,
        "/etc/os-release": 'PRETTY_NAME="Ubuntu 24.04.2 LTS"\n',
        "/proc/sys/kernel/osrelease": "6.11.0-21-generic\n",
    }
    for cpu in range(32):
        folder = f"/sys/devices/system/cpu/cpu{cpu}/topology"
        texts[f"{folder}/thread_siblings_list"] = f"{cpu % 16},{cpu % 16 + 16}\n"
    commands: tuple[CommandResult, ...] = ()
    programs = {}
    if devices is not None:
        programs = {"llama-server": SERVER}
        texts[SERVER] = "a program"
        commands = (
            answered(SERVER, "--version", stderr="version: 0.6.0 (build 11434, commit abc)\n"),
            answered(SERVER, "--list-devices", stdout=f"Available devices:\n{devices}"),
        )
    host = FakeHost(
        files=texts | (files or {}),
        basics=Basics(arch="x86_64"),
        nvml=nvml,
        programs=programs,
        commands=commands,
    )
    return read_machine(host)


def nvidia(*cards: tuple[str, int, int]) -> NvmlAnswer:
    """Return NVIDIA's answer for cards of (name, total MiB, free MiB)."""
    driver = (NvmlValue("driver", "580.95.05"), NvmlValue("cuda", 13000))
    return NvmlAnswer(
        State.KNOWN,
        driver=driver,
        cards=tuple(
            (
                NvmlValue("name", name),
                NvmlValue("memory_v2.total", total * MIB),
                NvmlValue("memory_v2.free", free * MIB),
                NvmlValue("clock.memory_max", _CLOCKS.get(name, (10501, 384))[0]),
                NvmlValue("bus_width", _CLOCKS.get(name, (10501, 384))[1]),
                NvmlValue("pcie.generation", 1),
                NvmlValue("pcie.generation_max", 4),
                NvmlValue("pcie.width", 4),
                NvmlValue("pcie.width_max", 16),
                NvmlValue("temperature", None, "NoPermission"),
            )
            for name, total, free in cards
        ),
    )


def two_cards() -> Machine:
    """Return a computer with two NVIDIA cards that llama.cpp lists in the other order."""
    return linux(
        "  CUDA0: NVIDIA GeForce RTX 3060 (11909 MiB, 11790 MiB free)\n"
        "  CUDA1: NVIDIA GeForce RTX 4090 (24081 MiB, 22640 MiB free)\n",
        nvidia(
            ("NVIDIA GeForce RTX 4090", 24564, 22908), ("NVIDIA GeForce RTX 3060", 12288, 11900)
        ),
        swap_free=5242880,
    )


def strix_halo() -> Machine:
    """Return the recorded Strix Halo: 0.5 GiB of its own, 128 GiB lent, 125 GiB in all."""
    figures = dict(
        line.split(":", 1) for line in sample("amdgpu-strix-halo-sysfs.txt").splitlines() if line
    )
    folder = "/sys/class/drm/card1/device"
    files = {f"{folder}/{name}": value for name, value in figures.items()}
    files |= {
        f"{folder}/vendor": "0x1002\n",
        f"{folder}/uevent": "PCI_ID=1002:1586\n",
        "/proc/meminfo": f"MemTotal: {125 << 20} kB\nMemAvailable: {118 << 20} kB\n"
        f"SwapTotal: {8 << 20} kB\nSwapFree: {8 << 20} kB\n",
    }
    devices = "  Vulkan0: AMD Radeon Graphics (RADV GFX1151) (128512 MiB, 124000 MiB free)\n"
    return linux(devices, files=files)


def software_only() -> Machine:
    """Return the recorded virtual machine whose only device is llvmpipe."""
    return read_machine(fake_host("vm-llvmpipe"), ("/home/user/.cache/slowscope/vulkan-10434",))
