"""A newer build is blamed only with equal settings and intervals that lie apart."""

from dataclasses import replace

from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence
from app.rules.slower_after_update import check, silent

OLD = BenchRun(Test.GENERATION, 128, (41.8, 42.0, 42.2), "llama-bench", build="11000")
NEW = replace(OLD, samples_tps=(30.1, 30.0, 29.9), build="11434")


def test_names_both_builds() -> None:
    finding = check(Evidence(runs=(OLD, NEW)))
    assert finding is not None
    assert "1.40 times slower" in finding.cause
    assert "build 11000" in finding.fix.text


def test_is_silent_when_faster_noisy_or_set_differently() -> None:
    noisy = replace(NEW, samples_tps=(30.0, 45.0))
    other = replace(NEW, settings=(("n_gpu_layers", "4"),))
    faster = replace(NEW, samples_tps=(50.0, 50.1, 50.2))
    for run in (noisy, other, faster):
        evidence = Evidence(runs=(OLD, run))
        assert check(evidence) is None
        assert silent(evidence)


def test_takes_the_former_rate_from_the_notebook() -> None:
    assert check(Evidence(runs=(NEW,), history=(OLD,))) is not None
    busy = replace(OLD, busy="other programs used up to 1.0 of 2 processor cores")
    assert check(Evidence(runs=(NEW,), history=(busy,))) is None
    assert check(Evidence(runs=(), history=(OLD, NEW))) is None


def test_a_setting_that_only_the_newer_build_prints_is_no_difference() -> None:
    old = replace(OLD, settings=(("n_gpu_layers", "99"), ("use_mmap", "true")))
    new = replace(NEW, settings=(("n_gpu_layers", "99"), ("load_mode", "auto")))
    assert check(Evidence(runs=(new,), history=(old,))) is not None
    split = replace(new, settings=(*new.settings, ("n_cpu_moe", "4")))
    assert check(Evidence(runs=(split,), history=(old,))) is None
