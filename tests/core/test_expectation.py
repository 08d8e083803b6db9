"""Predicted beside measured: a line between measured placements, and what is off it."""

from dataclasses import replace

import pytest

from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence
from app.core.expectation import Judgement, expectations
from app.core.machine import Device, DeviceKind, Machine
from app.core.slowdown_line import line_of
from app.core.units import GIB
from tests.core.small_models import llama

CARD = Device("CUDA0", DeviceKind.CUDA, "card", 24 * GIB, 22 * GIB, "list", is_integrated=False)
REMOTE = replace(CARD, id="RPC0", kind=DeviceKind.RPC)
MACHINE = Machine(devices=(CARD,))


def run(ngl: int, tps: float, *, test: Test = Test.GENERATION, n: int = 128, busy: str = "",
        spread: float = 0.005, **more: str) -> BenchRun:  # fmt: skip
    """Return a rate of a placement; its interval is narrow."""
    settings = (("n_gpu_layers", str(ngl)), ("n_threads", "8"), *more.items())
    samples = (tps * (1 - spread), tps, tps * (1 + spread))
    return BenchRun(test, n, samples, "llama-bench", settings, build="11434", busy=busy,
                    model_name="llama.gguf", run_id=f"{test}{ngl}{tps}{more}")  # fmt: skip


def evidence(own: BenchRun, *history: BenchRun, machine: Machine = MACHINE) -> Evidence:
    """Return evidence of one run with earlier ones; the model has 4 blocks and an output layer."""
    return Evidence(model=llama(), machine=machine, runs=(own,), history=history)


def test_predicts_the_middle_from_both_ends() -> None:
    # half of the bytes and 2 of 5 layers: 0.75 x 0.5 + 0.25 x 0.4; S = 0.525 + 0.475 x 9 = 4.8
    (found,) = expectations(evidence(run(3, 18.2), run(0, 10.0), run(99, 90.0)))
    assert found.predicted is not None and found.slowdown is not None
    assert found.predicted.value == pytest.approx(90 / 4.8, rel=0.02)
    assert found.slowdown.value == pytest.approx(4.8, rel=0.02)
    # both ends measured, a dense model of more than 2 GB per token: 10 % (slowdown.md section 4)
    assert 17.5 > found.predicted.low > 16 and 20 < found.predicted.high < 22
    assert found.r is not None and found.r.value == pytest.approx(9.0, rel=0.01)
    assert found.measured_slowdown is not None
    assert found.measured_slowdown.value == pytest.approx(90 / 18.2, rel=0.01)
    assert found.judgement is Judgement.AS_PREDICTED
    assert "explains it" in found.sentence


def test_names_a_second_fault_when_it_is_slower_than_predicted() -> None:
    (found,) = expectations(evidence(run(3, 9.0), run(0, 10.0), run(99, 90.0)))
    assert found.judgement is Judgement.SLOWER
    assert "second fault" in found.sentence and "2.0" in found.sentence


def test_does_not_trust_its_own_line_when_it_is_faster() -> None:
    (found,) = expectations(evidence(run(3, 40.0), run(0, 10.0), run(99, 90.0)))
    assert found.judgement is Judgement.FASTER
    assert "Measure them again" in found.sentence


def test_says_nothing_below_fifteen_per_cent() -> None:
    own = run(3, 90 / 4.8 * 0.87, spread=0.0001)
    (found,) = expectations(evidence(own, run(0, 10.0), run(99, 90.0)))
    assert found.judgement is Judgement.AS_PREDICTED


def test_never_goes_from_the_host_end_towards_the_device() -> None:
    # full speed came out -58 to +27 % wrong from there, once +900 % (slowdown.md section 3)
    (found,) = expectations(evidence(run(99, 90.0), run(0, 10.0), run(4, 14.0)))
    assert found.predicted is None and found.judgement is Judgement.NO_FIGURE
    assert "two other placements" in found.sentence


def test_goes_from_the_device_end_towards_the_host() -> None:
    (found,) = expectations(evidence(run(0, 10.0), run(99, 90.0), run(3, 18.0)))
    assert found.predicted is not None
    assert found.predicted.value == pytest.approx(10.0, rel=0.05)
    assert found.predicted.low < 9.0 and found.predicted.high > 11.5


def test_interpolates_between_partial_placements_without_the_device_end() -> None:
    (found,) = expectations(evidence(run(3, 18.0), run(4, 30.0), run(1, 11.5)))
    assert found.predicted is not None
    assert found.slowdown is None and found.measured_slowdown is None and found.r is None


