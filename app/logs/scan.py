"""Scans a log for the lines that state facts: one pass, literal words first, memory bounded."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from app.core.cancel import Cancel
from app.core.log import Fact, LogEvent, LogSummary, Pattern, Value
from app.logs import bench_rows, devices, lines, retries, story, wrapped
from app.logs.matcher import Matcher, apply, standard
from app.logs.reader import LineIndex

Progress = Callable[[int, str], None]  # per cent, and what is being done

KEEP_FIRST = 1_000  # events per fact: a server that ran for months repeats its rates
KEEP_LAST = 1_500
_CARRY_BYTES = 64 * 1024  # of a line that is cut by a block's end
# within a line: what wraps it, then what was asked, then the load that begins with it
_FIRST = {Fact.PROGRAM: 0, Fact.COMMAND: 1, Fact.LOAD_START: 2}


@dataclass(slots=True)
class _Kept:
    """The first and the last events of one fact."""

    first: list[LogEvent] = field(default_factory=list)
    last: deque[LogEvent] = field(default_factory=lambda: deque(maxlen=KEEP_LAST))
    count: int = 0

    def add(self, event: LogEvent) -> None:
        self.count += 1
        if len(self.first) < KEEP_FIRST:
            self.first.append(event)
        else:
            self.last.append(event)


class Scanner:
    """Takes a log's bytes in blocks of any cut and keeps the events of its lines."""

    def __init__(self, matcher: Matcher | None = None) -> None:
        self._matcher = matcher or standard()
        self._kept: dict[Fact, _Kept] = {}
        self._carry = b""
        self._wrapper: Mapping[str, Value] | None = None  # the last that was met
        self._n_lines = 0
        self._n_bytes = 0

    def feed(self, data: bytes) -> None:
        """Take the next bytes (UTF-8)."""
        self._n_bytes += len(data)
        last = data.rfind(b"\n") + 1
        if not last:
            self._hold(data)
            return
        if self._carry:
            last += len(self._carry)
            data = self._carry + data
            self._carry = b""
        self._hold(data[self._block(data, last) :])

    def summary(self, name: str = "", n_bytes: int | None = None) -> LogSummary:
        """Return what was found so far; more may be fed afterwards."""
        events = [event for kept in self._kept.values() for event in (*kept.first, *kept.last)]
        n_dropped = sum(
            kept.count - len(kept.first) - len(kept.last) for kept in self._kept.values()
        )
        events += self._waiting()
        events.sort(key=lambda event: (event.line, _FIRST.get(event.fact, len(_FIRST))))
        n_lines = self._n_lines + self._carry.count(b"\n")
        n_lines += bool(self._carry) and not self._carry.endswith(b"\n")
        told = story.tell(retries.settled(devices.named(bench_rows.as_rates(events))), n_lines)
        return LogSummary(
            name=name,
            n_lines=n_lines,
            events=told.events,
            loads=told.loads,
            n_bytes=self._n_bytes if n_bytes is None else n_bytes,
            n_dropped=n_dropped,
        )

    def _block(self, data: bytes, end: int) -> int:
        """Look at data[:end], which holds whole lines; return how far it was looked at."""
        counted = 0
        for first, last, patterns in self._matcher.candidates(data, 0, end):
            self._n_lines += data.count(b"\n", counted, first)
            counted, wrapper = first, self._wrapper
            events = self._events(data[first:last], self._n_lines + 1, patterns)
            broken = _broken(patterns, events)
            if broken and wrapped.is_open(data, first, last, end):
                self._wrapper = wrapper
                return first  # the lines below it are still to come
            for event in events:
                self._keep(event)
            if broken:
                for event in _joined(data, (first, last, end), self._n_lines + 1, broken):
                    self._keep(event)
        self._n_lines += data.count(b"\n", counted, end)
        return end

    def _waiting(self) -> list[LogEvent]:
        """Return the events of what is held back, without taking it."""
        data, wrapper, found = self._carry, self._wrapper, list[LogEvent]()
        end = len(data)
        for first, last, patterns in self._matcher.candidates(data, 0, end):
            number = self._n_lines + data.count(b"\n", 0, first) + 1
            events = self._events(data[first:last], number, patterns)
            found += events
            found += _joined(data, (first, last, end), number, _broken(patterns, events))
        self._wrapper = wrapper
        return found

    def _events(self, raw: bytes, number: int, patterns: tuple[Pattern, ...]) -> list[LogEvent]:
        events = [
            LogEvent(fact, number, text[: lines.MAX_TEXT], values)
            for text, level in lines.texts(raw)
            for fact, values in self._matcher.facts(text, level, patterns)
        ]
        return events + self._wrappers(raw, number, patterns)

    def _wrappers(self, raw: bytes, number: int, patterns: tuple[Pattern, ...]) -> list[LogEvent]:
        """Return the program whose lines begin here; it wraps each line, and is named once."""
        for pattern in patterns:
            if pattern.is_wrapper:
                text = raw[: lines.MAX_TEXT].decode("utf-8", "replace").strip()
                values = apply(pattern, lines.plain(text))
                if values is not None and values != self._wrapper:
                    self._wrapper = values
                    return [LogEvent(pattern.fact, number, text, values)]
        return []

    def _keep(self, event: LogEvent) -> None:
        kept = self._kept.get(event.fact)
        if kept is None:
            kept = self._kept[event.fact] = _Kept()
        kept.add(event)

    def _hold(self, data: bytes) -> None:
        self._carry += data[: max(0, _CARRY_BYTES - len(self._carry))]


