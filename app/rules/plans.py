"""Ollama's plan before a load, as figures: what it would place, what it needs, what is free."""

from dataclasses import dataclass

from app.core import units
from app.core.evidence import Evidence
from app.core.log import Fact, LogEvent


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan that leaves layers out by itself; bytes, None = the line does not say."""

    line: LogEvent
    layers: int
    offload: int
    free_bytes: int  # on all cards together
    required_bytes: int  # by the sum that it prints
    kv_bytes: int | None

    @property
    def missing_bytes(self) -> int:
        """Return how much the printed sum is above what is free; negative = it would fit."""
        return self.required_bytes - self.free_bytes


def short_plan(evidence: Evidence) -> Plan | None:
    """Return the last plan when it places fewer layers than there are, and none were asked for."""
    line = evidence.log.last(Fact.OFFLOAD_PLAN) if evidence.log is not None else None
    if line is None or line.whole("requested") >= 0:
        return None
    if line.whole("offload") >= line.whole("layers"):
        return None
    return Plan(
        line,
        line.whole("layers"),
        line.whole("offload"),
        _bytes(line, "free"),
        _bytes(line, "required"),
        _bytes(line, "kv") if "kv" in line.values else None,
    )


def _bytes(line: LogEvent, name: str) -> int:
    return int(line.number(name) * units.MIB)
