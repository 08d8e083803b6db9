"""Lines that a console broke: joined with what is below, never with a line of its own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.log import Fact, LogSummary
from app.logs.scan import Scanner, scan_text

LINE = (
    "2025-05-07 14:53:20.766 INFO:     Metrics (ID: 3f2a): 200 tokens generated in 6.2 seconds "
    "(Queue: 0.0 s, Process: 1024 cached tokens and 512 new tokens at 812.4 T/s, Generate: 35.9 "
    "T/s, Context: 1536 tokens)"
)
NEXT = "2025-05-07 14:53:21.766 INFO:     Received chat completion request 11\n"


def wrapped(width: int, prefix: str = "") -> str:
    """Break the line between words, as rich does."""
    rows, row = [], ""
    for word in LINE.split(" "):
        if row and len(row) + 1 + len(word) > width:
            rows.append(row)
            row = word
        else:
            row = f"{row} {word}" if row else word
    return "".join(f"{prefix}{text}\n" for text in [*rows, row])


def rates(log: LogSummary) -> list[tuple[Fact, int, float, int]]:
    found = (*log.all(Fact.PROMPT_RATE), *log.all(Fact.GENERATION_RATE))
    return [(e.fact, e.whole("n"), e.number("tps"), e.line) for e in found]


WHOLE = [(Fact.PROMPT_RATE, 512, 812.4, 2), (Fact.GENERATION_RATE, 200, 35.9, 2)]


@pytest.mark.parametrize("width", [60, 80, 100, 120, 158, 400])
@pytest.mark.parametrize("prefix", ["", "tabbyapi-1  | "])
def test_rates_are_read_at_any_width_of_the_console(width: int, prefix: str) -> None:
    assert rates(scan_text(f"{prefix}first\n{wrapped(width, prefix)}{prefix}{NEXT}")) == WHOLE


@pytest.mark.parametrize("width", [70, 97, 133])
def test_rates_are_read_where_a_terminal_cut_within_words(width: int) -> None:
    cut = "\n".join(LINE[start : start + width] for start in range(0, len(LINE), width))
    assert rates(scan_text(f"first\n{cut}\n{NEXT}")) == WHOLE


@given(st.lists(st.integers(1, 90), max_size=12))
def test_any_cut_of_the_bytes_gives_the_same_rates(sizes: list[int]) -> None:
    data = f"first\n{wrapped(80)}{NEXT}{NEXT}".encode()
    scanner, start = Scanner(), 0
    for size in sizes:
        scanner.feed(data[start : start + size])
        scanner.summary()
        start += size
    scanner.feed(data[start:])
    found = scanner.summary()
    assert rates(found) == WHOLE
    assert found.n_lines == data.count(b"\n")
    assert len(found.all(Fact.PROGRAM)) == 1


def test_line_of_its_own_is_never_taken_for_the_rest() -> None:
    start = wrapped(100).splitlines()[0]
    assert rates(scan_text(f"first\n{start}\n{NEXT}at 812.4 T/s, Generate: 35.9 T/s\n")) == []
