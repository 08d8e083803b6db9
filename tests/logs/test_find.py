"""Search: the same lines as a plain search, whatever the blocks, the encoding and the case."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.core.log import Found
from app.logs import reader
from app.logs.find import find
from app.logs.reader import LineIndex
from app.work.jobs import Cancel, Cancelled

LOG = Path(__file__).parents[1] / "data" / "logs" / "b10434-vulkan-partial-ngl9-lv4.log"


def _index(path: Path, data: bytes) -> LineIndex:
    path.write_bytes(data)
    index = LineIndex(path)
    index.extend()
    return index


def test_finds_lines_of_a_real_log_whatever_the_case() -> None:
    index = LineIndex(LOG)
    index.extend()
    expected = [
        number
        for number, line in enumerate(index.lines(0, index.n_lines), 1)
        if "buffer size" in line
    ]
    assert find(index, "Buffer SIZE").lines == tuple(expected)
    assert len(expected) == 10


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(
    st.lists(st.text("ab\u00e9", max_size=9), max_size=9),
    st.text("ab\u00e9", min_size=1, max_size=4),
    st.integers(1, 7),
)
def test_finds_the_same_as_a_plain_search_when_blocks_cut_the_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: list[str], text: str, block: int
) -> None:
    monkeypatch.setattr(reader, "BLOCK_BYTES", block)
    index = _index(tmp_path / "a.log", "\n".join(lines).encode())
    expected = tuple(number for number, line in enumerate(lines, 1) if text in line)
    assert find(index, text) == Found(text, expected)


def test_finds_text_in_utf_16(tmp_path: Path) -> None:
    index = _index(tmp_path / "a.log", "one\r\nTwo größer\r\nthree two".encode("utf-16"))
    assert find(index, "two").lines == (2, 3)
    assert find(index, "größer").lines == (2,)


def test_stops_at_the_limit_and_says_so(tmp_path: Path) -> None:
    index = _index(tmp_path / "a.log", b"x\n" * 50)
    assert find(index, "x", limit=10) == Found("x", tuple(range(1, 11)), is_all=False)
    assert find(index, "x", limit=50).is_all


def test_finds_nothing_for_an_empty_text_and_across_lines(tmp_path: Path) -> None:
    index = _index(tmp_path / "a.log", b"a\nb\n")
    assert find(index, "").lines == ()
    assert find(index, "a\nb").lines == ()


def test_stops_when_cancelled(tmp_path: Path) -> None:
    index = _index(tmp_path / "a.log", b"a\n")
    cancel = Cancel()
    cancel.set()
    with pytest.raises(Cancelled):
        find(index, "a", cancel)


def test_reports_how_far_it_is(tmp_path: Path) -> None:
    index = _index(tmp_path / "a.log", b"a\n")
    seen: list[tuple[int, str]] = []
    find(index, "a", progress=lambda percent, text: seen.append((percent, text)))
    assert seen == [(100, "Searching")]
