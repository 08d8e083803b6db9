"""r of this computer: typed in first, else from the notebook's runs of the same model."""

from pathlib import Path

import pytest

from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence
from app.core.reading import Kind
from app.gguf.model import read_model
from app.gguf.sample import write_sample
from app.work.known_ratio import known_ratio
from app.work.notebook import Entry, Notebook
from app.work.settings import SLOW_RATIO, Settings


@pytest.fixture
def evidence(tmp_path: Path) -> Evidence:
    path = tmp_path / "sample.gguf"
    write_sample(path)
    return Evidence(model=read_model(path))


def _entry(model: str, ngl: int, tps: float) -> Entry:
    run = BenchRun(
        Test.GENERATION, 128, (tps, tps + 0.1), "llama-bench", (("n_gpu_layers", str(ngl)),),
        model_name=model,
    )  # fmt: skip
    return Entry(run_id=f"{ngl}", time="2026-11-30T12:00:00Z", model=model, runs=(run,))


def test_is_unknown_without_runs(evidence: Evidence) -> None:
    assert known_ratio(evidence, Settings(), Notebook()) is None
    assert known_ratio(Evidence(), Settings(), Notebook()) is None


def test_comes_from_both_ends_in_the_notebook(evidence: Evidence) -> None:
    notebook = Notebook()
    notebook.append(_entry("sample.gguf", 0, 10.0))
    notebook.append(_entry("other.gguf", 99, 900.0))
    assert known_ratio(evidence, Settings(), notebook) is None
    notebook.append(_entry("sample.gguf", 99, 50.0))
    r = known_ratio(evidence, Settings(), notebook)
    assert r is not None and r.kind is Kind.MEASURED
    assert 4.9 < r.value < 5.1
    assert r.low < r.value < r.high


def test_takes_what_was_typed_in_before_what_was_measured(evidence: Evidence) -> None:
    settings = Settings()
    settings.set(SLOW_RATIO, 12.0)
    r = known_ratio(evidence, settings, Notebook())
    assert r is not None
    assert (r.value, r.kind) == (12.0, Kind.TYPED)
