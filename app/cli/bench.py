"""The subcommand bench: both rates of a model, apart, with 95 % intervals, kept in the notebook."""

import json
from argparse import ArgumentParser, Namespace
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app import product
from app.cli import ANSWERED, UNREADABLE, CommandError, programs, running
from app.cli.block_text import block_text
from app.cli.load_options import add_load_options, add_run_options, count, run_request_of
from app.core import units
from app.core.bench import BenchRun
from app.core.bench_json import SCHEMA, bench_json
from app.core.errors import UserError
from app.core.evidence import Evidence
from app.core.machine import Machine, Runtime
from app.core.model import Fault, Model
from app.core.request import Tool
from app.core.watch_json import watch_json
from app.gguf.model import read_model
from app.probes.host import RealHost
from app.report import rates
from app.report.blocks import Block, Bullets, Heading
from app.work.notebook import Entry
from app.work.settings import LOAD_TIMEOUT_S, N_GEN, N_PROMPT, REPETITIONS, Settings

if TYPE_CHECKING:
    from app.work.watch import Watched

_ROOM = 64  # tokens of context beside the ones that are measured
_TITLE = "The model could not be measured"


@dataclass(frozen=True, slots=True)
class _Plan:
    """What to measure."""

    model: Model
    n_prompt: int
    n_gen: int
    depth: int
    repetitions: int
    load_timeout_s: float


@dataclass(frozen=True, slots=True)
class _Measured:
    """What came out, and the notebook's entry of it."""

    runs: tuple[BenchRun, ...]
    command: tuple[str, ...]
    entry: Entry | None
    notes: tuple[str, ...]
    watched: "Watched | None" = None


def add_options(parser: ArgumentParser) -> None:
    """Add the options of this subcommand."""
    parser.add_argument("model", metavar="MODEL", help="a GGUF file; split files: any part")
    add_load_options(parser)
    add_run_options(parser)
    test = parser.add_argument_group("the measurement")
    test.add_argument("--n-prompt", type=count(1), metavar="N",
                      help=f"prompt tokens (default {N_PROMPT.default})")  # fmt: skip
    test.add_argument("--n-gen", type=count(2), metavar="N",
                      help=f"generated tokens (default {N_GEN.default})")  # fmt: skip
    test.add_argument("--depth", type=count(0), default=0, metavar="N",
                      help="tokens that the context holds before")  # fmt: skip
    test.add_argument("--repetitions", type=count(1), metavar="N",
                      help=f"runs of each test; an interval needs two "
                      f"(default {REPETITIONS.default})")  # fmt: skip
    parser.add_argument("--json", action="store_true", help=f"print {SCHEMA}")


