"""The changes that apply, ranked by what the law says they bring; no figure without a source."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.core import tuning, ways
from app.core.evidence import Evidence
from app.core.facts import known
from app.core.folklore import folklore
from app.core.forecast import forecast
from app.core.log import BufferKind, LoadStory, LogBuffer, LogSummary, Role
from app.core.machine import Device, DeviceKind, LoadedModel, Machine, Runtime
from app.core.ranking import TRIED_BY_A_LOAD, Option, ranking
from app.core.reading import Estimate, Kind
from app.core.request import LoadRequest
from app.core.units import GIB, MIB
from tests.core.small_models import llama, mixture
from tests.core.test_expectation import run

CARD = Device("CUDA0", DeviceKind.CUDA, "card", 24 * GIB, 22 * GIB, "list", is_integrated=False)
SMALL = replace(CARD, total_bytes=12 * GIB, free_bytes=11 * GIB)
R = Estimate(8.0, 7.0, 9.0, "measured here", Kind.MEASURED)


def evidence(device: Device = CARD, *, ngl: int | None = 3, ctx: int = 4096) -> Evidence:
    """Return evidence of a load with so many of 5 layers on the device."""
    told = LoadStory(weights_on_device=True, offload_line=(5 if ngl is None else ngl, 5), n_ctx=ctx)
    return Evidence(
        model=llama(), machine=Machine(devices=(device,)),
        request=LoadRequest(ngl=ngl, ctx=ctx), log=LogSummary("log", 1, loads=(told,)),
    )  # fmt: skip


def ranked(seen: Evidence, r: Estimate | None = R) -> dict[str, Option]:
    """Return the options by id, in their order."""
    return {option.id: option for option in ranking(seen, forecast(seen, r)).options}


def test_more_layers_bring_what_the_law_says() -> None:
    found = ranked(evidence())
    more = found["more-layers"]
    assert more.gain is not None
    # 0.475 of the time is the host's: (0.525 + 0.475 x 8) / 1
    assert more.gain.value == pytest.approx(4.3, rel=0.03)
    assert more.gain.low < 3.9 and more.gain.high > 4.7
    assert "(1 − s) + s × r" in more.gain.source and "measured here" in more.gain.source
    assert more.change == (("ngl", None), ("use_devices", True))


def test_has_no_figure_without_r() -> None:
    more = ranked(evidence(), None)["more-layers"]
    assert more.gain is None and "r is not known" in more.reason


def test_has_no_figure_between_the_ends_when_r_is_small() -> None:
    more = ranked(evidence(), Estimate(2.0, 1.9, 2.1, "measured here", Kind.MEASURED))
    assert more["more-layers"].gain is None
    assert "measure" in more["more-layers"].reason


def test_offers_the_processor_where_the_device_is_slower() -> None:
    slower = Estimate(0.4, 0.35, 0.45, "measured here", Kind.MEASURED)
    found = ranked(evidence(), slower)
    assert set(found) == {"host-only"}
    assert found["host-only"].change == (("ngl", 0),)


def test_offers_no_device_at_all_where_a_software_one_still_computes_prompts() -> None:
    soft = replace(CARD, id="Vulkan0", kind=DeviceKind.VULKAN, is_software=True)
    seen = evidence(soft, ngl=0)
    scratch = LogBuffer("Vulkan0", BufferKind.DEVICE, Role.COMPUTE, 27 * MIB, 9)
    told = LoadStory(weights_on_device=False, offload_line=(0, 5), n_ctx=4096, buffers=(scratch,))
    seen = replace(seen, log=LogSummary("log", 1, loads=(told,)))
    only = ranked(seen)["host-only"]
    assert dict(only.change) == {"use_devices": False, "ngl": None}
    assert only.gain is None and "the prompt is read faster" in only.reason
    without = replace(seen, request=LoadRequest(use_devices=False, ctx=4096))
    assert "host-only" not in ranked(without)


def test_offers_no_more_layers_than_fit() -> None:
    found = ranked(evidence(SMALL, ngl=3))
    assert "more-layers" not in found


def test_a_smaller_file_of_a_whole_load_gains_by_its_bytes() -> None:
    found = ranked(evidence(ngl=None), None)
    smaller = found["smaller-quantisation"]
    assert smaller.gain is not None and smaller.change == ()
    # f16 to Q8_0: 34 bytes for 32 values instead of 64
    assert smaller.gain.value == pytest.approx(64 / 34, rel=0.05)
    assert smaller.gain.low < 1.5 and smaller.gain.high > 2.2
    assert "Quality" in smaller.cost


def test_a_shorter_context_is_offered_only_when_all_layers_then_fit() -> None:
    whole = 15 * GIB
    device = replace(CARD, total_bytes=20 * GIB, free_bytes=whole + 3 * GIB)
    found = ranked(evidence(device, ngl=4, ctx=131072))
    shorter = found["shorter-context"]
    assert dict(shorter.change)["ctx"] in (2048, 4096, 8192, 16384, 32768, 65536)
    assert shorter.gain is not None and shorter.gain.value > 1


def test_ranks_the_largest_gain_first_and_figures_before_none() -> None:
    seen = evidence()
    machine = replace(seen.machine or Machine())
    found = ranking(replace(seen, machine=machine), forecast(seen, R)).options
    gains = [option.gain.value if option.gain else 0.0 for option in found]
    assert gains == sorted(gains, reverse=True) and gains[0] > 1


def test_ranks_nothing_without_a_model() -> None:
    seen = replace(evidence(), model=None)
    assert ranking(seen, forecast(seen, R)).options == ()


def test_answers_popular_advice_with_the_reason() -> None:
    seen = evidence()
    told = {one.claim: one for one in folklore(seen, forecast(seen, R))}
    assert {1, 24, 32, 43, 46} <= set(told)
    assert 36 in told and 41 not in told  # layers are on the host: its memory matters
    whole = evidence(ngl=None)
    told = {one.claim: one for one in folklore(whole, forecast(whole, R))}
    assert 41 in told and 36 not in told
    assert all(one.advice and one.why.endswith(".") for one in told.values())


def test_answers_only_the_advice_that_people_with_this_computer_get() -> None:
    def claims(*devices: Device, build: int | None = None) -> set[int]:
        seen = evidence()
        assert seen.log is not None and seen.log.load is not None
        told = replace(seen.log, loads=(replace(seen.log.load, build=build),))
        seen = replace(seen, machine=Machine(devices=devices), log=told)
        return {one.claim for one in folklore(seen, forecast(seen, R))}

    amd = replace(CARD, id="Vulkan0", kind=DeviceKind.VULKAN, description="AMD Radeon RX 7900 XTX")
    metal = replace(CARD, id="MTL0", kind=DeviceKind.METAL, description="Apple M3")
    assert {72, 100} <= claims(CARD) and not {50, 55, 65} & claims(CARD)
    assert {50, 52} <= claims(amd) and 72 not in claims(amd)
    assert 55 in claims(metal)
    assert {65, 71} <= claims(CARD, amd)
    # the flags end a new build at its start; an older one still knows them
    assert 46 in claims(CARD, build=11434) and 44 not in claims(CARD, build=11434)
    assert 44 in claims(CARD, build=10434) and 46 not in claims(CARD, build=10434)


def test_says_what_was_looked_at_and_does_not_help() -> None:
    seen = evidence()
    told = {one.title: one.why for one in ranking(seen, forecast(seen, R)).refused}
    assert told["A smaller KV cache"] == "the cache takes no room from layers"


def test_offers_to_close_the_program_that_holds_the_card() -> None:
    # 14 GiB of weights, 11 GiB free: without the other model all layers fit
    held = LoadedModel("qwen3:8b", 6 * GIB, 6 * GIB)
    ollama = Runtime("ollama", "Ollama", "/usr", "0.33", None, (), "port", True, loaded=(held,))
    card = replace(CARD, free_bytes=11 * GIB)
    seen = evidence(card, ngl=3)
    seen = replace(seen, machine=Machine(devices=(card,), runtimes=(ollama,)))
    close = ranked(seen)["close-programs"]
    assert "Ollama with qwen3:8b (6.00 GiB) of CUDA0" in close.text
    assert "5 of 5 layers" in close.text
    assert close.gain is not None and close.gain.value > 3 and close.change == ()
    assert "close-programs" not in ranked(evidence(card, ngl=3))


def test_keeps_experts_on_the_host_before_whole_layers() -> None:
    model = mixture()
    card = replace(CARD, total_bytes=4 * GIB, free_bytes=4 * GIB)
    seen = replace(evidence(card, ngl=2), model=model)
    found = ranked(seen)["experts-on-host"]
    assert dict(found.change)["ngl"] is None
    assert found.gain is not None and found.gain.value > 1.2
    assert "experts first" in found.text and "from" in found.text


def test_offers_the_other_backend_of_the_same_card() -> None:
    vulkan = Device("Vulkan0", DeviceKind.VULKAN, "card", 24 * GIB, 22 * GIB, "list",
                    is_integrated=False)  # fmt: skip
    seen = evidence(ngl=None)
    told = (known("gpu.0.vendor", "NVIDIA", source="NVML"), known("gpu.count", 1, source="count"),
            known("gpu.0.name", "card", source="NVML"),
            known("gpu.0.memory_total", 24 * GIB, source="NVML"))  # fmt: skip
    seen = replace(
        seen,
        machine=Machine(facts=told, devices=(CARD, vulkan)),
        request=LoadRequest(ctx=4096, device_ids=("CUDA0",)),
    )
    other = ranked(seen)["other-backend"]
    assert other.change == (("device_ids", ("Vulkan0",)),) and other.gain is None
    assert "measure both" in other.text


def test_fewer_threads_have_a_figure_only_where_both_were_measured() -> None:
    told = (known("cpu.physical", 8, source="/proc/cpuinfo"),)
    seen = evidence()
    seen = replace(
        seen, machine=Machine(facts=told, devices=(CARD,)),
        request=LoadRequest(ngl=3, ctx=4096, threads=16), runs=(run(3, 10.0, n_threads="16"),),
    )  # fmt: skip
    assert ranked(seen)["fewer-threads"].gain is None
    seen = replace(seen, history=(run(3, 14.0, n_threads="8"),))
    found = ranked(seen)["fewer-threads"].gain
    assert found is not None and found.value == pytest.approx(1.4)
    assert found.kind is Kind.MEASURED


def test_offers_no_part_of_a_device_that_works_in_system_memory() -> None:
    shared = replace(CARD, total_bytes=12 * GIB, free_bytes=11 * GIB, is_integrated=True)
    found = ranking(evidence(shared, ngl=1), forecast(evidence(shared, ngl=1), R))
    assert "more-layers" not in [option.id for option in found.options]
    told = {one.title: one.why for one in found.refused}
    assert "slower than either end" in told["More layers on the device"]


def test_offers_the_processor_instead_of_a_software_device() -> None:
    software = replace(CARD, id="Vulkan0", kind=DeviceKind.VULKAN, is_software=True)
    found = ranked(evidence(software, ngl=None), None)
    assert found["host-only"].gain is None and "no GPU" in found["host-only"].text


def test_every_change_that_a_load_can_try_has_its_name_listed() -> None:
    sources = [ways.__file__, tuning.__file__]
    text = "".join(Path(str(source)).read_text(encoding="utf-8") for source in sources)
    assert all(f'"{name}"' in text for name in TRIED_BY_A_LOAD)
    for found in (ranked(evidence()), ranked(evidence(ngl=None), None)):
        assert {o.id for o in found.values() if o.change} <= set(TRIED_BY_A_LOAD)
