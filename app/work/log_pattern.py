"""Finds the lines of a log that match a regular expression; meant to run in a Job.

Qt's expressions are used, not Python's: Python's hold up all threads while they match, and have
no limit. PCRE gives up on a line when a pattern needs too many steps (its match limit); such lines
are counted, so that nobody takes them for lines without a match.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from PySide6.QtCore import QRegularExpression

from app.core.cancel import Cancel
from app.core.errors import UserError
from app.core.log import Found
from app.work.jobs import Progress

if TYPE_CHECKING:  # it loads numpy
    from app.logs.reader import LineIndex

LIMIT = 200_000  # lines
_MOST_CHARS = 8_192  # of a line that is matched
_STEPS = "(*LIMIT_MATCH=%d)"  # stands before the pattern
_MOST_STEPS = 1_000_000  # on a line: about 2 ms
_FEW_STEPS = 20_000  # while a line is drawn
_PIECE = 1 << 20  # bytes that are decoded at once; between two the job can be stopped
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")  # two units in Qt, which would shift positions
_RETURNS = re.compile(r"\r+\n")
_OPTIONS = (
    QRegularExpression.PatternOption.MultilineOption
    | QRegularExpression.PatternOption.CaseInsensitiveOption
)
_LEVEL = (
    r"^(?>(?:\x1b\[[\d;]*m)*)(?>\d+\.\d\d\.\d{3}\.\d{3}(?>\x1b\[[\d;]*m| )+)?(?-i:%s) "
    r"(?:\x1b\[[\d;]*m)*\S"
)
# apart, they take a third of the time that one expression with all of them takes
LEVELS = {
    "errors": (_LEVEL % "E", r"level=ERROR|\"level\":\"error", r"\bERROR\b(?=[: \]])"),
    "warnings": (
        _LEVEL % "[WE]",
        r"level=(?:WARN|ERROR)|\"level\":\"(?:warn|error)",
        r"\b(?:WARN(?:ING)?|ERROR)\b(?=[: \]])",
    ),
}


@dataclass(slots=True)
class _Hits:
    """The lines that match so far, and how many were too hard for the pattern."""

    lines: list[int] = field(default_factory=list)
    n_hard: int = 0


def compile_pattern(pattern: str, steps: int = _MOST_STEPS) -> QRegularExpression:
    """Return the expression; UserError says what is wrong with it and where."""
    limit = _STEPS % steps
    made = QRegularExpression(limit + pattern, _OPTIONS)
    if not made.isValid():
        raise UserError(
            "This is no regular expression",
            f"{made.errorString()} at character {made.patternErrorOffset() - len(limit) + 1}",
            "Switch .* off to search for the text as it is",
        )
    return made


def spans_of_pattern(pattern: str, most: int) -> Callable[[str], tuple[tuple[int, int], ...]]:
    """Return what finds the places in a line that match; few steps, as it is asked while drawing.

    For a pattern that is not valid it finds nothing.
    """
    try:
        made = compile_pattern(pattern, _FEW_STEPS)
    except UserError:
        return lambda _line: ()

    def spans(line: str) -> tuple[tuple[int, int], ...]:
        matches = made.globalMatch(_ASTRAL.sub("\ufffd", line))
        places = list[tuple[int, int]]()
        while matches.hasNext() and len(places) < most:
            match = matches.next()
            if match.capturedLength():
                places.append((match.capturedStart(), match.capturedEnd()))
        return tuple(places)

    return spans


def find_pattern(
    index: LineIndex,
    pattern: str | tuple[str, ...],
    cancel: Cancel,
    progress: Progress | None = None,
    limit: int = LIMIT,
) -> Found:
    """Return the lines that match, with several patterns those that match one of them.

    OSError when the log is gone, UserError for a bad pattern.
    """
    patterns = (pattern,) if isinstance(pattern, str) else pattern
    made = [compile_pattern(one) for one in patterns]
    name = " or ".join(patterns)
    total, done, before = max(1, index.n_bytes), 0, 1
    hits = _Hits()
    rest = b""
    for block in index.blocks():
        for start in range(0, len(block), _PIECE):
            cancel.check()
            data = rest + block[start : start + _PIECE]
            end = data.rfind(b"\n") + 1
            rest = data[end:]
            if len(rest) > _PIECE:  # a line without end: what is beyond is not matched
                rest = rest[:_MOST_CHARS]
            before = _search_all(made, data[:end], before, hits, cancel)
            if len(hits.lines) > limit:
                return Found(name, tuple(hits.lines[:limit]), is_all=False, n_hard=hits.n_hard)
        done += len(block)
        if progress is not None:
            progress(min(100, 100 * done // total), "Searching")
    _search_all(made, rest, before, hits, cancel)
    return Found(name, tuple(hits.lines), n_hard=hits.n_hard)


def _search_all(
    made: list[QRegularExpression], data: bytes, line: int, hits: _Hits, cancel: Cancel
) -> int:
    """Add the lines that match; return the number of the line behind the data."""
    text = data.decode("utf-8", "replace")
    if not text.isascii():
        text = _ASTRAL.sub("\ufffd", text)
    if "\r" in text:  # or $ would not match on lines that Windows wrote
        text = _RETURNS.sub("\n", text)
    added = _Hits()
    for one in made:
        _search(one, text, line, added, cancel)
    hits.lines += added.lines if len(made) == 1 else sorted(set(added.lines))
    hits.n_hard += added.n_hard
    return line + text.count("\n")


def _search(made: QRegularExpression, text: str, line: int, hits: _Hits, cancel: Cancel) -> None:
    """Add the lines that match; line is the number of the first."""
    at, counted = 0, 0
    while at < len(text):
        found = made.match(text, at)
        if not found.isValid():  # too many steps somewhere in it
            line += text.count("\n", counted, at)
            _each(made, text[at:], line, hits, cancel)
            return
        if not found.hasMatch():
            return
        position = min(found.capturedStart(), len(text) - 1)
        begin = text.rfind("\n", 0, position) + 1
        stop = text.find("\n", position)
        stop = len(text) if stop < 0 else stop
        line += text.count("\n", counted, begin)
        counted = begin
        _try(made, text[begin:stop], line, hits)
        at = max(stop, position) + 1


def _each(made: QRegularExpression, text: str, line: int, hits: _Hits, cancel: Cancel) -> None:
    """Do the same line by line; a line that is too hard is left out and counted."""
    parts = text.split("\n")
    for offset, part in enumerate(parts):
        cancel.check()
        if part or offset + 1 < len(parts):
            _try(made, part, line + offset, hits)


def _try(made: QRegularExpression, text: str, line: int, hits: _Hits) -> None:
    match = made.match(text[:_MOST_CHARS].rstrip("\r"))
    if match.hasMatch():
        hits.lines.append(line)
    elif not match.isValid():
        hits.n_hard += 1
