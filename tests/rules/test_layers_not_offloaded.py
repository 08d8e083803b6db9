"""Fewer layers than the model has: by request, and told from the fit's own decision."""

from dataclasses import replace

import pytest

from app.core.evidence import Evidence
from app.core.log import Fact, Role
from app.core.machine import Device, DeviceKind, Machine
from app.core.request import LoadRequest
from app.core.rule import Certainty
from app.rules import room
from app.rules.layers_not_offloaded import check, needs, silent
from tests.rules import made

BUFFERS = (
    made.buffer("CUDA0", Role.WEIGHTS, 2200, 143),
    made.buffer("CPU_Mapped", Role.WEIGHTS, 2589, 144),
)
PART = made.story(made.offloaded(18, 37), buffers=BUFFERS)
LIST = made.listed("CUDA0")


def test_cites_line_and_buffers_when_a_number_was_given() -> None:
    finding = check(made.seen(PART, LIST, request=LoadRequest(ngl=18, ctx=4096)))
    assert finding is not None
    assert "18 of 37 layers are on the device. The other 19" in finding.cause
    assert [cite.line for cite in finding.cites] == [140, 143, 144]
    assert finding.certainty is Certainty.PROVEN
    assert finding.fix.command == "llama-server -m /models/m.gguf -c 4096"


def test_leaves_open_who_set_the_number_when_only_a_log_is_known() -> None:
    finding = check(made.seen(PART, LIST))
    assert finding is not None
    assert finding.title == "Part of the layers is not on the device"
    assert "If you set the number of layers yourself" in finding.fix.text


def test_number_was_set_when_the_fit_needed_no_changes() -> None:
    enough = made.event(Fact.FIT_ENOUGH, 30, "no changes needed", left_mib=1910, target_mib=1024)
    finding = check(made.seen(made.story(enough, made.offloaded(18, 37), buffers=BUFFERS), LIST))
    assert finding is not None
    assert finding.fix.text.startswith("Remove -ngl")


def test_asks_for_all_layers_when_the_build_has_no_fit() -> None:
    evidence = made.seen(replace(PART, build=6123), LIST, request=LoadRequest(ngl=18))
    finding = check(evidence)
    assert finding is not None
    assert finding.fix.command == "llama-server -m /models/m.gguf -ngl 37"


@pytest.mark.parametrize(
    "device",
    [
        Device("CUDA0", DeviceKind.CUDA, "Orin", None, None, "list", is_integrated=True),
        Device("CUDA0", DeviceKind.METAL, "Apple M4", None, None, "list"),
        Device("CUDA0", DeviceKind.VULKAN, "llvmpipe", None, None, "list", is_software=True),
    ],
)
def test_offers_no_more_layers_when_the_device_works_in_system_memory(device: Device) -> None:
    evidence = replace(made.seen(PART, LIST), machine=Machine(devices=(device,)))
    finding = check(evidence)
    assert finding is not None
    assert "Measure both ends" in finding.fix.text
    assert finding.fix.command == "llama-bench -m /models/m.gguf -ngl 0,99 -r 5"
    assert "Remove -ngl" not in finding.fix.text


def test_makes_room_first_when_not_one_more_layer_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def full(_evidence: Evidence, ngl: int) -> bool | None:
        asked.append(ngl)
        return False

    monkeypatch.setattr(room, "fits", full)
    finding = check(made.seen(replace(PART, n_ctx=32768), LIST, request=LoadRequest(ngl=18)))
    assert finding is not None and asked == [19]
    assert "Make room first" in finding.fix.text
    assert finding.fix.command == "llama-server -m /models/m.gguf -c 16384"


def test_stays_likely_when_the_log_shows_no_buffers() -> None:
    finding = check(made.seen(made.story(made.offloaded(18, 37)), LIST))
    assert finding is not None
    assert finding.certainty is Certainty.LIKELY


def test_is_silent_when_the_fit_moved_the_layers() -> None:
    short = made.event(Fact.FIT_SHORT, 30, "cannot meet free memory target", need_mib=42)
    evidence = made.seen(made.story(short, made.offloaded(12, 19), buffers=BUFFERS), LIST)
    assert check(evidence) is None
    assert "automatic fit" in silent(evidence)


def test_is_named_when_the_fit_gave_up_because_a_number_was_set() -> None:
    short = made.event(Fact.FIT_SHORT, 30, "cannot meet free memory target", need_mib=42)
    gave_up = made.event(Fact.FIT_FAILED, 31, "n_gpu_layers already set by user", reason="x")
    told = made.story(short, gave_up, made.offloaded(12, 19), buffers=BUFFERS)
    assert check(made.seen(told, LIST)) is not None


def test_is_silent_when_all_layers_were_asked_for() -> None:
    evidence = made.seen(made.story(made.offloaded(37, 37), buffers=BUFFERS), LIST)
    assert check(evidence) is None
    assert silent(evidence) == "37 of 37 layers were asked for, and weights are on the device"


def test_is_silent_when_nothing_is_on_a_device() -> None:
    on_host = made.story(made.offloaded(0, 19), buffers=BUFFERS[1:])
    assert check(made.seen(on_host, LIST)) is None
    assert needs(made.seen(on_host, LIST)) == ""
