"""Whatever a file holds: no crash, no hang, and never a wrong "on device"."""

import random
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.log import BufferKind, Ended, LogSummary, Pattern
from app.logs import lines
from app.logs.matcher import standard
from app.logs.scan import Scanner

DATA = Path(__file__).parents[1] / "data" / "logs"
ON_HOST = [
    "b11434-cpu-ngl99-lv4.log",
    "b10434-vulkan-device-none-ngl99-lv4.log",
    "b11434-cpu-kv-q8_0-lv4.log",
    "b11434-rpc-one-device-ngl99-device-none-lv4.log",
]
SAMPLES = [sample.line for pattern in standard().patterns for sample in pattern.samples]


def read(data: bytes) -> LogSummary:
    scanner = Scanner()
    scanner.feed(data)
    return scanner.summary()


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=3000))
def test_random_bytes_have_no_story(data: bytes) -> None:
    summary = read(data)
    assert summary.n_lines == data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
    assert all(load.weights_on_device is None for load in summary.loads)


pieces = st.one_of(
    st.sampled_from(SAMPLES), st.text(max_size=60), st.sampled_from(["\r", "\0", "\x1b[31m", "{"])
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(pieces, st.integers(0, 90), st.sampled_from(["", "\n"])), max_size=40))
def test_samples_in_any_order_and_cut_do_not_break_it(
    parts: list[tuple[str, int, str]],
) -> None:
    text = "".join(piece[cut if cut < 40 else 0 :] + end for piece, cut, end in parts)
    summary = read(text.encode("utf-8", "replace"))
    numbers = [event.line for event in summary.events]
    assert numbers == sorted(numbers)
    for load in summary.loads:
        assert 1 <= load.first_line <= load.last_line <= summary.n_lines
        assert isinstance(load.ended, Ended)


@pytest.mark.parametrize("name", ON_HOST)
@pytest.mark.parametrize("seed", range(5))
def test_damaged_log_of_a_cpu_load_is_never_on_a_device(name: str, seed: int) -> None:
    chance = random.Random(seed)
    rows = (DATA / name).read_bytes().split(b"\n")
    for _ in range(30):
        number = chance.randrange(len(rows))
        line = rows[number]
        cut = chance.randrange(len(line) + 1)
        rows[number] = chance.choice([line[:cut], line[cut:], line[:cut] + b"\xff\0" + line[cut:]])
    start = chance.randrange(len(rows))
    for part in (rows, rows[start:], rows[:start]):
        assert all(load.weights_on_device is not True for load in read(b"\n".join(part)).loads)


@pytest.mark.parametrize("name", ON_HOST)
@pytest.mark.parametrize("other", ON_HOST)
@pytest.mark.parametrize("seed", range(3))
def test_processes_that_write_between_each_other_are_never_on_a_device(
    name: str, other: str, seed: int
) -> None:
    chance = random.Random(seed)
    queues = [(DATA / one).read_bytes().split(b"\n") for one in (other, name)]
    rows: list[bytes] = []
    while any(queues):
        queue = chance.choice([queue for queue in queues if queue])
        n_rows = chance.randrange(1, 9)
        rows += queue[:n_rows]
        del queue[:n_rows]
    summary = read(b"\n".join(rows))
    assert summary.loads
    for load in summary.loads:
        assert load.weights_on_device is not True
        assert 1 <= load.first_line <= load.last_line <= summary.n_lines
        assert all(buffer.kind is not BufferKind.UNKNOWN for buffer in load.buffers)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(SAMPLES), st.integers(0, 60)), max_size=30))
def test_samples_of_all_programs_within_any_wrapper_do_not_break_it(
    parts: list[tuple[str, int]],
) -> None:
    wrappers = ("llama-1  | ", "[stdout] ", "Dec 14 18:01:09 host x[1]: ", "[a][b] ", '{"msg":"')
    text = "".join(f"{wrappers[n % 5]}{sample[n // 5 :]}\n" for sample, n in parts)
    summary = read(text.encode("utf-8", "replace"))
    assert summary.n_lines == len(parts)
    for load in summary.loads:
        assert len(load.requests) <= len(load.events)


@pytest.mark.parametrize(
    "line",
    [
        b"x" * 10_000_000,
        b"[a] " * 2_500_000,
        b"INFO [x] " * 1_000_000,
        b"slot | " * 1_400_000,
        b"CtxLimit:1/2, Amt:3/4, " * 400_000,
        b'msg="inference compute" id=0 library=a compute=b name=c description="d" ' * 140_000,
        b" " * 10_000_000,
        b"llama_context: " * 700_000,
        b"offloaded 1/2 layers to GPU " * 400_000,
        b": a model buffer size = " * 400_000,
        b"\r" * 10_000_000,
        b"load_tensors: offloaded 6/13 layers to GPU\r" * 200_000,
        b'{"type":"log","msg":"' + b"\\n" * 5_000_000,
        b"\x1b[31m" * 2_000_000,
    ],
    ids=lambda line: line[:12].decode(),
)
def test_line_of_ten_megabytes_takes_no_time(line: bytes) -> None:
    start = time.process_time()
    summary = read(b"before\n" + line + b"\nload_tensors: offloaded 3/4 layers to GPU\n")
    assert time.process_time() - start < 5
    assert summary.n_lines == 3
    assert summary.events[-1].line == 3


@pytest.mark.parametrize(
    "pattern", standard().patterns, ids=lambda p: f"{p.fact.value}-{p.keys[0]}"
)
def test_no_line_makes_a_pattern_slow(pattern: Pattern) -> None:
    longest = 0.0
    for sample in pattern.samples:
        text, _ = lines.strip(sample.line)
        for cut in range(4, len(text), 5):
            begun = text[:cut]  # matches so far, again and again
            for line in (begun * 600, begun + " " * 2000, begun + "a" * 2000, begun + "1" * 2000):
                start = time.process_time()
                pattern.regex.search(line[: lines.MAX_SOUGHT])
                longest = max(longest, time.process_time() - start)
    assert longest < 0.1
