"""A program of its own that diagnoses without a window, to be interrupted or killed in a test."""

import sys
from pathlib import Path

from app.core.errors import UserError
from app.core.evidence import Evidence
from app.core.machine import Machine, Program, Runtime
from app.core.request import LoadRequest
from app.work import headless
from app.work.diagnose_run import DiagnosePlan
from app.work.jobs import Cancelled

NAMES = ("llama-server", "llama-bench")


def main(model: str, folder: str) -> int:
    """Diagnose a model with the programs of a folder; 0 done, 1 failed, 3 cancelled."""
    programs = tuple(
        Program(name, str(Path(folder) / name)) for name in NAMES if (Path(folder) / name).is_file()
    )
    runtime = Runtime("llama.cpp", "llama.cpp", folder, None, None, programs, "test")
    plan = DiagnosePlan(
        model,
        LoadRequest(ctx=512, threads=1),
        base=Evidence(machine=Machine(runtimes=(runtime,))),
        n_prompt=16,
        n_gen=4000,
        repetitions=3,
    )
    try:
        result = headless.run_diagnose(plan, lambda text: print(text, flush=True))
    except Cancelled:
        print("cancelled", flush=True)
        return 3
    except UserError as error:
        print(error.sentence(), flush=True)
        return 1
    print(f"done, {len(result.evidence.runs)} rates", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
