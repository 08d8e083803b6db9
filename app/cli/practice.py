"""The subcommand practice: makes faults on purpose, predicts them, runs them, sees them named."""

import json
from argparse import ArgumentParser, Namespace
from dataclasses import replace

from app import product
from app.cli import ANSWERED, FAILED, UNREADABLE, CommandError, programs, running
from app.cli.load_options import add_load_options, add_run_options, count, run_request_of
from app.core import practice
from app.core.diagnosis_json import figure
from app.core.errors import UserError
from app.core.evidence import Evidence
from app.core.forecast import forecast
from app.core.model import Model
from app.core.practice import Lesson
from app.core.request import LoadRequest, Tool
from app.core.rule import Diagnosis
from app.gguf.model import read_model
from app.probes.host import RealHost
from app.rules import judge
from app.work.notebook import Notebook, history_of
from app.work.settings import LOAD_TIMEOUT_S, N_GEN, N_PROMPT, Settings
from app.work.typed_ratio import typed_ratio

SCHEMA = product.schema("practice")
ALL = "all"


def add_options(parser: ArgumentParser) -> None:
    """Add the options of this subcommand."""
    parser.add_argument("model", metavar="MODEL", help="GGUF file; it is loaded, never changed")
    parser.add_argument("--fault", choices=(*practice.IDS, ALL), metavar="ID",
                        help="which to make: %(choices)s (without the option: only list and "
                        "predict them)")  # fmt: skip
    parser.add_argument("--ctx", type=count(1), metavar="N",
                        help=f"context of the healthy load (default {practice.CTX})")  # fmt: skip
    add_load_options(parser)
    add_run_options(parser)
    parser.add_argument("--json", action="store_true", help=f"print {SCHEMA}")


def main(options: Namespace) -> int:
    """List and predict the faults, make those that are asked for, and return the exit status."""
    try:
        model = read_model(options.model)
    except UserError as error:
        raise CommandError.of(UNREADABLE, error) from error
    base = replace(run_request_of(options, Tool.SERVER), ctx=options.ctx or practice.CTX)
    with running.application():
        runner = _Runner(options, base, model.path)
        seen = runner.look(model)
        lessons = practice.lessons(seen, base)
        # devices that are reached by RPC are known once a load has used them
        if _can_make(options, lessons) or (options.fault is not None and base.rpc_servers):
            # the healthy load first: it is what the others are compared with
            seen = runner.run(base, None)
            _stop_if_failed(seen)
            lessons = practice.lessons(seen, base)
        r = forecast(seen).r or typed_ratio(Settings())
        told = []
        for lesson in lessons:
            is_wanted = options.fault in (ALL, lesson.id) and not lesson.why_not
            found = practice.foreseen(seen, lesson, r)
            if not options.json:
                print(_offer_text(lesson, found.text), flush=True)
            ran = runner.run(lesson.request, seen) if is_wanted else None
            if ran is not None:
                _stop_if_failed(ran)
            diagnosis = judge.diagnose(ran) if ran is not None else None
            if ran is not None and diagnosis is not None and not options.json:
                print(_result_text(lesson, ran, diagnosis), flush=True)
            told.append(_document(lesson, found, ran, diagnosis))
    if options.json:
        document = {"schema": SCHEMA, "r": figure(r), "faults": told}
        print(json.dumps(document, indent=2, ensure_ascii=False))
    return ANSWERED


def _can_make(options: Namespace, lessons: tuple[Lesson, ...]) -> bool:
    """Tell whether a fault that is asked for can be made, as far as is known before a load."""
    return any(options.fault in (ALL, lesson.id) and not lesson.why_not for lesson in lessons)


def _stop_if_failed(ran: Evidence) -> None:
    """End the command where a load failed: the next one would tell nothing either."""
    why = practice.failed(ran, judge.diagnose(ran))
    if why:
        raise CommandError(FAILED, why)


class _Runner:
    """Runs loads of one model with the same programs and lengths."""

    def __init__(self, options: Namespace, base: LoadRequest, path: str) -> None:
        self._settings = Settings()
        chosen = programs.chosen_folder(options.llama_bin, (Tool.SERVER,), RealHost())
        self._folders = programs.folders(chosen, self._settings)
        self._base, self._path = base, path

    def look(self, model: Model) -> Evidence:
        """Return the machine, and earlier rates of the model on it."""
        from app.work import headless
        from app.work.record import machine_words

        machine = headless.look_at_machine(self._folders, running.say)
        try:
            history = history_of(Notebook().read(), model.name, machine_words(machine))
        except OSError:  # then r is not known, which each prediction says
            history = ()
        return Evidence(model=model, machine=machine, history=history)

    def run(self, request: LoadRequest, healthy: Evidence | None) -> Evidence:
        """Load and measure, keep the rates, and return what was seen."""
        from app.work import headless
        from app.work.diagnose_run import DiagnosePlan
        from app.work.record import entry_of_diagnosis

        machine = healthy.machine if healthy is not None else None
        plan = DiagnosePlan(
            self._path,
            request,
            self._folders,
            Evidence(machine=machine),
            n_prompt=self._settings.get(N_PROMPT),
            n_gen=self._settings.get(N_GEN),
            load_timeout_s=self._settings.get(LOAD_TIMEOUT_S),
            notebook=Notebook(),
        )
        evidence = headless.run_diagnose(plan, running.say).evidence
        running.keep(entry_of_diagnosis(evidence))
        return evidence


def _offer_text(lesson: Lesson, prediction: str) -> str:
    return f"{lesson.id}: {lesson.title}\n  {lesson.what}\n  Predicted: {prediction}"


def _result_text(lesson: Lesson, ran: Evidence, diagnosis: Diagnosis) -> str:
    measured = practice.measured_text(ran)
    parts = [practice.judged(lesson, diagnosis), measured, "The server has ended: nothing is left."]
    return "  " + "\n  ".join(part for part in parts if part)


def _document(
    lesson: Lesson, found: practice.Foreseen, ran: Evidence | None, diagnosis: Diagnosis | None
) -> dict[str, object]:
    return {
        "id": lesson.id,
        "title": lesson.title,
        "text": lesson.what,
        "why_not": lesson.why_not,
        "expects": list(lesson.expects),
        "f": found.f,
        "slowdown": figure(found.slowdown),
        "prediction": found.text,
        "result": None
        if ran is None or diagnosis is None
        else {
            "rule": diagnosis.verdict.rule_id if diagnosis.verdict is not None else None,
            "is_named": practice.is_named(lesson, diagnosis),
            "measured_slowdown": figure(practice.measured(ran)),
            "text": practice.judged(lesson, diagnosis),
        },
    }
