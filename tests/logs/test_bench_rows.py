"""Rows of llama-bench within a log: the same rates from every format, each with its tokens."""

from pathlib import Path

import pytest

from app.core.log import Fact
from app.logs.bench_output import read_output
from app.logs.scan import scan_file, scan_text

DATA = Path(__file__).parents[1] / "data" / "logs"
OUTPUTS = sorted(
    path.name for path in DATA.glob("*llama-bench*") if read_output(path.read_text()).runs
)


@pytest.mark.parametrize("name", OUTPUTS)
def test_log_tells_the_rates_that_the_output_has(name: str) -> None:
    log = scan_file(DATA / name)
    rates = [event for load in log.loads for event in load.rates]
    assert [(e.whole("n"), round(e.number("tps"), 2), e.whole("depth")) for e in rates] == [
        (run.n_tokens, round(run.mean_tps, 2), run.depth)
        for run in read_output((DATA / name).read_text()).runs
    ]
    assert {load.program for load in log.loads} == {"llama-bench"}
    assert not any(load.requests for load in log.loads)


def test_there_are_outputs_of_every_format() -> None:
    assert len(OUTPUTS) >= 10
    assert {name.rpartition(".")[2] for name in OUTPUTS} >= {"csv", "json", "jsonl", "sql", "txt"}


def test_row_of_prompt_and_answer_together_is_neither_rate() -> None:
    log = scan_text(
        "| model | size | params | backend | threads | test | t/s |\n"
        "| gemma3 | 230.73 MiB | 268.10 M | CPU | 1 | pp8+tg4 | 46.86 ± 0.00 |\n"
    )
    assert [e.word("kind") for e in log.all(Fact.RATE_SHOWN)] == ["mixed"]
    assert not log.all(Fact.PROMPT_RATE)


def test_sign_that_a_console_spoils_does_not_matter() -> None:
    log = scan_text("| gemma3 | 230.73 MiB | 268.10 M | CPU | 1 | tg128 | 46.86 Â± 0.10 |\n")
    (rate,) = log.all(Fact.GENERATION_RATE)
    assert (rate.whole("n"), rate.number("tps")) == (128, 46.86)


def test_csv_row_without_its_header_is_not_guessed_at() -> None:
    rows = (DATA / "b11434-llama-bench-cpu-csv.csv").read_text().splitlines()[1:]
    log = scan_text("\n".join(rows))
    assert not log.all(Fact.PROMPT_RATE)
    assert len(log.all(Fact.BENCH_ROW)) == len(rows)
