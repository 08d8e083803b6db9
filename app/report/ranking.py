"""What would help in a report: the way to the best speed, each change alone, and what does not."""

from app.core import units
from app.core.evidence import Evidence
from app.core.folklore import folklore
from app.core.forecast import Forecast
from app.core.ranking import Option, Ranking
from app.core.waterfall import Waterfall
from app.report.blocks import Block, Bullets, Column, Heading, Paragraph, Table
from app.report.pictures import level_text, step_chart

_COLUMNS = (
    Column("Change", share=3),
    Column("Gain while writing", is_number=True, share=3),
    Column("Cost", share=3),
    Column("Command", share=4),
)
_PATH = (
    Column("One on top of the other", share=4),
    Column("Gain of the step", is_number=True, share=3),
    Column("Speed then", is_number=True, share=4),
    Column("Cost", share=4),
)
_HOW = (
    "Each step is planned anew on top of those before it, in the order of what they cost; gains do "
    "not multiply. The whiskers are the range. Hatched steps cost context or quality."
)


def blocks(evidence: Evidence, found: Forecast, ranking: Ranking) -> tuple[Block, ...]:
    """Return the path, the ranked changes and the rest, () when nothing was calculated."""
    if not ranking.options and not ranking.refused:
        return ()
    made = list(path_blocks(ranking.path))
    if ranking.options:
        if made:
            made.append(Heading("Each change alone", 2))
        made += [
            Table(_COLUMNS, tuple(_row(option) for option in ranking.options)),
            _sources(ranking.options),
        ]
    if ranking.refused:
        items = tuple(f"{one.title}: {one.why}." for one in ranking.refused)
        made += [Heading("Looked at, and no help here", 2), Bullets(items)]
    advice = tuple(f"“{one.advice}”: {one.why}" for one in folklore(evidence, found))
    return (*made, Heading("What people also advise, and why not here", 2), Bullets(advice))


def path_blocks(path: Waterfall | None) -> tuple[Block, ...]:
    """Return the picture of the path and its table, or why there is none."""
    if path is None:
        return ()
    chart = step_chart(path)
    if chart is None:
        return (Paragraph(f"No path is drawn: {path.why}."),) if path.why else ()
    rows = [("Now", "", level_text(path.now), "")]
    for stage in path.stages:
        span = units.times_range(stage.gain.low, stage.gain.high)
        rows.append(
            (
                f"{stage.title}. {stage.text}",
                f"{units.times(stage.gain.value)} ({span})",
                level_text(stage.level),
                stage.cost,
            )
        )
    return (chart, Paragraph(_HOW, is_quiet=True), Table(_PATH, tuple(rows)))


def _row(option: Option) -> tuple[str, ...]:
    return (f"{option.title}. {option.text}", _gain(option), option.cost, option.command)


def _sources(options: tuple[Option, ...]) -> Paragraph:
    sources = dict.fromkeys(option.gain.source for option in options if option.gain is not None)
    told = ("Each change alone; gains do not add up.", *(f"{source}." for source in sources))
    return Paragraph(" ".join(told), is_quiet=True)


def _gain(option: Option) -> str:
    if option.gain is None:
        return f"no figure: {option.reason}"
    return f"{units.times(option.gain.value)} ({option.gain.low:.2f} to {option.gain.high:.2f})"
