"""The measurement of memory: its size, its shape, and that it runs apart from the application."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from app.core.units import GIB, MIB
from app.probes import bandwidth
from app.work import bandwidth_run

SCRIPT = Path(bandwidth.__file__)


@pytest.mark.parametrize(
    ("l3", "available", "wanted"),
    [
        (0, 64 * GIB, 256 * MIB),
        (32 * MIB, 64 * GIB, 256 * MIB),
        (96 * MIB, 64 * GIB, 384 * MIB),
        (480 * MIB, 64 * GIB, 1920 * MIB),
        (2 * GIB, 64 * GIB, 2 * GIB),
        (0, 512 * MIB, 128 * MIB),
        (0, 0, 16 * MIB),
    ],
)
def test_reads_four_times_the_cache_and_no_more_than_is_sensible(
    l3: int, available: int, wanted: int
) -> None:
    assert bandwidth.buffer_bytes(l3, available) == wanted


def test_gives_a_rate_per_repetition_and_says_whether_it_was_cache() -> None:
    found = bandwidth.measure(2, 32 * MIB, l3_bytes=32 * MIB)
    rates = found["rates_bps"]
    assert isinstance(rates, list) and len(rates) >= 3 and min(rates) > 10**8
    assert found["buffer_bytes"] == 32 * MIB
    assert found["is_cache"] is True
    assert isinstance(found["is_busy"], bool)


@pytest.mark.real
def test_runs_as_a_file_of_its_own_and_its_answer_is_understood() -> None:
    words = (sys.executable, "-P", str(SCRIPT), "--threads", "1", "--available", str(GIB))
    answer = subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)
    assert answer.returncode == 0, answer.stderr
    assert json.loads(answer.stdout)["threads"] == 1
    rate = bandwidth_run.parse(answer.stdout, "2026-11-30T12:00:00Z", "X")
    assert 0 < rate.low <= rate.value <= rate.high


def test_names_the_flag_that_the_packaged_program_knows() -> None:
    assert bandwidth.FLAG == bandwidth_run.FLAG
    main = (SCRIPT.parent.parent / "__main__.py").read_text(encoding="utf-8")
    assert f'"{bandwidth.FLAG}"' in main
