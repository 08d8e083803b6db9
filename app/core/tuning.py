"""Changes whose gain no arithmetic tells: it is what was measured here, or nothing."""

from collections.abc import Iterator
from dataclasses import replace

from app.core.bench import BenchRun, Test
from app.core.gpus import gpus
from app.core.machine import Device
from app.core.reading import Estimate, Kind
from app.core.request import Switch
from app.core.trial import LEAST, Trial
from app.core.ways import Toll, Way

_TRY = "what it brings differs by machine: try it"
_MOST_BUSY = 0.10  # of all processors (advice.md part 3, "Busy")
_NAMES_OF_PLACE = frozenset({"n_gpu_layers", "devices", "tensor_split", "main_gpu", "n_ctx"})


def tunings(now: Trial) -> Iterator[tuple[Way, Estimate | None]]:
    """Yield the changes that apply, each with its gain where both rates were measured here."""
    yield from _threads(now)
    yield from _quiet(now)
    yield from _flash_attention(now)
    yield from _backend(now)


def _threads(now: Trial) -> Iterator[tuple[Way, Estimate | None]]:
    """Offer the program's own number of threads where more than the cores were set."""
    machine = now.evidence.machine
    cores = machine.number("cpu.physical") if machine is not None else None
    threads = now.request.threads
    if now.placed.f < 0.01 or cores is None or threads is None or threads <= cores:
        return
    way = Way(
        "fewer-threads", "Fewer threads", "As many threads as cores",
        f"{threads} threads are set for {cores} cores; they wait for each other.",
        "None.", Toll.NOTHING, None, (("threads", None),), why=_TRY,
    )  # fmt: skip
    yield way, _measured(now, "n_threads", str(int(cores)))


def _quiet(now: Trial) -> Iterator[tuple[Way, Estimate | None]]:
    """Offer to close what computed meanwhile."""
    watch = now.evidence.watch
    if watch is None or watch.other_cpu_max is None or not watch.cores or now.placed.f < 0.01:
        return
    if watch.other_cpu_max / watch.cores <= _MOST_BUSY:
        return
    yield Way(
        "quiet-computer", "Quiet computer", "Close programs that compute",
        f"Other programs used up to {watch.other_cpu_max:.1f} of {watch.cores} processors while it "
        "was measured, and layers in system memory need them.",
        "Those programs.", Toll.PROGRAMS, None,
        why="the rates were disturbed: measure again on a quiet computer",
    ), None  # fmt: skip


def _flash_attention(now: Trial) -> Iterator[tuple[Way, Estimate | None]]:
    """Offer the automatic setting where flash attention was switched off."""
    if now.request.flash_attn is not Switch.OFF:
        return
    way = Way(
        "flash-attention", "Flash attention", "Flash attention left to the program",
        "It is switched off by request. The automatic setting uses it where the device has it; it "
        "matters most for prompts and long chats.",
        "None.", Toll.NOTHING, None, (("flash_attn", Switch.AUTO),), why=_TRY,
    )  # fmt: skip
    yield way, None


def _backend(now: Trial) -> Iterator[tuple[Way, Estimate | None]]:
    """Offer the other backend of the same card."""
    machine = now.evidence.machine
    if machine is None or not now.request.use_devices:
        return
    used = {row.buffer for row in now.placed.rows if not row.is_host and row.total_bytes}
    for gpu in gpus(machine):
        ids = [device.id for device in gpu.devices]
        others = [device for device in gpu.devices if device.id not in used]
        if not gpu.is_real or not others or not used & set(ids):
            continue
        other = others[0]
        way = Way(
            "other-backend", "Other backend", f"The other backend: {other.id}",
            f"{gpu.name} is listed as {' and as '.join(ids)}, one card through "
            f"{len(ids)} backends. Which is faster depends on card, driver and model: measure "
            "both, keep the one whose interval lies above.",
            "None.", Toll.NOTHING, now.as_asked(replace(now.request, device_ids=(other.id,))),
            (("device_ids", (other.id,)),), why=_TRY,
        )  # fmt: skip
        yield way, _of_backend(now, other)
        return


def _measured(now: Trial, name: str, value: str) -> Estimate | None:
    """Return the gain by the latest earlier rate that differs from the last one in this alone."""
    last = _last(now)
    if last is None:
        return None
    for run in reversed(now.evidence.history):
        if run.setting(name) == value and _is_same(last, run, but={name}):
            return _ratio(last, run, f"{name} {value}")
    return None


def _of_backend(now: Trial, other: Device) -> Estimate | None:
    last = _last(now)
    if last is None:
        return None
    for run in reversed(now.evidence.history):
        is_on_it = other.id in (run.setting("devices") or "") or (
            run.backends != last.backends and other.kind.value in run.backends.lower()
        )
        if is_on_it and _is_same(last, run, but=_NAMES_OF_PLACE):
            return _ratio(last, run, other.id)
    return None


def _last(now: Trial) -> BenchRun | None:
    runs = (run for run in reversed(now.evidence.runs) if run.test is Test.GENERATION)
    last = next(runs, None)
    return last if last is not None and not last.busy else None


def _is_same(one: BenchRun, other: BenchRun, *, but: frozenset[str] | set[str]) -> bool:
    if (one.test, one.instrument, one.depth, one.model_name) != (
        other.test, other.instrument, other.depth, other.model_name,
    ) or other.busy:  # fmt: skip
        return False
    names = ({name for name, _ in one.settings} | {name for name, _ in other.settings}) - but
    return all(one.setting(name) == other.setting(name) for name in names)


def _ratio(last: BenchRun, run: BenchRun, what: str) -> Estimate | None:
    low, high = last.low_tps, last.high_tps
    run_low, run_high = run.low_tps, run.high_tps
    if not low or high is None or run_low is None or run_high is None:
        return None
    found = Estimate(
        run.mean_tps / last.mean_tps, run_low / high, run_high / low,
        f"measured here with {what}, over the last run", Kind.MEASURED,
    )  # fmt: skip
    return found if found.value >= LEAST else None
