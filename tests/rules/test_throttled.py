"""Heat is told by the driver's reason or a fallen memory clock, never by an active power limit."""

from dataclasses import replace

from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence, GpuWatch
from app.core.gpu_watch import gpu_watch
from app.core.rule import Certainty
from app.rules import judge
from app.rules.throttled import check, silent
from tests.live_recordings import readings

HOT = Evidence(gpu_watch=GpuWatch(10, "nvml", n_thermal=4, memory_clock_min=1.0))


def test_is_proven_when_the_driver_gives_the_reason() -> None:
    finding = check(HOT)
    assert finding is not None and finding.certainty is Certainty.PROVEN
    assert "4 of 10 samples" in finding.cites[0].text


def test_is_likely_when_only_the_memory_clock_fell() -> None:
    finding = check(Evidence(gpu_watch=GpuWatch(10, memory_clock_min=0.6)))
    assert finding is not None and finding.certainty is Certainty.LIKELY


def test_is_silent_when_only_the_power_limit_is_active() -> None:
    evidence = Evidence(gpu_watch=GpuWatch(10, n_thermal=0, is_capped=True, memory_clock_min=1.0))
    assert check(evidence) is None
    assert "normal under load" in silent(evidence)


def test_blocks_what_rests_on_a_rate() -> None:
    run = BenchRun(Test.GENERATION, 128, (20.0,), "llama-bench")
    found = judge.diagnose(replace(HOT, runs=(run,)))
    reasons = {ruled.rule_id: ruled.because for ruled in found.not_checked}
    assert "heat" in reasons["slow-backend"]
    assert found.verdict is not None and found.verdict.rule_id == "throttled"


def test_a_power_brake_is_the_supplys_and_no_heat() -> None:
    watch = GpuWatch(20, "NVML", n_thermal=0, reasons=("power supply or its cable (hardware)",))
    finding = check(Evidence(gpu_watch=watch))
    assert finding is not None
    assert "power cables" in finding.fix.text
    assert finding.title == "The power supply held the GPU down"
    assert "power supply or its cable" in finding.cites[0].text


def test_a_recorded_card_that_gets_hot_is_named() -> None:
    finding = check(Evidence(gpu_watch=gpu_watch(readings(), "NVML")))
    assert finding is not None and finding.certainty is Certainty.PROVEN
    assert [cite.text for cite in finding.cites] == [
        "thermal reason in 36 of 120 samples",
        "memory clock down to 53 %",
    ]
