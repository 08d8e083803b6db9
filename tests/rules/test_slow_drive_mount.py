"""A model on a Windows drive is named in WSL only, and likely only with a slow load."""

from app.core import facts
from app.core.evidence import Evidence, LoadOutcome
from app.core.machine import Machine
from app.core.model import Model, Part
from app.core.rule import Certainty
from app.rules.slow_drive_mount import check, silent

WSL = Machine(facts=(facts.known("os.is_wsl", True, source="test"),))


def load(path: str, seconds: float | None) -> Evidence:
    """Make evidence of a load of 6 GB."""
    model = Model("m", "llama", 3, False, {}, (), (Part(path, 6_000_000_000, 0, 32),))
    outcome = LoadOutcome(("llama-server",), "llama-server", True, "", load_s=seconds)
    return Evidence(machine=WSL, model=model, outcome=outcome)


def test_copies_the_file_when_the_load_was_slow() -> None:
    finding = check(load("/mnt/c/models/m.gguf", 60.0))
    assert finding is not None and finding.certainty is Certainty.LIKELY
    assert "0.1 GB/s" in finding.cause


def test_is_likely_too_when_the_load_was_not_timed() -> None:
    finding = check(load("/mnt/c/models/m.gguf", None))
    assert finding is not None and finding.certainty is Certainty.LIKELY


def test_is_silent_when_fast_or_inside() -> None:
    for evidence in (load("/mnt/c/models/m.gguf", 5.0), load("/home/u/m.gguf", 60.0)):
        assert check(evidence) is None
        assert silent(evidence)