def _broken(patterns: tuple[Pattern, ...], events: list[LogEvent]) -> list[Pattern]:
    """Return the patterns of lines that may go on below, and that found nothing yet."""
    found = [pattern for pattern in patterns if pattern.may_break]
    if not found:
        return found
    stated = {event.fact for event in events}
    return [pattern for pattern in found if pattern.fact not in stated]


def _joined(
    data: bytes, place: tuple[int, int, int], number: int, patterns: list[Pattern]
) -> list[LogEvent]:
    """Return what data[first:last] says together with the lines below it, up to end."""
    found: list[LogEvent] = []
    left = list(patterns)
    for cut, spaced, n_lines in wrapped.joined(data, *place) if left else ():
        for pattern in tuple(left):
            for text in (wrapped.text(spaced), wrapped.text(cut)):
                values = apply(pattern, text)
                if values is not None:
                    event = LogEvent(pattern.fact, number, text[: lines.MAX_TEXT], values)
                    found.append(replace(event, n_lines=n_lines))
                    left.remove(pattern)
                    break
        if not left:
            break
    return found


def scan(
    source: Path | Iterable[str],
    cancel: Cancel | None = None,
    progress: Progress | None = None,
    name: str = "",
) -> LogSummary:
    """Read a log file, or lines that are at hand, and return what it says."""
    if isinstance(source, Path):
        return scan_file(source, cancel, progress)
    scanner = Scanner()
    for line in source:
        if cancel is not None:
            cancel.check()
        scanner.feed(line.removesuffix("\n").encode("utf-8", "replace") + b"\n")
    return scanner.summary(name)


def scan_file(
    path: Path, cancel: Cancel | None = None, progress: Progress | None = None
) -> LogSummary:
    """Read a log file of any size; UserError when it cannot be read."""
    scanner = Scanner()
    with LineIndex(path) as index:
        index.extend(cancel, progress, scanner.feed)
        return replace(scanner.summary(path.name, index.n_bytes), damage=index.note)


def scan_text(text: str, name: str = "pasted text") -> LogSummary:
    """Read pasted text and return what it says."""
    scanner = Scanner()
    scanner.feed(text.encode("utf-8", "replace"))
    return scanner.summary(name)
