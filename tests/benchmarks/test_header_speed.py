"""The header reader against the public peer: time in the same run, and memory."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import gguf_inspect
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from app.core.model import SkippedArray
from app.gguf.model import read_model

MOST_TIMES_THE_PEER = 1.5
MOST_MIB = 40
PAIRS = 9
PEER_ARRAY_LIMIT = 6  # as its command line does when it prints its report, its fastest way

# VmHWM is the most memory the process ever had, in KiB, and is counted anew after each exec
MEASURE = """
import sys
from pathlib import Path
if len(sys.argv) > 1:
    from app.gguf.model import read_model
    model = read_model(sys.argv[1])
    assert len(model.tensors) == 236
status = Path("/proc/self/status").read_text()
print(status.split("VmHWM:")[1].split()[0])
"""

pytestmark = [pytest.mark.real, pytest.mark.benchmark_peer]


def seconds(function: Callable[[], object]) -> float:
    """Return how long one call takes."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def test_reads_gemma_about_as_fast_as_the_peer(benchmark: BenchmarkFixture, gemma: Path) -> None:
    def peer() -> object:
        return gguf_inspect.parse_gguf(str(gemma), array_limit=PEER_ARRAY_LIMIT)

    # pairs side by side, and the best of each: other load on the machine hits both or is dropped
    peer_s, own_s = [], []
    for _ in range(PAIRS):
        peer_s.append(seconds(peer))
        own_s.append(seconds(lambda: read_model(gemma)))
    model = benchmark.pedantic(  # type: ignore[no-untyped-call]  # the plugin has no types
        read_model, args=(gemma,), rounds=PAIRS
    )
    assert model.keys["tokenizer.ggml.tokens"] == SkippedArray("str", 262_144)
    ratio = min(own_s) / min(peer_s)
    benchmark.extra_info.update(
        peer_s=min(peer_s), own_s=min(own_s), ratio=ratio, most=MOST_TIMES_THE_PEER
    )
    assert ratio <= MOST_TIMES_THE_PEER


def peak_mib(*args: str) -> float:
    """Return the peak memory of a fresh interpreter that reads the given file, or none."""
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, *args], capture_output=True, text=True, check=True
    )
    return int(done.stdout) / 1024


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is read from /proc")
def test_reads_gemma_in_little_memory(gemma: Path) -> None:
    bare = peak_mib()
    assert 1 < bare < peak_mib(str(gemma)) <= bare + MOST_MIB
