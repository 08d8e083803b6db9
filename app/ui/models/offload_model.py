"""What the Offload tab shows, as texts and shares: a pure function of the model and the choice."""

import sys
from dataclasses import dataclass, replace

import app.runtimes
from app.core import beside, placement, plugins, quants, slowdown, units
from app.core.assign import usable_devices
from app.core.beside import Beside, Companion
from app.core.cancel import Cancel
from app.core.eras import is_output_first
from app.core.errors import UserError
from app.core.machine import Device, Host, Machine, Program
from app.core.model import Model
from app.core.placement import Placement, Prepared
from app.core.probe import LoadWish, RuntimeProbe
from app.core.reading import Estimate, Kind
from app.core.request import LoadRequest
from app.core.shape import Shape
from app.core.slowdown import NO_DEVICE, Prediction
from app.runtimes import llama_argv, llama_cpp
from app.ui.models import placed_bars
from app.ui.widgets.byte_bar import NamedBar
from app.ui.widgets.curve import Curve
from app.ui.widgets.layer_map import Cell

_R_WORDS = {
    Kind.MEASURED: "measured here",
    Kind.CALCULATED: "calculated",
    Kind.TABLE: "from bandwidths",
    Kind.TYPED: "typed in",
}
_LABELS = 9  # cells that get a number below them


@dataclass(frozen=True, slots=True)
class Choice:
    """What the user set: the load, the devices it may use, and r (None = not known)."""

    request: LoadRequest
    devices: tuple[Device, ...]
    host: Host
    r: Estimate | None
    fill: int = 0
    build: int | None = None
    runtime: str = llama_cpp.ID
    companions: tuple[Companion, ...] = ()  # files that are loaded beside the model
    program: Program | None = None  # the llama-server that is here, so that its flags hold


@dataclass(frozen=True, slots=True)
class Number:
    """One large number with its caption, and on hover its source."""

    text: str
    caption: str
    source: str


