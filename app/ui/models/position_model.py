"""The marks under the sliders: what llama.cpp would choose, and the best under the margin."""

from dataclasses import dataclass, replace

from app.core import beside, placement, units
from app.core import fit as fitting
from app.core.beside import Companion
from app.core.best_position import Best, best_position
from app.core.cancel import Cancel
from app.core.fit_result import FitResult
from app.core.placement import Prepared
from app.core.plan import Situation
from app.core.request import targets_mib
from app.ui.models import said_model
from app.ui.models.offload_model import Choice
from app.ui.widgets.position_slider import Mark


@dataclass(frozen=True, slots=True)
class Positions:
    """Both answers for one set of controls."""

    fit: FitResult
    best: Best
    margin: str  # in words


def positions_of(prepared: Prepared, choice: Choice, cancel: Cancel) -> Positions:
    """Ask for both; meant to run in a Job, each tries many placements."""
    free = replace(choice.request, ngl=None, n_cpu_moe=0, tensor_split=())
    companions = _placeable(prepared, choice)
    result = fitting.fit(
        prepared, choice.devices, choice.host, free, choice.build, companions=companions
    )
    cancel.check()
    situation = Situation(
        choice.devices, choice.host, choice.request, choice.r, choice.build, choice.fill,
        companions=companions,
    )  # fmt: skip
    return Positions(result, best_position(prepared, situation, cancel), _margin(choice))


def _placeable(prepared: Prepared, choice: Choice) -> tuple[Companion, ...]:
    if not choice.companions:
        return ()
    devices, host, request = choice.devices, choice.host, choice.request
    placed = placement.place(prepared, devices, host, request, build=choice.build)
    return beside.placeable(choice.companions, placed, devices, host, request, build=choice.build)


def layer_marks(found: Positions) -> tuple[Mark, ...]:
    """Return the marks of n_gpu_layers; one where both are the same."""
    fit, best = _fit_mark(found.fit), _best_mark(found)
    if fit is not None and best is not None and fit.value == best.value:
        tip = f"{fit.tip}\n\n{best.tip}"
        word = f"{fit.value}: llama.cpp and best"
        return (Mark(fit.value, word, f"{fit.name}, and {best.name}", tip),)
    return tuple(mark for mark in (fit, best) if mark is not None)


def expert_marks(found: Positions) -> tuple[Mark, ...]:
    """Return the marks of --n-cpu-moe: how many blocks keep experts in system memory."""
    marks = []
    fit = found.fit
    if not fit.not_calculated and not fit.refused and fit.is_a_number:
        n = found.fit.partial_blocks
        tip = f"{said_model.fit_text(found.fit)}\nIt moves the experts of the last blocks; a number"
        tip += " (--n-cpu-moe) counts from the first block, which takes about the same room."
        marks.append(Mark(n, f"{n}: llama.cpp", _said("Experts llama.cpp would move", n), tip))
    if found.best.ngl is not None:
        n = found.best.n_cpu_moe
        name = _said("Best number of blocks with experts in system memory", n)
        marks.append(Mark(n, f"{n}: best", name, _best_tip(found)))
    if len(marks) > 1 and marks[0].value == marks[1].value:
        one, other = marks
        name = f"{one.name}, and {other.name}"
        return (Mark(one.value, f"{n}: llama.cpp and best", name, f"{one.tip}\n\n{other.tip}"),)
    return tuple(marks)


def best_text(found: Positions) -> str:
    """Return the offer in a sentence, or why there is none."""
    best = found.best
    if best.ngl is None:
        return f"No best position with {found.margin} free: {best.why}"
    text = f"Best with {found.margin} free: {units.count(best.ngl)} layers on devices"
    if best.n_cpu_moe:
        text += f", experts of {best.n_cpu_moe} blocks in system memory"
    return f"{text}. {best.why}"


def _margin(choice: Choice) -> str:
    margins = targets_mib(choice.request, len(choice.devices))
    return " and ".join(f"{mib:,} MiB" for mib in dict.fromkeys(margins))


def _fit_mark(result: FitResult) -> Mark | None:
    if result.not_calculated or result.refused:
        return None
    tip = f"{said_model.fit_text(result)}\n{said_model.fit_tip(result)}"
    name = _said("Layers llama.cpp would choose", result.layers)
    return Mark(result.layers, f"{result.layers}: llama.cpp", name, tip)


def _best_mark(found: Positions) -> Mark | None:
    ngl = found.best.ngl
    if ngl is None:
        return None
    return Mark(ngl, f"{ngl}: best", _said("Best number of layers", ngl), _best_tip(found))


def _best_tip(found: Positions) -> str:
    return f"{best_text(found)}\nCalculated, with the largest compute buffer of its range."


def _said(what: str, n: int) -> str:
    return f"{what}: {n}"
