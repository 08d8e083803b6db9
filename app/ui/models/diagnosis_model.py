"""What the Diagnose tab shows of a diagnosis: texts, a pure function of evidence and verdict."""

from dataclasses import dataclass

from app.core import units
from app.core.bench import BenchRun
from app.core.evidence import Evidence
from app.core.forecast import Forecast
from app.core.machine import Machine
from app.core.model import Model
from app.core.overview import overview
from app.core.proof import Proof, why_not
from app.core.rule import Certainty, Cite, Diagnosis, Finding, Ruled
from app.core.seven_steps import Step, seven_steps
from app.report import incident
from app.ui.models.prediction_model import PredictionView, prediction_view
from app.ui.models.proof_model import ProofView, proof_view

_CERTAINTY = {
    Certainty.PROVEN: "proven by the evidence below",
    Certainty.LIKELY: "likely; the evidence below points to it",
    Certainty.NOT_PROVEN: "not proven; also possible",
}


@dataclass(frozen=True, slots=True)
class CiteLine:
    """One line of evidence; line None = a measured fact, not a line of the log."""

    where: str
    text: str
    line: int | None


@dataclass(frozen=True, slots=True)
class FindingView:
    """One finding in words."""

    title: str
    certainty: str
    cause: str
    cites: tuple[CiteLine, ...]
    fix: str
    command: str
    proof: str
    is_fault: bool


@dataclass(frozen=True, slots=True)
class RateLine:
    """One measured rate with its interval and source."""

    name: str
    value: str
    detail: str


@dataclass(frozen=True, slots=True)
class DiagnosisView:
    """Everything of the result page."""

    verdict: FindingView
    also: tuple[FindingView, ...]
    ruled_out: tuple[str, ...]  # rivals of the verdict, and what the symptom points at
    not_checked: tuple[str, ...]
    more_ruled_out: tuple[str, ...]
    more_not_checked: tuple[str, ...]
    notes: tuple[str, ...]
    rates: tuple[RateLine, ...]
    prediction: RateLine
    beside: PredictionView
    steps: tuple[str, ...]  # the seven steps, each with what it brought
    no_proof: str  # why the fix cannot be tried here, "" when it can
    proof: ProofView | None
    note: str = ""  # the incident note, to copy


def diagnosis_view(
    evidence: Evidence,
    diagnosis: Diagnosis,
    forecast: Forecast,
    proof: Proof | None = None,
    *,
    is_own: bool = True,
) -> DiagnosisView:
    """Return what to show; is_own: the evidence is this computer's, so fixes can be tried."""
    verdict = diagnosis.verdict
    return DiagnosisView(
        verdict=finding_view(verdict) if verdict else _nothing(diagnosis),
        also=tuple(finding_view(finding) for finding in diagnosis.also),
        ruled_out=_lines(diagnosis.ruled_out, is_near=True),
        not_checked=_lines(diagnosis.not_checked, is_near=True),
        more_ruled_out=_lines(diagnosis.ruled_out, is_near=False),
        more_not_checked=_lines(diagnosis.not_checked, is_near=False),
        notes=evidence.notes,
        rates=tuple(_rate(run) for run in evidence.runs[-4:]),
        prediction=_prediction(forecast),
        beside=prediction_view(evidence),
        steps=_steps(seven_steps(evidence, diagnosis, forecast, proof)),
        no_proof=why_not(evidence, verdict, is_own=is_own),
        proof=proof_view(proof) if proof is not None else None,
        note=incident.text(evidence, diagnosis, forecast, proof),
    )


def finding_view(finding: Finding) -> FindingView:
    """Return a finding in words."""
    return FindingView(
        title=finding.title,
        certainty=_CERTAINTY[finding.certainty],
        cause=finding.cause,
        cites=tuple(_cite(cite) for cite in finding.cites),
        fix=finding.fix.text,
        command=finding.fix.command,
        proof=finding.proof,
        is_fault=True,
    )


def has_something_to_judge(evidence: Evidence) -> bool:
    """Tell whether there is anything a verdict could rest on."""
    is_damaged = evidence.model is not None and bool(evidence.model.problems)
    return bool(evidence.log or evidence.runs or evidence.outcome or evidence.watch or is_damaged)


