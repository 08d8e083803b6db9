"""Heat of the processor is a fault only where the processor has layers to compute."""

from dataclasses import replace

from app.core.evidence import Evidence, MemoryWatch
from app.core.log import Role
from app.core.rule import Certainty
from app.rules.processor_throttled import check, needs, silent
from tests.rules import made

HOT = MemoryWatch(20.0, 40, n_cpu_thermal=12)
CARD = made.buffer("CUDA0", Role.WEIGHTS, 4000, 100)


def test_names_a_processor_that_was_hot_while_it_computed() -> None:
    finding = check(Evidence(watch=HOT))
    assert finding is not None and finding.certainty is Certainty.LIKELY
    assert "12 of 40 samples" in finding.cites[0].text


def test_a_short_peak_is_no_fault() -> None:
    calm = Evidence(watch=replace(HOT, n_cpu_thermal=2))
    assert check(calm) is None
    assert "did not hold" in silent(calm)


def test_with_all_layers_on_the_card_it_does_not_matter() -> None:
    evidence = replace(made.seen(made.story(made.offloaded(41, 41), buffers=(CARD,))), watch=HOT)
    assert check(evidence) is None
    assert "all layers are on the device" in silent(evidence)
    half = replace(made.seen(made.story(made.offloaded(20, 41), buffers=(CARD,))), watch=HOT)
    assert check(half) is not None


def test_says_what_is_missing() -> None:
    assert "not watched" in needs(Evidence())
    assert "does not count" in needs(Evidence(watch=MemoryWatch(5.0, 10)))
    assert needs(Evidence(watch=HOT)) == ""