@dataclass(frozen=True, slots=True)
class OffloadView:
    """Everything the tab shows for one position of the slider."""

    ngl: Number
    share: Number
    slowdown: Number
    cells: tuple[Cell, ...]
    cells_sentence: str
    bars: tuple[NamedBar, ...]
    command: str
    notes: tuple[str, ...]
    problems: tuple[str, ...]  # why a file beside the model is not counted
    f: float
    prediction: Prediction
    placed: Placement


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The prediction for one n_gpu_layers; None where no figure may be shown."""

    ngl: int
    value: float | None
    low: float | None
    high: float | None


def offload_view(prepared: Prepared, choice: Choice, model_path: str) -> OffloadView:
    """Return what to show; UserError when the load is not possible as asked."""
    placed = placement.place(
        prepared, choice.devices, choice.host, choice.request, fill=choice.fill, build=choice.build
    )
    prediction = _predict(placed, choice)
    others, problems = _beside(choice, placed)
    bars = tuple(placed_bars.device_bar(device, placed, others) for device in choice.devices)
    return OffloadView(
        ngl=_ngl_number(placed, choice.build),
        share=Number(
            units.percent(placed.f),
            "of the bytes read per generated token are in system memory",
            f"{units.size(placed.reads.host_bytes)} of {units.size(placed.reads.total_bytes)} per "
            f"token, with {placed.fill} tokens in the context; {placed.source}",
        ),
        slowdown=_slowdown_number(prediction, choice),
        cells=_cells(placed),
        cells_sentence=_cells_sentence(placed),
        bars=(*bars, placed_bars.host_bar(choice.host, placed, others)),
        command=setting_text(choice, model_path, placed.layers_total),
        notes=(*placed.not_calculated, *(placed_bars.note_of(one) for one in others)),
        problems=problems,
        f=placed.f,
        prediction=prediction,
        placed=placed,
    )


def curve(prepared: Prepared, choice: Choice, cancel: Cancel) -> tuple[CurvePoint, ...]:
    """Return the predicted slowdown for every n_gpu_layers."""
    points = []
    has_device = bool(usable_devices(choice.devices, choice.request))
    for ngl in range(prepared.shape.layers_total + 1):
        cancel.check()
        request = replace(choice.request, ngl=ngl)
        share = placement.share_of(
            prepared, choice.devices, choice.host, request, fill=choice.fill, build=choice.build
        )
        found = (
            slowdown.predict(
                share.f,
                share.f_layers,
                choice.r,
                read_bytes=share.read_bytes,
                devices=choice.devices,
            ).slowdown
            if has_device
            else None
        )
        points.append(
            CurvePoint(ngl, found.value, found.low, found.high)
            if found
            else CurvePoint(ngl, None, None, None)
        )
    return tuple(points)


def model_line(model: Model) -> str:
    """Return the model in one line."""
    file_type = model.keys.get("general.file_type")
    quant = quants.FILE_TYPES.get(file_type, "") if isinstance(file_type, int) else ""
    parts = (model.name, units.size(model.file_bytes), model.arch, quant)
    return " · ".join(part for part in parts if part)


def problems(model: Model) -> str:
    """Return what is wrong with the file, "" when nothing is; the plan holds all the same."""
    return "\n".join(problem.text for problem in model.problems)


def ngl_to_reach(cell: int, shape: Shape, build: int | None = None) -> int:
    """Return the n_gpu_layers that just puts a cell of the layer map on a device."""
    if cell == 0:
        return 0  # the embedding never goes there
    total = shape.layers_total
    if is_output_first(build):
        return total + 1 - cell
    return total if cell == total else total - cell


def plot_curve(points: tuple[CurvePoint, ...], r: Estimate | None, f: float) -> Curve:
    """Return the curve over n_gpu_layers; without r the curve over r for the present f."""
    shown = _shown(points)
    if r is None:
        ratios = [1 + 0.5 * i for i in range(39)]
        y = tuple(slowdown.law(f, ratio) for ratio in ratios)
        return Curve(
            "r, how many times slower the host path is", "slowdown ×", tuple(ratios), y, y, y,
            f"With r from 1 to 20 the slowdown goes from 1 to {units.times(y[-1])}",
        )  # fmt: skip
    x = tuple(float(p.ngl) for p in shown)
    return Curve(
        "n_gpu_layers",
        "slowdown ×",
        x,
        tuple(p.value or 0.0 for p in shown),
        tuple(p.low or 0.0 for p in shown),
        tuple(p.high or 0.0 for p in shown),
        f"Predicted for {len(shown)} of {len(points)} positions",
    )


def _shown(points: tuple[CurvePoint, ...]) -> list[CurvePoint]:
    """Return the points with a figure; none when only those at the ends have one."""
    found = [p for p in points if p.value is not None]
    return found if 2 * len(found) > len(points) else []


def plot_note(points: tuple[CurvePoint, ...], choice: Choice) -> str:
    """Return what to know about the curve."""
    if not usable_devices(choice.devices, choice.request):
        return NO_DEVICE
    if choice.r is None:
        return (
            "r is not known, so this shows what each r would mean for the present share. Measure "
            "it in the Benchmark tab (none and all layers), or type it in."
        )
    if not _shown(points):
        return slowdown.refusal(0.5, choice.r, choice.devices)
    return "The band is the range of the prediction; r is the only input that differs by machine."


def no_curve(error: Exception) -> str:
    """Return why there is no curve."""
    if isinstance(error, UserError):
        return f"No curve: {error.sentence()}"
    return f"The curve failed: {error}"


def no_best(error: Exception) -> str:
    """Return why there is no best position."""
    if isinstance(error, UserError):
        return f"No best position: {error.sentence()}"
    return f"Trying positions failed: {error}"


@dataclass(frozen=True, slots=True)
class PlotPoint:
    """The chosen position in the plot; None hides it."""

    x: float | None
    y: float | None
    text: str


def plot_point(points: tuple[CurvePoint, ...], ngl: int, r: Estimate | None) -> PlotPoint:
    """Return the point of the slider's position."""
    found = next((p for p in points if p.ngl == ngl and p.value is not None), None)
    if r is None or found is None:
        return PlotPoint(None, None, "")
    return PlotPoint(float(ngl), found.value, units.times(found.value))


def runtimes() -> tuple[RuntimeProbe, ...]:
    """Return the runtimes a load can be written for, llama.cpp first."""
    found = plugins.collect(app.runtimes, "RUNTIME", RuntimeProbe)
    return tuple(sorted(found, key=lambda one: one.id != llama_cpp.ID))


