"""A fix is proven by a changed line and intervals that are apart, never by one of them."""

from dataclasses import replace

import pytest

from app.core.bench import BenchRun, Change, Test, compare
from app.core.evidence import Evidence, LoadOutcome, SecondRun
from app.core.log import BufferKind, Fact, LoadStory, LogBuffer, LogEvent, LogSummary, Role
from app.core.model import Model
from app.core.proof import TAKEN_BACK, Verdict, is_taken_back, prove, why_not
from app.core.request import LoadRequest, changed
from app.core.rule import Cite, Diagnosis, Finding, Fix, Rule, Ruled
from app.core.units import MIB
from app.rules.judge import diagnose

RULE = "layers-not-offloaded"
GONE = Diagnosis(None, ruled_out=(Ruled(RULE, "", "all layers"),))
STILL = Diagnosis(Finding("", (), Fix(""), "", rule_id=RULE, title="Still there"))
SLOW, FAST = (10.0, 10.2, 9.9), (30.1, 30.0, 29.8)


def _load(n: int, device_mib: int, host_mib: int) -> LogSummary:
    text = f"offloaded {n}/19 layers to GPU"
    line = LogEvent(Fact.OFFLOADED, 40 + n, text, {"n": n, "m": 19})
    buffers = (
        LogBuffer("CUDA0", BufferKind.DEVICE, Role.WEIGHTS, device_mib * MIB, 41),
        LogBuffer("CPU_Mapped", BufferKind.HOST, Role.WEIGHTS, host_mib * MIB, 42),
    )
    story = LoadStory(offload_line=(n, 19), events=(line,), buffers=buffers, n_ctx=4096)
    return LogSummary("server.log", 90, events=(line,), loads=(story,))


BEFORE, AFTER = _load(9, 40, 200), _load(19, 225, 15)
FINDING = Finding(
    "9 of 19", (Cite(BEFORE.events[0].text, 49),), Fix("Remove -ngl.", change=(("ngl", None),)),
    "", rule_id=RULE,
)  # fmt: skip
READY = LoadOutcome(("llama-server",), "llama-server", True, "", 1.0)
FAILED = replace(READY, is_ready=False, exit_text="llama-server crashed.")


def _rates(samples: tuple[float, ...], run_id: str, *, busy: str = "") -> tuple[BenchRun, ...]:
    return tuple(
        BenchRun(test, n, tuple(f * v for v in samples), "llama-bench", run_id=run_id, busy=busy)
        for test, n, f in ((Test.PROMPT, 64, 10), (Test.GENERATION, 16, 1))
    )


def _evidence(
    samples: tuple[float, ...],
    *,
    log: LogSummary = AFTER,
    outcome: LoadOutcome = READY,
    first: LoadOutcome = READY,
    busy: str = "",
) -> Evidence:
    again = SecondRun(RULE, "a", LoadRequest(), outcome, log, _rates(samples, "b", busy=busy))
    before = _rates(SLOW, "a") if first.is_ready else ()
    model = Model("m.gguf", "llama", 3, False, {}, (), ())
    return Evidence(
        model=model, request=LoadRequest(ngl=9), outcome=first, log=BEFORE, runs=before, again=again
    )


def _verdict(evidence: Evidence, after: Diagnosis = GONE) -> Verdict:
    proof = prove(evidence, FINDING, after)
    assert proof is not None
    return proof.verdict


def test_is_proven_when_line_and_rates_changed() -> None:
    proof = prove(_evidence(FAST), FINDING, GONE)
    assert proof is not None and proof.is_proven
    assert "3.0×" in proof.sentence or "2.99×" in proof.sentence
    line = proof.pairs[0]
    assert (line.before, line.after) == (
        "offloaded 9/19 layers to GPU",
        "offloaded 19/19 layers to GPU",
    )
    assert (line.line_before, line.line_after) == (49, 59)
    weights = next(pair for pair in proof.pairs if pair.what == "weights on devices")
    assert (weights.before, weights.after) == ("40.00 MiB", "225.00 MiB")
    assert [pair.before.test for pair in proof.rates] == [Test.PROMPT, Test.GENERATION]


def test_is_not_proven_by_speed_alone() -> None:
    assert _verdict(_evidence(FAST, log=BEFORE), STILL) is Verdict.ONLY_RATE


def test_is_not_proven_by_the_line_alone() -> None:
    assert _verdict(_evidence((10.1, 10.0, 9.8))) is Verdict.ONLY_LINE


def test_says_to_undo_it_when_it_got_slower() -> None:
    proof = prove(_evidence((5.0, 5.1, 4.9)), FINDING, GONE)
    assert proof is not None and proof.verdict is Verdict.SLOWER
    assert proof.sentence.startswith("Undo the change, keep your setting")


@pytest.mark.parametrize("which", ["first", "second"])
def test_is_not_decided_when_it_got_slower_while_either_run_was_disturbed(which: str) -> None:
    busy = "other programs used up to 1.8 of 2 processor cores"
    evidence = _evidence((5.0, 5.1, 4.9), busy=busy if which == "second" else "")
    if which == "first":
        evidence = replace(evidence, runs=_rates(SLOW, "a", busy=busy))
    proof = prove(evidence, FINDING, GONE)
    assert proof is not None and proof.verdict is Verdict.UNDECIDED
    assert "undo" not in proof.sentence and busy in proof.sentence
    assert {pair.change for pair in proof.rates} == {Change.DISTURBED}


def test_says_to_undo_it_when_it_got_slower_and_the_line_did_not_change() -> None:
    assert _verdict(_evidence((5.0, 5.1, 4.9), log=BEFORE), STILL) is Verdict.SLOWER


