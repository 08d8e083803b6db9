"""Speed: the two rates apart, with intervals, the prediction beside them, and what was watched."""

from collections.abc import Callable

from app.core import units
from app.core.bench import MAIN_SETTINGS, BenchRun, Test
from app.core.evidence import Evidence, MemoryWatch
from app.core.expectation import expectations
from app.core.forecast import Forecast
from app.core.reading import Estimate
from app.core.slowdown_line import explained
from app.report.blocks import (
    NAME_VALUE,
    Block,
    Column,
    Heading,
    Ink,
    Paragraph,
    RateBar,
    RateChart,
    Table,
)
from app.report.pictures import curve_chart

_INKS = {Test.PROMPT: Ink.PROMPT, Test.GENERATION: Ink.GENERATION}
_TITLES = {
    Test.PROMPT: "Prompt processing, tokens per second",
    Test.GENERATION: "Generation, tokens per second",
}
_MOST_BARS = 8
# settings in the order in which they explain a rate; the rest follows


def blocks(evidence: Evidence, found: Forecast) -> tuple[Block, ...]:
    """Return the charts, the table, the settings, the prediction and the watch."""
    blocks: list[Block] = []
    for test in Test:
        runs = [run for run in evidence.runs if run.test is test][-_MOST_BARS:]
        if runs:
            blocks.append(RateChart(_TITLES[test], tuple(_bar(run) for run in runs)))
    if evidence.runs:
        blocks += [table(evidence.runs), *settings(evidence.runs[-1])]
    else:
        blocks += _logged(evidence)
    blocks += [*_prediction(found), *_beside(evidence)]
    if evidence.watch is not None:
        blocks += [
            Heading("Memory and processor while it wrote", 2),
            Table(NAME_VALUE, _watch(evidence.watch)),
        ]
    return tuple(blocks)


def _bar(run: BenchRun) -> RateBar:
    depth = f" at {units.count(run.depth)}" if run.depth else ""
    ngl = run.setting("n_gpu_layers")
    layers = f", -ngl {ngl}" if ngl is not None else ""
    label = f"{units.count(run.n_tokens)} tokens{depth}{layers}"
    return RateBar(label, _INKS[run.test], run.mean_tps, run.low_tps, run.high_tps)


def table(runs: tuple[BenchRun, ...]) -> Table:
    """Return rates as a table, prompt and generation apart."""
    columns = (
        Column("Rate", share=3),
        Column("Tokens", is_number=True, share=2),
        Column("Depth", is_number=True, share=2),
        Column("Mean", is_number=True, share=3),
        Column("95 % interval", is_number=True, share=5),
        Column("Runs", is_number=True, share=2),
        Column("Instrument", share=3),
    )
    return Table(columns, tuple(_row(run) for run in runs))


def _row(run: BenchRun) -> tuple[str, ...]:
    low, high = run.low_tps, run.high_tps
    is_known = low is not None and high is not None
    return (
        run.test.value + (" (busy)" if run.busy else ""),
        units.count(run.n_tokens),
        units.count(run.depth),
        units.rate(run.mean_tps),
        units.measured_interval(low, high)
        if is_known and low is not None and high is not None
        else "one run",
        str(run.n),
        run.instrument,
    )


def settings(run: BenchRun) -> list[Block]:
    """Return the settings of a run in a line, the ones that explain its rate first."""
    given = dict(run.settings)
    names = [name for name in MAIN_SETTINGS if name in given]
    names += [name for name in given if name not in names]
    text = ", ".join(f"{name} {given[name]}" for name in names if given[name])
    return [Paragraph(f"Settings of the last run: {text}.", is_quiet=True)] if text else []


def _logged(evidence: Evidence) -> list[Block]:
    story = evidence.log.load if evidence.log else None
    events = story.rates[-4:] if story is not None else ()
    if not events:
        return [Paragraph("No rate was measured.")]
    rows = tuple((str(event.line), event.text) for event in events)
    columns = (Column("Log line", is_number=True), Column("Rates that the log names", share=6))
    return [Table(columns, rows), Paragraph("Rates of few tokens say little.", is_quiet=True)]


