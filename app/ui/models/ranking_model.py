"""What the Diagnose tab shows of the ranked changes: bars and texts, as values."""

from dataclasses import dataclass

from app.core import units
from app.core.bench import Test
from app.core.evidence import Evidence
from app.core.folklore import Folklore
from app.core.proof import why_no_second
from app.core.ranking import Option, Ranking
from app.report.blocks import StepChart
from app.report.pictures import step_chart


@dataclass(frozen=True, slots=True)
class GainBar:
    """One change; value, low and high are speeds against now (1.0), None: there is no figure."""

    id: str
    title: str
    text: str
    cost: str
    figure: str
    source: str
    command: str
    value: float | None
    low: float
    high: float
    can_try: bool  # an option of a new load makes it


@dataclass(frozen=True, slots=True)
class RankingView:
    """Everything of the card."""

    now: str
    bars: tuple[GainBar, ...]
    not_advised: tuple[str, ...]
    path: StepChart | None = None
    no_path: str = ""  # why there is none, "" = nothing to say
    refused: tuple[str, ...] = ()
    no_try: str = ""  # why no change can be tried here, "" = it can
    options: tuple[Option, ...] = ()


def ranking_view(
    evidence: Evidence, ranking: Ranking, advice: tuple[Folklore, ...], *, is_own: bool = True
) -> RankingView:
    """Return what to show; is_own: the evidence is this computer's, so changes can be tried."""
    path = ranking.path
    tps = next(
        (run.mean_tps for run in reversed(evidence.runs) if run.test is Test.GENERATION), None
    )
    return RankingView(
        now=f"Now: {units.rate(tps)} while writing" if tps else "Now: not measured",
        bars=tuple(_bar(option, tps) for option in ranking.options),
        not_advised=tuple(f"“{one.advice}”: {one.why}" for one in advice),
        path=step_chart(path) if path is not None else None,
        no_path=path.why if path is not None and not path.stages else "",
        no_try=why_no_second(evidence, is_own=is_own),
        options=ranking.options,
        refused=tuple(f"{one.title}: {one.why}." for one in ranking.refused),
    )


def _bar(option: Option, tps: float | None) -> GainBar:
    gain = option.gain
    if gain is None:
        figure, value, low, high = f"no figure: {option.reason}", None, 1.0, 1.0
    else:
        value, low, high = gain.value, gain.low, gain.high
        figure = f"{units.times(value)} ({units.times_range(low, high)})"
        if tps:
            figure += f", about {units.rate(tps * value)}"
    return GainBar(
        option.id, option.title, option.text, option.cost, figure, gain.source if gain else "",
        option.command, value, low, high, bool(option.change),
    )  # fmt: skip
