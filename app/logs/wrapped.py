"""Puts together a line that a console broke at its width, or a record of several lines."""

import re
from collections.abc import Iterator

from app.logs import lines

MOST_LINES = 8  # that follow the first
MAX_BYTES = 4_096  # from the first line's begin to where the last one begins

# what a line of its own begins with: a time, a level, a name in brackets, a process
_FRESH = re.compile(
    rb"\s{0,3}(?:\d{4}-\d\d-\d\d[ T]|\d\d:\d\d:\d\d|(?:INFO|WARNING|ERROR|DEBUG|CRITICAL)\b"
    rb"|\[[A-Za-z]|\([A-Z]\w+ (?:rank=\d+ )?pid=)"
)
# docker compose and journald name the program on each line of the console, also on the rest
_NAMED = re.compile(rb"[\w.-]{1,64} {1,64}\| ?")


def joined(data: bytes, first: int, last: int, end: int) -> Iterator[tuple[bytes, bytes, int]]:
    """Yield data[first:last] with more and more of the lines below it.

    Each time joined with nothing (a word that was cut) and with a space, and how many lines.
    """
    head = data[first:last].rstrip()
    named = _NAMED.match(head)
    cut = spaced = head
    for number in range(2, MOST_LINES + 2):
        start = last + 1
        if start >= end or start - first > MAX_BYTES:
            return
        last = data.find(b"\n", start, end)
        last = end if last < 0 else last
        line = data[start:last].rstrip()
        again = _NAMED.match(line) if named else None
        if again:
            line = line[again.end() :]
        if not line or _FRESH.match(line):
            return
        rest = line.lstrip()
        cut, spaced = cut + rest, spaced + b" " + rest
        yield cut, spaced, number


def is_open(data: bytes, first: int, last: int, end: int) -> bool:
    """Tell whether lines below data[first:last] may still come: the data ends before they do."""
    # counted only near the end: a block holds many thousand lines
    return end - first <= MAX_BYTES and data.count(b"\n", last + 1, end) < MOST_LINES


def text(raw: bytes) -> str:
    """Return the text of joined lines."""
    return lines.strip(raw[: lines.MAX_RAW].decode("utf-8", "replace"))[0]
