"""Whatever bytes a file holds: a Model or a UserError, soon, and in little memory."""

import struct
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.core.errors import UserError
from app.core.model import Model
from app.gguf.model import read_model
from app.gguf.sniff import sniff
from tests.gguf.build import Typed, dense

MEMORY_BYTES = 8 << 20  # a chunk, twice, and what a header of this size may keep
FUZZ = settings(max_examples=300, deadline=1000)

WHOLE = dense(
    more={
        "a.nested": Typed("arr", [Typed("str", ["a", "b"]), Typed("u8", [1, 2])]),
        "a.numbers": Typed("f64", [0.5] * 20),
        "a.flags": [True, False],
        "tokenizer.ggml.tokens": ["t"] * 4100,  # more than are kept
        "split.count": Typed("u16", 1),
    }
).to_bytes()
HEADER_BYTES = WHOLE.rindex(b"output.weight") + 64  # and some bytes of data
EDGES = (0, 1, 7, 8, 12, 31, 32, 255, 2**16, 2**30, 2**31, 2**32 - 1, 2**40, 2**63 - 1, 2**64 - 1)
# most of the header is the list of tokens; there is more to break before and after it
OFFSETS = st.one_of(
    st.integers(0, WHOLE.index(b"tokenizer.ggml.tokens") + 60),
    st.integers(WHOLE.index(b"split.count") - 30, HEADER_BYTES),
)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz") / "model-00001-of-00002.gguf"


def read(path: Path, data: bytes) -> Model | UserError:
    """Read the bytes as a model; anything but a Model or a UserError fails the test."""
    path.write_bytes(data)
    sniff(path)
    tracemalloc.start()
    try:
        return read_model(path)
    except UserError as error:
        assert error.sentence().isprintable()
        return error
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < MEMORY_BYTES


def test_reads_the_whole_file(path: Path) -> None:
    model = read(path, WHOLE)
    assert isinstance(model, Model)
    assert model.problems == ()


@FUZZ
@given(data=st.binary(max_size=200), prefix=st.sampled_from([b"", b"GGUF", b"GGUF\3\0\0\0"]))
def test_random_bytes(path: Path, data: bytes, prefix: bytes) -> None:
    assert isinstance(read(path, prefix + data), UserError | Model)


@FUZZ
@given(n=st.integers(min_value=0, max_value=len(WHOLE) - 1))
@example(n=HEADER_BYTES + 4096)
def test_cut_anywhere(path: Path, n: int) -> None:
    found = read(path, WHOLE[:n])
    if isinstance(found, Model):
        assert found.problems[0].missing_bytes == len(WHOLE) - n
    elif n >= 4:
        assert "ends inside its header" in found.title


@FUZZ
@given(flips=st.lists(st.tuples(OFFSETS, st.integers(0, 255)), min_size=1, max_size=8))
def test_changed_bytes(path: Path, flips: list[tuple[int, int]]) -> None:
    data = bytearray(WHOLE)
    for offset, byte in flips:
        data[offset] = byte
    assert isinstance(read(path, bytes(data)), UserError | Model)


@FUZZ
@given(offset=OFFSETS, value=st.sampled_from(EDGES), layout=st.sampled_from(["<I", "<Q", ">Q"]))
def test_lengths_and_counts_at_their_edges(
    path: Path, offset: int, value: int, layout: str
) -> None:
    data = bytearray(WHOLE)
    struct.pack_into(layout, data, offset, value & (2**32 - 1) if layout == "<I" else value)
    assert isinstance(read(path, bytes(data)), UserError | Model)


@FUZZ
@given(offset=OFFSETS, gone=st.integers(0, 40), more=st.binary(max_size=40))
def test_bytes_lost_or_added(path: Path, offset: int, gone: int, more: bytes) -> None:
    data = WHOLE[:offset] + more + WHOLE[offset + gone :]
    assert isinstance(read(path, data), UserError | Model)
