"""Practice: five faults made on purpose by options of a load, each to predict, run and diagnose.

The faults of the challenge "the model that runs at two tokens per second", task 3: only options of
a llama-server that we start are used, so ending it undoes everything.
"""

from dataclasses import dataclass, replace

from app.core import builds, host_memory, placement, slowdown, units
from app.core import fit as fitting
from app.core.assign import usable_devices
from app.core.bench import Test
from app.core.errors import UserError
from app.core.evidence import Evidence
from app.core.expectation import expectations
from app.core.machine import Device
from app.core.placement import Placement, Prepared
from app.core.reading import Estimate
from app.core.request import LoadRequest
from app.core.rule import Diagnosis
from app.core.units import MIB

CTX = 4096  # what the healthy load of the challenge has
_NO_DEVICE = "llama.cpp lists no device here, so {}"
# one that is reached by RPC is listed once the model was diagnosed with it
_NONE_TO_TAKE = "none can be taken away"
_NO_LAYERS = "no layers are on one that could be left out"
_NOT_SMALLER = "none can seem smaller than it is"
_NO_RIVAL = "the cache takes no room from layers on it, however long the context"
_NO_ROOM = "the device has no room to hide: the load is larger than its free memory as it is"
_NO_FREE = "the free memory of the device is not known"


