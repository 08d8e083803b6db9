"""Finds the patterns that a line may match, by literal words, before any regex runs."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import groupby
from types import MappingProxyType

from app.core import plugins
from app.core.log import Fact, Pattern, Value
from app.logs import patterns as _patterns

# an error line of today's logger that no pattern knows; its level is in the prefix or the JSON
_ERROR_KEYS = (" E ", '"level":"error"', "mE ", "level=ERROR")
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


class Matcher:
    """Patterns indexed by their literal words."""

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        self.patterns: Sequence[Pattern] = tuple(patterns)
        by_key: dict[str, list[Pattern]] = {}
        for pattern in self.patterns:
            for key in pattern.keys:
                by_key.setdefault(key, []).append(pattern)
        self._by_key = tuple((key, tuple(found)) for key, found in by_key.items())
        self.candidates = re.compile(any_of((*by_key, *_ERROR_KEYS)).encode())

    def match(self, text: str, level: str) -> list[tuple[Fact, Mapping[str, Value]]]:
        """Return the facts that a line states, with their values."""
        facts: list[tuple[Fact, Mapping[str, Value]]] = []
        tried: set[int] = set()
        for key, patterns in self._by_key:
            if key not in text:
                continue
            for pattern in patterns:
                if id(pattern) in tried:
                    continue
                tried.add(id(pattern))
                values = apply(pattern, text)
                if values is not None:
                    facts.append((pattern.fact, values))
        if not facts:
            return [(Fact.ERROR_OTHER, MappingProxyType({}))] if level == "E" else facts
        if len(facts) > 1 and any(fact in _NAMED for fact, _ in facts):
            return [found for found in facts if found[0] is not Fact.ERROR_OTHER]
        return facts


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
        except ValueError:  # a figure that is none: the line is damaged
            return None
    return MappingProxyType(values)


@cache
def standard() -> Matcher:
    """Return the matcher of all patterns that come with the program."""
    groups = plugins.collect(_patterns, "PATTERNS", tuple)
    return Matcher(pattern for group in groups for pattern in group)


def any_of(words: Iterable[str]) -> str:
    """Return a regex for any of the words, as a tree, so that each byte is looked at few times."""
    ordered = sorted(set(words))
    if not ordered or not ordered[0]:
        return ""  # a shorter word ends here and is enough
    branches = [
        re.escape(letter) + any_of(word[1:] for word in group)
        for letter, group in groupby(ordered, key=lambda word: word[0])
    ]
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"
