"""The ranked changes with their commands, in the words of the runtime that ran the model."""

from dataclasses import replace

from app.core import ranking as core
from app.core.evidence import Evidence
from app.core.forecast import Forecast
from app.core.proof import TAKEN_BACK, is_taken_back
from app.core.ranking import Option, Ranking
from app.core.ways import Refused
from app.rules import command


def ranking(evidence: Evidence, found: Forecast) -> Ranking:
    """Return what applies, biggest gain first, each with its command, and what does not.

    A change that was tried here and got slower does not apply any more.
    """
    made = core.ranking(evidence, found)
    back = tuple(one for one in made.options if is_taken_back(evidence, one.change))
    refused = (*(Refused(one.title, TAKEN_BACK) for one in back), *made.refused)
    kept = tuple(_spoken(evidence, one) for one in made.options if one not in back)
    return replace(made, options=kept, refused=refused)


def options(evidence: Evidence, found: Forecast) -> tuple[Option, ...]:
    """Return what could be tried, biggest gain first, each with its command."""
    made = core.ranking(evidence, found)
    return tuple(_spoken(evidence, option) for option in made.options)


def _spoken(evidence: Evidence, option: Option) -> Option:
    if not option.change:
        return option
    return replace(option, command=command.server(evidence, **dict(option.change)))