def main(options: Namespace) -> int:
    """Measure, keep the run, print it, and return the exit status."""
    from app.work import headless

    settings = Settings()
    plan = _plan(options, settings)
    tools = (Tool.BENCH, Tool.SERVER)
    chosen = programs.chosen_folder(options.llama_bin, tools, RealHost())
    with running.application():
        machine = headless.look_at_machine(programs.folders(chosen, settings), running.say)
        measured = _measure(options, plan, machine, chosen)
    running.keep(measured.entry)
    if options.json:
        seen = measured.watched
        watched = watch_json(seen.memory, seen.gpu, seen.track) if seen is not None else None
        document = bench_json(
            measured.runs, command=measured.command, notes=measured.notes, watched=watched
        )
        print(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        print(_text(measured))
    return ANSWERED


def _plan(options: Namespace, settings: Settings) -> _Plan:
    try:
        model = read_model(options.model)
    except UserError as error:
        raise CommandError.of(UNREADABLE, error) from error
    # a newer program may know a type that is unknown here; what is missing stays missing
    broken = [p.text for p in model.problems if p.fault is not Fault.UNKNOWN_TYPE]
    if broken:
        raise CommandError(UNREADABLE, broken[0])
    return _Plan(
        model=model,
        n_prompt=options.n_prompt or settings.get(N_PROMPT),
        n_gen=options.n_gen or settings.get(N_GEN),
        depth=options.depth,
        repetitions=options.repetitions or settings.get(REPETITIONS),
        load_timeout_s=settings.get(LOAD_TIMEOUT_S),
    )


def _measure(options: Namespace, plan: _Plan, machine: Machine, chosen: str) -> _Measured:
    programs.check_devices(options.device, machine)
    runtime = programs.runtime_with(Tool.BENCH, machine, chosen)
    if runtime is not None:
        return _with_bench(options, plan, machine, runtime)
    runtime = programs.runtime_with(Tool.SERVER, machine, chosen)
    if runtime is not None:
        return _with_server(options, plan, machine, runtime)
    raise UserError(
        "No llama-bench was found on this computer",
        advice=f"Name the folder that has it: {product.SLUG} bench MODEL --llama-bin DIR",
    )


def _with_bench(options: Namespace, plan: _Plan, machine: Machine, runtime: Runtime) -> _Measured:
    from app.work import headless
    from app.work.bench_runner import BenchPlan
    from app.work.record import entry_of_bench

    program = runtime.executable(Tool.BENCH.value)
    assert program is not None  # the runtime was chosen by it
    result = headless.run_bench(
        BenchPlan(
            program, plan.model.path, run_request_of(options, Tool.BENCH), plan.n_prompt,
            plan.n_gen, plan.depth, plan.repetitions,
        ),
        running.say,
    )  # fmt: skip
    notes = tuple(f"llama-bench cannot be told: {name}." for name in result.left_out)
    entry = entry_of_bench(result, machine)
    return _Measured(result.runs, result.command, entry, notes, result.watched)


def _with_server(options: Namespace, plan: _Plan, machine: Machine, runtime: Runtime) -> _Measured:
    """Measure by the server's own timings, with a context that just holds the test."""
    from app.work import headless
    from app.work.diagnose_run import DiagnosePlan
    from app.work.record import entry_of_diagnosis
    from app.work.watch import Watched

    if plan.depth:
        raise UserError(
            _TITLE,
            f"--depth needs llama-bench, and {runtime.folder} has only llama-server.",
            "Name a folder that has llama-bench with --llama-bin",
        )
    request = replace(
        run_request_of(options, Tool.SERVER), ctx=max(plan.n_prompt, plan.n_gen) + _ROOM, parallel=1
    )
    base = Evidence(machine=replace(machine, runtimes=(runtime,)))
    evidence = headless.run_diagnose(
        DiagnosePlan(
            plan.model.path, request, base=base, n_prompt=plan.n_prompt, n_gen=plan.n_gen,
            repetitions=plan.repetitions, load_timeout_s=plan.load_timeout_s,
        ),
        running.say,
    ).evidence  # fmt: skip
    outcome = evidence.outcome
    if not evidence.runs:
        why = evidence.notes or ((outcome.exit_text,) if outcome is not None else ())
        advice = f"Find out why: {product.SLUG} diagnose {plan.model.name}"
        raise UserError(_TITLE, " ".join(why), advice)
    entry = entry_of_diagnosis(replace(evidence, machine=machine))
    return _Measured(
        evidence.runs,
        outcome.command if outcome is not None else (),
        replace(entry, source="benchmark") if entry is not None else None,
        evidence.notes,
        Watched(evidence.watch, evidence.gpu_watch, evidence.track) if evidence.watch else None,
    )


def _text(measured: _Measured) -> str:
    last = measured.runs[-1]
    build = f"build {last.build}" if last.build else ""
    head = ", ".join(filter(None, (f"{last.instrument} {build}".rstrip(), last.backends)))
    blocks: list[Block] = [Heading(f"{last.model_name}: {head}")]
    blocks += [rates.table(measured.runs), *rates.settings(last)]
    notes = [f"The rates were disturbed: {last.busy}."] if last.busy else []
    track = measured.watched.track if measured.watched is not None else None
    events = [event for event in (track.events if track is not None else ()) if not event.is_normal]
    notes += [f"After {units.seconds(event.at_s)}: {event.text}." for event in events]
    notes += measured.notes
    return block_text((*blocks, Bullets(tuple(notes))) if notes else blocks)
