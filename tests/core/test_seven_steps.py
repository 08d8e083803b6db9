"""The seven steps at each depth: nothing at all, a log alone, a full run, and a proof."""

from dataclasses import replace
from pathlib import Path

from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence, MemoryWatch
from app.core.forecast import forecast
from app.core.proof import Proof, Verdict
from app.core.rule import Diagnosis, Finding, Fix
from app.core.seven_steps import Step, seven_steps
from app.logs import scan

LOGS = Path(__file__).parents[1] / "data" / "logs"
TITLES = [
    "The number", "The devices", "The placement", "Memory while it writes",
    "Limits of the platform", "One fault and its size", "One change and its proof",
]  # fmt: skip


def steps(evidence: Evidence) -> dict[str, Step]:
    """Return the steps by their titles."""
    found = seven_steps(evidence, Diagnosis(None), forecast(evidence))
    assert [step.title for step in found] == TITLES
    assert all(bool(step.brought) != bool(step.why_not) for step in found)
    return {step.title: step for step in found}


def test_says_of_each_step_why_it_was_not_possible_when_nothing_is_known() -> None:
    found = steps(Evidence())
    assert found["The placement"].why_not == "no log of a load"
    assert found["Memory while it writes"].why_not == "only a program that runs can be watched"
    assert found["One fault and its size"].brought.startswith("nothing found; no size")


def test_takes_number_devices_and_placement_from_a_log_alone() -> None:
    asked = scan.scan_file(LOGS / "b10434-vulkan-tiny-full-offload-two-requests-lv4.log")
    assert "its last request, by the log" in steps(Evidence(log=asked))["The number"].brought
    log = scan.scan_file(LOGS / "b10434-vulkan-partial-ngl9-lv4.log")
    found = steps(Evidence(log=log))
    assert found["The devices"].brought == "Vulkan0"
    assert found["The placement"].brought == (
        "29.3 MiB of weights on devices, 396 MiB in system memory"
    )
    assert found["Memory while it writes"].why_not


def test_asks_for_a_louder_log_when_this_one_hides_the_placement() -> None:
    log = scan.scan_file(LOGS / "b11434-cpu-healthy-default-verbosity.log")
    assert "-lv 4" in steps(Evidence(log=log))["The placement"].why_not


def test_says_once_what_a_proof_found() -> None:
    for sentence, said in (
        ("Undo the change, keep your setting.", "It got slower: Undo the change, keep your"),
        ("It got slower than ever.", "It got slower than ever."),
    ):
        proof = Proof(
            Finding("", (), Fix(""), ""), Verdict.SLOWER, sentence,
            is_line_changed=False, pairs=(), rates=(), left=(),
        )  # fmt: skip
        found = seven_steps(Evidence(), Diagnosis(None), forecast(Evidence()), proof)
        assert found[-1].brought.startswith(said)
        assert found[-1].brought.count("It got slower") == 1


def test_takes_what_was_measured_before_what_the_log_says() -> None:
    log = scan.scan_file(LOGS / "b10434-vulkan-partial-ngl9-lv4.log")
    run = BenchRun(Test.GENERATION, 128, (20.0, 22.0), "llama-bench")
    watch = MemoryWatch(5.0, 10, swap_in_max=0.0, swap_out_max=0.0)
    found = steps(Evidence(log=log, runs=(run,), watch=watch))
    assert found["The number"].brought == "generation 21.00 tok/s"
    assert found["Memory while it writes"].brought == (
        "at most 0 bytes per second to or from the swap"
    )
    bare = replace(watch, swap_in_max=None, swap_out_max=None)
    assert steps(Evidence(watch=bare))["Memory while it writes"].why_not
