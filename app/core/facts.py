"""Makes the facts that probes return, and joins those of several probes."""

import re
from collections.abc import Iterable
from typing import TypeVar

from app.core.machine import MachineFact
from app.core.reading import Reading, State

V = TypeVar("V", int, float, str, bool, tuple[str, ...])

_GPU = re.compile(r"gpu\.(\d+)\.(.+)")
# each GPU probe states under this name whether its vendor's cards could be looked for
_SEARCHED = ".search"


def known(path: str, value: V, *, source: str, unit: str = "") -> MachineFact:
    """Make a fact with a value."""
    return MachineFact(path, Reading(value, unit, source))


def missing(path: str, state: State, *, source: str, reason: str, unit: str = "") -> MachineFact:
    """Make a fact without a value, and say why."""
    return MachineFact(path, Reading[str].missing(state, source=source, reason=reason, unit=unit))


def searched(vendor: str, fact_state: State, *, source: str, reason: str) -> MachineFact:
    """State how the search for a vendor's cards went when it found none."""
    return missing(vendor + _SEARCHED, fact_state, source=source, reason=reason)


def join(groups: Iterable[tuple[MachineFact, ...]]) -> tuple[MachineFact, ...]:
    """Put the facts of several probes together; GPUs are numbered on, gpu.count is added."""
    facts: list[MachineFact] = []
    n_gpus = 0
    for group in groups:
        found: set[int] = set()
        for fact in group:
            match = _GPU.fullmatch(fact.path)
            if match is None:
                facts.append(fact)
                continue
            found.add(int(match[1]))
            facts.append(MachineFact(f"gpu.{n_gpus + int(match[1])}.{match[2]}", fact.reading))
        n_gpus += len(found)
    facts.append(_count(n_gpus, facts))
    return tuple(facts)


def _count(n_gpus: int, facts: list[MachineFact]) -> MachineFact:
    if n_gpus:
        return known("gpu.count", n_gpus, source="counted from the probes")
    searches = [fact.reading for fact in facts if fact.path.endswith(_SEARCHED)]
    # a library that failed is worth more words than a vendor whose cards are simply not there
    failed = [reading for reading in searches if reading.state is not State.ABSENT]
    state = failed[0].state if failed else State.ABSENT
    told = failed or searches
    reason = "; ".join(dict.fromkeys(reading.reason for reading in told))
    source = ", ".join(dict.fromkeys(reading.source for reading in told))
    return missing(
        "gpu.count",
        state,
        source=source or "probes",
        reason=reason or "no probe looks for GPUs on this system",
    )
