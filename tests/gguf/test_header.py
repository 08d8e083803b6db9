"""What the header reader takes, and how it refuses the rest."""

import os
import struct
from pathlib import Path

import pytest

from app.core.errors import UserError
from app.core.model import SkippedArray
from app.gguf import header as header_module
from app.gguf.header import KEPT_ENTRIES, KEPT_TEXT_BYTES, read_header
from tests.gguf.build import Gguf, T, Typed, Value, dense


def refused(path: Path, data: bytes) -> UserError:
    """Return the error that a file with this content gives."""
    path.write_bytes(data)
    with pytest.raises(UserError) as caught:
        read_header(path)
    assert caught.value.title
    assert caught.value.detail
    assert caught.value.advice
    return caught.value


def with_keys(**keys: Value) -> Gguf:
    return Gguf({name.replace("__", "."): value for name, value in keys.items()})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.gguf"


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("version", [2, 3])
def test_reads_every_value_type_when_either_byte_order(
    path: Path, order: str, version: int
) -> None:
    keys: dict[str, Value] = {
        "a.u8": Typed("u8", 255),
        "a.i8": Typed("i8", -128),
        "a.u16": Typed("u16", 65535),
        "a.i16": Typed("i16", -32768),
        "a.u32": Typed("u32", 2**32 - 1),
        "a.i32": Typed("i32", -(2**31)),
        "a.f32": Typed("f32", 0.5),
        "a.bool": True,
        "a.str": "größer",
        "a.u64": Typed("u64", 2**64 - 1),
        "a.i64": Typed("i64", -(2**63)),
        "a.f64": Typed("f64", 1e300),
        "a.numbers": Typed("i32", [1, -2, 3]),
        "a.flags": [True, False],
        "a.texts": ["x", "", "yz"],
        "a.nothing": Typed("f32", []),
    }
    tensors = (T("one", (32, 3), "q4_0"), T("two", (), "f16"), T("three", (1, 2, 3, 4), "bf16"))
    Gguf(keys, tensors, version=version, order=order).write(path)
    header = read_header(path)
    expected = {
        name: value.value if isinstance(value, Typed) else value for name, value in keys.items()
    }
    lists = {name: tuple(v) for name, v in expected.items() if isinstance(v, list)}
    assert header.keys == {**expected, **lists}
    assert list(header.keys) == list(keys)
    assert header.keys["a.bool"] is True
    assert header.version == version
    assert header.is_big_endian == (order == ">")
    assert [(t.name, t.shape, t.offset, t.n_bytes) for t in header.tensors] == [
        ("one", (32, 3), 0, 54),
        ("two", (), 64, 2),
        ("three", (1, 2, 3, 4), 96, 48),
    ]
    assert header.data_offset == len(Gguf(keys, tensors, version, order).header())


def test_counts_long_values_instead_of_keeping_them(path: Path) -> None:
    n = KEPT_ENTRIES + 1
    with_keys(
        kept=Typed("u32", [7] * KEPT_ENTRIES),
        numbers=Typed("f32", [0.0] * n),
        texts=["é"] * n,
        long="x" * (KEPT_TEXT_BYTES + 1),
        template="y" * KEPT_TEXT_BYTES,
        last=9,
    ).write(path)
    keys = read_header(path).keys
    assert keys["kept"] == (7,) * KEPT_ENTRIES
    assert keys["numbers"] == SkippedArray("f32", n)
    assert keys["texts"] == SkippedArray("str", n)
    assert keys["long"] == SkippedArray("str", KEPT_TEXT_BYTES + 1)
    assert keys["template"] == "y" * KEPT_TEXT_BYTES
    assert keys["last"] == 9


def test_keeps_a_bounded_sum_when_there_are_many_long_texts(path: Path) -> None:
    Gguf({f"k{i}": "x" * KEPT_TEXT_BYTES for i in range(20)}).write(path)
    keys = read_header(path).keys
    assert sum(isinstance(value, str) for value in keys.values()) == 16
    assert keys["k19"] == SkippedArray("str", KEPT_TEXT_BYTES)


def test_steps_over_arrays_in_arrays(path: Path) -> None:
    inner = Typed("arr", [Typed("str", ["a", "b"]), Typed("u8", [1]), Typed("arr", [])])
    with_keys(nested=Typed("arr", [inner, Typed("f64", [1.0])]), after=5).write(path)
    keys = read_header(path).keys
    assert keys["nested"] == SkippedArray("arr", 2)
    assert keys["after"] == 5


