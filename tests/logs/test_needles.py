"""The fast search finds what the plain search finds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.logs.needles import Needles

words = st.lists(
    st.text(alphabet="abE ", min_size=1, max_size=14), min_size=1, max_size=6, unique=True
)
texts = st.text(alphabet="abE \n", max_size=300).map(str.encode)


def plain(data: bytes, start: int, end: int, sought: list[str]) -> list[tuple[int, int]]:
    return sorted(
        (position, number)
        for number, word in enumerate(sought)
        for position in range(start, end - len(word) + 1)
        if data[position : position + len(word)] == word.encode()
    )


@given(words, texts, st.integers(0, 40), st.integers(0, 40))
def test_finds_each_word_at_each_place(
    sought: list[str], data: bytes, cut: int, short: int
) -> None:
    start = min(cut, len(data))
    end = max(start, len(data) - short)
    assert Needles(sought).find(data, start, end) == plain(data, start, end, sought)


@pytest.mark.parametrize("shift", range(8))
def test_finds_a_word_across_the_pieces_of_a_block(shift: int) -> None:
    word = "offloaded "
    for near in range(-12, 3):
        position = (1 << 20) + near
        data = b"x" * position + word.encode() + b"x" * 40
        assert Needles([word]).find(data, shift) == [(position, 0)]


def test_refuses_an_empty_word() -> None:
    with pytest.raises(ValueError, match="everywhere"):
        Needles([""])
