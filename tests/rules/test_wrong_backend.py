"""A software renderer is named; it is the verdict only where there is something better."""

from dataclasses import replace

from app.core import facts
from app.core.log import Role
from app.core.machine import Machine
from app.core.request import LoadRequest
from app.core.rule import Certainty
from app.rules import device_present_but_unused
from app.rules.wrong_backend import check, silent
from tests.rules import made

SOFTWARE = made.listed("Vulkan0", "llvmpipe (LLVM 15.0.6, 256 bits)", 2048)
HELD = made.story(buffers=(made.buffer("Vulkan0", Role.WEIGHTS, 65, 143),), devices=("Vulkan0",))


def test_is_only_possible_when_there_is_nothing_else() -> None:
    finding = check(made.seen(HELD, SOFTWARE))
    assert finding is not None
    assert finding.certainty is Certainty.NOT_PROVEN
    assert "llvmpipe" in finding.cause
    assert finding.fix.command == "llama-server -m /models/m.gguf -dev none"


def test_names_the_other_device_when_one_is_listed() -> None:
    told = replace(HELD, devices_listed=("Vulkan0", "Vulkan1"))
    other = made.listed("Vulkan1", "AMD Radeon RX 7600", 8192, line=5)
    finding = check(made.seen(told, SOFTWARE, other))
    assert finding is not None
    assert finding.certainty is Certainty.LIKELY
    assert finding.fix.command == "llama-server -m /models/m.gguf -dev Vulkan1"


def test_names_the_driver_when_the_computer_has_a_gpu() -> None:
    machine = Machine(facts=(facts.known("gpu.0.name", "Radeon RX 7600", source="sysfs"),))
    finding = check(replace(made.seen(HELD, SOFTWARE), machine=machine))
    assert finding is not None
    assert "driver of Radeon RX 7600" in finding.fix.text


def test_is_silent_when_nothing_is_on_it() -> None:
    told = replace(HELD, buffers=(made.buffer("CPU_Mapped", Role.WEIGHTS, 65, 143),))
    evidence = made.seen(told, SOFTWARE)
    assert check(evidence) is None
    assert silent(evidence) == "no software renderer holds a part of the load"


def test_is_silent_when_the_device_is_a_gpu() -> None:
    told = made.story(buffers=(made.buffer("CUDA0", Role.WEIGHTS, 65, 143),))
    assert check(made.seen(told, made.listed("CUDA0"))) is None


def test_is_the_verdict_when_it_only_computes_prompts() -> None:
    told = made.story(
        made.offloaded(0, 19),
        buffers=(
            made.buffer("CPU_Mapped", Role.WEIGHTS, 235.16, 143),
            made.buffer("Vulkan0", Role.COMPUTE, 27, 150),
        ),
        devices=("Vulkan0",),
    )
    evidence = made.seen(told, SOFTWARE, request=LoadRequest(ngl=0))
    finding = check(evidence)
    assert finding is not None and finding.certainty is Certainty.LIKELY
    assert "long prompts are computed on it" in finding.cause
    assert 150 in [cite.line for cite in finding.cites]
    assert dict(finding.fix.change) == {"use_devices": False, "ngl": None}
    # the rule of a device that is not used leaves it to this one
    assert device_present_but_unused.check(evidence) is None
    assert "computes prompts" in device_present_but_unused.silent(evidence)
    # and is silent about the second load, which has no buffer there
    assert check(made.seen(replace(told, buffers=told.buffers[:1]), SOFTWARE)) is None
