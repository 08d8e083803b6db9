"""Operating system, WSL and container."""

import pytest

from app.core import facts
from app.core.host import Basics
from app.core.machine import Machine
from app.core.reading import State
from app.probes import system
from tests.hosts import FakeHost, fake_host

WSL2 = "6.6.87.2-microsoft-standard-WSL2\n"
WSL1 = "4.4.0-19041-Microsoft\n"


def _machine(host: FakeHost) -> Machine:
    return Machine(facts=facts.join([system.read(host)]))


def test_names_the_system_of_a_recording() -> None:
    machine = _machine(fake_host("vm-llvmpipe"))
    assert machine.text("os.name") == "Debian GNU/Linux 12 (bookworm)"
    assert machine.text("os.arch") == "x86_64"
    assert machine.text("os.container") == "docker"
    assert machine.flag("os.is_wsl") is False


def test_tells_wsl_2_from_wsl_1_and_a_missing_card() -> None:
    path = "/proc/sys/kernel/osrelease"
    machine = _machine(FakeHost(files={path: WSL2}))
    assert machine.flag("os.is_wsl") is True
    assert machine.number("os.wsl_version") == 2
    fact = machine.fact("os.wsl_gpu")
    assert fact and fact.reading.state is State.ABSENT and "not passed" in fact.reading.reason
    assert _machine(FakeHost(files={path: WSL1})).number("os.wsl_version") == 1
    passed = FakeHost(files={path: WSL2}, folders={"/dev": ("dxg", "null")})
    assert _machine(passed).fact("os.wsl_gpu") is None


@pytest.mark.parametrize(
    ("host", "name"),
    [
        (FakeHost(files={"/run/.containerenv": ""}), "podman"),
        (FakeHost(env={"container": "flatpak"}), "flatpak"),
        (FakeHost(files={"/proc/self/cgroup": "0::/kubepods.slice/pod1\n"}), "kubepods"),
        (FakeHost(), None),
    ],
)
def test_recognises_a_container(host: FakeHost, name: str | None) -> None:
    assert _machine(host).text("os.container") == name


def test_names_windows_and_macos_from_their_own_calls() -> None:
    basics = Basics(os_name="Windows 11 (10.0.26100)", arch="AMD64")
    machine = _machine(FakeHost(platform="win32", basics=basics))
    assert machine.text("os.name") == "Windows 11 (10.0.26100)"
    assert machine.fact("os.kernel") is None


def test_reads_quoted_and_bare_names() -> None:
    assert system.os_release_name('ID=arch\nPRETTY_NAME="Arch Linux"\n') == "Arch Linux"
    assert system.os_release_name("PRETTY_NAME=Void\n") == "Void"
    assert system.os_release_name("NAME=x\n") is None
