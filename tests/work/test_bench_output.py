"""Outputs of llama-bench: real ones of two years, broken ones, and anything at all."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.bench import Test
from app.core.errors import UserError
from app.logs.bench_output import read_output as parse
from app.work.bench_output import parse_line, read_file

DATA = Path(__file__).parents[1] / "data" / "logs"


@pytest.mark.parametrize(
    "name", ["b11434-llama-bench-cpu-jsonl.jsonl", "b11434-llama-bench-cpu-json.json"]
)
def test_reads_the_two_rates_apart(name: str) -> None:
    output = read_file(DATA / name)
    assert {run.test for run in output.runs} == {Test.PROMPT, Test.GENERATION}
    for run in output.runs:
        row = next(
            row
            for row in _rows(DATA / name)
            if (row["n_prompt"] > 0) is (run.test is Test.PROMPT) and row["n_depth"] == run.depth
        )
        assert run.mean_tps == pytest.approx(row["avg_ts"], rel=1e-4)
        assert run.n == len(row["samples_ns"])
        assert run.n_tokens == row["n_prompt"] + row["n_gen"]
        assert run.setting("n_threads") == str(row["n_threads"])
        assert run.setting("flash_attn") == "auto"
        assert run.instrument == "llama-bench"
        assert "/" not in run.model_name


def test_reads_an_output_of_early_2024() -> None:
    output = read_file(DATA / "old-2024-02-llama-bench-json.json")
    assert [run.test for run in output.runs] == [Test.PROMPT, Test.GENERATION]
    assert output.runs[0].samples_tps == pytest.approx((139.391, 164.739), rel=1e-5)
    assert output.runs[0].build == ""  # built from an archive: number 0, commit unknown
    assert output.runs[0].setting("n_gpu_layers") == "99"


def test_names_the_layers_and_the_device_of_a_partial_offload() -> None:
    run = read_file(DATA / "b11434-llama-bench-rpc-jsonl.jsonl").runs[0]
    assert run.setting("n_gpu_layers") == "6"
    assert run.setting("gpu_info") == "127.0.0.1:52241"
    assert run.backends == "RPC"
    assert run.low_tps is None  # one repetition has no interval


@pytest.mark.parametrize(
    "name",
    [
        "b11434-llama-bench-cpu-csv.csv",
        "b11434-llama-bench-cpu-sql.sql",
        "b11434-llama-bench-md-optional-columns.md.txt",
        "old-2024-02-llama-bench-md.md.txt",
    ],
)
def test_reads_formats_without_samples_as_means_without_interval(name: str) -> None:
    runs = read_file(DATA / name).runs
    assert {run.test for run in runs} == {Test.PROMPT, Test.GENERATION}
    assert all(run.n == 1 and run.low_tps is None for run in runs)


def test_says_how_to_get_rates_when_there_are_none() -> None:
    with pytest.raises(UserError) as caught:
        read_file(DATA / "b11434-llama-bench-error-oom-depth.log")
    assert "-o jsonl" in caught.value.advice


def test_names_no_device_when_the_build_has_no_gpu() -> None:
    # n_gpu_layers is -1, all layers, in this output of a build without any GPU
    run = read_file(DATA / "b11434-llama-bench-cpu-jsonl.jsonl").runs[0]
    assert run.setting("n_gpu_layers") == "-1"
    assert run.setting("devices") == "none"
    assert (
        read_file(DATA / "b11434-llama-bench-rpc-jsonl.jsonl").runs[0].setting("devices") == "auto"
    )


def test_leaves_out_a_rate_that_mixes_prompt_and_generation() -> None:
    row = _rows(DATA / "b11434-llama-bench-cpu-jsonl.jsonl")[0]
    mixed = {**row, "n_prompt": 512, "n_gen": 128}
    output = parse(json.dumps(mixed))
    assert output.runs == ()
    assert output.skipped == ("pp512+tg128 mixes the two rates",)


@pytest.mark.parametrize("times", [[], [0], [-5], ["fast"], [True], None, [1e-320], 7])
def test_leaves_out_a_row_when_its_times_are_no_times(times: object) -> None:
    row = _rows(DATA / "b11434-llama-bench-cpu-jsonl.jsonl")[0]
    assert parse_line(json.dumps({**row, "samples_ns": times})) is None


def test_reads_the_rows_before_a_line_that_was_cut() -> None:
    text = (DATA / "b11434-llama-bench-cpu-jsonl.jsonl").read_text()
    output = parse(text[: len(text) - 40])
    assert len(output.runs) == len(_rows(DATA / "b11434-llama-bench-cpu-jsonl.jsonl")) - 1
    assert output.skipped == ("Lines that are cut or broken: 1",)


def test_survives_brackets_without_end() -> None:
    assert parse("[" * 200_000).runs == ()


@given(st.text() | st.from_type(dict).map(str) | st.binary().map(lambda b: b.decode("latin-1")))
def test_never_raises_whatever_the_text(text: str) -> None:
    parse(text)


@given(
    st.dictionaries(
        st.sampled_from(["n_prompt", "n_gen", "samples_ns", "build_number", "flash_attn"]),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.floats()),
    )
)
def test_gives_only_finite_rates_whatever_the_row(row: dict[str, object]) -> None:
    for run in parse(json.dumps(row)).runs:
        assert all(0 < rate < float("inf") for rate in run.samples_tps)


def _rows(path: Path) -> list[dict[str, Any]]:
    text = path.read_text()
    if path.suffix == ".json":
        return list(json.loads(text))
    return [json.loads(line) for line in text.splitlines() if line]


def test_keeps_what_was_moved_by_name_and_nothing_where_nothing_was() -> None:
    line = (DATA / "b11434-llama-bench-cpu-jsonl.jsonl").read_text().splitlines()[0]
    plain, row = parse_line(line), json.loads(line)
    assert plain is not None and plain.setting("tensor_buft_overrides") is None
    moved = parse_line(json.dumps({**row, "tensor_buft_overrides": "exps=CPU"}))
    assert moved is not None and moved.setting("tensor_buft_overrides") == "exps=CPU"
