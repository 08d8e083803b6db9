"""The line index: any size, encoding and line end; files that grow, shrink or are replaced."""

import gzip
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.errors import UserError
from app.logs import reader
from app.logs.reader import Encoding, Growth, LineIndex, detect, show

TEXT = "first line\nsecond ünï\n\nlast without end"
LINES = ["first line", "second ünï", "", "last without end"]


class Stop(Exception):
    """Raised by a flag that was set."""


class StopAfter:
    """Asks to stop at the n-th look."""

    def __init__(self, looks: int) -> None:
        self.left = looks

    def check(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Stop


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "BLOCK_BYTES", 64)


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [
        ("utf-8", b""),
        ("utf-8", b"\xef\xbb\xbf"),
        ("utf-16-le", b"\xff\xfe"),
        ("utf-16-be", b"\xfe\xff"),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_reads_lines_in_each_encoding(tmp_path: Path, encoding: str, mark: bytes, end: str) -> None:
    path = write(tmp_path / "a.log", mark + TEXT.replace("\n", end).encode(encoding))
    with LineIndex(path) as index:
        assert index.extend() is Growth.GREW
        assert index.n_lines == 4
        assert index.lines(0, 9) == LINES
        assert [index.line(number) for number in range(4)] == LINES


def test_reads_utf16_without_a_mark(tmp_path: Path) -> None:
    assert detect((TEXT * 4).encode("utf-16-le")) is Encoding.UTF16_LE
    assert detect((TEXT * 4).encode("utf-16-be")) is Encoding.UTF16_BE
    assert detect(TEXT.encode()) is Encoding.UTF8
    assert detect(b"\0" * 64) is Encoding.UTF8


def test_sink_gets_utf8_whatever_the_encoding(tmp_path: Path, small_blocks: None) -> None:
    text = "Zeile 😀 of some length\n" * 20
    path = write(tmp_path / "a.log", b"\xff\xfe" + text.encode("utf-16-le"))
    got: list[bytes] = []
    with LineIndex(path) as index:
        index.extend(sink=got.append)
    assert len(got) > 3
    assert b"".join(got).decode() == "\ufeff" + text


def test_a_line_may_span_blocks(tmp_path: Path, small_blocks: None) -> None:
    lines = ["a" * 200, "b", "c" * 63, "", "d" * 500]
    with LineIndex(write(tmp_path / "a.log", "\n".join(lines).encode())) as index:
        index.extend()
        assert index.lines(0, 5) == lines
        assert index.lines(1, 4) == lines[1:4]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(alphabet="ab\x00 é", max_size=90), max_size=12), st.integers(1, 40))
def test_index_agrees_with_split(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], block: int
) -> None:
    path = write(tmp_path_factory.mktemp("log") / "a.log", "\n".join(lines).encode())
    before = reader.BLOCK_BYTES
    reader.BLOCK_BYTES = block
    try:
        with LineIndex(path) as index:
            index.extend()
            shown = [line.replace("\0", "") for line in lines]
            if shown and not lines[-1]:
                shown.pop()  # no line begins behind the last line feed
            assert index.n_lines == len(shown)
            assert index.lines(0, len(shown)) == shown
    finally:
        reader.BLOCK_BYTES = before


def test_shows_long_lines_cut_and_progress_lines_at_their_last_state(tmp_path: Path) -> None:
    long = b"x" * 10_000_000
    data = long + b"\nload 1 %\rload 2 %\rload 3 %\n\x1b[31mred\x1b[0m\0\0 text\n"
    with LineIndex(write(tmp_path / "a.log", data)) as index:
        index.extend()
        cut, progress, coloured = index.lines(0, 3)
        assert len(cut) == reader.MAX_CHARS
        assert cut.endswith("…")
        assert (progress, coloured) == ("load 3 %", "red text")
        assert index.line(0, limit=10) == "xxxxxxxxx…"


def test_shows_the_state_before_a_line_that_only_returns() -> None:
    assert show("90 %\r\n") == "90 %"
    assert show("90 %\r\r") == "90 %"
    assert show("\r") == ""


def test_line_beyond_the_end_is_an_error(tmp_path: Path) -> None:
    with LineIndex(write(tmp_path / "a.log", b"one\n")) as index:
        index.extend()
        with pytest.raises(IndexError):
            index.line(1)
        assert index.lines(5, 9) == []


