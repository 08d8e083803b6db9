"""Tokens per second of a placement: from rates, from r, from bandwidths, or why not."""

from dataclasses import replace

import pytest

from app.core import facts, pace
from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence
from app.core.expectation import expectations
from app.core.forecast import forecast, measured_r
from app.core.machine import CpuKind, Device, DeviceKind, Host, Machine
from app.core.pace import Pace, basis_of, pace_of
from app.core.placement import place, prepare
from app.core.reading import Estimate
from app.core.request import LoadRequest
from app.core.units import GIB
from tests.core.small_models import llama
from tests.core.test_expectation import CARD, run

MODEL = llama()
PREPARED = prepare(MODEL)
HOST = Host(CpuKind.AVX2, 64 * GIB, 60 * GIB)
BARE = Machine(devices=(CARD,))
BANDWIDTHS = replace(
    BARE,
    facts=(
        facts.known("device.CUDA0.bandwidth", 500_000_000_000, source="table", unit="bytes/s"),
        facts.known("memory.bandwidth", 80_000_000_000, source="modules", unit="bytes/s"),
        facts.known("memory.total", 64 * GIB, source="test", unit="bytes"),
    ),
)
R = Estimate.typed(9.0)


def paced(
    ngl: int,
    *runs: BenchRun,
    machine: Machine = BARE,
    r: Estimate | None = None,
    request: LoadRequest | None = None,
) -> Pace:
    """Return the rates of a position of the slider; the model has 4 blocks and an output layer."""
    asked = request or LoadRequest(ngl=ngl, ctx=4096)
    basis = basis_of(
        MODEL, machine, runs=runs, devices=machine.devices, host=HOST, request=asked, r=r
    )
    placed = place(PREPARED, machine.devices, HOST, asked)
    return pace_of(basis, placed)


def test_is_the_line_between_both_measured_ends() -> None:
    found = paced(3, run(0, 10.0), run(99, 90.0)).generation
    assert found is not None
    # half of the bytes and 2 of 5 layers: S = 1 + 0.475 x 8 = 4.8
    assert found.value == pytest.approx(90 / 4.8, rel=0.02)
    # 10 % for the law, and the intervals of both ends
    assert found.low == pytest.approx(found.value * 0.9, rel=0.02)
    assert found.high == pytest.approx(found.value * 1.1, rel=0.02)
    assert "your runs with" in found.source


def test_an_end_that_was_measured_is_its_own_interval() -> None:
    found = paced(99, run(0, 10.0), run(99, 90.0)).generation
    assert found is not None
    assert found.value == pytest.approx(90, rel=0.001)
    assert found.high - found.low < 3


def test_slowdown_line_and_rate_are_one_number() -> None:
    ends = run(0, 10.0, spread=0.0001), run(99, 90.0, spread=0.0001)
    evidence = Evidence(model=MODEL, machine=BARE, runs=(run(3, 18.0),), history=ends)
    (expected,) = expectations(evidence)
    r = measured_r(ends, 5)
    slowdown = forecast(replace(evidence, request=LoadRequest(ngl=3)), r).prediction.slowdown
    rate = paced(3, *ends).generation
    assert slowdown is not None and rate is not None and expected.slowdown is not None
    assert slowdown.value == pytest.approx(expected.slowdown.value, rel=0.005)
    assert 90 / rate.value == pytest.approx(slowdown.value, rel=0.005)


def test_a_device_end_and_r_give_the_positions_below_it() -> None:
    found = paced(3, run(99, 90.0), r=R).generation
    assert found is not None
    assert found.value == pytest.approx(90 / 4.8, rel=0.02)
    assert "measured here with all layers" in found.source


def test_never_goes_from_the_host_end_towards_the_device() -> None:
    found = paced(3, run(0, 10.0), r=R)
    assert found.generation is None
    assert "bandwidths of described devices" in found.generation_why or (
        "is not known" in found.generation_why
    )


def test_bandwidths_give_a_wide_range() -> None:
    found = paced(99, machine=BANDWIDTHS).generation
    placed = place(PREPARED, (CARD,), HOST, LoadRequest(ngl=99, ctx=4096))
    assert found is not None
    assert found.value == pytest.approx(0.7 * 500e9 / placed.reads.total_bytes, rel=0.001)
    assert found.low == pytest.approx(0.75 * found.value, rel=0.001)
    assert found.high == pytest.approx(1.25 * found.value, rel=0.001)
    part = paced(3, machine=BANDWIDTHS, r=R).generation
    assert part is not None
    assert part.low < 0.75 * part.value and part.high > 1.25 * part.value
    assert "CUDA0's bandwidth" in part.source and "system memory's bandwidth" in part.source


