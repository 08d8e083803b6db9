"""Composed machines whose GPUs are many-sided: cards joined by NVLink, an Arc beside its kin."""

from app.core.host import Basics, NvmlAnswer
from app.core.host import NvmlValue as Value
from app.core.reading import State
from app.core.units import GIB
from tests.composed_parts import SERVER, linux, llama
from tests.hosts import FakeHost, answered, sample


def server_two_a100() -> FakeHost:
    """Return a server in a container: two cards joined by NVLink, a quota of CPUs and memory."""

    def card(index: int, other: int, free: int) -> tuple[Value, ...]:
        return (
            Value("name", "NVIDIA A100-SXM4-80GB"), Value("memory_v2.total", 85_899_345_920),
            Value("memory_v2.free", free), Value("clock.memory_max", 1593),
            Value("clock.memory", 1593), Value("bus_width", 5120), Value("clock.sm", 210),
            Value("clock.sm_max", 1410), Value("pcie.width", 16), Value("pcie.width_max", 16),
            Value("pcie.generation", 4), Value("pcie.generation_max", 4),
            Value("power", 52_000), Value("power_limit", 300_000),
            Value("power_limit_default", 400_000), Value("temperature", 31),
            Value("compute_capability", "8.0"), Value("performance_state", 0),
            Value("use.gpu", 0), Value("use.memory", 0), Value("mig", 0),
            Value("clock_reasons", 0x1), Value("process_memory", None, "NotSupported"),
            Value("nvlinks", 12), Value("violation.power", 3_720_000_000_000 * index),
            Value("violation.thermal", 0), Value("ecc", 1), Value(f"topology.{other}", 50),
        )  # fmt: skip

    nvml = NvmlAnswer(
        State.KNOWN,
        driver=(Value("driver", "570.133.20"), Value("cuda", 12080)),
        cards=(card(0, 1, 85_000_000_000), card(1, 0, 41_000_000_000)),
    )
    files = linux("AMD EPYC 7742 64-Core Processor", 64, 1 << 30) | {
        "/.dockerenv": "",
        "/proc/self/cgroup": "0::/docker/x\n",
        "/sys/fs/cgroup/docker/x/cpu.max": "800000 100000\n",
        "/sys/fs/cgroup/docker/x/memory.max": f"{64 * GIB}\n",
        "/sys/fs/cgroup/docker/x/memory.current": f"{9 * GIB}\n",
        "/sys/fs/cgroup/docker/x/memory.swap.max": "0\n",
        "/proc/self/limits": "Max locked memory     65536     65536     bytes\n",
        SERVER: "x",
    }
    devices = (
        "Available devices:\n"
        "  CUDA0: NVIDIA A100-SXM4-80GB (81037 MiB, 80500 MiB free)\n"
        "  CUDA1: NVIDIA A100-SXM4-80GB (81037 MiB, 38600 MiB free)\n"
    )
    return FakeHost(
        files=files, programs={"llama-server": SERVER}, nvml=nvml,
        commands=llama(SERVER, devices), basics=Basics(arch="x86_64"),
    )  # fmt: skip


def arc_and_igpu() -> FakeHost:
    """Return an Intel desktop with an Arc card beside its own GPU, small BAR, hot, with Vulkan."""
    arc, own = "/sys/class/drm/card0", "/sys/class/drm/card1"
    slot = "/sys/devices/pci0000:00/0000:00:06.0/0000:03:00.0"
    zero = "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
    files = linux("13th Gen Intel(R) Core(TM) i7-13700", 16, 65_234_375) | {
        f"{arc}/device/vendor": "0x8086\n",
        f"{arc}/device/device": "0x56a0\n",
        f"{arc}/device/uevent": "DRIVER=xe\nPCI_ID=8086:56A0\n",
        f"{arc}/device/resource": "0x00000000a0000000 0x00000000a0ffffff 0x0000000000140204\n"
        + zero
        + "0x0000004000000000 0x000000400fffffff 0x000000000014220c\n",
        f"{arc}/device/tile0/gt0/freq0/act_freq": "600\n",
        f"{arc}/device/tile0/gt0/freq0/max_freq": "2400\n",
        f"{arc}/device/tile0/gt0/freq0/throttle/reason_thermal": "1\n",
        f"{arc}/device/tile0/gt0/freq0/throttle/reason_pl1": "0\n",
        f"{arc}/device/tile0/physical_vram_size_bytes": "17179869184\n",
        f"{arc}/device/hwmon/hwmon4/temp2_input": "93000\n",
        f"{slot}/current_link_width": "16\n",
        f"{slot}/max_link_width": "16\n",
        f"{slot}/current_link_speed": "16.0 GT/s PCIe\n",
        f"{slot}/max_link_speed": "16.0 GT/s PCIe\n",
        f"{own}/device/vendor": "0x8086\n",
        f"{own}/device/device": "0xa780\n",
        f"{own}/device/uevent": "DRIVER=i915\nPCI_ID=8086:A780\n",
        f"{own}/gt/gt0/rps_max_freq_mhz": "1600\n",
        SERVER: "x",
    }
    devices = (
        "Available devices:\n"
        "  Vulkan0: Intel(R) Arc(tm) A770 Graphics (DG2) (16222 MiB, 14305 MiB free)\n"
        "  Vulkan1: Intel(R) UHD Graphics 770 (RPL-S) (31852 MiB, 31852 MiB free)\n"
    )
    program = "/usr/bin/vulkaninfo"
    return FakeHost(
        files=files, basics=Basics(arch="x86_64"),
        links={f"{arc}/device": slot, f"{own}/device": "/sys/devices/pci0000:00/0000:00:02.0"},
        programs={"llama-server": SERVER, "vulkaninfo": program},
        commands=(
            *llama(SERVER, devices),
            answered(program, stdout=sample("vulkaninfo-arc-and-igpu.txt")),
        ),
    )  # fmt: skip
