"""The log of each public report gives the fact that settles it, at the line that states it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from app.core.log import Ended, Fact, LogSummary, Value
from app.logs.scan import scan_file

DATA = Path(__file__).parents[1] / "data" / "cases"


@dataclass(frozen=True, slots=True)
class Case:
    """What settles a case; values are some of the line's."""

    fact: Fact
    line: int
    values: Mapping[str, Value] = field(default_factory=dict)
    program: str | None = None  # None: the lines tell of no load
    ended: Ended = Ended.OPEN


CASES: dict[str, Case] = {
    "C01": Case(Fact.NO_GPU_WARNING, 1, program="llama.cpp"),
    "C03": Case(
        Fact.SYSTEM_INFO, 7, {"features": "CPU : LLAMAFILE = 1 | cgo(clang)", "threads": 8}
    ),
    "C05": Case(Fact.OFFLOADED, 2, {"n": 31, "m": 33}, "llama.cpp"),
    "C06": Case(Fact.ERROR_MEMORY, 5, {"part": "kv"}, "Jan", Ended.FAILED),
    "C11": Case(Fact.FIT_FAILED, 6, program="llama-server"),
    "C13": Case(Fact.PROJECTOR_MEMORY, 1, {"mib": 2447.8}, "llama.cpp"),
    "C15": Case(
        Fact.DEVICE_LISTED,
        1,
        {"device": "Vulkan0", "description": "AMD Radeon RX 9070 XT (AMD proprietary driver)"},
    ),
    "C16": Case(Fact.GPU_NO_KERNELS, 1, {"arch": "gfx1036"}, "llama.cpp", Ended.CRASHED),
    "C25": Case(Fact.PROMPT_REPROCESSED, 1, program="llama.cpp"),
    "C27": Case(
        Fact.PROMPT_RATE, 3, {"n": 1294, "tps": 1000 / 113.38}, "text-generation-webui"
    ),
    "C35": Case(Fact.VLLM_MEMORY, 3, {"asked": 4096, "stored": 3664}, "vLLM", Ended.FAILED),
    "C39": Case(
        Fact.ERROR_FILE, 4, {"tensor": "blk.2.ffn_down.weight", "why": "cut"}, "llama.cpp",
        Ended.FAILED,
    ),
    "C40": Case(Fact.CONTEXT_TRUNCATED, 1, {"limit": 2048, "n": 3858}, "Ollama"),
    "C41": Case(Fact.OFFLOAD_PLAN, 1, {"offload": 0, "layers": 35, "free": 3.2 * 1024}),
    "C44": Case(Fact.DRAFT_ACCEPTANCE, 7, {"rate": 0.3432}, "llama.cpp"),
    "C45": Case(Fact.GPU_DROPPED, 1, {"description": "NVIDIA GeForce RTX 5070 Laptop GPU"}),
    "C48": Case(Fact.GPU_LOST, 1),
}  # fmt: skip


COMPOSED = {"C18", "C32"}  # not printed by a program (tests/data/INDEX.md)
NAMES = {"C13": "log-of-the-fixed-build.txt"}


def summary(name: str) -> LogSummary:
    return scan_file(DATA / name / NAMES.get(name, "log.txt"))


def test_every_case_with_a_log_is_here() -> None:
    # tests/rules holds the logs of the reports that were found later (P) to their verdicts
    assert {path.parent.name for path in DATA.glob("C*/log.txt")} - COMPOSED == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_log_states_the_fact_that_settles_it(name: str) -> None:
    case = CASES[name]
    found = [e for e in summary(name).all(case.fact) if e.line == case.line]
    assert len(found) == 1
    assert {key: found[0].values[key] for key in case.values} == case.values


@pytest.mark.parametrize("name", CASES)
def test_program_is_named_where_a_load_is_told(name: str) -> None:
    load = summary(name).load
    assert (load.program if load else None) == CASES[name].program
    assert load is None or load.ended is CASES[name].ended


def test_first_cause_comes_before_what_follows_from_it() -> None:
    for name, line in (("C06", 3), ("C35", 3), ("C39", 4)):
        load = summary(name).load
        assert load is not None
        assert load.errors[0].line == line
    load = summary("C39").load
    assert load is not None
    assert [e.fact for e in load.errors[1:]] == [Fact.ERROR_CONSEQUENCE] * 3


def test_share_on_the_device_is_what_the_buffers_say() -> None:
    load = summary("C05").load
    assert load is not None
    assert load.weights_on_device is True
    device, host = load.buffers[1].n_bytes, load.buffers[0].n_bytes
    assert host / (host + device) == pytest.approx(0.18, abs=0.005)


def test_plan_of_ollama_is_no_placement() -> None:
    assert summary("C41").load is None
    assert summary("C41").last(Fact.WEIGHTS_BUFFER) is None


def test_blocks_of_vllm_are_the_tokens_that_its_error_names() -> None:
    log = summary("C35")
    capacity, error = log.last(Fact.KV_CAPACITY), log.last(Fact.VLLM_MEMORY)
    assert capacity is not None and error is not None
    assert capacity.whole("n") == error.whole("stored") == 229 * 16


def test_rate_that_mixes_both_phases_is_told_apart() -> None:
    load = summary("C27").load
    assert load is not None
    assert [(e.fact, round(e.number("tps"), 2)) for e in load.rates] == [
        (Fact.PROMPT_RATE, 8.82),
        (Fact.GENERATION_RATE, 4.03),
    ]
    assert [e.word("kind") for e in summary("C27").all(Fact.RATE_SHOWN)] == ["mixed"]