def setting_text(choice: Choice, model_path: str, layers_total: int) -> str:
    """Return the command or the settings for the chosen runtime."""
    request = beside.with_files(choice.request, choice.companions)
    wish = LoadWish(request, model_path, layers_total, sys.platform)
    if choice.runtime == llama_cpp.ID:
        return llama_argv.command_text(wish, choice.program)
    return next(one.setting(wish) for one in runtimes() if one.id == choice.runtime)


def llama_server(machine: Machine | None) -> Program | None:
    """Return the first llama-server that was found, None when there is none."""
    found = (p for r in (machine.runtimes if machine else ()) for p in r.programs)
    return next((program for program in found if program.name == "llama-server"), None)


def _beside(choice: Choice, placed: Placement) -> tuple[tuple[Beside, ...], tuple[str, ...]]:
    """Return the files beside the model that can be placed, and why others cannot."""
    found: list[Beside] = []
    problems = []
    for one in choice.companions:
        try:
            found += beside.beside(
                (one,), placed, choice.devices, choice.host, choice.request, build=choice.build
            )
        except UserError as error:
            title = placed_bars.BESIDE[one.kind]
            problems.append(f"{title} {one.model.name} is not counted: {error.sentence()}")
    return tuple(found), tuple(problems)


def _predict(placed: Placement, choice: Choice) -> Prediction:
    if not usable_devices(choice.devices, choice.request):  # r is of a device that is not chosen
        return Prediction(None, NO_DEVICE)
    return slowdown.predict(
        placed.f,
        placed.f_layers,
        choice.r,
        read_bytes=placed.reads.total_bytes,
        devices=choice.devices,
    )


def _ngl_number(placed: Placement, build: int | None) -> Number:
    on_device = sum(layer.device is not None for layer in placed.layers)
    turn = "first" if is_output_first(build) else "last"
    return Number(
        f"{placed.ngl} of {placed.layers_total}",
        f"layers asked for; {on_device} on a device, the output layer is the {turn} to go there",
        'n_gpu_layers counts as llama.cpp does in "offloaded N/M layers": all blocks and the '
        "output layer",
    )


def _slowdown_number(prediction: Prediction, choice: Choice) -> Number:
    found = prediction.slowdown
    if found is None:
        return Number("–", prediction.reason, prediction.reason)
    r_text = f"r = {units.times(choice.r.value)}, {_R_WORDS[choice.r.kind]}" if choice.r else ""
    return Number(
        units.times(found.value),
        f"{units.times_range(found.low, found.high)} against all on the device; {r_text}",
        f"S = {found.source}",
    )


def _cells(placed: Placement) -> tuple[Cell, ...]:
    blocks = placed.layers[:-1]
    step = max(1, -(-len(blocks) // _LABELS))
    cells = [
        Cell(
            "input",
            1.0,
            f"Token embedding: {units.mib(placed.embedding_bytes)}, always in system memory; "
            "a token reads one row of it",
        )
    ]
    for layer in placed.layers:
        is_output = layer.index == len(blocks)
        name = "Output layer" if is_output else f"Block {layer.index}"
        where = layer.device or "system memory"
        text = f"{name} on {where}: weights {units.mib(layer.weights_bytes)}"
        if layer.host_weights_bytes and layer.device:
            text += f", of these {units.mib(layer.host_weights_bytes)} in system memory"
        if layer.context_bytes:
            text += f", context {units.mib(layer.context_bytes)}"
        share = layer.host_weights_bytes / layer.weights_bytes if layer.weights_bytes else 0.0
        if not layer.device:
            share = 1.0
        # the first number would touch the word under the cell before it
        is_marked = layer.index % step == 0 and (layer.index or len(blocks) < _LABELS)
        label = str(layer.index) if is_marked else ""
        cells.append(Cell("output" if is_output else label, share, text))
    return tuple(cells)


def _cells_sentence(placed: Placement) -> str:
    blocks = placed.layers[:-1]
    on_device = sum(layer.device is not None for layer in blocks)
    output = placed.layers[-1].device or "system memory"
    return f"{on_device} of {len(blocks)} blocks on a device, the output layer on {output}"
