"""Finds the facts of a block's lines: by literal words first, then by the patterns they lead to."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType

from app.core import plugins
from app.core.log import Fact, Pattern, Value
from app.logs import patterns as _patterns
from app.logs.needles import Needles

# an error line of today's logger that no pattern knows; its level is in the prefix or the JSON
_ERROR_KEYS = (" E ", "mE \x1b", '"level":"error"', '"level":"ERROR"', "level=ERROR")
# errors with a name of their own, before which the catch-all gives way
_NAMED = frozenset(
    {
        Fact.ERROR_MEMORY,
        Fact.ERROR_FILE,
        Fact.ERROR_ARCHITECTURE,
        Fact.ERROR_ARGUMENT,
        Fact.ERROR_NETWORK,
    }
)

Stated = tuple[Fact, Mapping[str, Value]]


class Matcher:
    """Patterns indexed by their literal words."""

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        self.patterns: Sequence[Pattern] = tuple(patterns)
        by_key: dict[str, list[Pattern]] = {key: [] for key in _ERROR_KEYS}
        for pattern in self.patterns:
            for key in pattern.keys:
                by_key.setdefault(key, []).append(pattern)
        self._by_key = tuple(map(tuple, by_key.values()))
        self._needles = Needles(by_key)

    def candidates(
        self, data: bytes, start: int, end: int
    ) -> Iterator[tuple[int, int, tuple[Pattern, ...]]]:
        """Yield (start, end, patterns) of each line in data[start:end] that holds a key.

        data[start:end] holds whole lines, the last one may lack its line feed.
        """
        line_end = start - 1
        line_start = start
        chosen: dict[int, Pattern] = {}
        for position, number in self._needles.find(data, start, end):
            if position > line_end:
                if line_end >= start:
                    yield line_start, line_end, tuple(chosen.values())
                    chosen = {}
                line_start = max(start, data.rfind(b"\n", start, position) + 1)
                line_end = data.find(b"\n", position, end)
                line_end = end if line_end < 0 else line_end
            for pattern in self._by_key[number]:
                chosen[id(pattern)] = pattern
        if line_end >= start:
            yield line_start, line_end, tuple(chosen.values())

    def facts(self, text: str, level: str, patterns: Iterable[Pattern]) -> list[Stated]:
        """Return the facts that a line states by the patterns that its keys led to."""
        found = [
            (pattern.fact, values)
            for pattern in patterns
            if not pattern.is_wrapper and (values := apply(pattern, text)) is not None
        ]
        if not found:
            return [(Fact.ERROR_OTHER, MappingProxyType({}))] if level == "E" else found
        if len(found) > 1:
            found = _once(found)
        if len(found) > 1 and any(fact in _NAMED for fact, _ in found):
            return [stated for stated in found if stated[0] is not Fact.ERROR_OTHER]
        return found


def _once(found: list[Stated]) -> list[Stated]:
    """Leave out what another pattern states of the same fact with more values."""
    return [
        (fact, values)
        for number, (fact, values) in enumerate(found)
        if not any(
            other is fact
            and values.items() <= more.items()
            and (len(more) > len(values) or place < number)
            for place, (other, more) in enumerate(found)
            if place != number
        )
    ]


def apply(pattern: Pattern, text: str) -> Mapping[str, Value] | None:
    """Return the values that a pattern takes from a line, None when it does not match."""
    found = pattern.regex.search(text)
    if found is None:
        return None
    values: dict[str, Value] = {}
    for name, group in found.groupdict().items():
        if group is None:
            continue
        try:
            values[name] = pattern.types.get(name, str)(group)
        except (ValueError, LookupError, ArithmeticError):  # no figure: the line is damaged
            return None
    return MappingProxyType(values)


@cache
def standard() -> Matcher:
    """Return the matcher of all patterns that come with the program."""
    groups = plugins.collect(_patterns, "PATTERNS", tuple)
    return Matcher(pattern for group in groups for pattern in group)