@pytest.mark.parametrize("size", [1, 1000, 1 << 20, (1 << 20) + 7])
def test_steps_over_texts_when_they_cross_the_edge_of_a_chunk(path: Path, size: int) -> None:
    n = (2 << 20) // (size + 8) + 3
    texts = Typed("arr", [Typed("str", ["z" * size] * n)])  # inside an array they are never kept
    with_keys(texts=texts, after=1).write(path)
    assert read_header(path).keys["after"] == 1


def test_uses_the_alignment_of_the_file(path: Path) -> None:
    model = Gguf({"general.alignment": 256}, (T("a", (3,)), T("b", (5,))), alignment=256)
    model.write(path)
    header = read_header(path)
    assert header.alignment == 256
    assert header.data_offset % 256 == 0
    assert [t.offset for t in header.tensors] == [0, 256]


@pytest.mark.parametrize("value", [0, 48, -8, True, "32", 3.5, 1 << 30])
def test_refuses_an_alignment_that_is_no_power_of_two(path: Path, value: Value) -> None:
    value = Typed("i32", value) if value == -8 else value
    error = refused(path, Gguf({"general.alignment": value}).to_bytes())
    assert "key general.alignment" in error.detail


def test_names_offset_and_key_when_the_header_is_cut(path: Path) -> None:
    whole = dense().header()
    at = whole.index(b"llama.context_length")
    error = refused(path, whole[: at + 26])
    assert "ends inside its header" in error.title
    assert f"{at + 26:,} bytes" in error.detail
    assert "key llama.context_length" in error.detail
    assert f"(offset {at + 24:,})" in error.detail  # its value starts there


def test_counts_the_texts_when_the_token_list_is_cut(path: Path) -> None:
    n = KEPT_ENTRIES + 4
    whole = with_keys(tokens=["abc"] * n).header()
    body = whole.index(b"tokens") + len("tokens") + 4 + 4 + 8
    for extra, number in ((0, 101), (4, 101), (9, 101), (11, 102)):
        error = refused(path, whole[: body + 100 * 11 + extra])
        assert f"key tokens, text {number} of {n:,}" in error.detail


def test_names_the_tensor_when_its_entry_is_cut(path: Path) -> None:
    whole = dense().header()
    at = whole.index(b"blk.1.ffn_up.weight")
    assert "tensor blk.1.ffn_up.weight" in refused(path, whole[: at + 25]).detail
    assert "after blk.1.ffn_gate.weight" in refused(path, whole[: at + 5]).detail


def test_refuses_versions_with_the_reason(path: Path) -> None:
    assert "of 2023" in refused(path, Gguf(version=1).to_bytes()).title
    assert "newer" in refused(path, Gguf(version=4).to_bytes()).title
    assert "damaged" in refused(path, Gguf(version=0).to_bytes()).title
    assert "damaged" in refused(path, Gguf(version=0x01020304).to_bytes()).title


def test_calls_a_new_type_newer_and_a_removed_type_removed(path: Path) -> None:
    error = refused(path, Gguf({}, [T("blk.0.attn_q.weight", (32,), type_id=77)]).to_bytes())
    assert "newer than this program" in error.title
    assert "blk.0.attn_q.weight has ggml type 77" in error.detail
    error = refused(path, Gguf({}, [T("x", (32,), type_id=31)]).to_bytes())
    assert "removed" in error.title
    error = refused(path, Gguf({}, [T("x", (32,), type_id=123456)]).to_bytes())
    assert "damaged" in error.title


