"""A plan as aligned text for a terminal."""

from collections.abc import Iterator, Sequence

from app.core import overhead, quants, units
from app.core.fit_result import FitResult
from app.core.machine import Device
from app.core.pace import PROMPT_TOKENS, Pace
from app.core.placement import Placement, Row
from app.core.plan import Plan, TableLine
from app.core.reading import Estimate
from app.core.request import LoadRequest
from app.core.slowdown import Prediction

_GAP = "   "


def plan_text(plan: Plan, table: Sequence[TableLine] = ()) -> str:
    """Return the plan as lines of text, every figure with its unit."""
    return "\n".join([*_head(plan), "", *(_table(table) if table else _body(plan))])


def columns(rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """Align cells; the first `left` columns to the left, the others to the right."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        _GAP.join(
            cell.ljust(width) if i < left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _head(plan: Plan) -> Iterator[str]:
    model, placed, request = plan.model, plan.placement, plan.situation.request
    number = model.keys.get("general.file_type")
    kind = quants.FILE_TYPES.get(number, "") if isinstance(number, int) else ""
    facts = ", ".join(filter(None, (model.arch, kind, f"{units.mib(model.tensor_bytes)}")))
    yield f"{model.name} ({facts} of tensors)"
    yield from (problem.text for problem in model.problems)
    slots = placed.context.n_seq_max
    load = [
        f"{request.tool.value}: {_offloaded(plan)} of {placed.layers_total} layers offloaded",
        f"context {units.count(placed.context.n_ctx)}",
        f"{slots} slot{'' if slots == 1 else 's'}",
        _cache_types(request),
    ]
    yield ", ".join(load)
    yield _devices(plan.devices)
    kept = overhead.sentence(plan.devices)
    if kept:
        yield f"Beside the rows below, {kept}"


def _offloaded(plan: Plan) -> int:
    """Return the layers that go to devices; what is asked for goes nowhere without one."""
    return plan.placement.ngl if plan.devices else 0


def _cache_types(request: LoadRequest) -> str:
    return f"cache {request.cache_type_k} and {request.cache_type_v}"


def _devices(devices: tuple[Device, ...]) -> str:
    if not devices:
        return "No device: everything in system memory"
    return "Devices: " + ", ".join(
        f"{device.id} ({device.description}, {units.mib(device.free_bytes, 0)} free)"
        for device in devices
    )


def _body(plan: Plan) -> Iterator[str]:
    placed = plan.placement
    yield from columns([("", "weights", "context", "compute", "sum"), *map(_row, placed.rows)])
    for one in plan.beside:
        yield ""
        yield f"Beside it the {one.kind.value} {one.name} ({one.note})"
        yield from columns([("", "weights", "context", "compute", "sum"), *map(_row, one.rows)])
    yield ""
    yield from columns([*_caches(placed), *_figures(plan)], left=2)
    yield from _section("What llama.cpp would choose by itself (--fit)", _fit(plan.fit))
    said = {problem.text for problem in plan.model.problems}  # at the top
    rest = tuple(text for text in plan.not_calculated if text not in said)
    yield from _section("Not in these figures", rest)
    yield ""
    yield f"Source: {placed.source}."


def _row(row: Row) -> tuple[str, ...]:
    compute = units.mib(row.compute_bytes)
    if row.compute_low_bytes < row.compute_high_bytes:
        low, high = units.mib(row.compute_low_bytes), units.mib(row.compute_high_bytes)
        compute = f"{compute} ({low.removesuffix(' MiB')} to {high})"
    return (
        row.buffer,
        units.mib(row.weights_bytes),
        units.mib(row.context_bytes),
        compute,
        units.mib(row.total_bytes),
    )


def _caches(placed: Placement) -> Iterator[tuple[str, str]]:
    for one in placed.caches:
        kind = "sliding window" if one.is_swa else "full attention"
        yield (
            "KV cache",
            f"{units.mib(one.n_bytes)}: {units.count(one.cells)} cells x {len(one.layers)} layers "
            f"({kind})",
        )
    if placed.mapped_bytes:
        yield "CPU_Mapped prints", f"{units.mib(placed.mapped_bytes)} (the range in the file)"
    yield "Logits buffer", f"{units.mib(placed.output_bytes)} of system memory, in no row above"


def _figures(plan: Plan) -> Iterator[tuple[str, str]]:
    placed = plan.placement
    yield (
        "f",
        f"{units.percent(placed.f)} of the {units.mib(placed.reads.total_bytes)} read per "
        "generated token come from system memory",
    )
    r = plan.situation.r
    if r is not None:
        yield "r", f"{units.times(r.value)}, {r.source}"
    yield "Slowdown", _slowdown(plan.prediction)
    yield "Generation", _rate(plan.pace.generation, plan.pace.generation_why)
    yield "Prompt", _prompt(plan.pace)


def _slowdown(prediction: Prediction) -> str:
    found = prediction.slowdown
    if found is None:
        return f"not calculated: {prediction.reason}"
    figure = units.times(found.value)
    return f"{figure} ({units.times_range(found.low, found.high)}), {found.source}"


def _rate(found: Estimate | None, why: str) -> str:
    if found is None:
        return f"not calculated: {why}"
    return f"{units.rate(found.value)} ({units.interval(found.low, found.high)}), {found.source}"


def _prompt(pace: Pace) -> str:
    text, time = _rate(pace.prompt, pace.prompt_why), pace.prompt_time
    if time is None:
        return text
    span = f"{units.seconds(time.low)} to {units.seconds(time.high)}"
    return f"{units.count(PROMPT_TOKENS)} tokens in {units.seconds(time.value)} ({span}): {text}"


def _fit(result: FitResult) -> tuple[str, ...]:
    if result.not_calculated:
        return (result.not_calculated,)
    lines = [step.text for step in result.steps]
    end = f"{result.layers} of {result.layers_total} layers, context {units.count(result.ctx)}"
    if result.refused:
        return (*lines, f"Refused: {result.refused}. It then loads {end}.")
    if result.tensor_split:
        end += f", split {','.join(f'{share:g}' for share in result.tensor_split)}"
    if result.overrides:
        end += f", parts of {result.partial_blocks} blocks in system memory"
    return (*lines, f"Result: {end}.")


def _section(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield ""
        yield f"{title}:"
        yield from (f"  {line}" for line in lines)


def _table(table: Sequence[TableLine]) -> list[str]:
    words = {True: "yes", False: "no", None: "not known"}
    head = ("layers", "devices", "system memory", "f", "slowdown", "generation", "fits")
    lines = [
        (
            str(line.ngl),
            units.mib(line.device_bytes),
            units.mib(line.host_bytes),
            units.percent(line.f),
            _short(line.prediction),
            _span(line.pace.generation),
            words[line.fits],
        )
        for line in table
    ]
    reason = next((line.prediction.reason for line in table if line.prediction.reason), "")
    notes = ["", f"No slowdown where it says -: {reason}"] if reason else []
    return [*columns([head, *lines], left=0), *notes]


def _span(found: Estimate | None) -> str:
    return "-" if found is None else units.interval(found.low, found.high)


def _short(prediction: Prediction) -> str:
    found = prediction.slowdown
    return "-" if found is None else units.times_range(found.low, found.high)
