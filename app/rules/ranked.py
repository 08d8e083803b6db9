"""The ranked changes with their commands, in the words of the runtime that ran the model."""

from dataclasses import replace

from app.core import ranking as core
from app.core.evidence import Evidence
from app.core.forecast import Forecast
from app.core.ranking import Option, Ranking
from app.rules import command


def ranking(evidence: Evidence, found: Forecast) -> Ranking:
    """Return what applies, biggest gain first, each with its command, and what does not."""
    made = core.ranking(evidence, found)
    return replace(made, options=tuple(_spoken(evidence, option) for option in made.options))


def options(evidence: Evidence, found: Forecast) -> tuple[Option, ...]:
    """Return what applies, biggest gain first, each with its command."""
    return ranking(evidence, found).options


def _spoken(evidence: Evidence, option: Option) -> Option:
    if not option.change:
        return option
    return replace(option, command=command.server(evidence, **dict(option.change)))
