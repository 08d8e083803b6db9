"""r, how many times slower the host path is: from this computer's own runs where they exist."""

from collections.abc import Callable, Sequence

from app.core.bench import BenchRun, Test
from app.core.reading import Estimate, Kind
from app.core.slowdown import measured_ratio


def ratio_from_runs(runs: Sequence[BenchRun], model_name: str, layers: int) -> Estimate | None:
    """Return r from the newest pair of generation rates of a model, none and all layers offloaded.

    The pair must agree in instrument and depth; None when there is no such pair with intervals.
    """
    own = [run for run in runs if run.model_name == model_name and run.test is Test.GENERATION]
    device = _last(own, lambda ngl: ngl >= layers)
    if device is None:
        return None
    alike = [run for run in own if (run.instrument, run.depth) == (device.instrument, device.depth)]
    host = _last(alike, lambda ngl: ngl == 0)
    first = _estimate(host) if host is not None else None
    second = _estimate(device)
    return measured_ratio(first, second) if first is not None and second is not None else None


def _last(runs: Sequence[BenchRun], wanted: Callable[[int], bool]) -> BenchRun | None:
    for run in reversed(runs):
        given = run.setting("n_gpu_layers")
        if given is not None and given.lstrip("-").isdigit() and wanted(int(given)):
            return run
    return None


def _estimate(run: BenchRun) -> Estimate | None:
    if run.low_tps is None or run.high_tps is None or run.low_tps <= 0:
        return None
    return Estimate(run.mean_tps, run.low_tps, run.high_tps, run.instrument, Kind.MEASURED)