HUGE = 1 << 40
DAMAGED: dict[str, tuple[Gguf, str]] = {
    "two tensors of one name": (Gguf({}, [T("a", (1,)), T("a", (1,))]), "a for the second time"),
    "offset": (Gguf({}, [T("a", (8,)), T("b", (8,), offset=64)]), "data at 64, where 32"),
    "dimensions": (Gguf({}, [T("a", (1, 1, 1, 1, 1))]), "5 dimensions"),
    "shape": (Gguf({}, [T("a", (HUGE, HUGE))]), "no memory can hold"),
    "shape with a zero": (Gguf({}, [T("a", (0, HUGE, HUGE))]), "no memory can hold"),
    "row": (Gguf({}, [T("a", (33,), "q8_0")]), "whole blocks of 32"),
    "empty key": (Gguf({"": 1}), "a key without a name"),
    "key length": (Gguf({"k" * 65536: 1}), "at most 65,535"),
    "name length": (Gguf({}, [T("n" * 1025, (1,))]), "at most 1,024"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_refuses_what_cannot_be(path: Path, name: str) -> None:
    model, words = DAMAGED[name]
    error = refused(path, model.header())
    assert "damaged" in error.title
    assert "At offset" in error.detail
    assert words in error.detail


def test_names_where_a_value_type_is_damaged(path: Path) -> None:
    data = bytearray(with_keys(a__b=Typed("u32", 1)).header())
    struct.pack_into("<I", data, 24 + 8 + 3, 99)
    error = refused(path, bytes(data))
    assert error.detail == "At offset 35, in key a.b: value type 99, where 0 to 12 exist."


def test_refuses_the_second_of_two_equal_keys(path: Path) -> None:
    data = with_keys(one=1, two=2).header().replace(b"two", b"one")
    assert "key one for the second time" in refused(path, data).detail


@pytest.mark.parametrize(
    ("layout", "words"),
    [
        (struct.pack("<QQ", HUGE, 1), "tensors"),
        (struct.pack("<QQ", 1, HUGE), "keys"),
        (struct.pack("<QQQ", 0, 1, HUGE), "a text of"),
        (struct.pack("<QQQsIQ", 0, 1, 1, b"k", 8, 2**63), "a text of"),
        (struct.pack("<QQQsIIQ", 0, 1, 1, b"k", 9, 4, HUGE), "an array of"),
        (struct.pack("<QQQsIIQ", 0, 1, 1, b"k", 9, 8, 1 << 25), "texts"),
        (struct.pack("<QQQsIIQ", 0, 1, 1, b"k", 9, 9, 1 << 21), "inner arrays"),
        (struct.pack("<QQQsIIQ", 0, 1, 1, b"k", 9, 13, 1), "array of value type 13"),
    ],
)
def test_refuses_counts_beyond_all_reason(path: Path, layout: bytes, words: str) -> None:
    error = refused(path, b"GGUF\3\0\0\0" + layout)
    assert "damaged" in error.title
    assert words in error.detail


def test_calls_a_file_cut_when_a_length_runs_past_its_end(path: Path) -> None:
    skipped = struct.pack("<QQQsIIQ", 0, 1, 1, b"k", 9, 8, KEPT_ENTRIES + 1)
    for n, title in ((1 << 20, "ends inside"), (1 << 30, "ends inside"), (2**64 - 1, "damaged")):
        error = refused(path, b"GGUF\3\0\0\0" + skipped + struct.pack("<Q", n))
        assert title in error.title
        assert "key k, text 1 of 4,097" in error.detail


def test_refuses_arrays_that_are_nested_too_deep(path: Path) -> None:
    value = Typed("u8", [])
    for _ in range(20):
        value = Typed("arr", [value])
    assert "8 deep" in refused(path, with_keys(deep=value).header()).detail


def test_refuses_too_many_bytes_of_names(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(header_module, "MAX_NAMES_BYTES", 100)
    error = refused(path, Gguf({f"{'k' * 30}{i}": 1 for i in range(5)}).header())
    assert "bytes of names" in error.detail


def test_shows_broken_utf8_instead_of_failing(path: Path) -> None:
    data = with_keys(a="abcd").header().replace(b"abcd", b"ab\xff\xfe")
    path.write_bytes(data)
    assert read_header(path).keys["a"] == "ab\\xff\\xfe"


def test_keeps_messages_printable_and_short_when_names_are_not(path: Path) -> None:
    whole = Gguf({"a\nb" + "c" * 5000: Typed("u32", 1)}).header()
    detail = refused(path, whole[:5040]).detail
    assert detail.isprintable()
    assert "key 'a\\nbccc" in detail
    assert len(detail) < 200


class Stop(Exception):
    """Stands for the job's own way of ending."""


class StopAfter:
    """Asks for the end at the n-th block."""

    def __init__(self, n: int) -> None:
        self.left = n

    def check(self) -> None:
        """Raise at the n-th call."""
        self.left -= 1
        if self.left == 0:
            raise Stop


def test_stops_between_blocks_when_cancelled(path: Path) -> None:
    with_keys(tokens=["t" * 700] * 8000).write(path)
    read_header(path, cancel=StopAfter(99))
    with pytest.raises(Stop):
        read_header(path, cancel=StopAfter(4))


def test_refuses_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        read_header(tmp_path)
    assert "folder" in caught.value.detail
    with pytest.raises(UserError) as caught:
        read_header(tmp_path / "none.gguf")
    assert caught.value.title == "none.gguf cannot be read"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_does_not_wait_for_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.gguf")
    with pytest.raises(UserError) as caught:
        read_header(tmp_path / "pipe.gguf")
    assert "pipe" in caught.value.detail