def _prediction(found: Forecast) -> list[Block]:
    if found.placement is None:
        return [Paragraph(f"No slowdown is predicted: {found.prediction.reason}.", is_quiet=True)]
    rows = [("f, share of bytes on the host", f"{found.placement.f:.3f}")]
    if found.r is not None:
        r = found.r
        rows.append(
            ("r, how much slower the host is", f"{units.times_range(r.low, r.high)}; {r.source}")
        )
    predicted = found.prediction.slowdown
    if predicted is not None:
        span = units.times_range(predicted.low, predicted.high)
        text = f"{units.times(predicted.value)} ({span}); (1 − s) + s × r, s: f and the layers"
        rows.append(("Predicted slowdown", text))
    else:
        rows.append(("Predicted slowdown", f"no figure: {found.prediction.reason}"))
    return [Heading("Prediction", 2), Table(NAME_VALUE, tuple(rows))]


def _beside(evidence: Evidence) -> list[Block]:
    """Return predicted and measured side by side, prompt and generation apart."""
    found = expectations(evidence)
    if not found:
        return []
    columns = (
        Column("Rate", share=3),
        Column("Layers", is_number=True, share=2),
        Column("Predicted", is_number=True, share=4),
        Column("Measured", is_number=True, share=4),
        Column("Slowdown predicted", is_number=True, share=4),
        Column("Slowdown measured", is_number=True, share=4),
    )
    rows = tuple(
        (
            one.test.value,
            f"{one.spot.ngl} of {one.spot.layers_total}",
            _or_line(one.predicted, one.line, units.rate),
            _ranged(one.spot.rate, units.rate),
            _or_line(one.slowdown, one.line_slowdown, units.times),
            _ranged(one.measured_slowdown, units.times),
        )
        for one in found
    )
    told = [Paragraph(text, is_quiet=True) for text in explained(found)]
    ratios = [one.r for one in found if one.r is not None]
    if ratios:
        told.append(Paragraph(f"r: {_ranged(ratios[0], units.times)}, {ratios[0].source}.", True))
    picture = curve_chart(evidence)
    drawn = [picture] if picture is not None else []
    return [Heading("Predicted beside measured", 2), Table(columns, rows), *drawn, *told]


def _or_line(found: Estimate | None, line: Estimate | None, text: Callable[[float], str]) -> str:
    """Return a predicted figure, else that of the straight line, which is named as such."""
    if found is not None:
        return _ranged(found, text)
    return f"{text(line.value)} by the straight line" if line is not None else "no figure"


def _ranged(found: Estimate | None, text: Callable[[float], str]) -> str:
    if found is None:
        return units.UNKNOWN
    return f"{text(found.value)} ({found.low:.3g} to {found.high:.3g})"


def _watch(watch: MemoryWatch) -> tuple[tuple[str, ...], ...]:
    def per_s(value: float | None) -> str:
        return units.UNKNOWN if value is None else f"at most {units.size(value)} per second"

    cores = watch.other_cpu_max
    return (
        ("Swap out", per_s(watch.swap_out_max)),
        ("Swap in", per_s(watch.swap_in_max)),
        ("File pages read again", per_s(watch.refault_max)),
        *(
            (("Pages read for faults (swap and files)", per_s(watch.fault_max)),)
            if watch.fault_max is not None
            else ()
        ),
        (
            "Swap used",
            f"{units.size(watch.swap_used_before_bytes)} before, "
            f"{units.size(watch.swap_used_after_bytes)} after",
        ),
        (
            "Other programs",
            units.UNKNOWN if cores is None else f"at most {cores:.1f} of {watch.cores} cores",
        ),
        ("Watched", f"{units.seconds(watch.seconds)}, {watch.n_samples} samples; {watch.source}"),
    )
