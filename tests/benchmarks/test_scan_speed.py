"""The log scan against the plain way: each line against each regex, in the same run."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from app.logs.matcher import standard
from app.logs.reader import LineIndex
from app.logs.scan import scan_file

DATA = Path(__file__).parents[1] / "data" / "logs"
LEAST_TIMES_AS_FAST = 8
LEAST_INDEX_MB_PER_S = 100
PAIRS = 4
COPIES = 6


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return all sample logs in one file: far denser in evidence than a log that grew big."""
    path = tmp_path_factory.mktemp("scan") / "once.log"
    path.write_bytes(b"".join(log.read_bytes() for log in sorted(DATA.glob("*.log"))))
    return path


@pytest.fixture(scope="module")
def big(once: Path) -> Path:
    path = once.with_name("big.log")
    path.write_bytes(once.read_bytes() * COPIES)
    return path


def seconds(function: Callable[[], object]) -> float:
    start = time.process_time()
    function()
    return time.process_time() - start


def plainly(path: Path) -> int:
    """Count the lines that any regex matches."""
    regexes = [pattern.regex for pattern in standard().patterns]
    with path.open(encoding="utf-8", errors="replace") as lines:
        return sum(any(regex.search(line) for regex in regexes) for line in lines)


def test_scans_at_least_eight_times_as_fast_as_the_plain_way(
    benchmark: BenchmarkFixture, once: Path, big: Path
) -> None:
    assert scan_file(once).events
    assert plainly(once) > 1000
    plain_s, own_s = [], []
    for _ in range(PAIRS):
        plain_s.append(seconds(lambda: plainly(once)) * COPIES)
        own_s.append(seconds(lambda: scan_file(big)))
    benchmark.pedantic(scan_file, args=(big,), rounds=1)  # type: ignore[no-untyped-call]
    ratio = min(plain_s) / min(own_s)
    benchmark.extra_info.update(
        plain_s=min(plain_s), own_s=min(own_s), ratio=ratio, least=LEAST_TIMES_AS_FAST
    )
    assert ratio >= LEAST_TIMES_AS_FAST


def test_indexes_a_hundred_megabytes_in_a_second(benchmark: BenchmarkFixture, big: Path) -> None:
    def build() -> int:
        with LineIndex(big) as index:
            index.extend()
            return index.n_lines

    n_lines = benchmark.pedantic(build, rounds=PAIRS)  # type: ignore[no-untyped-call]
    assert n_lines == big.read_bytes().count(b"\n")
    rate = big.stat().st_size / 1e6 / min(seconds(build) for _ in range(PAIRS))
    benchmark.extra_info.update(mb_per_s=rate)
    assert rate >= LEAST_INDEX_MB_PER_S


def test_lines_that_may_go_on_below_cost_the_same_each(tmp_path: Path) -> None:
    line = b'  "n_prompt": 512, and then nothing of a table\n'

    def cost(n_lines: int) -> float:
        path = tmp_path / f"{n_lines}.log"
        path.write_bytes(line * n_lines)
        return min(seconds(lambda: scan_file(path)) for _ in range(2))

    assert cost(40_000) < 6 * cost(10_000)  # 8 times when all of a block is counted for each
