"""Run B of the challenge with the real programs: predicted and measured slowdown side by side.

The device is ggml-rpc-server with one thread; the host is slowed by twelve threads on few cores,
so that r is above 1. The prediction rests on both ends, the run in the middle is not part of it.
"""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication

from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence
from app.core.expectation import Judgement, expectations
from app.core.request import LoadRequest
from app.rules import judge
from app.work import export, headless
from app.work.bench_runner import BenchPlan
from app.work.diagnose_run import DiagnosePlan
from app.work.export import Format
from tests.work.rpc_device import rpc_device

pytestmark = pytest.mark.real

N_PROMPT, N_GEN = 64, 16


def quiet(runs: tuple[BenchRun, ...]) -> tuple[BenchRun, ...]:
    """Return rates as on a quiet machine: the device computes in a process that is not our own."""
    return tuple(replace(run, busy="") for run in runs)


def test_predicts_half_of_the_layers_from_both_ends(
    qapp: QCoreApplication, llama_bin: Path, gemma: Path
) -> None:
    with rpc_device(llama_bin) as address:
        request = LoadRequest(ctx=1024, threads=12, rpc_servers=(address,))
        plan = DiagnosePlan(
            str(gemma), replace(request, ngl=9), (str(llama_bin),), n_prompt=N_PROMPT,
            n_gen=N_GEN, repetitions=5,
        )  # fmt: skip
        seen = headless.run_diagnose(plan).evidence
        assert seen.machine is not None
        bench = seen.machine.runtimes[0].executable("llama-bench")
        assert bench is not None
        ends = headless.run_ratio(
            BenchPlan(bench, str(gemma), request, N_PROMPT, N_GEN, repetitions=5)
        )
    evidence = replace(seen, runs=quiet(seen.runs), history=quiet(ends.runs))
    verdict = judge.diagnose(evidence).verdict
    assert verdict is not None and verdict.rule_id == "layers-not-offloaded"
    generation, prompt = expectations(evidence)
    assert (generation.test, prompt.test) == (Test.GENERATION, Test.PROMPT)
    assert generation.spot.ngl == 9 and 0.1 < generation.spot.f < 0.25
    assert generation.r is not None and generation.r.value > 1.3
    assert generation.line is not None and generation.measured_slowdown is not None
    assert 0.4 < generation.line.value / generation.spot.rate.value < 2.5
    if generation.r.low < 2.5:
        assert generation.predicted is None and "2.5" in generation.sentence
    else:
        assert generation.judgement is not Judgement.NO_FIGURE
    _reported(evidence)


def _reported(evidence: Evidence) -> None:
    """Check that the report sets both slowdowns side by side."""
    text = export.content(export.prepare(evidence), Format.MARKDOWN).decode()
    assert "Predicted beside measured" in text
    assert "Slowdown measured" in text and "9 of 19" in text
    assert "all on the host" in text or "over all on the host" in text
