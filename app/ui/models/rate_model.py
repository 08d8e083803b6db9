"""Prompt and generation rate of a placement as texts: figure, range, and what they rest on."""

from app.core import units
from app.core.pace import PROMPT_TOKENS, Pace
from app.core.reading import Estimate, Kind
from app.ui.models.offload_model import Number

_WORDS = {
    Kind.MEASURED: "measured here",
    Kind.CALCULATED: "from what was measured here",
    Kind.TABLE: "from bandwidths",
    Kind.TYPED: "typed in",
}


def generation_number(pace: Pace) -> Number:
    """Return tokens per second while it writes."""
    found = pace.generation
    if found is None:
        return Number("–", pace.generation_why, pace.generation_why)
    return Number(units.rate(found.value), f"{_span(found)}, {_WORDS[found.kind]}", found.source)


def prompt_number(pace: Pace) -> Number:
    """Return tokens per second while it reads, and the time of a prompt."""
    found, time = pace.prompt, pace.prompt_time
    if found is None or time is None:
        return Number("–", pace.prompt_why, pace.prompt_why)
    low, high = units.seconds(time.low), units.seconds(time.high)
    caption = f"{_span(found)}, {_WORDS[found.kind]}; {PROMPT_TOKENS:,} tokens in {low} to {high}"
    return Number(units.rate(found.value), caption, found.source)


def _span(found: Estimate) -> str:
    return units.interval(found.low, found.high)
