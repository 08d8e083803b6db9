"""A container or WSL without its GPU is told before the build is blamed."""

from dataclasses import replace

import pytest

from app.core import facts
from app.core.evidence import Evidence
from app.core.log import Fact
from app.core.machine import Machine, MachineFact
from app.rules import judge
from app.rules.container_without_gpu import check, silent
from tests.rules import made

WARNING = made.event(Fact.NO_GPU_WARNING, 2, "no usable GPU found")
DOCKER = facts.known("os.container", "docker", source="test")
WSL = facts.known("os.is_wsl", True, source="test")
BLIND = facts.known("os.wsl_gpu", False, source="test")
CARD = facts.known("gpu.0.name", "RTX 4070", source="nvml")


def load(*more: MachineFact) -> Evidence:
    """Make evidence of a load without a device."""
    return replace(made.seen(made.story(WARNING, devices=())), machine=Machine(facts=more))


@pytest.mark.parametrize(
    ("evidence", "words"), [(load(DOCKER), "--gpus all"), (load(WSL, BLIND), "graphics driver")]
)
def test_gives_it_the_gpu(evidence: Evidence, words: str) -> None:
    finding = check(evidence)
    assert finding is not None
    assert words in finding.fix.text
    verdict = judge.diagnose(evidence).verdict
    assert verdict is not None and verdict.rule_id == "container-without-gpu"


def test_is_silent_when_the_gpu_is_seen_inside_or_it_is_no_container() -> None:
    inside, bare = load(DOCKER, CARD), load()
    assert check(inside) is None
    assert silent(inside) == "the GPU is seen inside"
    assert check(bare) is None
    assert silent(bare) == ""
