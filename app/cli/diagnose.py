"""The subcommand diagnose: names one fault with the line it rests on and the one change to make."""

import json
from argparse import ArgumentParser, Namespace
from dataclasses import replace
from pathlib import Path

from app.cli import ANSWERED, BAD_USAGE, CommandError, inputs, programs, running
from app.cli.diagnose_text import diagnose_text
from app.cli.load_options import (
    add_load_options,
    add_run_options,
    add_server_options,
    count,
    run_request_of,
)
from app.core.diagnosis_json import SCHEMA, diagnosis_json
from app.core.evidence import Evidence
from app.core.forecast import forecast
from app.core.model import Model
from app.core.proof import why_not
from app.core.ranking import TRIED_BY_A_LOAD
from app.core.reading import Estimate
from app.core.request import LoadRequest, Tool
from app.core.rule import Finding
from app.core.symptom import Symptom
from app.probes.host import RealHost
from app.rules import judge, ranked, tried
from app.rules.verify import proof_of
from app.work import export
from app.work.export import Format
from app.work.notebook import Notebook
from app.work.settings import LOAD_TIMEOUT_S, N_GEN, N_PROMPT, Settings
from app.work.typed_ratio import typed_ratio

# the model's own context can be so long that its cache is the whole load
_USUAL_CTX = 4096
_LONGEST_WATCH_S = 3600
_PROGRAM_CTX = "default"


def add_options(parser: ArgumentParser) -> None:
    """Add the options of this subcommand."""
    parser.add_argument("inputs", nargs="*", metavar="MODEL|LOG|EVIDENCE",
                        help="a model alone is loaded and measured here; a log, an evidence file, "
                        "an output of llama-bench, a folder of hardware --record, and a model "
                        "beside them make one evidence, and nothing is run")  # fmt: skip
    add_load_options(parser)
    add_server_options(parser)
    parser.add_argument("--ctx", type=_context, metavar=f"N|{_PROGRAM_CTX}",
                        help=f"context of the load (without the option: {_USUAL_CTX}; "
                        f"{_PROGRAM_CTX}: llama.cpp's own choice; 0: the model's)")  # fmt: skip
    add_run_options(parser)
    parser.add_argument("--symptom", choices=[symptom.value for symptom in Symptom], metavar="S",
                        help="what you see: %(choices)s")  # fmt: skip
    parser.add_argument("--watch", type=count(1, _LONGEST_WATCH_S), metavar="SECONDS",
                        help="without a file: watch the program that holds a model now, while "
                        "your own request runs; it is only asked, never restarted")  # fmt: skip
    parser.add_argument("--prove", action="store_true",
                        help="then load and measure once more with the one change of the verdict, "
                        "where an option of the load makes it, and compare")  # fmt: skip
    parser.add_argument("--change", choices=TRIED_BY_A_LOAD, metavar="ID",
                        help="with --prove: try this one of the changes under “What would help” "
                        "instead of the verdict's: %(choices)s")  # fmt: skip
    parser.add_argument("--all", action="store_true",
                        help="also list the checks that are only counted otherwise")  # fmt: skip
    parser.add_argument("--json", action="store_true", help=f"print {SCHEMA}")
    parser.add_argument("--pdf", type=Path, metavar="FILE", help="also write the report")
    parser.add_argument("--evidence", type=Path, metavar="FILE",
                        help="also write the evidence, to open again or to report on")  # fmt: skip


def main(options: Namespace) -> int:
    """Print the diagnosis and return the exit status; nothing found is an answer too."""
    for path in (options.pdf, options.evidence):
        if path is not None and not path.parent.is_dir():
            raise CommandError(BAD_USAGE, f"There is no folder {path.parent} to write to.")
    if options.change is not None and not options.prove:
        raise CommandError(BAD_USAGE, "--change goes with --prove.")
    if bool(options.inputs) == (options.watch is not None):
        raise CommandError(BAD_USAGE, "Name a model, a log or evidence, or use --watch alone.")
    with running.application(draws=options.pdf is not None):
        r = None
        if options.watch is not None:
            evidence = _watched(options)
        else:
            seen = inputs.read_inputs(options.inputs)
            if seen.model is not None:
                evidence, r = _run(options, seen.model)
            else:
                evidence = _composed(options, seen.evidence)
        if options.symptom is not None:
            evidence = replace(evidence, symptom=options.symptom)
        if options.prove:
            evidence = _proved(evidence, options.change, r)
        _print(evidence, r, as_json=options.json, shows_all=options.all)
        _write(evidence, r, options)
    return ANSWERED


