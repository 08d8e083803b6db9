"""A split over cards is named where one card holds it all, and likely only with rates."""

from dataclasses import replace

from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence
from app.core.log import Role
from app.core.rule import Certainty
from app.rules.several_gpus import check, silent
from tests.rules import made

LISTS = (made.listed("CUDA0", "RTX 4090", 24564), made.listed("CUDA1", "RTX 3060", 12288, 5))


def load(first: float, second: float) -> Evidence:
    """Make evidence of weights on two cards."""
    buffers = (
        made.buffer("CUDA0", Role.WEIGHTS, first, 100),
        made.buffer("CUDA1", Role.WEIGHTS, second, 101),
    )
    return made.seen(made.story(buffers=buffers, devices=("CUDA0", "CUDA1")), *LISTS)


def run(devices: str, tps: float) -> BenchRun:
    """Make a generation rate."""
    return BenchRun(Test.GENERATION, 128, (tps,), "llama-bench", (("devices", devices),))


def test_is_only_possible_when_nothing_was_measured() -> None:
    finding = check(load(9000, 4500))
    assert finding is not None and finding.certainty is Certainty.NOT_PROVEN
    assert "-dev CUDA0" in finding.fix.command


def test_is_likely_when_one_card_was_faster() -> None:
    finding = check(replace(load(9000, 4500), runs=(run("CUDA0", 90.0), run("auto", 55.0))))
    assert finding is not None and finding.certainty is Certainty.LIKELY
    assert "1.6 times" in finding.cause


def test_is_silent_when_it_needs_both_or_uses_one() -> None:
    assert check(load(22000, 10000)) is None
    assert "does not fit one card" in silent(load(22000, 10000))
    assert check(load(9000, 0)) is None


def rate(tps: float, devices: str) -> BenchRun:
    """Return a rate with so many devices."""
    return BenchRun(Test.GENERATION, 50, (tps,), "llama-cli", settings=(("devices", devices),))


def test_tells_of_two_rates_alone_when_more_cards_are_slower() -> None:
    finding = check(Evidence(runs=(rate(54.5, "ROCm0"), rate(25.5, "ROCm0/ROCm1"))))
    assert finding is not None
    assert dict(finding.fix.change)["device_ids"] == ("ROCm0",)


def test_is_silent_when_more_cards_are_faster() -> None:
    assert check(Evidence(runs=(rate(25.5, "ROCm0"), rate(54.5, "ROCm0/ROCm1")))) is None
