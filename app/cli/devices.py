"""Which devices and host a plan is made for: this computer's, or the ones that are described."""

from argparse import ArgumentParser, Namespace
from dataclasses import dataclass

from app.cli import BAD_USAGE, CommandError
from app.cli.load_options import mebibytes
from app.core import builds, facts
from app.core.host_memory import host_of
from app.core.machine import CpuKind, Device, DeviceKind, Host, Machine
from app.core.units import MIB

# Names as llama.cpp prints them
_NAMES = {
    DeviceKind.CUDA: "CUDA",
    DeviceKind.ROCM: "ROCm",
    DeviceKind.VULKAN: "Vulkan",
    DeviceKind.METAL: "MTL",
    DeviceKind.SYCL: "SYCL",
    DeviceKind.RPC: "RPC",
}
_KINDS = tuple(_NAMES)
_SOURCE = "described with --device-free"


@dataclass(frozen=True, slots=True)
class Computer:
    """Devices and host, and what to say about how they were found."""

    devices: tuple[Device, ...]
    host: Host
    build: int | None = None  # of the llama.cpp that listed the devices
    notes: tuple[str, ...] = ()
    machine: Machine | None = None  # None: it was described


def add_device_options(parser: ArgumentParser) -> None:
    """Add the options that describe devices and the host."""
    group = parser.add_argument_group("the computer (without these options: this one)")
    group.add_argument("--device-free", type=mebibytes, metavar="MIB[,MIB...]",
                       help="free memory of each described device")  # fmt: skip
    group.add_argument("--device-kind", type=DeviceKind, choices=_KINDS,
                       metavar="|".join(kind.value for kind in _KINDS),
                       help="backend of the described devices (default cuda)")  # fmt: skip
    group.add_argument("--device-max-buffer", type=mebibytes, metavar="MIB[,MIB...]",
                       help="largest buffer or storage range of each described device "
                       "(default: vulkan 4096, no limit for the others)")  # fmt: skip
    group.add_argument("--llama-bin", metavar="DIR",
                       help="folder with llama.cpp's programs (default: the one chosen in the "
                       "window, then those found on this computer)")  # fmt: skip
    group.add_argument("--no-device", action="store_true", help="plan for system memory alone")
    group.add_argument("--cpu", type=CpuKind, choices=list(CpuKind),
                       metavar="|".join(kind.value for kind in CpuKind),
                       help="the CPU's buffer kinds (default: this machine's)")  # fmt: skip


def computer_of(options: Namespace) -> Computer:
    """Return what to plan for; reads this computer as far as it is needed."""
    described = options.device_free is not None
    if not described and (options.device_kind or options.device_max_buffer):
        raise CommandError(
            BAD_USAGE, "--device-kind and --device-max-buffer describe devices of --device-free."
        )
    if described and options.no_device:
        raise CommandError(BAD_USAGE, "Give --device-free or --no-device, not both.")
    if described:
        return Computer(_described(options), _host(_memory_and_cpu(), options))
    if options.no_device and not options.exact:
        from app.work.kept_facts import with_kept

        machine = with_kept(_memory_and_cpu())
        return Computer((), _host(machine, options), machine=machine)
    return _this_one(options)


def _described(options: Namespace) -> tuple[Device, ...]:
    kind = options.device_kind or DeviceKind.CUDA
    free = options.device_free
    limits = options.device_max_buffer or ()
    if len(limits) == 1:
        limits *= len(free)
    if limits and len(limits) != len(free):
        raise CommandError(
            BAD_USAGE,
            f"--device-max-buffer names {len(limits)} devices, --device-free {len(free)}.",
        )
    return tuple(
        Device(
            id=f"{_NAMES[kind]}{i}",
            kind=kind,
            description="described",
            total_bytes=None,
            free_bytes=mib * MIB,
            source=_SOURCE,
            max_buffer_bytes=limits[i] * MIB if limits else None,
            is_integrated=True if kind is DeviceKind.METAL else None,
        )
        for i, mib in enumerate(free)
    )


def _host(machine: Machine, options: Namespace) -> Host:
    host = host_of(machine)
    if options.cpu is None:
        return host
    return Host(options.cpu, host.total_bytes, host.available_bytes)


def _memory_and_cpu() -> Machine:
    """Read what a plan needs of the host; no program is run."""
    from app.probes import cpu, memory
    from app.probes.host import RealHost

    host = RealHost()
    return Machine(facts=facts.join((memory.PROBE.read(host), cpu.PROBE.read(host))))


def _this_one(options: Namespace) -> Computer:
    from app.probes.host import RealHost
    from app.work.kept_facts import with_kept
    from app.work.machine_reader import read_machine
    from app.work.settings import LLAMA_FOLDER, Settings

    folder = options.llama_bin or Settings().get(LLAMA_FOLDER)
    machine = with_kept(read_machine(RealHost(), (folder,) if folder else ()))
    notes: tuple[str, ...] = ()
    if not machine.devices:
        if machine.devices_source:
            notes = ("llama.cpp lists no device here; this plan is for system memory alone.",)
        else:
            notes = (
                "No llama.cpp program was found to list the devices; this plan is for system "
                "memory alone. Describe a device with --device-free.",
            )
    if options.no_device:
        return Computer((), _host(machine, options), builds.of_machine(machine), (), machine)
    build = builds.of_machine(machine)
    return Computer(machine.devices, _host(machine, options), build, notes, machine)
