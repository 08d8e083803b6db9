"""WSL2's own settings file, wherever Windows' drive is mounted, and whatever stands in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.machine import Machine
from app.core.reading import State
from app.core.units import GIB
from app.probes import wsl
from tests.hosts import FakeHost

KERNEL = {"/proc/sys/kernel/osrelease": "5.15.167.4-microsoft-standard-WSL2\n"}
CONFIG = "[wsl2]\nmemory=12GB\nprocessors=8\nswap=0\n\n[experimental]\nautoMemoryReclaim=gradual\n"


def _machine(files: dict[str, str]) -> Machine:
    return Machine(facts=wsl.read(FakeHost(files=KERNEL | files)))


def test_reads_the_settings_of_the_person_and_not_of_the_default() -> None:
    machine = _machine(
        {
            "/mnt/c/Users/Default/.wslconfig": "[wsl2]\nmemory=1GB\n",
            "/mnt/c/Users/user/.wslconfig": CONFIG,
        }
    )
    assert machine.number("os.wsl_memory") == 12 * GIB
    assert machine.number("os.wsl_processors") == 8
    assert machine.number("os.wsl_swap") == 0


def test_finds_the_drive_where_the_mount_root_was_changed() -> None:
    mounts = "C:\\134 /c 9p rw,noatime,aname=drvfs;path=C:\\;uid=1000 0 0\n"
    machine = _machine({"/proc/mounts": mounts, "/c/Users/user/.wslconfig": CONFIG})
    assert machine.number("os.wsl_memory") == 12 * GIB


@pytest.mark.parametrize("text", ["", "[other]\nmemory=1GB\n", "memory=1GB\n", "[wsl2\n"])
def test_a_file_without_the_section_gives_a_reason(text: str) -> None:
    fact = _machine({"/mnt/c/Users/user/.wslconfig": text}).fact("os.wsl_config")
    assert fact and fact.reading.value is None and fact.reading.reason


def test_without_the_file_the_defaults_are_named() -> None:
    fact = _machine({}).fact("os.wsl_config")
    assert fact and fact.reading.state is State.ABSENT and "half" in fact.reading.reason


def test_says_nothing_outside_of_wsl() -> None:
    assert wsl.read(FakeHost(files={"/proc/sys/kernel/osrelease": "6.11.0-generic\n"})) == ()


@pytest.mark.parametrize(
    ("text", "size"), [("8GB", 8 * GIB), ("512 mb", 512 << 20), ("1073741824", GIB), ("lots", None)]
)
def test_reads_sizes(text: str, size: int | None) -> None:
    assert wsl.size_bytes(text) == size


@given(st.text(max_size=100))
def test_reads_any_settings(text: str) -> None:
    for fact in wsl.config_facts("[wsl2]\n" + text) + wsl.config_facts(text):
        assert fact.reading.value is not None or fact.reading.reason
