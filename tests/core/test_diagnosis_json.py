"""The diagnosis as JSON keeps the contract of docs/json.md."""

import json
from typing import Any

from app.core.bench import BenchRun, Test
from app.core.diagnosis_json import diagnosis_json, figure
from app.core.evidence import Evidence
from app.core.forecast import Forecast, forecast
from app.core.reading import Estimate
from app.core.rule import Certainty, Cite, Diagnosis, Finding, Fix, Ruled
from app.core.slowdown import Prediction

FINDING = Finding(
    cause="Nothing is on the GPU.",
    cites=(Cite("offloaded 19/19 layers to GPU", 142), Cite("swap: 0 bytes", source="vmstat")),
    fix=Fix("Remove --device none.", "llama-server -m a.gguf"),
    proof="a buffer on the device",
    rule_id="device-present-but-unused",
    title="A device is there, but not used",
)
DIAGNOSIS = Diagnosis(
    FINDING,
    also=(FINDING,),
    ruled_out=(Ruled("load-failed", "The load failed", "it became ready"),),
    not_checked=(Ruled("spilling-to-swap", "Memory spills", "memory was not watched"),),
)
RUNS = (
    BenchRun(Test.GENERATION, 128, (20.0, 21.0, 22.0), "llama-bench"),
    BenchRun(Test.PROMPT, 512, (200.0,), "llama-bench"),
)


def written(evidence: Evidence, diagnosis: Diagnosis, found: Forecast) -> dict[str, Any]:
    """Return the document as a reader of the JSON sees it."""
    text = json.dumps(diagnosis_json(evidence, diagnosis, found), allow_nan=False)
    document: dict[str, Any] = json.loads(text)
    return document


def test_verdict_names_rule_line_and_command() -> None:
    document = written(Evidence(), DIAGNOSIS, forecast(Evidence()))
    assert document["schema"] == "slowscope.diagnose/1"
    verdict = document["verdict"]
    assert verdict["rule"] == "device-present-but-unused"
    assert verdict["certainty"] == "proven"
    assert verdict["cites"][0] == {
        "line": 142, "text": "offloaded 19/19 layers to GPU", "source": "log",
    }  # fmt: skip
    assert verdict["cites"][1]["line"] is None
    assert verdict["fix"] == {
        "text": "Remove --device none.", "command": "llama-server -m a.gguf", "change": {},
    }  # fmt: skip
    assert document["also"] == [verdict]
    assert document["ruled_out"] == [{"rule": "load-failed", "because": "it became ready"}]
    assert document["not_checked"] == [
        {"what": "spilling-to-swap", "why": "memory was not watched"}
    ]


def test_rule_is_null_when_nothing_was_found() -> None:
    verdict = written(Evidence(), Diagnosis(None), forecast(Evidence()))["verdict"]
    assert verdict["rule"] is None
    assert verdict["certainty"] == Certainty.NOT_PROVEN.value
    assert verdict["cites"] == []


def test_prediction_says_why_when_it_has_no_figure() -> None:
    prediction = written(Evidence(), Diagnosis(None), forecast(Evidence()))["prediction"]
    assert prediction["f"] is None and prediction["slowdown"] is None
    assert "no model file" in prediction["reason"]


def test_figures_carry_range_source_and_kind() -> None:
    found = Forecast(None, Estimate.typed(8.0), Prediction(Estimate.typed(4.5)))
    prediction = written(Evidence(), Diagnosis(None), found)["prediction"]
    assert prediction["r"] == {
        "value": 8.0, "low": 8.0, "high": 8.0, "source": "typed in", "kind": "typed",
    }  # fmt: skip
    assert prediction["slowdown"]["value"] == 4.5
    assert figure(None) is None


def test_rates_stay_apart_and_an_unknown_interval_is_null() -> None:
    measured = written(Evidence(runs=RUNS), Diagnosis(None), forecast(Evidence()))["measured"]
    assert measured["generation_tps"]["value"] == 21.0
    assert measured["generation_tps"]["low"] < 21.0 < measured["generation_tps"]["high"]
    assert measured["prompt_tps"]["low"] is None
    assert written(Evidence(), Diagnosis(None), forecast(Evidence()))["measured"] == {
        "prompt_tps": None, "generation_tps": None,
    }  # fmt: skip
