"""Composes whole machines around the samples; `python -m tests.composed_hosts` writes them.

Each is a folder like one of `hardware --record`, with the snapshot that follows as expected.json.
A change of what is shown is seen as a change of those files, and read by a person.
"""

import json
import shutil
from collections.abc import Callable, Mapping

from app.core.hardware_json import hardware_json
from app.core.host import (
    Adapter,
    Basics,
    CommandResult,
    CounterValue,
    CpuTopology,
    ListedGpu,
    NvmlAnswer,
)
from app.core.host import NvmlValue as Value
from app.core.reading import State
from app.core.units import GIB
from app.probes import amd_smi, apple, apple_gpu, memory_modules, nvidia_smi, recorded
from app.probes.recorder import RecordingHost
from app.work.machine_reader import read_machine
from tests.composed_gpus import arc_and_igpu, server_two_a100
from tests.composed_parts import AMD_CARD, CPUS, linux, llama, sysfs, with_llama
from tests.hosts import HOSTS, FakeHost, answered, sample

KFD = "/sys/class/kfd/kfd/topology/nodes"


def machines() -> Mapping[str, Callable[[], FakeHost]]:
    """Return the machines by the name of their folder."""
    return {
        "windows-two-gpus": windows_two_gpus,
        "mac-m4max-raised-limit": mac_m4max,
        "mac-m1max": lambda: _mac(sample("sysctl-m1max.txt")),
        "mac-m5max": lambda: _mac(
            f"{sample('sysctl-m5max.txt')}hw.memsize: 137438953472\n", gib=128
        ),
        "strix-halo": strix_halo,
        "gb10": gb10,
        "two-nvidia-hybrid": two_nvidia,
        "mi350x": mi350x,
        "amd-asleep": amd_asleep,
        "wsl2": wsl2,
        "server-two-a100": server_two_a100,
        "arc-and-igpu": arc_and_igpu,
    }


def write() -> None:
    """Write all folders anew."""
    for name, compose in machines().items():
        folder = HOSTS / name
        shutil.rmtree(folder, ignore_errors=True)
        recorder = RecordingHost(compose())
        read_machine(recorder)
        recorder.save(folder)
        write_expected(name)
    write_expected("vm-llvmpipe")


def write_expected(name: str) -> None:
    """Write the snapshot that a recording gives."""
    text = json.dumps(snapshot(name), indent=1, ensure_ascii=False, sort_keys=True)
    (HOSTS / name / "expected.json").write_text(f"{text}\n", encoding="utf-8", newline="\n")


def snapshot(name: str) -> dict[str, object]:
    """Return the machine of a recording as JSON."""
    host = recorded.load(HOSTS / name)
    return hardware_json(read_machine(host, host.chosen))


def windows_two_gpus() -> FakeHost:
    """Return a laptop on battery: an NVIDIA card beside Intel's GPU, memory in one channel."""
    server = r"C:\Users\user\llama.cpp\llama-server.exe"
    luid = "0x00000000_0x0000d1e5"
    rows = [line.split("\t") for line in sample("pdh-gpu-process-memory.txt").splitlines() if line]
    basics = Basics(
        os_name="Windows 11 (10.0.26100)", arch="AMD64", logical=20, physical=14,
        cpu_name="13th Gen Intel(R) Core(TM) i7-13700H", instruction_sets=("avx", "avx2"),
        cpu_topology=CpuTopology(((1, 6), (0, 8)), True, 1, 1, 11_796_480, 25_165_824),
        memory_total_bytes=68_400_000_000, memory_available_bytes=52_000_000_000,
        swap_total_bytes=10_000_000_000, swap_used_bytes=1_200_000_000,
        gpus=(ListedGpu("Intel(R) Iris(R) Xe Graphics", 128 << 20, "32.0.101.6078"),
              ListedGpu("NVIDIA GeForce RTX 4060 Laptop GPU", 8 * GIB, "32.0.15.8088")),
        adapters=(
            Adapter("Intel(R) Iris(R) Xe Graphics", 0x8086, 128 << 20, 0, 32 * GIB, "0x0_0x1"),
            Adapter("NVIDIA GeForce RTX 4060 Laptop GPU", 0x10DE, 8_330_000_000, 0, 32 * GIB, luid),
            Adapter("Microsoft Basic Render Driver", 0x1414, 0, 0, 32 * GIB, "0x0_0x3", True),
        ),
        counters=tuple(CounterValue(name, counter, int(size)) for name, counter, size in rows),
        is_plugged=False, battery_percent=57,
        power_plan="381b4222-f694-41f0-9685-ff5bb260df2e",
        power_overlay="961cc777-2547-4f9d-8174-7d86181b8a7a",
    )  # fmt: skip
    card = (
        Value("name", "NVIDIA GeForce RTX 4060 Laptop GPU"),
        Value("memory_v2.total", 8_585_740_288), Value("memory_v2.free", 7_400_000_000),
        Value("clock.memory_max", 8001), Value("bus_width", 128), Value("pcie.width", 8),
        Value("pcie.width_max", 8), Value("pcie.generation", 1), Value("pcie.generation_max", 4),
        Value("driver_model", 0), Value("clock_reasons", 0x1), Value("use.gpu", 0),
        Value("power_limit", None, "NotSupported"), Value("mig", None, "NotSupported"),
        Value("process_memory", None, "NotSupported"),
    )  # fmt: skip
    nvml = NvmlAnswer(
        State.KNOWN, driver=(Value("driver", "580.88"), Value("cuda", 13000)), cards=(card,)
    )
    devices = (
        "Available devices:\n"
        "  CUDA0: NVIDIA GeForce RTX 4060 Laptop GPU (8187 MiB, 7057 MiB free)\n"
    )
    return FakeHost(
        platform="win32", home=r"C:\Users\user", basics=basics, nvml=nvml,
        files={server: "MZ"}, programs={"llama-server": server},
        commands=(
            *llama(server, devices),
            answered(*memory_modules.POWERSHELL, stdout=sample("win32_physicalmemory.json")),
        ),
    )  # fmt: skip