def test_is_not_decided_when_slower_but_the_intervals_overlap_on_a_busy_machine() -> None:
    busy = "other programs used up to 1.8 of 2 processor cores"
    assert _verdict(_evidence((4.0, 12.0, 7.0), busy=busy)) is Verdict.UNDECIDED


def test_is_not_decided_while_other_programs_computed() -> None:
    busy = "other programs used up to 1.8 of 2 processor cores"
    proof = prove(_evidence(FAST, busy=busy), FINDING, GONE)
    assert proof is not None and proof.verdict is Verdict.UNDECIDED
    assert busy in proof.sentence


def test_wide_intervals_cannot_tell_and_are_no_equality() -> None:
    before = BenchRun(Test.GENERATION, 16, (34.0, 45.0, 56.0), "llama-bench")
    after = BenchRun(Test.GENERATION, 16, (73.0, 74.0, 75.0), "llama-bench")
    assert before.high_tps is not None and after.low_tps is not None
    assert before.high_tps > after.low_tps
    assert compare(before, after) is Change.UNSURE
    assert compare(after, after) is Change.SAME
    proof = prove(_evidence((4.0, 12.0, 7.0)), FINDING, GONE)
    assert proof is not None and proof.verdict is Verdict.UNDECIDED
    assert "too wide to tell" in proof.sentence and "cannot tell" in proof.sentence


def test_is_not_decided_by_one_sample() -> None:
    assert _verdict(_evidence((30.0,))) is Verdict.UNDECIDED


def test_line_does_not_count_as_changed_when_the_rule_could_not_be_checked() -> None:
    unseen = Diagnosis(None, not_checked=(Ruled(RULE, "", "no log"),))
    assert _verdict(_evidence(FAST), unseen) is Verdict.ONLY_RATE


def test_says_that_the_second_load_failed() -> None:
    proof = prove(_evidence((), outcome=FAILED), FINDING, GONE)
    assert proof is not None and proof.verdict is Verdict.FAILED
    assert "crashed" in proof.sentence


def test_a_load_that_works_now_is_a_proof_without_rates() -> None:
    assert _verdict(_evidence(FAST, first=FAILED)) is Verdict.LOADS
    assert _verdict(_evidence(FAST, first=FAILED), STILL) is Verdict.NOTHING


def test_compares_with_the_run_it_was_made_for() -> None:
    evidence = _evidence(FAST)
    later = replace(evidence, runs=(*evidence.runs, *_rates((60.0, 60.1, 60.2), "c")))
    assert _verdict(later) is Verdict.PROVEN


def test_has_no_proof_without_a_second_run() -> None:
    assert prove(replace(_evidence(FAST), again=None), FINDING, GONE) is None


@pytest.mark.parametrize(
    ("evidence", "finding", "words"),
    [
        (_evidence(SLOW), None, "Nothing was found"),
        (Evidence(log=BEFORE), FINDING, "did not load the model itself"),
        (_evidence(SLOW), replace(FINDING, fix=Fix("Buy memory.")), "only you can make it"),
        (replace(_evidence(SLOW), runs=()), FINDING, "No rate was measured"),
    ],
)
def test_says_why_a_fix_cannot_be_tried(
    evidence: Evidence, finding: Finding | None, words: str
) -> None:
    assert words in why_not(evidence, finding)


def test_a_fix_of_another_computers_evidence_cannot_be_tried() -> None:
    assert why_not(_evidence(SLOW), FINDING) == ""
    assert "another computer" in why_not(_evidence(SLOW), FINDING, is_own=False)


def test_changes_only_the_named_options() -> None:
    request = LoadRequest(ngl=9, ctx=2048, cache_type_k="q8_0")
    assert changed(request, (("ngl", None),)) == replace(request, ngl=None)


def test_a_ranked_change_is_proven_by_its_own_lines() -> None:
    cite = Cite(BEFORE.events[0].text, 49)
    change = Finding("", (cite,), Fix("", change=(("ngl", None),)), "", title="More layers")
    proof = prove(_evidence(FAST), change, STILL)
    # what a rule says of the second run is no matter: it was not its fix
    assert proof is not None and proof.verdict is Verdict.PROVEN
    same = prove(_evidence(FAST, log=BEFORE), change, GONE)
    assert same is not None and same.verdict is Verdict.ONLY_RATE
    elsewhere = replace(change, cites=())
    moved = prove(_evidence(FAST), elsewhere, GONE)
    assert moved is not None and moved.verdict is Verdict.ONLY_RATE


def test_a_change_that_got_slower_is_taken_back() -> None:
    change = FINDING.fix.change
    slower = _evidence((5.0, 5.1, 4.9))
    assert is_taken_back(slower, change)
    assert not is_taken_back(slower, (("ctx", 2048),))
    assert not is_taken_back(slower, ())
    assert not is_taken_back(_evidence(FAST), change)
    assert not is_taken_back(_evidence((5.0, 5.1, 4.9), busy="others computed"), change)
    assert why_not(slower, replace(FINDING, fix=Fix(TAKEN_BACK))) == TAKEN_BACK


def test_the_judge_takes_the_fix_of_a_finding_back_when_it_got_slower() -> None:
    rule = Rule(RULE, "Layers", check=lambda _evidence: FINDING)
    verdict = diagnose(_evidence((5.0, 5.1, 4.9)), (rule,)).verdict
    assert verdict is not None and verdict.fix == Fix(TAKEN_BACK)
    kept = diagnose(_evidence(FAST), (rule,)).verdict
    assert kept is not None and kept.fix == FINDING.fix
