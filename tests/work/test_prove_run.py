"""The second run with stand-ins: one change, the same lengths, compared and exported."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from app.core import codec
from app.core.evidence import Evidence
from app.core.proof import Verdict
from app.core.request import LoadRequest
from app.core.rule import Finding
from app.rules import judge, verify
from app.work import export
from app.work.diagnose_run import DiagnosePlan, DiagnoseResult
from app.work.export import Format
from app.work.jobs import Jobs
from app.work.process import Processes
from app.work.prove_run import ProvePlan, ProveRun
from app.work.record import entry_of_second_run
from tests.work import stand_ins


@pytest.fixture
def run(qapp: QCoreApplication) -> Iterator[ProveRun]:
    made = ProveRun(Jobs(), Processes())
    yield made
    assert made._processes.stop_all_and_wait()
    assert made._jobs.stop_all_and_wait()


def _first(run: ProveRun, qtbot: QtBot, folder: Path) -> Evidence:
    """Diagnose a load that keeps the device out."""
    bench = stand_ins.bench(folder)
    server = stand_ins.server(folder, log=stand_ins.LOG_DEVICE_NONE)
    request = LoadRequest(ctx=4096, threads=1, use_devices=False)
    plan = DiagnosePlan(
        str(stand_ins.model(folder)), request, base=stand_ins.evidence(server, bench),
        n_prompt=64, n_gen=16, repetitions=2,
    )  # fmt: skip
    with qtbot.waitSignal(run.done, timeout=30_000) as ended:
        run.start(plan)
    qtbot.waitUntil(lambda: not run.is_running)
    (result,) = ended.args
    assert isinstance(result, DiagnoseResult)
    return result.evidence


def _verdict(evidence: Evidence) -> Finding:
    verdict = judge.diagnose(evidence).verdict
    assert verdict is not None
    return verdict


def _again(run: ProveRun, qtbot: QtBot, evidence: Evidence) -> Evidence:
    with qtbot.waitSignal(run.done, timeout=30_000) as ended:
        run.prove(ProvePlan(evidence, _verdict(evidence)))
    qtbot.waitUntil(lambda: not run.is_running)
    (result,) = ended.args
    assert isinstance(result, Evidence)
    return result


def test_loads_again_with_the_one_change(run: ProveRun, qtbot: QtBot, tmp_path: Path) -> None:
    first = _first(run, qtbot, tmp_path)
    assert _verdict(first).rule_id == "device-present-but-unused"
    server, bench = stand_ins.server(tmp_path), stand_ins.bench(tmp_path)
    proved = _again(run, qtbot, first)
    assert "-dev" not in server.told.split()
    assert bench.told.split()[-9:-1] == first_lengths(first)
    again = proved.again
    assert again is not None and again.log is not None and again.log.load is not None
    assert again.request == replace(first.request or LoadRequest(), use_devices=True)
    assert again.log.load.weights_on_device is True
    assert replace(proved, again=None) == first
    proof = verify.proof_of(quiet(proved))
    assert proof is not None and proof.is_line_changed
    # the stand-in for llama-bench prints the same rates both times, too far apart among themselves
    assert proof.verdict is Verdict.UNDECIDED and "too wide to tell" in proof.sentence
    entry = entry_of_second_run(proved)
    assert entry is not None and entry.runs == again.runs
    assert entry.placement.device_weights_bytes


def quiet(evidence: Evidence) -> Evidence:
    """Return the evidence as on a machine where nothing else runs; tests may run side by side."""
    again = evidence.again
    assert again is not None
    runs = tuple(replace(run, busy="") for run in again.runs)
    before = tuple(replace(run, busy="") for run in evidence.runs)
    return replace(evidence, runs=before, again=replace(again, runs=runs))


def first_lengths(evidence: Evidence) -> list[str]:
    """Return the words for as many tokens and repetitions as the first run had."""
    prompt, generation = evidence.runs
    return [
        "-p", str(prompt.n_tokens), "-n", str(generation.n_tokens), "-r", str(prompt.n),
        "-o", "jsonl",
    ]  # fmt: skip


def test_keeps_the_second_run_in_evidence_and_report(
    run: ProveRun, qtbot: QtBot, tmp_path: Path
) -> None:
    first = _first(run, qtbot, tmp_path)
    stand_ins.server(tmp_path)
    proved = _again(run, qtbot, first)
    assert codec.loads(codec.dumps(proved)) == proved
    report = export.prepare(proved)
    assert report.document.section("proof") is not None
    text = export.content(report, Format.MARKDOWN).decode()
    assert "Before and after the change" in text
    assert "Incident note" in text and "Verification" in text
    assert str(tmp_path) not in text
