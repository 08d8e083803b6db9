"""The ranked changes with their commands, in the words of the runtime that ran the model."""

from dataclasses import replace

from app.core import ranking
from app.core.evidence import Evidence
from app.core.forecast import Forecast
from app.core.ranking import Option
from app.rules import command


def options(evidence: Evidence, found: Forecast) -> tuple[Option, ...]:
    """Return what applies, biggest gain first, each with its command."""
    return tuple(
        replace(option, command=command.server(evidence, **dict(option.change)))
        if option.change
        else option
        for option in ranking.options(evidence, found)
    )