def test_two_devices_take_the_sum_of_their_times() -> None:
    second = replace(CARD, id="CUDA1")
    rate = facts.known("device.CUDA1.bandwidth", 250_000_000_000, source="table", unit="bytes/s")
    machine = replace(BANDWIDTHS, devices=(CARD, second), facts=(*BANDWIDTHS.facts, rate))
    asked = LoadRequest(ctx=4096, tensor_split=(1.0, 1.0))
    found = paced(99, machine=machine, request=asked).generation
    placed = place(PREPARED, machine.devices, HOST, asked)
    first, last = placed.reads.device_bytes
    assert found is not None and first and last
    seconds = first / (0.7 * 500e9) + last / (0.7 * 250e9)
    assert found.value == pytest.approx(1 / seconds, rel=0.001)


@pytest.mark.parametrize(
    ("device", "r", "says"),
    [
        (replace(CARD, is_integrated=True), None, "shares the system memory"),
        (CARD, Estimate.typed(2.0), "With r below 2.5"),
    ],
)
def test_refuses_where_the_law_does_not_hold(device: Device, r: Estimate | None, says: str) -> None:
    machine = replace(BANDWIDTHS, devices=(device,))
    assert says in paced(3, machine=machine, r=r).generation_why
    assert paced(99, machine=machine, r=r).generation is not None


def test_has_no_rate_when_it_does_not_fit() -> None:
    small = replace(BARE, devices=(replace(CARD, free_bytes=GIB // 4),))
    found = paced(99, run(0, 10.0), run(99, 90.0), machine=small)
    assert found.generation is None and found.prompt is None
    assert "does not fit on CUDA0" in found.prompt_why


def test_a_prompt_slows_by_the_weights_that_are_copied() -> None:
    ends = run(0, 200.0, test=Test.PROMPT, n=512), run(99, 2000.0, test=Test.PROMPT, n=512)
    found = paced(3, *ends)
    assert found.generation is None
    assert found.prompt is not None and found.prompt_time is not None
    # the seconds are linear in the bytes on the host: about half of them here
    share = (1 / found.prompt.value - 1 / 2000) / (1 / 200 - 1 / 2000)
    assert share == pytest.approx(0.5, abs=0.02)
    assert found.prompt.low == pytest.approx(found.prompt.value * 0.86, rel=0.02)
    assert found.prompt_time.value == pytest.approx(pace.PROMPT_TOKENS / found.prompt.value)


def test_a_prompt_over_a_known_link_needs_the_device_end_alone() -> None:
    linked = replace(
        BARE,
        facts=(
            facts.known("gpu.0.name", "card", source="test"),
            facts.known("gpu.0.memory_total", 24 * GIB, source="test", unit="bytes"),
            facts.known("gpu.0.pcie_generation_max", 4, source="test"),
            facts.known("gpu.0.pcie_width", 16, source="test", unit="lanes"),
        ),
    )
    end = run(99, 2000.0, test=Test.PROMPT, n=512)
    found = paced(3, end, machine=linked).prompt
    placed = place(PREPARED, (CARD,), HOST, LoadRequest(ngl=3, ctx=4096))
    copied = sum(layer.host_weights_bytes for layer in placed.layers)
    assert found is not None and copied
    assert found.value == pytest.approx(
        512 / (512 / 2000 + copied / (0.5 * 16 * 1.969e9)), rel=0.01
    )
    assert "PCIe 4 with 16 lanes" in found.source
    assert "measure it" in paced(3, end).prompt_why


def test_takes_no_run_of_another_cache_or_of_a_busy_machine() -> None:
    other = run(0, 10.0, type_k="q8_0"), run(99, 90.0, type_k="q8_0")
    assert paced(3, *other).generation is None
    busy = run(0, 10.0, busy="load 4"), run(99, 90.0, busy="load 4")
    assert paced(3, *busy).generation is None


def test_described_devices_have_no_measured_rates() -> None:
    described = replace(CARD, id="CUDA7")
    asked = LoadRequest(ngl=99, ctx=4096)
    basis = basis_of(
        MODEL, BARE, runs=(run(99, 90.0),), devices=(described,), host=HOST, request=asked, r=None
    )
    assert not basis.generation


def test_experts_of_a_model_larger_than_the_card_need_two_measured_points() -> None:
    tiny = replace(CARD, total_bytes=GIB // 4, free_bytes=None, kind=DeviceKind.CUDA)
    machine = replace(BANDWIDTHS, devices=(tiny,))
    asked = LoadRequest(ctx=4096, n_cpu_ffn=3)
    assert "larger than the devices" in paced(99, machine=machine, request=asked).generation_why