def test_grows_with_its_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.log", b"one\ntwo")
    got: list[bytes] = []
    with LineIndex(path) as index:
        assert index.extend(sink=got.append) is Growth.GREW
        assert index.lines(0, 9) == ["one", "two"]
        assert index.extend(sink=got.append) is Growth.SAME
        with path.open("ab") as file:
            file.write(b" and more\nthree\n")
        assert index.extend(sink=got.append) is Growth.GREW
        assert index.lines(0, 9) == ["one", "two and more", "three"]
    assert b"".join(got) == path.read_bytes()


@pytest.mark.parametrize("way", ["shorter", "replaced"])
def test_starts_anew_with_another_file(tmp_path: Path, way: str) -> None:
    path = write(tmp_path / "a.log", b"one\ntwo\nthree\n")
    with LineIndex(path) as index:
        index.extend()
        assert index.line(2) == "three"
        if way == "shorter":
            path.write_bytes(b"new\n")
        else:
            write(tmp_path / "b.log", b"new\nlonger than the old one was\n").replace(path)
        assert index.extend() is Growth.RESTARTED
        assert index.n_lines == 0
        assert index.extend() is Growth.GREW
        assert index.line(0) == "new"


def test_first_lines_can_be_read_while_the_index_grows(tmp_path: Path, small_blocks: None) -> None:
    path = write(tmp_path / "a.log", b"".join(b"line %d\n" % n for n in range(400)))
    seen: list[tuple[int, str]] = []
    with LineIndex(path) as index:
        index.extend(progress=lambda percent, _: seen.append((percent, index.line(0))))
        assert index.line(399) == "line 399"
    assert {line for _, line in seen} == {"line 0"}
    assert seen[0][0] < 10
    assert [percent for percent, _ in seen] == sorted(percent for percent, _ in seen)
    assert seen[-1][0] == 100


def test_another_thread_reads_while_the_index_grows(tmp_path: Path, small_blocks: None) -> None:
    path = write(tmp_path / "a.log", b"".join(b"line %d\n" % n for n in range(20_000)))
    wrong: list[str] = []
    done = threading.Event()
    with LineIndex(path) as index:

        def look() -> None:
            while not done.is_set():
                last = index.n_lines - 1
                if last > 0 and index.line(last - 1) != f"line {last - 1}":
                    wrong.append(index.line(last - 1))

        looker = threading.Thread(target=look)
        looker.start()
        index.extend()
        done.set()
        looker.join()
        assert index.n_lines == 20_000
    assert wrong == []


def test_stops_when_asked_and_can_go_on(tmp_path: Path, small_blocks: None) -> None:
    path = write(tmp_path / "a.log", b"a line\n" * 200)
    with LineIndex(path) as index:
        with pytest.raises(Stop):
            index.extend(StopAfter(3))
        assert 0 < index.n_lines < 200
        index.extend()
        assert index.n_lines == 200
        assert index.lines(0, 200) == ["a line"] * 200


def test_opens_a_compressed_log_and_deletes_the_copy(tmp_path: Path) -> None:
    path = write(tmp_path / "a.log.gz", gzip.compress(TEXT.encode()))
    index = LineIndex(path)
    index.extend()
    spool = index._spool
    assert spool is not None
    assert spool.exists()
    assert index.lines(0, 9) == LINES
    assert index.extend() is Growth.SAME
    index.close()
    assert not spool.exists()


def test_keeps_what_a_cut_compressed_log_still_holds(tmp_path: Path) -> None:
    packed = gzip.compress(b"".join(b"line %d\n" % n for n in range(5000)))
    with LineIndex(write(tmp_path / "a.gz", packed[: len(packed) // 2])) as index:
        index.extend()
        assert index.line(0) == "line 0"
        assert "cut" in index.note


def test_empty_file_has_no_lines(tmp_path: Path) -> None:
    with LineIndex(write(tmp_path / "a.log", b"")) as index:
        assert index.extend() is Growth.SAME
        assert index.n_lines == 0


def test_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"gone\.log cannot be read"):
        LineIndex(tmp_path / "gone.log")


def test_file_that_goes_away_is_told(tmp_path: Path) -> None:
    path = write(tmp_path / "a.log", b"one\n")
    with LineIndex(path) as index:
        path.unlink()
        with pytest.raises(UserError, match="cannot be read"):
            index.extend()
