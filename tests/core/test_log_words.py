"""Every line that a pattern knows is explained, and weighed, in words for everybody."""

from pathlib import Path

import pytest

from app.core import log_words
from app.core.log import Fact, LoadStory, LogEvent, Pattern, Request
from app.core.log_texts import TEXTS
from app.core.log_words import Weight, explain, weight
from app.logs import lines
from app.logs.matcher import standard
from app.logs.scan import scan_file

DATA = Path(__file__).parents[1] / "data" / "logs"


def said(log: str, fact: Fact, number: int = -1) -> str:
    summary = scan_file(DATA / f"{log}.log")
    event = summary.all(fact)[number]
    return explain(event, summary.load_at(event.line))


def test_each_fact_has_a_text() -> None:
    assert set(TEXTS) == set(Fact)


@pytest.mark.parametrize("pattern", standard().patterns, ids=lambda p: p.fact.value)
def test_each_sample_is_explained(pattern: Pattern) -> None:
    for sample in pattern.samples:
        text, _ = lines.strip(sample.line)
        words = explain(LogEvent(pattern.fact, 1, text, sample.values))
        assert words.endswith((".", ")"))
        assert 15 < len(words) < 300
        assert not set(words) & set("{}_") - set(text)


@pytest.mark.parametrize("path", sorted(DATA.glob("*.log")), ids=lambda path: path.stem)
def test_each_line_of_the_sample_logs_is_explained(path: Path) -> None:
    summary = scan_file(path)
    for event in summary.events:
        assert explain(event, summary.load_at(event.line))
        assert isinstance(weight(event), Weight)


def test_claim_that_the_buffers_deny_is_told() -> None:
    denied = "no weights are on any device"
    assert denied in said("b10434-vulkan-device-none-ngl99-lv4", Fact.OFFLOADED)
    assert denied not in said("b10434-vulkan-full-offload-lv4", Fact.OFFLOADED)
    assert denied not in said("b11434-rpc-fit-moves-all-layers-gemma-lv4", Fact.OFFLOADED)


def test_buffer_says_where_it_is() -> None:
    full = "b10434-vulkan-full-offload-lv4"
    assert said(full, Fact.WEIGHTS_BUFFER) == (
        "65.2 MiB for weights in Vulkan0: the memory of a device (GPU)."
    )
    assert "system memory. It is a view of the model file" in said(full, Fact.WEIGHTS_BUFFER, -2)
    assert "system memory. These weights are arranged anew" in said(full, Fact.WEIGHTS_BUFFER, -3)
    two = "b11434-rpc-two-devices-full-lv4"
    assert said(two, Fact.WEIGHTS_BUFFER).endswith("The device is RPC1.")


def test_trial_run_is_named() -> None:
    summary = scan_file(DATA / "b11434-rpc-one-device-partial-ngl6-verbose.log")
    first = summary.all(Fact.COMPUTE_BUFFER)[0]
    assert explain(first).startswith("From a trial run that allocated nothing")
    assert weight(first) is Weight.DETAIL


def test_rate_of_few_tokens_is_said_to_mean_little() -> None:
    log = "b11434-cpu-prompt-cache-swa-reprocessing-lv4"
    assert said(log, Fact.PROMPT_RATE, 0) == ("The prompt was read at 127 tok/s, over 685 tokens.")
    assert "too few" in said(log, Fact.PROMPT_RATE)
    assert "too few" in said(log, Fact.GENERATION_RATE)


@pytest.mark.parametrize(
    ("fact", "expected"),
    [
        (Fact.HARMLESS, Weight.HARMLESS),
        (Fact.ERROR_FILE, Weight.FAULT),
        (Fact.ERROR_CONSEQUENCE, Weight.DETAIL),
        (Fact.WEIGHTS_BUFFER, Weight.EVIDENCE),
        (Fact.LOAD_START, Weight.DETAIL),
    ],
)
def test_weighs_a_line(fact: Fact, expected: Weight) -> None:
    assert weight(LogEvent(fact, 1, "")) is expected


def test_requests_are_summed_up_in_one_sentence() -> None:
    assert log_words.requests(LoadStory()) == ""
    found = (
        Request(1, 0, n_prompt=685, n_cached=0),
        Request(2, 8, n_prompt=718, n_cached=685, is_truncated=True, n_shifts=2),
        Request(3, 15, is_refused=True),
    )
    assert log_words.requests(LoadStory(requests=found)) == (
        "3 requests, 685 of 1,403 prompt tokens came from the cache, 1 lost their oldest text, "
        "1 cut at the end of the context, 1 refused as too long"
    )
    assert log_words.requests(LoadStory(requests=found[:1])).startswith("1 request, ")


def test_program_is_named_with_what_computes_inside_and_its_age() -> None:
    ollama = LoadStory(program="Ollama", version="0.30.7", engine="llama-server", dated="2026-05")
    assert log_words.program(ollama) == "Ollama 0.30.7 (llama-server)"
    assert log_words.age(ollama) == ""
    own = LoadStory(program="llama-server", dated="2026-06 or later")
    assert log_words.age(own) == "from 2026-06 or later, by its words"
    assert log_words.program(LoadStory(build=7079)) == "llama.cpp, build 7079"
