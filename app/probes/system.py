"""Operating system, kernel, WSL and container: where everything else runs."""

import re

from app.core import facts
from app.core.host import Host
from app.core.machine import MachineFact
from app.core.probe import Probe
from app.core.reading import State

_OSRELEASE = "/proc/sys/kernel/osrelease"


def read(host: Host) -> tuple[MachineFact, ...]:
    """Return os.* facts."""
    basics = host.basics()
    found = [_name(host, basics.os_name, basics.source)]
    if basics.arch:
        found.append(facts.known("os.arch", basics.arch, source=basics.source))
    if host.platform() != "linux":
        return tuple(found)
    kernel = (host.read_text(_OSRELEASE) or "").strip()
    if kernel:
        found.append(facts.known("os.kernel", kernel, source=_OSRELEASE))
    else:
        found.append(_no_file("os.kernel", _OSRELEASE))
    found.extend(_wsl(host, kernel))
    found.append(_container(host))
    return tuple(found)


def os_release_name(text: str) -> str | None:
    """Return PRETTY_NAME of an os-release file."""
    match = re.search(r"^PRETTY_NAME=[\"']?(.+?)[\"']?\s*$", text, re.MULTILINE)
    return match[1][:200] if match else None


def _name(host: Host, basic_name: str | None, basic_source: str) -> MachineFact:
    if basic_name:
        return facts.known("os.name", basic_name, source=basic_source)
    for path in ("/etc/os-release", "/usr/lib/os-release"):
        name = os_release_name(host.read_text(path) or "")
        if name:
            return facts.known("os.name", name, source=path)
    return _no_file("os.name", "/etc/os-release")


def _wsl(host: Host, kernel: str) -> list[MachineFact]:
    # "microsoft" in WSL2's kernel, "Microsoft" in WSL1's (hardware.md section 7)
    if "microsoft" not in kernel.lower():
        return [facts.known("os.is_wsl", False, source=_OSRELEASE)]
    version = 1 if "Microsoft" in kernel else 2
    found = [
        facts.known("os.is_wsl", True, source=_OSRELEASE),
        facts.known("os.wsl_version", version, source=_OSRELEASE),
    ]
    if "dxg" not in host.list_dir("/dev"):
        reason = "/dev/dxg is not there: Windows' graphics card is not passed to WSL"
        found.append(facts.missing("os.wsl_gpu", State.ABSENT, source="/dev", reason=reason))
    return found


def _container(host: Host) -> MachineFact:
    if host.is_file("/run/.containerenv"):
        return facts.known("os.container", "podman", source="/run/.containerenv")
    if host.is_file("/.dockerenv"):
        return facts.known("os.container", "docker", source="/.dockerenv")
    variable = host.env().get("container", "")
    if variable:
        return facts.known("os.container", variable[:40], source="variable container")
    cgroup = host.read_text("/proc/self/cgroup") or ""
    for word in ("kubepods", "docker", "lxc", "libpod"):
        if word in cgroup:
            return facts.known("os.container", word, source="/proc/self/cgroup")
    reason = "no sign of a container"
    return facts.missing("os.container", State.ABSENT, source="/run, /.dockerenv", reason=reason)


def _no_file(path: str, file: str) -> MachineFact:
    return facts.missing(path, State.MISSING, source=file, reason=f"{file} cannot be read")


PROBE = Probe("operating system", read)
