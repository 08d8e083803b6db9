"""What llama.cpp's programs print about themselves, in the forms of several years."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.machine import DeviceKind
from app.core.units import MIB
from app.runtimes import llama_outputs
from app.runtimes.llama_outputs import Version, parse_devices, parse_help, parse_version
from tests.runtimes import data

TWO_BACKENDS = """load_backend: loaded CUDA backend from /opt/libggml-cuda.so
ggml_cuda_init: found 1 CUDA devices:
  Device 0: NVIDIA GeForce RTX 4090, compute capability 8.9, VMM: yes
Available devices:
  CUDA0: NVIDIA GeForce RTX 4090 (24081 MiB, 22908 MiB free)
  Vulkan0: NVIDIA GeForce RTX 4090 (24564 MiB, 23000 MiB free)
  RPC0: 192.168.1.20:50052 (16000 MiB, 15000 MiB free)
  MTL0: Apple M4 Max (110100 MiB, 110100 MiB free)
  ROCm0: AMD Radeon RX 7900 XTX (24560 MiB, 24000 MiB free)
  SYCL0: Intel(R) Arc(TM) A770 Graphics (15473 MiB, 15473 MiB free)
  BLAS: Accelerate (0 MiB, 0 MiB free)
  WebGPU: something new (4096 MiB, 4096 MiB free)
"""


@pytest.mark.parametrize(
    ("help_file", "table"),
    [
        ("b11434-llama-server-help.txt", "flags-llama-server-11434.txt"),
        ("b11434-llama-bench-help.txt", "flags-llama-bench-11434.txt"),
        ("b10434-llama-server-help.txt", "flags-llama-server-10434.txt"),
    ],
)
def test_reads_every_flag_of_a_help_and_no_other(help_file: str, table: str) -> None:
    names = {name for flag in parse_help(data(help_file)) for name in flag.names}
    rows = [row for row in data(table).splitlines() if not row.startswith("#")]
    expected = {name for row in rows for name in row.split("\t")[1].split(",")}
    assert len(expected) > 80
    assert names == expected


def test_tells_a_switch_from_a_flag_with_a_value() -> None:
    flags = {
        name: flag
        for flag in parse_help(data("b11434-llama-server-help.txt"))
        for name in flag.names
    }
    assert flags["-fa"].value == "[on|off|auto]"
    assert flags["--swa-full"].value == ""
    old = "-fa,   --flash-attn                      enable Flash Attention (default: disabled)\n"
    assert parse_help(old)[0].names == ("-fa", "--flash-attn")
    assert parse_help(old)[0].value == ""


def test_reads_no_device_and_no_list_apart() -> None:
    assert parse_devices(data("b11434-list-devices-none.txt"), source="x") == ()
    assert parse_devices("error: unknown argument: --list-devices\n", source="x") is None
    assert parse_devices("", source="x") is None


def test_reads_a_device_whose_name_has_parentheses() -> None:
    devices = parse_devices(data("b10434-llama-server-list-devices-vulkan.log"), source="x")
    assert devices is not None and len(devices) == 1
    device = devices[0]
    assert (device.id, device.kind) == ("Vulkan0", DeviceKind.VULKAN)
    assert device.description == "llvmpipe (LLVM 15.0.6, 256 bits)"
    assert (device.total_bytes, device.free_bytes) == (2048 * MIB, 2048 * MIB)
    assert device.is_software
    assert device.max_buffer_bytes == 128 * MIB


def test_reads_a_device_on_another_computer() -> None:
    devices = parse_devices(data("b11434-list-devices-rpc.log"), source="x")
    assert devices and devices[0].kind is DeviceKind.RPC
    assert not devices[0].is_software


def test_reads_each_backend_past_noise_and_leaves_out_what_holds_no_layers() -> None:
    devices = parse_devices(TWO_BACKENDS, source="x")
    assert devices is not None
    assert [(device.id, device.kind) for device in devices] == [
        ("CUDA0", DeviceKind.CUDA),
        ("Vulkan0", DeviceKind.VULKAN),
        ("RPC0", DeviceKind.RPC),
        ("MTL0", DeviceKind.METAL),
        ("ROCm0", DeviceKind.ROCM),
        ("SYCL0", DeviceKind.SYCL),
        ("WebGPU", DeviceKind.OTHER),
    ]
    assert devices[0].free_bytes == 22908 * MIB
    assert devices[3].is_integrated is True
    assert devices[0].is_integrated is None


@pytest.mark.parametrize(
    ("text", "version"),
    [
        (data("b11434-version.txt"), Version("build 11434", 11434)),
        # build 1: made from an archive, "very old" would be wrong
        (data("b10434-version.txt"), Version("0.1.0-dev, commit 7e4c0a9", None)),
        ("version: 6123 (79c1160b)\nbuilt with cc for x86_64\n", Version("build 6123", 6123)),
        ("version: 0 (unknown)\n", Version("commit unknown", None)),
        ("load_backend: loaded CPU\nversion: 4589 (eb7cf15a)\n", Version("build 4589", 4589)),
        ("", None),
        ("ollama version is 0.33.0\n", None),
    ],
)
def test_reads_the_version_of_several_years(text: str, version: Version | None) -> None:
    assert parse_version(text) == version


@given(st.text(max_size=400), st.integers(0, 80))
def test_survives_any_text_and_any_cut(text: str, cut: int) -> None:
    for whole in (text, TWO_BACKENDS[: -cut or None] + text, data("b11434-version.txt")[:cut]):
        parse_version(whole)
        for device in parse_devices(whole, source="x") or ():
            assert device.id and device.total_bytes != 0
        for flag in parse_help(whole):
            assert all(name.startswith("-") for name in flag.names)


def test_kind_is_other_for_a_backend_that_is_not_known() -> None:
    assert llama_outputs.kind_of("OpenCL0") is DeviceKind.OTHER
    assert llama_outputs.kind_of("CUDA12") is DeviceKind.CUDA
