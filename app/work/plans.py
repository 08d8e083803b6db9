"""Makes the plans of the Diagnose tab's runs from what the session and the settings hold."""

from dataclasses import replace

from app.core.bench import Test
from app.core.forecast import happened
from app.core.machine import Program
from app.core.request import LoadRequest
from app.core.rule import Finding
from app.work.bench_runner import BenchPlan
from app.work.diagnose_run import DiagnosePlan, choose_runtime
from app.work.notebook import Notebook
from app.work.prove_run import ProvePlan
from app.work.session import Session
from app.work.settings import LOAD_TIMEOUT_S, N_GEN, N_PROMPT


def folders(session: Session) -> tuple[str, ...]:
    """Return the folders that are looked into first for llama.cpp's programs."""
    return (session.llama_folder,) if session.llama_folder else ()


def to_diagnose(session: Session, request: LoadRequest, symptom: str) -> DiagnosePlan:
    """Plan the guided run on the session's model."""
    evidence, settings = session.evidence, session.settings
    return DiagnosePlan(
        model_path=evidence.model.path if evidence.model is not None else "",
        request=request,
        llama_folders=folders(session),
        base=replace(evidence, symptom=symptom, again=None),
        n_prompt=settings.get(N_PROMPT),
        n_gen=settings.get(N_GEN),
        load_timeout_s=settings.get(LOAD_TIMEOUT_S),
        notebook=Notebook(),
    )


def to_prove(session: Session, finding: Finding, option_id: str = "") -> ProvePlan:
    """Plan the second run, with the one change of a finding or of a ranked change."""
    settings = session.settings
    return ProvePlan(
        session.evidence,
        finding,
        folders(session),
        n_prompt=settings.get(N_PROMPT),
        n_gen=settings.get(N_GEN),
        load_timeout_s=settings.get(LOAD_TIMEOUT_S),
        option_id=option_id,
    )


def to_measure_ends(session: Session, bench: Program) -> BenchPlan:
    """Plan both ends of the last load, as short as its rates were."""
    evidence, settings = session.evidence, session.settings
    lengths = {run.test: run.n_tokens for run in evidence.runs}
    return BenchPlan(
        bench,
        evidence.model.path if evidence.model is not None else "",
        replace(happened(evidence), use_devices=True),
        lengths.get(Test.PROMPT, settings.get(N_PROMPT)),
        lengths.get(Test.GENERATION, settings.get(N_GEN)),
        repetitions=max((run.n for run in evidence.runs), default=3),
    )


def bench_of(session: Session) -> Program | None:
    """Return the llama-bench beside the chosen llama.cpp, None when there is none."""
    machine = session.evidence.machine
    runtime = choose_runtime(machine.runtimes) if machine is not None else None
    return runtime.executable("llama-bench") if runtime is not None else None
