"""Two runs differ in what both tell, not in what one leaves out."""

import pytest

from app.core.bench import BenchRun, Test, differing_settings

RUN = BenchRun(Test.GENERATION, 128, (10.0,), "llama-bench")


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ({}, {"n_cpu_moe": "0"}, ()),
        ({"tensor_buft_overrides": "none"}, {}, ()),
        ({"n_threads": ""}, {"n_threads": "4"}, ()),
        ({"n_threads": "2"}, {"n_threads": "4"}, (("n_threads", "2", "4"),)),
        ({}, {"n_cpu_moe": "8"}, (("n_cpu_moe", "0", "8"),)),
    ],
)
def test_names_a_setting_when_both_runs_tell_it(
    before: dict[str, str], after: dict[str, str], found: tuple[tuple[str, str, str], ...]
) -> None:
    first = BenchRun(Test.GENERATION, 128, (1.0,), "llama-bench", settings=tuple(before.items()))
    last = BenchRun(Test.GENERATION, 128, (1.0,), "llama-bench", settings=tuple(after.items()))
    assert differing_settings(first, last) == found


def test_a_build_that_one_run_does_not_name_is_no_difference() -> None:
    named = BenchRun(Test.GENERATION, 128, (10.0,), "llama-bench", build="11434")
    older = BenchRun(Test.GENERATION, 128, (10.0,), "llama-bench", build="8173")
    assert differing_settings(RUN, named) == ()
    assert differing_settings(older, named) == (("build", "8173", "11434"),)