def zone_texts(evidence: Evidence) -> tuple[str, str]:
    """Return what the drop area names: the model, and what else is part of the case."""
    model, log = evidence.model, evidence.log
    parts = [problem.text for problem in model.problems] if model else []
    if log is not None and log.name:
        parts.append(f"With the log {log.name}, {units.count(log.n_lines)} lines.")
    if model is None and log is not None:
        return f"Log {log.name}", f"{units.count(log.n_lines)} lines. Drop its model too."
    return model_text(model), " ".join(parts)


def model_text(model: Model | None) -> str:
    """Return the chosen model in one line, "" when there is none."""
    if model is None:
        return ""
    missing = sum(problem.missing_bytes or 0 for problem in model.problems)
    text = f"{model.name} · {units.size(model.file_bytes)}"
    return f"{text} · {units.size(missing)} missing" if missing else text


def machine_text(machine: Machine | None) -> str:
    """Return the machine in one line."""
    if machine is None:
        return ""
    cpu = machine.text("cpu.model") or "processor not known"
    cores = machine.number("cpu.physical")
    parts = [f"{cpu}, {cores} cores" if cores else cpu]
    memory = machine.number("memory.total")
    if memory is not None:
        parts.append(f"{units.gib(memory)} of memory")
    parts.append(overview(machine).headline)
    return " · ".join(parts)


def _steps(steps: tuple[Step, ...]) -> tuple[str, ...]:
    return tuple(
        f"{number}. {step.title}: {step.brought or f'not possible: {step.why_not}'}"
        for number, step in enumerate(steps, 1)
    )


def _lines(rules: tuple[Ruled, ...], *, is_near: bool) -> tuple[str, ...]:
    """Return a line for each reason; faults with the same one stand together."""
    because: dict[str, list[str]] = {}
    for ruled in rules:
        if ruled.because and ruled.is_near is is_near:
            because.setdefault(ruled.because, []).append(ruled.title)
    return tuple(f"{'; '.join(titles)}: {reason}" for reason, titles in because.items())


def _nothing(diagnosis: Diagnosis) -> FindingView:
    checked = len(diagnosis.ruled_out)
    return FindingView(
        title="Nothing found",
        certainty=f"{checked} checks found nothing wrong",
        cause="None of the faults this program knows shows in the evidence. That is a result, "
        "not a failure: what was checked and what could not be checked is listed below.",
        cites=(),
        fix="If it still feels slow, compare the rates with another run in the Benchmark tab.",
        command="",
        proof="",
        is_fault=False,
    )


def _cite(cite: Cite) -> CiteLine:
    where = f"line {units.count(cite.line)}" if cite.line is not None else cite.source
    return CiteLine(where, cite.text, cite.line)


def _rate(run: BenchRun) -> RateLine:
    low, high = run.low_tps, run.high_tps
    spread = (
        f"95 % interval: {units.measured_interval(low, high)}, {run.n} repetitions"
        if low is not None and high is not None
        else "one repetition, no interval"
    )
    ngl = run.setting("n_gpu_layers")
    where = f", n_gpu_layers {ngl}" if ngl else ""
    busy = f"; {run.busy}" if run.busy else ""
    return RateLine(
        f"{run.test.title}, {units.count(run.n_tokens)} tokens",
        units.rate(run.mean_tps),
        f"{spread}, measured by {run.instrument}{where}{busy}",
    )


def _prediction(forecast: Forecast) -> RateLine:
    found = forecast.prediction.slowdown
    share = (
        f"f = {units.percent(forecast.f)} of the bytes per token are in system memory"
        if forecast.f is not None
        else ""
    )
    if found is None:
        return RateLine("Predicted slowdown", "–", ". ".join(
            part for part in (share, forecast.prediction.reason) if part
        ))  # fmt: skip
    r = forecast.r
    r_text = f"; r = {units.times(r.value)}, {r.source}" if r else ""
    return RateLine(
        "Predicted slowdown",
        units.times(found.value),
        f"range {units.times_range(found.low, found.high)} against all layers on the device; "
        f"{share}{r_text}",
    )
