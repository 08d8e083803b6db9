"""The scan: any cut of the bytes gives the same events, memory is bounded, it can be stopped."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.log import Fact
from app.logs import scan as scanning
from app.logs.scan import Scanner, scan, scan_file, scan_text
from tests.logs.test_reader import Stop, StopAfter

DATA = Path(__file__).parents[1] / "data" / "logs"
PARTIAL = DATA / "b10434-vulkan-partial-ngl9-lv4.log"
RATE = "prompt eval time = 10.00 ms / 64 tokens ( 0.10 ms per token, 6400.00 tokens per second)"


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 4000), min_size=1, max_size=40))
def test_any_cut_of_the_bytes_gives_the_same_events(sizes: list[int]) -> None:
    data = PARTIAL.read_bytes()
    scanner = Scanner()
    start = 0
    for size in sizes:
        scanner.feed(data[start : start + size])
        scanner.summary()
        start += size
    scanner.feed(data[start:])
    whole = scan_file(PARTIAL)
    parts = scanner.summary()
    assert parts.events == whole.events
    assert parts.loads == whole.loads
    assert parts.n_lines == whole.n_lines


def test_lines_text_and_file_say_the_same() -> None:
    text = PARTIAL.read_text()
    from_file = scan(PARTIAL)
    assert from_file.name == PARTIAL.name
    assert from_file.n_bytes == PARTIAL.stat().st_size
    assert scan(text.splitlines(keepends=True)).events == from_file.events
    assert scan_text(text).events == from_file.events


@pytest.mark.parametrize("form", ["utf-16", "crlf", "gzip", "nul"])
def test_form_of_the_file_does_not_matter(tmp_path: Path, form: str) -> None:
    text = PARTIAL.read_text()
    path = tmp_path / "a.log"
    forms = {
        "utf-16": text.encode("utf-16"),
        "crlf": text.replace("\n", "\r\n").encode(),
        "gzip": gzip.compress(text.encode()),
        "nul": text.replace("\n", "\0\0\n").encode(),
    }
    path.write_bytes(forms[form])
    assert scan_file(path).events == scan_file(PARTIAL).events


def test_line_that_is_redrawn_is_read_in_each_state() -> None:
    line = ".......\rload_tensors: offloaded 6/13 layers to GPU\r....\n"
    found = scan_text(line).last(Fact.OFFLOADED)
    assert found is not None
    assert (found.line, found.whole("n"), found.whole("m")) == (1, 6, 13)


def test_last_line_counts_before_it_is_complete() -> None:
    scanner = Scanner()
    scanner.feed(b"one\nload_tensors: offloaded 1/13 lay")
    assert scanner.summary().last(Fact.OFFLOADED) is None
    scanner.feed(b"ers to GPU")
    assert scanner.summary().n_lines == 2
    last = scanner.summary().last(Fact.OFFLOADED)
    assert last is not None
    assert last.line == 2
    scanner.feed(b"\n")
    assert len(scanner.summary().all(Fact.OFFLOADED)) == 1


def test_keeps_the_first_and_the_last_of_many_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "KEEP_FIRST", 3)
    lines = [RATE.replace("10.00 ms", f"{number}.00 ms") for number in range(10_000)]
    summary = scan(lines)
    kept = [event.number("ms") for event in summary.all(Fact.PROMPT_RATE)]
    assert kept == [0.0, 1.0, 2.0, *range(10_000 - scanning.KEEP_LAST, 10_000)]
    assert summary.n_dropped == 10_000 - len(kept)
    assert summary.events[-1].line == 10_000


def test_unknown_error_line_is_kept_as_an_error() -> None:
    text = "0.00.042.447 E srv  llama_server: a new failure nobody has seen\n"
    event = scan_text(text).last(Fact.ERROR_OTHER)
    assert event is not None
    assert event.text == "srv  llama_server: a new failure nobody has seen"
    message = '{"type":"log","time":1,"level":"error","msg":"srv  x: a new failure\\n"}\n'
    event = scan_text(message).last(Fact.ERROR_OTHER)
    assert event is not None
    assert event.text == "srv  x: a new failure"


@pytest.mark.parametrize(
    "text",
    [
        "I like E minor. E major too.\n",
        "0.00.042.447 I slot print: the answer is 5 E 3\n",
        '{"type":"log","time":1,"level":"info","msg":"level=ERRORS are rare"}\n',
    ],
)
def test_chatter_is_no_error(text: str) -> None:
    assert scan_text(text).events == ()


def test_stops_when_asked(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"a line\n")
    with pytest.raises(Stop):
        scan_file(path, StopAfter(0))
    with pytest.raises(Stop):
        scan(["one", "two"], StopAfter(1))
