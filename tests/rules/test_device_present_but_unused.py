"""A device that holds no weights is told from the buffers, whatever the offload line says."""

from dataclasses import replace

import pytest

from app.core import facts
from app.core.evidence import Evidence
from app.core.log import Fact, Role
from app.core.machine import Machine
from app.core.request import LoadRequest
from app.core.rule import Certainty
from app.rules.device_present_but_unused import check, needs, silent
from tests.rules import made

ON_HOST = (
    made.buffer("AMX", Role.WEIGHTS, 213.91, 143),
    made.buffer("CPU_Mapped", Role.WEIGHTS, 235.16, 144),
)
LIST = made.listed("CUDA0")
LLVMPIPE = made.listed("Vulkan0", "llvmpipe (LLVM 15.0.6, 256 bits)", 2048, line=5)


def test_names_the_device_when_no_buffer_is_on_it() -> None:
    told = made.story(made.offloaded(19, 19), buffers=ON_HOST)
    request = LoadRequest(use_devices=False, ngl=99, ctx=4096)
    finding = check(made.seen(told, LIST, request=request))
    assert finding is not None
    assert "CUDA0" in finding.cause and "Nothing is on the GPU" in finding.cause
    assert "“offloaded 19/19 layers to GPU” repeats the request" in finding.cause
    assert [c.line for c in finding.cites] == [4, 143, 144, 140]
    assert finding.fix.text.startswith("Remove --device none")
    assert finding.fix.command == "llama-server -m /models/m.gguf -c 4096"


def test_names_the_layer_setting_when_it_is_zero() -> None:
    told = made.story(made.offloaded(0, 19), buffers=ON_HOST)
    finding = check(made.seen(told, LIST))
    assert finding is not None
    assert "-ngl 0" in finding.fix.text
    assert "repeats the request" not in finding.cause


def test_leaves_it_as_it_is_when_every_device_is_software() -> None:
    told = made.story(made.offloaded(19, 19), buffers=ON_HOST, devices=("Vulkan0",))
    request = LoadRequest(use_devices=False, ngl=99)
    finding = check(made.seen(told, LLVMPIPE, request=request))
    assert finding is not None
    assert "Nothing is on the GPU" in finding.cause
    assert finding.fix.text.startswith("Leave it as it is")
    assert "--device none" not in finding.fix.text
    assert (finding.fix.command, finding.fix.change) == ("", ())


def test_removes_the_setting_when_one_of_two_devices_is_software() -> None:
    told = made.story(made.offloaded(19, 19), buffers=ON_HOST, devices=("CUDA0", "Vulkan0"))
    request = LoadRequest(use_devices=False, ngl=99)
    finding = check(made.seen(told, LIST, LLVMPIPE, request=request))
    assert finding is not None
    assert finding.fix.text.startswith("Remove --device none")
    assert dict(finding.fix.change) == {"use_devices": True, "ngl": None}


def test_is_silent_when_a_device_holds_weights() -> None:
    on_both = (*ON_HOST, made.buffer("CUDA0", Role.WEIGHTS, 65.16, 145))
    evidence = made.seen(made.story(made.offloaded(19, 19), buffers=on_both), LIST)
    assert check(evidence) is None
    assert needs(evidence) == ""
    assert silent(evidence) == "65.16 MiB of weights are on a device"


def test_is_silent_when_the_fit_moved_all_layers_off() -> None:
    short = made.event(Fact.FIT_SHORT, 30, "cannot meet free memory target", need_mib=42)
    told = made.story(short, made.offloaded(0, 19), buffers=ON_HOST)
    assert check(made.seen(told, LIST)) is None


def test_is_silent_when_no_device_is_listed() -> None:
    told = made.story(made.offloaded(19, 19), buffers=ON_HOST, devices=())
    assert check(made.seen(told)) is None


def test_is_not_checked_when_the_log_hides_the_placement() -> None:
    told = made.story(note="This log does not show placement. Run it again with -lv 4.")
    evidence = made.seen(told, LIST)
    assert check(evidence) is None
    assert "-lv 4" in needs(evidence)


def test_tells_a_device_by_its_compute_buffer_when_none_is_listed() -> None:
    told = made.story(
        made.offloaded(0, 29),
        buffers=(
            made.buffer("CPU_Mapped", Role.WEIGHTS, 14526, 9),
            made.buffer("CUDA0", Role.COMPUTE, 1480, 12),
        ),
        devices=None,
    )
    finding = check(made.seen(told))
    assert finding is not None and finding.certainty is Certainty.PROVEN
    assert "CUDA0" in finding.cause


def test_is_silent_when_no_gpu_is_in_the_computer_and_none_was_asked_for() -> None:
    told = made.story(
        made.offloaded(0, 29),
        buffers=(made.buffer("CPU_Mapped", Role.WEIGHTS, 14526, 9),),
        devices=None,
    )
    bare = Machine(facts=(facts.known("os.name", "Linux", source="test"),))
    assert check(replace(made.seen(told), machine=bare)) is None


@pytest.mark.parametrize(("version", "is_found"), [("3902", True), ("7000", False)])
def test_knows_builds_that_take_no_layer_by_themselves(version: str, is_found: bool) -> None:
    card = Machine(facts=(facts.known("gpu.0.name", "NVIDIA A100", source="test"),))
    evidence = Evidence(
        machine=card, request=LoadRequest(), runtime="llama.cpp", runtime_version=version
    )
    finding = check(evidence)
    assert (finding is not None) is is_found
    assert check(replace(evidence, request=LoadRequest(ngl=20))) is None
