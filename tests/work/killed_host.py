"""A program of its own that does one kind of run and keeps each in the notebook, to be killed."""

import sys
from dataclasses import replace
from pathlib import Path

from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence, LoadOutcome
from app.core.machine import Device, DeviceKind, Machine, Program, Runtime
from app.core.practice import lessons
from app.core.request import LoadRequest
from app.core.rule import Finding, Fix
from app.core.units import GIB
from app.gguf.model import read_model
from app.work import headless
from app.work.bench_runner import BenchPlan
from app.work.diagnose_run import DiagnosePlan
from app.work.notebook import Entry, Notebook
from app.work.prove_run import ProvePlan

REQUEST = LoadRequest(ctx=512, threads=1)
CARD = Device("Vulkan0", DeviceKind.VULKAN, "card", 8 * GIB, 7 * GIB, "list")
RATES = tuple(
    BenchRun(test, 16, (10.0, 10.1), "llama-bench", model_name="sample", run_id="first")
    for test in (Test.PROMPT, Test.GENERATION)
)


def say(text: str) -> None:
    """Tell the test what is done now."""
    print(text, flush=True)


def main(kind: str, model: str, folder: str) -> int:
    """Do a run of a kind with the programs of a folder."""
    names = ("llama-server", "llama-bench")
    server, bench = (Program(name, str(Path(folder) / name)) for name in names)
    runtime = Runtime("llama.cpp", "llama.cpp", folder, None, None, (server, bench), "test")
    seen = Evidence(
        model=read_model(model), machine=Machine(runtimes=(runtime,), devices=(CARD,)),
        request=REQUEST, outcome=LoadOutcome((), "llama-server", True, ""), runs=RATES,
    )  # fmt: skip
    Notebook().append(Entry("first", "2026-12-01T00:00:00Z", "sample", RATES))
    plan = DiagnosePlan(
        model, REQUEST, base=Evidence(machine=seen.machine), n_prompt=16, n_gen=16,
        repetitions=2, notebook=Notebook(), keeps_lengths=True,
    )  # fmt: skip
    if kind == "prove":
        change = Fix("", change=(("threads", 2),))
        headless.run_proof(ProvePlan(seen, Finding("", (), change, "")), say)
    elif kind == "ratio":
        headless.run_ratio(BenchPlan(bench, model, REQUEST, 16, 16, repetitions=2), say)
    else:
        lesson = next(one for one in lessons(seen, REQUEST) if one.id == "b-half-of-the-layers")
        headless.run_diagnose(replace(plan, request=lesson.request), say)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
