"""A program without a device is a fault only where a device was to be expected."""

from dataclasses import replace

import pytest

from app.core import facts
from app.core.evidence import Evidence
from app.core.log import Fact
from app.core.machine import Machine
from app.core.reading import State
from app.core.request import LoadRequest
from app.core.rule import Certainty
from app.rules.no_gpu_backend import check, needs, silent
from tests.rules import made

CPU_ONLY = made.seen(made.story(devices=()), made.listed("CPU", "Intel(R) Xeon(R)", 24105))


def with_gpu(name: str) -> Machine:
    """Return a machine with one GPU by that name."""
    return Machine(facts=(facts.known("gpu.0.name", name, source="NVML"),))


@pytest.mark.parametrize(
    ("name", "build"),
    [
        ("NVIDIA GeForce RTX 4070", "CUDA"),
        ("AMD Radeon RX 7900", "ROCm"),
        ("Apple M4 GPU", "Metal"),
        ("Intel Arc B580", "Vulkan"),
    ],
)
def test_names_the_build_when_the_computer_has_a_gpu(name: str, build: str) -> None:
    finding = check(Evidence(log=CPU_ONLY.log, machine=with_gpu(name)))
    assert finding is not None
    assert finding.certainty is Certainty.PROVEN
    assert build in finding.fix.text
    assert [cite.line for cite in finding.cites] == [4, None]


def test_is_likely_when_layers_were_asked_for() -> None:
    evidence = Evidence(log=CPU_ONLY.log, machine=Machine(), request=LoadRequest(ngl=99))
    finding = check(evidence)
    assert finding is not None
    assert finding.certainty is Certainty.LIKELY
    assert "If it has none, remove -ngl" in finding.fix.text


def test_is_proven_when_the_program_says_it() -> None:
    line = made.event(Fact.NO_GPU_WARNING, 2, "warning: no usable GPU found")
    finding = check(made.seen(made.story(devices=None), line))
    assert finding is not None
    assert finding.cites[0].line == 2


def test_cites_the_empty_list_when_only_the_program_was_asked() -> None:
    machine = Machine(devices_source="llama-server --list-devices")
    finding = check(Evidence(machine=machine, request=LoadRequest(ngl=20)))
    assert finding is not None
    assert (finding.cites[0].text, finding.cites[0].source) == (
        "devices: (none)", "llama-server --list-devices",
    )  # fmt: skip


def test_is_silent_when_there_is_no_gpu_and_none_was_asked_for() -> None:
    evidence = Evidence(log=CPU_ONLY.log, machine=Machine())
    assert check(evidence) is None
    assert needs(evidence) == ""
    assert "none was asked for" in silent(evidence)


def test_is_not_checked_when_only_a_log_without_devices_is_known() -> None:
    assert check(CPU_ONLY) is None
    assert "not known from a log alone" in needs(CPU_ONLY)


def test_is_silent_when_a_device_is_listed() -> None:
    evidence = made.seen(made.story(), made.listed("CUDA0"))
    assert check(evidence) is None
    assert silent(evidence) == "the program lists CUDA0"


def test_is_not_checked_when_the_driver_did_not_answer() -> None:
    count = facts.missing("gpu.count", State.ERROR, source="NVML", reason="driver mismatch")
    evidence = Evidence(log=CPU_ONLY.log, machine=Machine(facts=(count,)))
    assert check(evidence) is None
    assert "driver mismatch" in needs(evidence)


def test_blames_no_build_for_sure_inside_a_container() -> None:
    card, docker = with_gpu("RTX 4070"), facts.known("os.container", "docker", source="test")
    bare = check(replace(CPU_ONLY, machine=card))
    inside = check(replace(CPU_ONLY, machine=replace(card, facts=(*card.facts, docker))))
    assert bare is not None and bare.certainty is Certainty.PROVEN
    assert inside is not None and inside.certainty is Certainty.LIKELY
    assert "--gpus all" in inside.fix.text
