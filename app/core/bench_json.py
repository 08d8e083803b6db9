"""Measured rates as the JSON document slowscope.bench/1 (docs/json.md)."""

from collections.abc import Sequence

from app import product
from app.core.bench import BenchRun
from app.core.reading import Kind

SCHEMA = product.schema("bench")


def bench_json(
    runs: Sequence[BenchRun],
    *,
    command: Sequence[str] = (),
    notes: Sequence[str] = (),
    watched: dict[str, object] | None = None,
) -> dict[str, object]:
    """Return the document; prompt and generation are runs of their own, never merged."""
    return {
        "schema": SCHEMA,
        "runs": [_run(run) for run in runs],
        "command": list(command),
        "notes": list(notes),
        "watched": watched,
    }


def _run(run: BenchRun) -> dict[str, object]:
    return {
        "test": run.test.value,
        "mean_tps": run.mean_tps,
        "low": run.low_tps,
        "high": run.high_tps,
        "n": run.n,
        "samples_tps": list(run.samples_tps),
        "source": run.instrument,
        "kind": Kind.MEASURED.value,
        "n_tokens": run.n_tokens,
        "depth": run.depth,
        "settings": dict(run.settings),
        "busy": run.busy,
        "build": run.build,
        "backends": run.backends,
        "model": {"name": run.model_name, "bytes": run.model_bytes},
        "started": run.started,
        "run_id": run.run_id,
    }
