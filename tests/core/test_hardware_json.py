"""The hardware document: the contract of product.md, and no zero for what is missing."""

import json

from app.core import facts
from app.core.hardware_json import hardware_json
from app.core.machine import (
    Device,
    DeviceKind,
    LoadedModel,
    Machine,
    Program,
    Runtime,
)
from app.core.reading import State

MACHINE = Machine(
    facts=(
        facts.known("memory.total", 1024, source="/proc/meminfo", unit="bytes"),
        facts.known("cpu.instruction_sets", ("avx", "avx2"), source="/proc/cpuinfo"),
        facts.missing("swap.total", State.ABSENT, source="x", reason="none", unit="bytes"),
    ),
    devices=(Device("CUDA0", DeviceKind.CUDA, "RTX", 100, None, "y"),),
    runtimes=(
        Runtime(
            id="llama.cpp",
            title="llama.cpp",
            folder="/opt",
            version="build 11434",
            build=11434,
            programs=(Program("llama-server", "/opt/llama-server"),),
            source="PATH",
            loaded=(LoadedModel("m", 10, 5, 4096),),
        ),
    ),
    devices_source="y",
    skipped=("z",),
)


def test_names_its_schema_and_each_fact_with_state_and_source() -> None:
    document = json.loads(json.dumps(hardware_json(MACHINE)))
    assert document["schema"] == "slowscope.hardware/1"
    assert document["facts"] == [
        {
            "path": "memory.total",
            "value": 1024,
            "unit": "bytes",
            "source": "/proc/meminfo",
            "state": "known",
            "reason": "",
            "doubt": "",
        },
        {
            "path": "cpu.instruction_sets",
            "value": ["avx", "avx2"],
            "unit": "",
            "source": "/proc/cpuinfo",
            "state": "known",
            "reason": "",
            "doubt": "",
        },
        {
            "path": "swap.total",
            "value": None,
            "unit": "bytes",
            "source": "x",
            "state": "absent",
            "reason": "none",
            "doubt": "",
        },
    ]


def test_lists_devices_and_runtimes_in_bytes() -> None:
    document = json.loads(json.dumps(hardware_json(MACHINE)))
    (device,) = document["devices"]
    assert (device["id"], device["kind"]) == ("CUDA0", "cuda")
    assert (device["total_bytes"], device["free_bytes"]) == (100, None)
    (runtime,) = document["runtimes"]
    assert runtime["programs"] == [{"name": "llama-server", "path": "/opt/llama-server"}]
    assert runtime["loaded"] == [
        {"name": "m", "bytes": 10, "device_bytes": 5, "ctx": 4096, "settings": []}
    ]
    assert document["skipped"] == ["z"]
