"""Reads what llama.cpp's programs print about themselves: version, options, devices."""

import re
from dataclasses import dataclass

from app.core.machine import Device, DeviceKind, Flag
from app.core.units import MIB

_DEVICE = re.compile(r"^\s+(\S{1,80}): (.{0,400}) \((\d{1,12}) MiB, (\d{1,12}) MiB free\)\s*$")
_VERSION_NEW = re.compile(r"^version: (\S{1,60}) \(build (\d{1,9}), commit (\S{1,60})\)", re.M)
_VERSION_OLD = re.compile(r"^version: (\d{1,9}) \((\S{1,60})\)", re.M)
# an option starts at column 0 (llama-server) or after two spaces (llama-bench, which leaves the
# comma out between -ot and --override-tensor, build 11434)
_NAME = r"-{1,2}[A-Za-z][\w.-]*"
_OPTION = re.compile(rf"^ {{0,2}}({_NAME}(?:,? +{_NAME})*)(?: (\S.*?))?(?:  | \(default|$)")
_KINDS = {
    "CUDA": DeviceKind.CUDA,
    "ROCm": DeviceKind.ROCM,
    "Vulkan": DeviceKind.VULKAN,
    "MTL": DeviceKind.METAL,
    "Metal": DeviceKind.METAL,
    "SYCL": DeviceKind.SYCL,
    "RPC": DeviceKind.RPC,
}
_SOFTWARE = ("llvmpipe", "swiftshader", "lavapipe", "basic render")
# maxStorageBufferRange of Mesa's lavapipe, 1 << 27; placement.md section 1.5 saw tensors above
# it refused
_LLVMPIPE_BUFFER = 128 * MIB
_MAX_LINES = 5000


@dataclass(frozen=True, slots=True)
class Version:
    """What --version says; build None = not known, 0 and 1 stand for a build from an archive."""

    text: str
    build: int | None


def parse_version(output: str) -> Version | None:
    """Read the version in the form of 2026 and in the older one, None for anything else."""
    match = _VERSION_NEW.search(output)
    if match:
        build = int(match[2])
        text = f"build {build}" if build > 1 else f"{match[1]}, commit {match[3]}"
        return Version(text, build if build > 1 else None)
    match = _VERSION_OLD.search(output)
    if match is None:
        return None
    build = int(match[1])
    # build 0 and 1: made outside of git's history, "version unknown", not "very old"
    return Version(
        f"build {build}" if build > 1 else f"commit {match[2]}", build if build > 1 else None
    )


def parse_devices(output: str, *, source: str) -> tuple[Device, ...] | None:
    """Read --list-devices; empty for `(none)`, None when this is not such a list."""
    lines = output.splitlines()[:_MAX_LINES]
    start = next((i for i, line in enumerate(lines) if line.rstrip() == "Available devices:"), None)
    if start is None:
        return None
    found = []
    for line in lines[start + 1 :]:
        match = _DEVICE.match(line)
        if match and (device := _device(match, source)):
            found.append(device)
    return tuple(found)


def parse_help(output: str) -> tuple[Flag, ...]:
    """Read the options of --help with their placeholders."""
    found = []
    for line in output.splitlines()[:_MAX_LINES]:
        match = _OPTION.match(line.rstrip())
        if match:
            names = tuple(re.split(r",? +", match[1]))
            found.append(Flag(names, (match[2] or "")[:200]))
    return tuple(found)


def kind_of(device_id: str) -> DeviceKind:
    """Return the backend from the device's name: CUDA0, Vulkan1, MTL0, RPC0."""
    name = re.sub(r"\d+$", "", device_id)
    return _KINDS.get(name, DeviceKind.OTHER)


def _device(match: re.Match[str], source: str) -> Device | None:
    total, free = int(match[3]) * MIB, int(match[4]) * MIB
    kind = kind_of(match[1])
    if kind is DeviceKind.OTHER and not total:
        return None  # BLAS and its like: they compute, but hold no layers
    is_software = any(word in match[2].lower() for word in _SOFTWARE) or match[2] == "CPU"
    return Device(
        id=match[1],
        kind=kind,
        description=match[2],
        total_bytes=total or None,
        free_bytes=free if total else None,
        source=source,
        max_buffer_bytes=_LLVMPIPE_BUFFER if "llvmpipe" in match[2].lower() else None,
        is_software=is_software,
        is_integrated=True if kind is DeviceKind.METAL else None,
    )