IDS = (
    "a-no-device", "b-half-of-the-layers", "c-small-device", "d-default-context", "e-long-context",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Lesson:
    """One fault; why_not says why it cannot be made here, "" = it can."""

    id: str
    title: str
    what: str
    request: LoadRequest
    expects: tuple[str, ...]  # rule ids, one of which should name it
    why_not: str = ""


def lessons(evidence: Evidence, base: LoadRequest) -> tuple[Lesson, ...]:
    """Return the five faults for this model and machine; base is the load that is healthy."""
    if evidence.model is None:
        return ()
    devices = evidence.machine.devices if evidence.machine else ()
    try:
        prepared = placement.prepare(evidence.model)
    except UserError:
        return ()
    healthy = replace(base, ngl=None, ctx=base.ctx or CTX, use_devices=True)
    half = prepared.shape.layers_total // 2

    def missing(consequence: str) -> str:
        return "" if devices else _NO_DEVICE.format(consequence)

    made = (
        Lesson(
            "a-no-device", "No device",
            "A device is there, and the load is told to use none (--device none).",
            replace(healthy, use_devices=False, device_ids=()),
            ("device-present-but-unused",), why_not=missing(_NONE_TO_TAKE),
        ),
        Lesson(
            "b-half-of-the-layers", "Half of the layers",
            f"A copied command has -ngl {half} of {prepared.shape.layers_total} layers.",
            replace(healthy, ngl=half), ("layers-not-offloaded",), why_not=missing(_NO_LAYERS),
        ),
    )  # fmt: skip
    return (*made, *_of_memory(evidence, prepared, healthy))


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What the law predicts for a lesson; f None: it cannot be calculated, the text says why."""

    text: str
    f: float | None = None
    slowdown: Estimate | None = None


def foreseen(evidence: Evidence, lesson: Lesson, r: Estimate | None) -> Foreseen:
    """Predict what a lesson costs before it is run."""
    if lesson.why_not:
        return Foreseen(f"Not possible here: {lesson.why_not}.")
    placed = _placed(evidence, lesson.request)
    if placed is None:
        return Foreseen("What it costs cannot be calculated here.")
    share = f"f will be {units.percent(placed.f)}"
    if placed.f < 0.001:
        text = f"{share}: the rates should not change, the context does."
        return Foreseen(text, placed.f)
    devices = evidence.machine.devices if evidence.machine else ()
    found = slowdown.predict(
        placed.f, placed.f_layers, r, read_bytes=placed.reads.total_bytes, devices=devices
    )
    if found.slowdown is None:
        return Foreseen(f"{share}. No slowdown is predicted: {found.reason}", placed.f)
    span = units.times_range(found.slowdown.low, found.slowdown.high)
    source = r.source if r is not None else ""
    text = f"{share}, writing {units.times(found.slowdown.value)} slower ({span}); r {source}."
    return Foreseen(text, placed.f, found.slowdown)


def predicted(evidence: Evidence, lesson: Lesson, r: Estimate | None) -> str:
    """Say what the law predicts for a lesson before it is run."""
    return foreseen(evidence, lesson, r).text


def failed(evidence: Evidence, diagnosis: Diagnosis) -> str:
    """Say why an experiment shows nothing: the model did not load; "" when it did."""
    outcome = evidence.outcome
    if outcome is None or outcome.is_ready:
        return ""
    why = diagnosis.verdict.cause if diagnosis.verdict is not None else outcome.exit_text
    return f"The experiment failed, so it shows nothing: the model did not load. {why}".strip()


def is_named(lesson: Lesson, diagnosis: Diagnosis) -> bool:
    """Tell whether the verdict is the fault that was made."""
    return diagnosis.verdict is not None and diagnosis.verdict.rule_id in lesson.expects


def measured(evidence: Evidence) -> Estimate | None:
    """Return how many times slower it wrote than with all layers on the device, measured here."""
    found = (one for one in expectations(evidence) if one.test is Test.GENERATION)
    one = next(found, None)
    return one.measured_slowdown if one is not None else None


def measured_text(evidence: Evidence) -> str:
    """Say the measured slowdown, "" when the healthy rate was not measured here."""
    found = measured(evidence)
    if found is None:
        return ""
    span = units.times_range(found.low, found.high)
    return f"Measured: {units.times(found.value)} slower ({span}) than with all on the device."


def judged(lesson: Lesson, diagnosis: Diagnosis) -> str:
    """Say whether the diagnosis named the fault that was made."""
    verdict = diagnosis.verdict
    named = verdict.title if verdict is not None else "nothing found"
    if is_named(lesson, diagnosis):
        return f"Made: {lesson.title}. Named: {named}. The evidence line gave it away."
    also = next((f.title for f in diagnosis.also if f.rule_id in lesson.expects), "")
    if also:
        return f"Made: {lesson.title}. Named first: {named}; it is listed below as: {also}."
    return f"Made: {lesson.title}. Named: {named}. The fault left no line that names it."


def _of_memory(evidence: Evidence, prepared: Prepared, healthy: LoadRequest) -> tuple[Lesson, ...]:
    """Return the faults that come from too little device memory, made by a larger fit margin."""
    devices = evidence.machine.devices if evidence.machine else ()
    free = [device.free_bytes for device in usable_devices(devices, healthy)]
    train = prepared.shape.n_ctx_train
    small = long = None
    no_small = no_long = _NO_FREE
    if not devices or not free:
        no_small, no_long = _NO_DEVICE.format(_NOT_SMALLER), _NO_DEVICE.format(_NO_RIVAL)
    elif len(free) == 1 and free[0] is not None:
        weights = _needed(evidence, prepared, healthy)
        at_most = _needed(evidence, prepared, replace(healthy, ctx=train))
        half = replace(healthy, ngl=prepared.shape.layers_total // 2)
        small = _target(free[0], _needed(evidence, prepared, half))
        # room for all layers and most of the cache, so that a smaller cache cures it
        long = _target(free[0], weights + 2 * (at_most - weights) // 3)
        no_small, no_long = "" if small else _NO_ROOM, "" if long else _NO_ROOM
        if at_most - weights < 64 * MIB:
            no_long = "the cache of the whole training context is too small to be missed"
    rule = (
        "cache-too-large", "layers-moved-by-fit", "layers-not-offloaded", "context-reduced",
    )  # fmt: skip
    return (
        Lesson(
            "c-small-device", "A small device",
            "The device seems to have room for about half of the load (a large --fit-target).",
            replace(healthy, fit_target_mib=small), rule, why_not=no_small,
        ),
        Lesson(
            "d-default-context", "The default context",
            "No context is given, and the model's own does not fit: it is cut without a word.",
            replace(healthy, ctx=None, fit_target_mib=long), rule,
            why_not=no_long,
        ),
        Lesson(
            "e-long-context", "A long context",
            f"The whole {units.count(train)} tokens are asked for, and layers have to go for them.",
            replace(healthy, ctx=train, fit_target_mib=long), rule,
            why_not=no_long,
        ),
    )  # fmt: skip


def _target(free: int, wanted: int) -> int | None:
    """Return the fit margin in MiB that leaves so many bytes usable."""
    target = (free - wanted) // MIB
    return target if target > 0 else None


def _needed(evidence: Evidence, prepared: Prepared, request: LoadRequest) -> int:
    devices = evidence.machine.devices if evidence.machine else ()
    host, build = host_memory.host_of(evidence.machine), builds.of_machine(evidence.machine)
    placed = placement.place(prepared, devices, host, request, build=build)
    return placed.total(is_host=False).total_bytes


def _placed(evidence: Evidence, request: LoadRequest) -> Placement | None:
    """Return where the fit would put the load of a lesson."""
    assert evidence.model is not None
    devices: tuple[Device, ...] = evidence.machine.devices if evidence.machine else ()
    host, build = host_memory.host_of(evidence.machine), builds.of_machine(evidence.machine)
    try:
        prepared = placement.prepare(evidence.model)
        if request.use_devices and request.ngl is None:
            request = fitting.fit(prepared, devices, host, request, build).request
        return placement.place(prepared, devices, host, request, build=build)
    except UserError:
        return None
