"""Turns the rows of llama-bench within a log into rates with their token counts."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from app.core.log import Fact, LogEvent, Value


def as_rates(events: Iterable[LogEvent]) -> Iterator[LogEvent]:
    """Yield the events, with each row as the rate it states; an unclear row stays a row."""
    names_depth: bool | None = None  # None: no header of a csv table was seen
    for event in events:
        if event.fact is Fact.BENCH_TABLE:
            names_depth = "depth" in event.values
        yield _rate(event, names_depth) if event.fact is Fact.BENCH_ROW else event


def _rate(event: LogEvent, names_depth: bool | None) -> LogEvent:
    row = event.values
    if "first" in row:  # of a csv table
        if names_depth is None:
            return event
        names = ("third", "second", "first") if names_depth else ("second", "first", "")
        row = {
            "n_prompt": row[names[0]],
            "n_gen": row[names[1]],
            "depth": row[names[2]] if names_depth else 0,
            **{name: row[name] for name in ("tps", "stddev")},
        }
    prompt, generated = int(row.get("n_prompt", 0)), int(row.get("n_gen", 0))
    tps = float(row["tps"])
    if tps <= 0 or not prompt + generated:
        return event
    if prompt and generated:  # one figure for two kinds of work
        values: Mapping[str, Value] = {"kind": "mixed", "tps": tps, "n": prompt + generated}
        return replace(event, fact=Fact.RATE_SHOWN, values=MappingProxyType(dict(values)))
    n = prompt or generated
    values = {
        "ms": 1000 * n / tps,
        "n": n,
        "tps": tps,
        "stddev": float(row["stddev"]),
        "depth": int(row.get("depth", 0)),
        "bench": True,
    }
    fact = Fact.PROMPT_RATE if prompt else Fact.GENERATION_RATE
    return replace(event, fact=fact, values=MappingProxyType(values))
