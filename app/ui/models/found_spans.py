"""Where in a line the text or the pattern is that was searched for."""

import re
from collections.abc import Callable

from app.work.log_pattern import spans_of_pattern

Spans = tuple[tuple[int, int], ...]  # start and stop, in characters

MAX_SPANS = 200  # in a line


def nothing(_text: str) -> Spans:
    """Return that there is nothing in a line."""
    return ()


def of_text(text: str) -> Callable[[str], Spans]:
    """Return what finds a text in a line, case aside."""
    if not text:
        return nothing
    finds = re.compile(re.escape(text), re.IGNORECASE).finditer
    return lambda line: tuple(m.span() for m, _ in zip(finds(line), range(MAX_SPANS), strict=False))


def of_pattern(pattern: str) -> Callable[[str], Spans]:
    """Return what finds a regular expression in a line; nothing for one that is not valid."""
    return spans_of_pattern(pattern, MAX_SPANS) if pattern else nothing
