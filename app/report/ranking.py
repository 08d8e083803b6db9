"""What would help in a report: each change alone with its range and cost, and what would not."""

from app.core import units
from app.core.evidence import Evidence
from app.core.folklore import folklore
from app.core.forecast import Forecast
from app.core.ranking import Option
from app.report.blocks import Block, Bullets, Column, Heading, Paragraph, Table

_COLUMNS = (
    Column("Change", share=3),
    Column("Gain while writing", is_number=True, share=3),
    Column("Cost", share=3),
    Column("Command", share=4),
)


def blocks(evidence: Evidence, found: Forecast, options: tuple[Option, ...]) -> tuple[Block, ...]:
    """Return the ranked changes, () when nothing was calculated."""
    if not options:
        return ()
    rows = tuple(
        (f"{option.title}. {option.text}", _gain(option), option.cost, option.command)
        for option in options
    )
    sources = dict.fromkeys(option.gain.source for option in options if option.gain is not None)
    return (
        Table(_COLUMNS, rows),
        Paragraph(
            " ".join(("Each change alone; gains do not add up.", *(f"{s}." for s in sources))),
            is_quiet=True,
        ),
        Heading("What people also advise, and why not here", 2),
        Bullets(tuple(f"“{one.advice}”: {one.why}" for one in folklore(evidence, found))),
    )


def _gain(option: Option) -> str:
    if option.gain is None:
        return f"no figure: {option.reason}"
    return f"{units.times(option.gain.value)} ({option.gain.low:.2f} to {option.gain.high:.2f})"
