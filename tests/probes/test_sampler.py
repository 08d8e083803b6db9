"""The sampler: rates from counters, other programs' CPU, and None where nothing is told."""

import subprocess
import sys

import pytest

from app.probes.sampler import Counters, Sampler, SystemMeter, parse_own_bytes, parse_vmstat
from tests.hosts import sample

PAGE = 4096


class FakeMeter:
    """Gives prepared readings, one after the other."""

    def __init__(self, *readings: Counters) -> None:
        self._readings = list(readings)
        self.asked: list[frozenset[int]] = []

    def read(self, pids: frozenset[int]) -> Counters:
        """Return the next reading."""
        self.asked.append(pids)
        return self._readings.pop(0)


def _watch(*readings: Counters) -> Sampler:
    sampler = Sampler(lambda: frozenset({4711}), FakeMeter(*readings))
    sampler.start()
    for _ in readings[1:]:
        sampler.sample()
    return sampler


def test_counts_pages_swapped_in_between_two_readings() -> None:
    before, _, after = sample("vmstat-swapping.txt").partition("--\n")
    first, last = parse_vmstat(before), parse_vmstat(after)
    result = _watch(
        Counters(0.0, first["pswpin"] * PAGE, first["pswpout"] * PAGE),
        Counters(1.0, last["pswpin"] * PAGE, last["pswpout"] * PAGE),
    ).result()
    assert result.swap_in_max == 25_600 * PAGE
    assert result.swap_out_max == 0.0
    assert (result.seconds, result.n_samples) == (1.0, 1)


def test_keeps_the_highest_rate_and_both_levels_of_swap() -> None:
    result = _watch(
        Counters(0.0, refault_bytes=0, swap_used_bytes=10),
        Counters(2.0, refault_bytes=8000, swap_used_bytes=20),
        Counters(3.0, refault_bytes=8500, swap_used_bytes=30),
    ).result()
    assert result.refault_max == 4000.0
    assert (result.swap_used_before_bytes, result.swap_used_after_bytes) == (10, 30)


def test_takes_what_is_not_told_as_none_and_not_as_zero() -> None:
    result = _watch(Counters(0.0), Counters(1.0)).result()
    assert result.swap_in_max is None
    assert result.refault_max is None
    assert result.other_cpu_max is None
    assert result.n_samples == 1


def test_a_counter_that_went_back_says_nothing() -> None:
    assert _watch(Counters(0.0, 500), Counters(1.0, 100)).result().swap_in_max is None


def test_leaves_the_runs_own_cpu_out() -> None:
    result = _watch(
        Counters(0.0, busy_cpu_s=100.0, own_cpu_s={1: 50.0}),
        # a child of the run appears, its seconds count as the run's
        Counters(2.0, busy_cpu_s=105.0, own_cpu_s={1: 52.0, 2: 1.0}),
    ).result()
    assert result.other_cpu_max == pytest.approx(1.0)


def test_says_nothing_about_others_when_a_program_of_the_run_ended() -> None:
    result = _watch(
        Counters(0.0, busy_cpu_s=100.0, own_cpu_s={1: 50.0}), Counters(1.0, busy_cpu_s=102.0)
    ).result()
    assert result.other_cpu_max is None


def test_growth_of_the_runs_programs_counts_from_when_each_was_first_seen() -> None:
    result = _watch(
        Counters(0.0, own_bytes={1: 100}),
        Counters(1.0, own_bytes={1: 300, 2: 1000}),
        Counters(2.0, own_bytes={2: 1500}),  # the first has ended: its last size holds
    ).result()
    assert result.own_growth_bytes == 700
    assert _watch(Counters(0.0), Counters(1.0)).result().own_growth_bytes is None
    assert _watch(Counters(0.0, own_bytes={1: 100})).result().own_growth_bytes is None


def test_a_mapped_file_is_no_growth_and_swapped_memory_is() -> None:
    text = "Name:\tllama-server\nVmRSS:\t 900 kB\nRssAnon:\t 100 kB\nVmSwap:\t 20 kB\n"
    assert parse_own_bytes(text) == 120 * 1024
    assert parse_own_bytes("RssAnon:\t 100 kB\n") == 100 * 1024
    for odd in ("", "VmSwap: 5 kB", "RssAnon: x kB", "RssAnon: 100"):
        assert parse_own_bytes(odd) is None


def test_asks_for_the_programs_each_time_and_leaves_itself_out() -> None:
    pids = [frozenset({1}), frozenset({1, 2})]
    meter = FakeMeter(Counters(0.0), Counters(1.0))
    sampler = Sampler(lambda: pids.pop(0), meter)
    sampler.sample()  # the first starts it
    sampler.sample()
    assert {1} < meter.asked[0]
    assert {1, 2} < meter.asked[1]


def test_reads_the_older_name_of_refaults() -> None:
    assert parse_vmstat("workingset_refault 7\n") == {"workingset_refault_file": 7}
    assert parse_vmstat("") == {}
    assert parse_vmstat("pswpin -4\npswpout x\n") == {}


@pytest.mark.real
def test_counts_a_busy_program_of_this_machine_as_its_own() -> None:
    code = "import sys; print('on', flush=True)\nwhile True: pass"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as busy:
        try:
            assert busy.stdout and busy.stdout.readline()
            meter = SystemMeter()
            first = meter.read(frozenset({busy.pid}))
            second = first
            # its own clock, not ours: until it has used a tenth of a second
            while second.own_cpu_s[busy.pid] - first.own_cpu_s[busy.pid] < 0.1:
                second = meter.read(frozenset({busy.pid}))
            assert first.busy_cpu_s is not None and second.busy_cpu_s is not None
            assert second.busy_cpu_s - first.busy_cpu_s >= 0.05
        finally:
            busy.kill()


def test_what_windows_reads_for_faults_is_a_figure_of_its_own() -> None:
    result = _watch(Counters(0.0, fault_bytes=0), Counters(2.0, fault_bytes=8_000)).result()
    assert result.fault_max == 4000.0
    # it may be a mapped file or swap: neither of the two is claimed
    assert (result.swap_in_max, result.refault_max) == (None, None)
