"""The machine-readable diagnosis (schema slowscope.diagnose/1), as product.md's contract says."""

from app import product
from app.core import json_values
from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence
from app.core.expectation import Expected, expectations
from app.core.folklore import folklore
from app.core.forecast import Forecast
from app.core.proof import Pair, Proof, RatePair
from app.core.ranking import Option, Ranking
from app.core.reading import Estimate, Kind
from app.core.rule import Certainty, Cite, Diagnosis, Finding, Fix
from app.core.watch_json import watch_json
from app.core.waterfall import Level, Waterfall

SCHEMA = product.schema("diagnose")
_PLACEMENT = "calculated from the file's header and the placement in the log"
_NOTHING: dict[str, object] = {
    "rule": None,
    "title": "Nothing found",
    "certainty": Certainty.NOT_PROVEN.value,
    "cause": "",
    "cites": [],
    "fix": {"text": "", "command": "", "change": {}},
    "proof": "",
}


def diagnosis_json(
    evidence: Evidence,
    diagnosis: Diagnosis,
    forecast: Forecast,
    proof: Proof | None = None,
    ranking: Ranking | None = None,
) -> dict[str, object]:
    """Return the diagnosis as the JSON object that `diagnose --json` prints."""
    verdict = diagnosis.verdict
    return {
        "schema": SCHEMA,
        "verdict": dict(_NOTHING) if verdict is None else _finding(verdict),
        "also": [_finding(finding) for finding in diagnosis.also],
        "ruled_out": [
            {"rule": ruled.rule_id, "because": ruled.because} for ruled in diagnosis.ruled_out
        ],
        "not_checked": [
            {"what": ruled.rule_id, "why": ruled.because} for ruled in diagnosis.not_checked
        ],
        "prediction": _prediction(evidence, forecast),
        "measured": _measured(evidence.runs),
        "watched": watch_json(evidence.watch, evidence.gpu_watch, evidence.track),
        "proof": None if proof is None else proof_json(proof),
        "options": [_option(option) for option in (ranking.options if ranking else ())],
        "refused": [
            {"title": one.title, "why": one.why} for one in (ranking.refused if ranking else ())
        ],
        "path": _path(ranking.path) if ranking and ranking.path else None,
        "not_advised": [
            {"advice": one.advice, "why": one.why} for one in folklore(evidence, forecast)
        ],
        "notes": list(evidence.notes),
    }


def figure(estimate: Estimate | None) -> dict[str, object] | None:
    """Return a figure with its range, source and kind; None when there is none."""
    if estimate is None:
        return None
    return {
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "source": estimate.source,
        "kind": estimate.kind.value,
    }


def _finding(finding: Finding) -> dict[str, object]:
    return {
        "rule": finding.rule_id,
        "title": finding.title,
        "certainty": finding.certainty.value,
        "cause": finding.cause,
        "cites": [_cite(cite) for cite in finding.cites],
        "fix": _fix(finding.fix),
        "proof": finding.proof,
    }


def _cite(cite: Cite) -> dict[str, object]:
    return {"line": cite.line, "text": cite.text, "source": cite.source}


def _prediction(evidence: Evidence, forecast: Forecast) -> dict[str, object]:
    beside = {one.test: one for one in expectations(evidence)}
    return {
        "f": forecast.f,
        "f_source": _PLACEMENT if forecast.placement is not None else "",
        "r": figure(forecast.r),
        "slowdown": figure(forecast.prediction.slowdown),
        "reason": forecast.prediction.reason,
        **{
            test.value: _expected(beside[test]) if test in beside else None
            for test in (Test.PROMPT, Test.GENERATION)
        },
    }


def _expected(found: Expected) -> dict[str, object]:
    """Return one rate beside what other placements measured here predict for it."""
    return {
        "predicted_tps": figure(found.predicted),
        "line_tps": figure(found.line),
        "measured_tps": figure(found.spot.rate),
        "slowdown": figure(found.slowdown),
        "line_slowdown": figure(found.line_slowdown),
        "measured_slowdown": figure(found.measured_slowdown),
        "r": figure(found.r),
        "ngl": found.spot.ngl,
        "f": found.spot.f,
        "judgement": found.judgement.value,
        "text": found.sentence,
    }


def _measured(runs: tuple[BenchRun, ...]) -> dict[str, object]:
    """Return the last rate of each test; prompt and generation are never merged."""
    last = {run.test: run for run in runs}
    return {
        f"{test.value}_tps": _rate(last[test]) if test in last else None
        for test in (Test.PROMPT, Test.GENERATION)
    }


def _rate(run: BenchRun) -> dict[str, object]:
    return {
        "value": run.mean_tps,
        "low": run.low_tps,
        "high": run.high_tps,
        "n": run.n,
        "n_tokens": run.n_tokens,
        "source": run.instrument,
        "kind": Kind.MEASURED.value,
        "busy": run.busy,
        "settings": dict(run.settings),
    }


def _fix(fix: Fix) -> dict[str, object]:
    change = {name: json_values.to_plain(value) for name, value in fix.change}
    return {"text": fix.text, "command": fix.command, "change": change}


def proof_json(proof: Proof) -> dict[str, object]:
    """Return before and after of a second run with one change."""
    return {
        "rule": proof.finding.rule_id or None,
        "title": proof.finding.title,
        "outcome": proof.verdict.value,
        "is_proven": proof.is_proven,
        "is_line_changed": proof.is_line_changed,
        "text": proof.sentence,
        "change": _fix(proof.finding.fix)["change"],
        "observations": [_pair(pair) for pair in proof.pairs],
        "rates": [_rates(pair) for pair in proof.rates],
        "still": [finding.rule_id for finding in proof.left],
    }


def _pair(pair: Pair) -> dict[str, object]:
    return {
        "what": pair.what,
        "before": pair.before,
        "after": pair.after,
        "line_before": pair.line_before,
        "line_after": pair.line_after,
    }


def _rates(pair: RatePair) -> dict[str, object]:
    return {
        "test": pair.before.test.value,
        "before_tps": _rate(pair.before),
        "after_tps": _rate(pair.after),
        "ratio": pair.ratio,
        "change": pair.change.value,
    }


def _option(option: Option) -> dict[str, object]:
    """Return one ranked change; gain null: reason says why there is no figure."""
    return {
        "id": option.id,
        "title": option.title,
        "text": option.text,
        "cost": option.cost,
        "gain": figure(option.gain),
        "reason": option.reason,
        "change": {name: json_values.to_plain(value) for name, value in option.change},
        "command": option.command,
    }


def _path(path: Waterfall) -> dict[str, object]:
    """Return the steps to the best speed, each on top of those before it."""
    return {
        "now": _level(path.now),
        "steps": [
            {
                "id": stage.id,
                "title": stage.title,
                "cost": stage.cost,
                "toll": stage.toll.value,
                "gain": figure(stage.gain),
                **_level(stage.level),
            }
            for stage in path.stages
        ],
        "left_out": [{"title": one.title, "why": one.why} for one in path.left_out],
        "reason": path.why,
    }


def _level(level: Level) -> dict[str, object]:
    return {"speed": figure(level.speed), "generation_tps": figure(level.tps)}