def test_promises_no_figure_between_the_ends_when_r_is_small() -> None:
    (found,) = expectations(evidence(run(3, 12.0), run(0, 10.0), run(99, 20.0)))
    assert found.predicted is None and found.line is not None
    assert found.line.value == pytest.approx(13.57, rel=0.01)
    assert found.judgement is Judgement.NO_FIGURE
    assert "13.57" in found.sentence and found.line_slowdown is not None
    assert found.line_slowdown.value == pytest.approx(1.475, rel=0.01)
    assert "straight line" in found.sentence and "slower than either end" in found.sentence


def test_says_that_the_device_slows_the_computer_when_r_is_below_one() -> None:
    # llvmpipe: 40 tok/s on the processor, 6 on the "device"
    (found,) = expectations(evidence(run(3, 10.0), run(0, 40.0), run(99, 6.0)))
    assert found.predicted is None and found.r is not None and found.r.high < 1
    assert "r is 0.15" in found.sentence and "slows this computer" in found.sentence


def test_a_split_that_costs_more_than_any_before_is_a_second_fault() -> None:
    (found,) = expectations(evidence(run(3, 4.0), run(0, 10.0), run(99, 20.0)))
    assert found.judgement is Judgement.SLOWER


def test_takes_only_runs_that_differ_in_placement_alone() -> None:
    other = run(0, 3.0, type_k="q8_0")
    busy = run(0, 5.0, busy="other programs")
    (found,) = expectations(evidence(run(3, 18.0), other, busy, run(99, 90.0)))
    assert found.predicted is None
    assert "measure both ends again" in found.sentence


def test_does_not_compare_a_disturbed_run() -> None:
    own = run(3, 5.0, busy="other programs used up to 1.9 of 2 processor cores")
    (found,) = expectations(evidence(own, run(0, 10.0), run(99, 90.0)))
    assert found.judgement is Judgement.DISTURBED


def test_keeps_prompt_and_generation_apart() -> None:
    prompts = (run(0, 300.0, test=Test.PROMPT, n=512), run(99, 900.0, test=Test.PROMPT, n=512))
    own = run(3, 18.0)
    seen = evidence(own, run(0, 10.0), run(99, 90.0), *prompts)
    seen = replace(seen, runs=(run(3, 450.0, test=Test.PROMPT, n=512), own))
    generation, prompt = expectations(seen)
    assert (generation.test, prompt.test) == (Test.GENERATION, Test.PROMPT)
    assert prompt.predicted is not None and prompt.r is not None
    # linear in the copied host bytes: half of them take half of the extra time
    assert prompt.predicted.value == pytest.approx(450.0, rel=0.03)
    assert prompt.r.value == pytest.approx(3.0, rel=0.01)


def test_a_prompt_by_rpc_follows_the_share_of_bytes() -> None:
    machine = Machine(devices=(REMOTE,))
    prompts = [run(n, tps, test=Test.PROMPT, n=512) for n, tps in ((0, 300.0), (99, 900.0))]
    seen = evidence(run(3, 450.0, test=Test.PROMPT, n=512), *prompts, machine=machine)
    (found,) = expectations(seen)
    assert found.predicted is not None
    assert found.spot.share == pytest.approx(0.75 * found.spot.f + 0.25 * 2 / 5, abs=0.01)


def test_compares_an_end_with_the_same_end_of_another_day() -> None:
    (found,) = expectations(evidence(run(99, 60.0), run(99, 90.0), run(0, 10.0)))
    assert found.judgement is Judgement.SLOWER
    (found,) = expectations(evidence(run(99, 88.0), run(99, 90.0), run(0, 10.0)))
    assert found.judgement is Judgement.AS_PREDICTED


def test_draws_the_measured_points_on_the_curve() -> None:
    line = line_of(evidence(run(3, 18.2), run(0, 10.0), run(99, 90.0)))
    assert line is not None and line.is_promise
    assert [p.ngl for p in line.positions] == [0, 1, 2, 3, 4, 5]
    assert [round(p.value, 1) for p in (line.positions[0], line.positions[-1])] == [9.0, 1.0]
    # the rate in question does not draw its own curve: 90 / 4.8 is predicted, 18.2 was measured
    assert line.positions[3].value == pytest.approx(4.8, rel=0.01)
    values = [p.value for p in line.positions]
    assert values == sorted(values, reverse=True)
    assert all(p.low < p.value < p.high for p in line.positions[1:-1])
    ngl, slowdown = line.own
    assert ngl == 3 and slowdown == pytest.approx(90 / 18.2, rel=0.01)
    assert [ngl for ngl, _ in line.measured] == [5, 3, 0]


def test_has_no_picture_before_the_device_end_is_measured() -> None:
    assert line_of(evidence(run(3, 18.2), run(0, 10.0))) is None
    assert line_of(Evidence(model=llama(), machine=MACHINE)) is None
