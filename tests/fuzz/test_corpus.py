"""Reader, planner and --fit on what fuzzing found, and on headers whose keys lie."""

import time
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fuzz import target
from tests.gguf.build import Typed, dense

FOUND = sorted((Path(__file__).resolve().parent.parent / "data" / "fuzz").glob("*.bin"))
MOST_SECONDS, MOST_BYTES = 10.0, 64 << 20
ARCHS = st.sampled_from(target._ARCHS)
NAMES = st.sampled_from(
    ["block_count", "context_length", "embedding_length", "feed_forward_length", "vocab_size",
     "attention.head_count", "attention.head_count_kv", "attention.key_length",
     "attention.value_length", "attention.sliding_window", "attention.sliding_window_pattern",
     "attention.key_length_mla", "attention.value_length_mla", "attention.shared_kv_layers",
     "attention.recurrent_layers", "expert_count", "expert_used_count",
     "expert_feed_forward_length", "nextn_predict_layers", "ssm.inner_size", "ssm.state_size",
     "ssm.group_count", "ssm.conv_kernel", "ssm.time_step_rank", "full_attention_interval",
     "leading_dense_block_count", "shortconv.l_cache", "wkv.head_size", "token_shift_count",
     "embedding_length_per_layer_input", "kda.head_dim"]
)  # fmt: skip
LIES = st.sampled_from(
    [0, 1, 2, 3, 7, 64, 2**31, 2**32 - 1, Typed("i32", -1), Typed("i32", -5),
     Typed("i64", -(2**62)), Typed("u64", 2**63), Typed("f32", float("nan")), Typed("f32", 1.5),
     Typed("f32", float("inf")), "text", True, [0, 0], [1, 2, 3], [0], Typed("i32", [-1, -2]),
     ["a", "b"], [True, False], Typed("f32", [1.5, float("nan")]), Typed("u32", [])]
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


def bounded(data: bytes, folder: Path) -> str:
    """Plan an input in bounded time and memory."""
    start = time.monotonic()
    tracemalloc.start()
    try:
        return target.run(data, folder)
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < MOST_BYTES
        assert time.monotonic() - start < MOST_SECONDS


@pytest.mark.parametrize("path", FOUND, ids=[path.stem for path in FOUND])
def test_what_was_found_before(path: Path, folder: Path) -> None:
    assert bounded(path.read_bytes(), folder)


def test_the_seeds_are_whole_headers(folder: Path) -> None:
    ends = [target.run(seed, folder) for seed in target.seeds()]
    assert ends.count("planned") >= 10


@settings(max_examples=120, deadline=None)
@given(
    arch=ARCHS,
    lies=st.dictionaries(NAMES, LIES, min_size=1, max_size=4),
    choices=st.binary(min_size=target.CHOICES, max_size=target.CHOICES),
    is_tied=st.booleans(),
)
def test_keys_that_lie(
    arch: str, lies: dict[str, Any], choices: bytes, is_tied: bool, folder: Path
) -> None:
    more = {f"{arch}.{name}": value for name, value in lies.items()}
    file = dense(arch, blocks=2, more=more, is_tied=is_tied)
    assert bounded(choices + file.header(), folder)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.sampled_from(list(target.seeds())),
    flips=st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 255)), max_size=6),
)
def test_changed_bytes(seed: bytes, flips: list[tuple[int, int]], folder: Path) -> None:
    data = bytearray(seed)
    for offset, byte in flips:
        data[offset % len(data)] = byte
    assert bounded(bytes(data), folder)
