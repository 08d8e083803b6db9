"""llama-bench output in each of its formats gives the same rates; anything else gives none."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.bench import BenchRun, Test
from app.logs.bench_output import read_output

DATA = Path(__file__).parents[1] / "data" / "logs"


def read_bench(text: str) -> tuple[BenchRun, ...]:
    return read_output(text).runs


def runs(name: str) -> tuple[BenchRun, ...]:
    return read_bench((DATA / name).read_text())


@pytest.mark.parametrize(
    ("name", "prompt", "generation", "n"),
    [
        ("b11434-llama-bench-cpu-md.md.txt", 44.19, 1.54, 1),
        ("b11434-llama-bench-cpu-csv.csv", 17.181245, 0.647055, 1),
        ("b11434-llama-bench-cpu-sql.sql", 6.601303, 1.164601, 1),
        ("b11434-llama-bench-cpu-json.json", 13.513518, None, 2),
        ("b11434-llama-bench-cpu-jsonl.jsonl", None, None, 2),
    ],
)
def test_reads_each_format(
    name: str, prompt: float | None, generation: float | None, n: int
) -> None:
    first, second = runs(name)
    assert (first.test, first.n_tokens, first.n) == (Test.PROMPT, 32, n)
    assert (second.test, second.n_tokens, second.n) == (Test.GENERATION, 8, n)
    for run, mean in ((first, prompt), (second, generation)):
        if mean is not None:
            assert run.mean_tps == pytest.approx(mean, rel=1e-4)
        assert run.setting("n_threads") == "2"
        assert run.backends == "CPU"
        assert run.build == ""
        assert run.model_bytes == pytest.approx(42108928, rel=1e-4)
        assert (run.low_tps is None) is (n == 1)


@pytest.mark.parametrize("kind", ["md.md.txt", "csv.csv", "json.json", "sql.sql"])
def test_reads_the_formats_of_early_2024(kind: str) -> None:
    first, second = runs(f"old-2024-02-llama-bench-{kind}")
    assert (first.test, first.n_tokens) == (Test.PROMPT, 8)
    assert (second.test, second.n_tokens) == (Test.GENERATION, 4)
    assert first.mean_tps > second.mean_tps > 0


def test_reads_optional_columns_by_their_header_and_leaves_mixed_rates_out() -> None:
    table = runs("b11434-llama-bench-md-optional-columns.md.txt")
    assert [(r.test, r.n_tokens, r.depth, r.setting("type_k")) for r in table] == [
        (Test.PROMPT, 8, 0, "f16"),
        (Test.GENERATION, 4, 0, "f16"),
        (Test.PROMPT, 8, 16, "f16"),
        (Test.GENERATION, 4, 16, "f16"),
        (Test.PROMPT, 8, 0, "q8_0"),
        (Test.GENERATION, 4, 0, "q8_0"),
        (Test.PROMPT, 8, 16, "q8_0"),
        (Test.GENERATION, 4, 16, "q8_0"),
    ]
    assert {r.setting("flash_attn") for r in table} == {"on"}
    assert {r.setting("n_ubatch") for r in table} == {"64"}


def test_reads_layers_and_devices_of_a_table() -> None:
    assert [r.setting("n_gpu_layers") for r in runs("b11434-llama-bench-rpc-md.md.txt")] == [
        "99",
        "99",
        "6",
        "6",
    ]
    none = runs("b11434-llama-bench-rpc-dev-none.md.txt")
    assert {(r.setting("devices"), r.backends) for r in none} == {("none", "RPC")}


def test_finds_the_rates_between_other_lines_and_none_where_there_are_none() -> None:
    assert [r.n_tokens for r in runs("b11434-llama-bench-progress.log")] == [8, 4]
    assert runs("b11434-llama-bench-error-oom-depth.log") == ()
    assert runs("b11434-cpu-healthy-lv4.log") == ()
    footer = (DATA / "b11434-llama-bench-cpu-md.md.txt").read_text()
    built = read_bench(footer.replace("build: unknown (0)", "build: 5d3e2c1 (6123)"))
    assert {r.build for r in built} == {"6123"}


def test_spoilt_sign_does_not_spoil_the_rate() -> None:
    table = (DATA / "b11434-llama-bench-cpu-md.md.txt").read_text().replace("±", "Â±")
    assert read_bench(table)[0].mean_tps == 44.19


@given(st.text() | st.binary(max_size=400).map(lambda data: data.decode("latin-1")))
def test_never_raises_whatever_the_text(text: str) -> None:
    for run in read_bench(f'| model | test | t/s |\n| {text} |\nbuild_commit,n_gen\n"{text}'):
        assert all(0 < rate < float("inf") for rate in run.samples_tps)


@given(
    st.dictionaries(
        st.sampled_from(["n_prompt", "n_gen", "samples_ns", "avg_ts", "test", "size"]),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.floats()),
    )
)
def test_gives_only_finite_rates_whatever_the_row(row: dict[str, object]) -> None:
    for run in read_bench(json.dumps(row)):
        assert all(0 < rate < float("inf") for rate in run.samples_tps)