def mac_m4max() -> FakeHost:
    """Return a Mac whose user raised the GPU's share of its 64 GiB to 56."""
    server = "/opt/homebrew/bin/llama-server"
    keys = sample("sysctl-m4max.txt") + (
        "hw.physicalcpu: 16\nhw.logicalcpu: 16\nhw.memsize: 68719476736\nhw.optional.arm64: 1\n"
        "hw.perflevel1.name: Efficiency\niogpu.wired_limit_mb: 57344\nsysctl.proc_translated: 0\n"
    )
    swap = sample("swapusage.txt").splitlines()[0]
    text = json.dumps({"SPMemoryDataType": [{"SPMemoryDataType": "64 GB", "dimm_type": "LPDDR5"}]})
    return _mac(
        keys,
        answered(*apple_gpu.PROFILER, stdout=sample("system_profiler-displays-m4max.json")),
        answered(*apple_gpu.VM_STAT, stdout=sample("vm_stat-16k.txt")),
        answered(*apple_gpu.PRESSURE, stdout="1\n"),
        answered(*apple_gpu.FREE, stdout="System-wide memory free percentage: 62%\n"),
        answered(*memory_modules.PROFILER, stdout=text),
        answered("sysctl", "-n", "vm.swapusage", stdout=swap),
        answered("pmset", "-g", stdout=" lowpowermode         0\n"),
        answered("pmset", "-g", "therm", stdout="Note: No thermal warning level recorded\n"),
        *llama(server, "Available devices:\n  MTL0: Apple M4 Max (57344 MiB, 57343 MiB free)\n"),
        files={server: "x"},
        metal=57344 << 20,
    )


def strix_halo() -> FakeHost:
    """Return the recorded Strix Halo: 0.5 GiB of its own, 128 GiB lent, 125 GiB in all."""
    files = {
        **sysfs(sample("amdgpu-strix-halo-sysfs.txt")),
        f"{AMD_CARD}/uevent": "DRIVER=amdgpu\nPCI_ID=1002:1586\n",
        f"{AMD_CARD}/drm/renderD128/dev": "226:128\n",
        f"{AMD_CARD}/pp_dpm_mclk": "0: 400Mhz\n1: 800Mhz\n2: 1000Mhz *\n",
        f"{KFD}/0/properties": "simd_count 0\n",
        f"{KFD}/1/properties": "simd_count 80\ngfx_target_version 110501\ndrm_render_minor 128\n",
        f"{KFD}/1/mem_banks/0/properties": "heap_type 1\nwidth 256\nmem_clk_max 1000\n",
        "/sys/module/ttm/parameters/pages_limit": f"{120 * GIB // 4096}\n",
        "/sys/firmware/acpi/platform_profile": "balanced\n",
        **linux("AMD RYZEN AI MAX+ 395 w/ Radeon 8060S", 16, 125 << 20),
    }
    devices = "  Vulkan0: AMD Radeon 8060S Graphics (RADV GFX1151) (128512 MiB, 124000 MiB free)\n"
    return with_llama(files, devices)


