"""Measured rates as JSON keep the contract of docs/json.md."""

import json
from typing import Any

from app.core.bench import BenchRun, Test
from app.core.bench_json import bench_json

PROMPT = BenchRun(
    Test.PROMPT,
    512,
    (400.0, 402.0, 404.0),
    "llama-bench",
    (("n_gpu_layers", "9"),),
    build="11434",
    model_name="a.gguf",
    model_bytes=1000,
    backends="CPU",
    started="2026-11-30T12:00:00Z",
    run_id="abc",
)
GENERATION = BenchRun(Test.GENERATION, 128, (20.0,), "llama-server", busy="other programs")


def _written(**more: Any) -> dict[str, Any]:
    text = json.dumps(bench_json((PROMPT, GENERATION), **more), allow_nan=False)
    document: dict[str, Any] = json.loads(text)
    return document


def test_gives_each_rate_with_interval_samples_and_settings() -> None:
    document = _written(command=("llama-bench", "-m", "a.gguf"), notes=("A note.",))
    assert document["schema"] == "slowscope.bench/1"
    assert document["command"] == ["llama-bench", "-m", "a.gguf"]
    assert document["notes"] == ["A note."]
    prompt = document["runs"][0]
    assert (prompt["test"], prompt["mean_tps"], prompt["n"]) == ("prompt", 402.0, 3)
    # t of two degrees of freedom, standard deviation 2 over the root of 3
    assert round(prompt["high"] - prompt["mean_tps"], 3) == 4.969
    assert round(prompt["mean_tps"] - prompt["low"], 3) == 4.969
    assert prompt["samples_tps"] == [400.0, 402.0, 404.0]
    assert prompt["settings"] == {"n_gpu_layers": "9"}
    assert (prompt["source"], prompt["kind"], prompt["busy"]) == ("llama-bench", "measured", "")
    assert (prompt["n_tokens"], prompt["depth"], prompt["build"]) == (512, 0, "11434")
    assert prompt["model"] == {"name": "a.gguf", "bytes": 1000}


def test_interval_is_null_after_one_repetition() -> None:
    generation = _written()["runs"][1]
    assert (generation["test"], generation["n"]) == ("generation", 1)
    assert (generation["low"], generation["high"]) == (None, None)
    assert generation["busy"] == "other programs"
    assert generation["model"]["bytes"] is None
