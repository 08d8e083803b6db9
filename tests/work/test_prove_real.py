"""A fix proven with the real programs: a device by RPC is faster than twelve threads on two cores.

The host is slowed by threads far above its cores (measured: 27 tok/s against 77 on the device).
"""

from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication

from app.core.bench import Change, Test
from app.core.forecast import forecast
from app.core.proof import Verdict
from app.core.request import LoadRequest
from app.rules import judge, ranked, tried, verify
from app.work import headless
from app.work.diagnose_run import DiagnosePlan
from app.work.prove_run import ProvePlan
from tests.work.rpc_device import rpc_device
from tests.work.test_prove_run import quiet

pytestmark = pytest.mark.real


def test_proves_that_using_the_device_cures_it(
    qapp: QCoreApplication, llama_bin: Path, gemma: Path
) -> None:
    with rpc_device(llama_bin) as address:
        request = LoadRequest(ctx=1024, threads=12, use_devices=False, rpc_servers=(address,))
        plan = DiagnosePlan(
            str(gemma), request, (str(llama_bin),), n_prompt=64, n_gen=16, repetitions=4
        )
        first = headless.run_diagnose(plan).evidence
        verdict = judge.diagnose(first).verdict
        assert verdict is not None and verdict.rule_id == "device-present-but-unused"
        proved = headless.run_proof(ProvePlan(first, verdict))
    # the device computes in a process that is not the run's own, which looks like a busy machine
    proof = verify.proof_of(quiet(proved))
    assert proof is not None and proof.is_line_changed
    moved = {pair.what: (pair.before, pair.after) for pair in proof.pairs}
    assert moved["weights on devices"] == ("0.00 MiB", "235.16 MiB")
    assert moved["KV cache on devices"][0] == "0.00 MiB"
    generation = next(pair for pair in proof.rates if pair.before.test is Test.GENERATION)
    assert generation.change is Change.FASTER
    assert proof.verdict is Verdict.PROVEN
    assert [finding.rule_id for finding in proof.left if finding.rule_id == verdict.rule_id] == []


def test_proves_a_ranked_change_by_its_own_line(
    qapp: QCoreApplication, llama_bin: Path, gemma: Path
) -> None:
    request = LoadRequest(ctx=512, threads=12)
    plan = DiagnosePlan(
        str(gemma), request, (str(llama_bin),), n_prompt=64, n_gen=16, repetitions=3,
        keeps_lengths=True,
    )  # fmt: skip
    first = headless.run_diagnose(plan).evidence
    options = {one.id: one for one in ranked.options(first, forecast(first))}
    if "fewer-threads" not in options:
        pytest.skip("this computer has more than twelve cores, or does not tell them")
    change = tried.finding(first, options["fewer-threads"])
    proved = headless.run_proof(ProvePlan(first, change, option_id="fewer-threads"))
    proof = verify.proof_of(quiet(proved))
    assert proof is not None and proof.is_line_changed
    line = proof.pairs[0]
    assert "n_threads = 12" in line.before and "n_threads = 12" not in line.after
    # on a busy machine many threads may get more of it, so the rates decide nothing here
    assert proof.verdict is not Verdict.FAILED and len(proof.rates) == 2