def gb10() -> FakeHost:
    """Return NVIDIA's small computer, whose library refuses to tell its memory."""
    program = "/usr/bin/nvidia-smi"
    text = sample("nvidia-smi-gb10.csv")
    commands = tuple(
        answered(*nvidia_smi.argv(program, fields), stdout=text) for fields in nvidia_smi.GROUPS
    )
    devices = "  CUDA0: NVIDIA GB10 (122502 MiB, 110000 MiB free)\n"
    files = linux("", 20, 122502 << 10) | {
        "/proc/cpuinfo": "CPU implementer\t: 0x41\nCPU part\t: 0xd85\n"
        "Features\t: fp asimd asimddp i8mm bf16 sve sve2\n"
    }
    programs = {"nvidia-smi": program}
    return with_llama(files, devices, *commands, programs=programs, arch="aarch64")


def two_nvidia() -> FakeHost:
    """Return a hybrid Intel desktop with two cards; one has four lanes, the memory is slow."""
    smi, dmi = "/usr/bin/nvidia-smi", "/usr/sbin/dmidecode"
    text = sample("nvidia-smi-two-cards.csv")
    files = linux("Intel(R) Core(TM) i9-14900K", 24, 64 << 20) | {dmi: ""}
    for row in sample("lscpu-hybrid.txt").splitlines():
        path, _, value = row.partition(":")
        if value != "(absent)":
            files[path] = f"{value}\n"
    for cpu in range(32):
        siblings = f"{cpu // 2 * 2}-{cpu // 2 * 2 + 1}" if cpu < 16 else f"{cpu}"
        files[f"{CPUS}/cpu{cpu}/topology/thread_siblings_list"] = f"{siblings}\n"
    return with_llama(
        files,
        "  CUDA0: NVIDIA GeForce RTX 3090 (24124 MiB, 23221 MiB free)\n"
        "  CUDA1: NVIDIA GeForce RTX 3060 (12288 MiB, 12046 MiB free)\n",
        *(answered(*nvidia_smi.argv(smi, fields), stdout=text) for fields in nvidia_smi.GROUPS),
        answered(dmi, *memory_modules.DMIDECODE, stdout=sample("dmidecode-two-of-four.txt")),
        programs={"nvidia-smi": smi},
    )


def mi350x() -> FakeHost:
    """Return a server with a data centre card, as far as its compute driver tells it."""
    files = {
        f"{AMD_CARD}/vendor": "0x1002\n",
        f"{KFD}/1/properties": sample("kfd-node-mi350x.txt"),
        f"{KFD}/1/mem_banks/0/properties": sample("kfd-mem-bank-mi350x.txt"),
        **linux("AMD EPYC 9124 16-Core Processor", 16, 1 << 30),
    }
    return FakeHost(files=files, basics=Basics(arch="x86_64"))


def amd_asleep() -> FakeHost:
    """Return a card that sleeps: sysfs tells no memory, rocm-smi warns and then answers."""
    smi = "/opt/rocm/bin/rocm-smi"
    files = {
        f"{AMD_CARD}/vendor": "0x1002\n",
        f"{AMD_CARD}/uevent": "PCI_ID=1002:744C\n",
        smi: "",
        **linux("AMD Ryzen 7 5800X 8-Core Processor", 8, 32 << 20),
    }
    command = answered(smi, *amd_smi.MEMINFO, stdout=sample("rocm-smi-lowpower.txt"))
    return FakeHost(files=files, commands=(command,), basics=Basics(arch="x86_64"))


def wsl2() -> FakeHost:
    """Return WSL2: nvidia-smi outside of PATH, a limit set by Windows, no list of processes."""
    program = "/usr/lib/wsl/lib/nvidia-smi"
    text = sample("nvidia-smi-two-cards.csv")
    files = linux("AMD Ryzen 9 7950X 16-Core Processor", 16, 12 << 20) | {
        "/proc/sys/kernel/osrelease": "5.15.167.4-microsoft-standard-WSL2\n",
        "/mnt/c/Users/user/.wslconfig": "[wsl2]\nmemory=12GB\nprocessors=16\nswap=0\n",
        "/dev/dxg": "",
        program: "",
    }
    commands = tuple(
        answered(*nvidia_smi.argv(program, fields), stdout=text) for fields in nvidia_smi.GROUPS
    )
    return FakeHost(files=files, commands=commands, basics=Basics(arch="x86_64"))


def _mac(
    keys: str,
    *commands: CommandResult,
    files: Mapping[str, str] | None = None,
    gib: int = 64,
    metal: int | None = None,
) -> FakeHost:
    basics = Basics(
        os_name="macOS 15.5", arch="arm64", memory_total_bytes=gib * GIB,
        memory_available_bytes=31 * GIB, metal_working_set_bytes=metal,
        metal_max_buffer_bytes=metal, thermal_state=0 if metal else None,
    )  # fmt: skip
    return FakeHost(
        platform="darwin", home="/Users/user", basics=basics, files=files,
        commands=(answered("sysctl", *apple._TREES, stdout=keys), *commands),
    )  # fmt: skip


if __name__ == "__main__":
    write()
