"""The five faults of the challenge with the real programs: each is made, run and named.

The device is ggml-rpc-server with one thread. Run B is in test_prediction_real.py; here the ones
that llama.cpp's own fit makes, and run E with its fix.
"""

from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication

from app.core.evidence import Evidence
from app.core.practice import Lesson, judged, lessons
from app.core.request import LoadRequest
from app.rules import judge, verify
from app.work import headless
from app.work.diagnose_run import DiagnosePlan
from app.work.prove_run import ProvePlan
from tests.work.rpc_device import rpc_device

pytestmark = pytest.mark.real

NAMED = "gave it away"


def test_names_each_fault_that_was_made(
    qapp: QCoreApplication, llama_bin: Path, gemma: Path
) -> None:
    with rpc_device(llama_bin) as address:
        base = LoadRequest(ctx=1024, threads=1, rpc_servers=(address,))

        def run(request: LoadRequest, known: Evidence) -> Evidence:
            plan = DiagnosePlan(
                str(gemma), request, (str(llama_bin),), base=Evidence(machine=known.machine),
                n_prompt=64, n_gen=8, repetitions=2,
            )  # fmt: skip
            return headless.run_diagnose(plan).evidence

        healthy = run(base, Evidence())
        named = judge.diagnose(healthy).verdict
        # a device that is another process looks like a busy machine; nothing else is wrong
        assert named is None or named.rule_id == "machine-busy"
        made: dict[str, Lesson] = {one.id: one for one in lessons(healthy, base)}
        assert [one.why_not for one in made.values()] == [""] * 5

        small = run(made["c-small-device"].request, healthy)
        assert NAMED in judged(made["c-small-device"], judge.diagnose(small))
        assert small.log is not None and small.log.load is not None
        assert small.log.load.offload_line is not None and small.log.load.offload_line[0] < 19

        default = run(made["d-default-context"].request, healthy)
        verdict = judge.diagnose(default).verdict
        assert NAMED in judged(made["d-default-context"], judge.diagnose(default))
        assert verdict is not None and "context" in verdict.title.lower()

        long = run(made["e-long-context"].request, healthy)
        diagnosis = judge.diagnose(long)
        assert NAMED in judged(made["e-long-context"], diagnosis)
        assert diagnosis.verdict is not None and diagnosis.verdict.fix.change
        fixed = headless.run_proof(ProvePlan(long, diagnosis.verdict))
    proof = verify.proof_of(fixed)
    assert proof is not None and proof.is_line_changed
    assert fixed.again is not None and fixed.again.log is not None
    story = fixed.again.log.load
    assert story is not None and story.offload_line == (19, 19)
