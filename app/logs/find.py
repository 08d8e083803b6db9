"""Finds the lines of a log that hold a text, in a log of any size."""

from app.core.cancel import Cancel
from app.core.log import Found
from app.logs.reader import LineIndex, Progress

LIMIT = 20_000  # lines; who finds more looks for something else


def find(
    index: LineIndex,
    text: str,
    cancel: Cancel | None = None,
    progress: Progress | None = None,
    limit: int = LIMIT,
) -> Found:
    """Return where a text is, case of a to z aside; OSError when the log is gone."""
    needle = text.encode("utf-8", "replace").lower()
    if not needle or b"\n" in needle:
        return Found(text, ())
    total, done = max(1, index.n_bytes), 0
    overlap = len(needle) - 1  # a hit may begin in one block and end in the next
    lines: list[int] = []
    before, tail = 1, b""  # the line on which the data begins, and what the last block left
    for block in index.blocks():
        if cancel is not None:
            cancel.check()
        data = tail + block.lower()
        end = max(0, len(data) - overlap)
        before = _search(data, needle, end, before, lines)
        if len(lines) > limit:
            return Found(text, tuple(lines[:limit]), is_all=False)
        tail = data[end:]
        done += len(block)
        if progress is not None:
            progress(min(100, 100 * done // total), "Searching")
    return Found(text, tuple(lines))


def _search(data: bytes, needle: bytes, end: int, line: int, lines: list[int]) -> int:
    """Add the lines of data that hold the needle; return the line at data[end]."""
    counted = 0
    at = data.find(needle)
    while at >= 0:
        line += data.count(b"\n", counted, at)
        counted = at
        if not lines or lines[-1] != line:
            lines.append(line)
        line_end = data.find(b"\n", at)
        at = data.find(needle, line_end) if line_end >= 0 else -1
    return line + data.count(b"\n", counted, end)