def _run(options: Namespace, model: Model) -> tuple[Evidence, Estimate | None]:
    """Do the guided run, keep it, and return what was seen and the r of this computer."""
    from app.work import headless
    from app.work.diagnose_run import DiagnosePlan
    from app.work.record import entry_of_diagnosis

    settings, notebook = Settings(), Notebook()
    chosen = programs.chosen_folder(options.llama_bin, (Tool.SERVER,), RealHost())
    ctx = _USUAL_CTX if options.ctx is None else _given(options.ctx)
    plan = DiagnosePlan(
        model.path,
        replace(run_request_of(options, Tool.SERVER), ctx=ctx),
        programs.folders(chosen, settings),
        Evidence(symptom=options.symptom or ""),
        n_prompt=settings.get(N_PROMPT),
        n_gen=settings.get(N_GEN),
        load_timeout_s=settings.get(LOAD_TIMEOUT_S),
        notebook=notebook,
    )
    evidence = headless.run_diagnose(plan, running.say).evidence
    running.keep(entry_of_diagnosis(evidence))
    return evidence, typed_ratio(settings)


def _watched(options: Namespace) -> Evidence:
    """Return what can be seen of the program that holds a model now."""
    from app.work import headless
    from app.work.observe_run import ObservePlan

    chosen = programs.chosen_folder(options.llama_bin, (Tool.SERVER,), RealHost())
    plan = ObservePlan(
        programs.folders(chosen, Settings()), seconds=options.watch, symptom=options.symptom or ""
    )
    return headless.run_observe(plan, running.say).evidence


def _proved(evidence: Evidence, option_id: str | None, r: Estimate | None) -> Evidence:
    """Return the evidence with a second run that tries the change; without one, say why."""
    from app.work import headless
    from app.work.prove_run import ProvePlan
    from app.work.record import entry_of_second_run

    if option_id is None:
        finding = judge.diagnose(evidence).verdict
        reason = why_not(evidence, finding)
    else:
        finding, reason = _chosen(evidence, option_id, r)
    if finding is None or reason:
        running.say(f"No proof: {reason}")
        return evidence
    settings = Settings()
    plan = ProvePlan(
        evidence, finding, n_prompt=settings.get(N_PROMPT), n_gen=settings.get(N_GEN),
        load_timeout_s=settings.get(LOAD_TIMEOUT_S), option_id=option_id or "",
    )  # fmt: skip
    running.say(f"Again, with one change: {finding.fix.text}")
    proved = headless.run_proof(plan, running.say)
    running.keep(entry_of_second_run(proved))
    return proved


def _chosen(evidence: Evidence, option_id: str, r: Estimate | None) -> tuple[Finding | None, str]:
    """Return a ranked change to try, and why it cannot be tried, "" when it can."""
    options = ranked.options(evidence, forecast(evidence, r))
    found = next((option for option in options if option.id == option_id), None)
    if found is None:
        names = ", ".join(option.id for option in options if option.change) or "none"
        return None, f"{option_id} does not apply to this load. These do: {names}."
    finding = tried.finding(evidence, found)
    return finding, why_not(evidence, finding)


def _composed(options: Namespace, evidence: Evidence) -> Evidence:
    """Return the evidence of the files; load options say how the model of a log was started."""
    if options.llama_bin is not None:
        raise CommandError(
            BAD_USAGE,
            "--llama-bin is for loading a model, and only a model that is named alone is loaded.",
        )
    request = replace(run_request_of(options, Tool.SERVER), ctx=_given(options.ctx))
    if request == LoadRequest():
        return evidence
    if evidence.request is not None:
        raise CommandError(
            BAD_USAGE, "The evidence file says how the model was loaded: leave the options out."
        )
    return replace(evidence, request=request)


def _print(evidence: Evidence, r: Estimate | None, *, as_json: bool, shows_all: bool) -> None:
    diagnosis, predicted = judge.diagnose(evidence), forecast(evidence, r)
    proof = proof_of(evidence, diagnosis)
    ranking = ranked.ranking(evidence, predicted)
    if as_json:
        document = diagnosis_json(evidence, diagnosis, predicted, proof, ranking)
        print(json.dumps(document, indent=2, ensure_ascii=False))
    else:
        print(diagnose_text(evidence, diagnosis, predicted, proof, ranking, shows_all=shows_all))


def _write(evidence: Evidence, r: Estimate | None, options: Namespace) -> None:
    if options.pdf is None and options.evidence is None:
        return
    report = export.prepare(evidence, r=r)
    for path, form in ((options.pdf, Format.PDF), (options.evidence, Format.JSON)):
        if path is not None:
            export.write(report, path, form)
            running.say(f"Written: {path}")


def _context(text: str) -> int | str:
    return _PROGRAM_CTX if text == _PROGRAM_CTX else count(0)(text)


def _given(ctx: int | str | None) -> int | None:
    """Return the number that a program is told, None = it is told none."""
    return ctx if isinstance(ctx, int) else None
