"""Earlier rates of a model go from the notebook into the evidence, for the prediction."""

from dataclasses import replace

from app.core.bench import BenchRun, Test
from app.work.notebook import HISTORY, Entry, Pages, history_of

HERE = ("a processor", "CUDA0: card")


def _entry(ngl: int, *, model: str = "m.gguf", machine: tuple[str, ...] = HERE) -> Entry:
    run = BenchRun(
        Test.GENERATION, 128, (10.0, 10.1), "llama-bench", (("n_gpu_layers", str(ngl)),),
        model_name=model,
    )  # fmt: skip
    return Entry(f"{ngl}", "2026-11-30T12:00:00Z", model, (run,), machine=machine)


def test_takes_this_model_on_this_machine() -> None:
    entries = (
        _entry(1),
        _entry(2, model="other.gguf"),
        _entry(3, machine=("another processor",)),
        replace(_entry(4), busy="other programs"),
        _entry(5, machine=()),
    )
    found = history_of(Pages(entries), "m.gguf", HERE)
    assert [run.setting("n_gpu_layers") for run in found] == ["1", "5"]


def test_keeps_the_latest() -> None:
    entries = tuple(_entry(number) for number in range(HISTORY + 5))
    found = history_of(Pages(entries), "m.gguf", HERE)
    assert len(found) == HISTORY
    assert found[-1].setting("n_gpu_layers") == str(HISTORY + 4)
