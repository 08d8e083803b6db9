"""Mach-O headers: thin, fat, and what only looks like one."""

import struct

import pytest

from app.core.host import Basics
from app.core.overview import overview
from app.runtimes import llama_cpp, mach_o
from app.work.machine_reader import read_machine
from tests.hosts import FakeHost

X86, ARM = 0x01000007, 0x0100000C
SERVER = "/usr/local/bin/llama-server"


def thin(kind: int) -> bytes:
    """Return the head of a program for one processor."""
    return b"\xcf\xfa\xed\xfe" + struct.pack("<I", kind) + b"\0" * 24


def fat(*kinds: int) -> bytes:
    """Return the head of a universal program."""
    entries = b"".join(struct.pack(">5I", kind, 0, 0, 0, 0) for kind in kinds)
    return b"\xca\xfe\xba\xbe" + struct.pack(">I", len(kinds)) + entries


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (thin(X86), ("x86_64",)),
        (thin(ARM), ("arm64",)),
        (fat(X86, ARM), ("x86_64", "arm64")),
        (thin(7), ()),
        (fat(X86, ARM)[:20], ()),
        (b"\xca\xfe\xba\xbe\0\0\0\x41" + b"\0" * 90, ()),  # a Java class
        (b"\x7fELF", ()),
        (b"", ()),
    ],
)
def test_reads_the_processors(data: bytes, found: tuple[str, ...]) -> None:
    assert mach_o.architectures(data) == found


def _host(data: bytes, arch: str) -> FakeHost:
    return FakeHost(
        platform="darwin", home="/Users/user", basics=Basics(arch=arch),
        programs={"llama-server": SERVER}, starts={SERVER: data.hex()}, sizes={SERVER: 9},
    )  # fmt: skip


def test_a_program_for_intel_on_an_apple_chip_is_said() -> None:
    host = _host(thin(X86), "arm64")
    (runtime,) = llama_cpp.installed(host)
    assert runtime.is_translated is True
    assert "Rosetta" in overview(read_machine(host)).sentences[2].text


@pytest.mark.parametrize(
    ("data", "arch"), [(fat(X86, ARM), "arm64"), (thin(ARM), "arm64"), (thin(X86), "x86_64")]
)
def test_a_program_for_this_mac_is_not_translated(data: bytes, arch: str) -> None:
    (runtime,) = llama_cpp.installed(_host(data, arch))
    assert runtime.is_translated is False
