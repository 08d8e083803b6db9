"""A part of the layers on the device is slower than none and slower than all.

What: each split costs time besides the bytes. Where the device is hardly faster than the
processor (r below about 2.5), that is more than the part on it brings.
Evidence: three generation rates that differ only in the layers; the middle one below both ends.
Arithmetic: the middle's rate against the lower end's.
Fix: the faster end. Proof: that end's buffers, and its rate.
Sources: slowdown.md sections 4, 6 and 7 (9 of 11 series with r below 2 have such points).
"""

from app.core import units
from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence
from app.core.rule import Certainty, Finding, Fix, Rule
from app.rules import command, rates

_ALL = 99  # what llama-bench printed for all until build 8000; -1 today


def check(evidence: Evidence) -> Finding | None:
    """Find a partial offload below both of its ends."""
    ends = _ends(evidence)
    if ends is None:
        return _slower_than_none(evidence)
    none, full = ends
    for middle in rates.of(evidence, Test.GENERATION):
        layers = rates.whole(middle, "n_gpu_layers")
        if layers is None or not 0 < layers < _ALL:
            continue
        if rates.is_faster(none, middle) and rates.is_faster(full, middle):
            return _finding(evidence, none, middle, full)
    return None


def _slower_than_none(evidence: Evidence) -> Finding | None:
    """Tell of a part that is slower than nothing on the device, where all was not measured."""
    runs = rates.of(evidence, Test.GENERATION)
    none = next((run for run in runs if rates.whole(run, "n_gpu_layers") == 0), None)
    middle = next(
        (
            run
            for run in runs
            if none is not None and _is_part(run) and rates.is_by_interval(none, run)
        ),
        None,
    )
    if none is None or middle is None or none.mean_tps < rates.CLEAR * middle.mean_tps:
        return None
    return Finding(
        cause=f"With {middle.setting('n_gpu_layers')} layers on the device it writes "
        f"{units.rate(middle.mean_tps)}, with none {units.rate(none.mean_tps)}: this device is "
        "slower than the processor, or splitting costs more than it brings.",
        cites=tuple(rates.cite(run, "n_gpu_layers") for run in (none, middle)),
        fix=command.fix(
            evidence,
            "Leave all layers to the processor (-ngl 0), which is the faster way here. Measure all "
            "layers on the device once as well, and keep the faster end.",
            ngl=0,
        ),
        proof=f"The rate is near {units.rate(none.mean_tps)}.",
        certainty=Certainty.LIKELY,
    )


def _is_part(run: BenchRun) -> bool:
    layers = rates.whole(run, "n_gpu_layers")
    return layers is not None and 0 < layers < _ALL


def silent(_evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    return "no partial offload is slower than both of its ends"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return (
        "" if _ends(evidence) is not None else "both ends (no layers, all layers) were not measured"
    )


def _ends(evidence: Evidence) -> tuple[BenchRun, BenchRun] | None:
    runs = rates.of(evidence, Test.GENERATION)
    none = [run for run in runs if rates.whole(run, "n_gpu_layers") == 0]
    full = [run for run in runs if _is_all(rates.whole(run, "n_gpu_layers"))]
    return (none[-1], full[-1]) if none and full else None


def _is_all(layers: int | None) -> bool:
    return layers is not None and (layers < 0 or layers >= _ALL)


def _finding(evidence: Evidence, none: BenchRun, middle: BenchRun, full: BenchRun) -> Finding:
    best = max((none, full), key=lambda run: run.mean_tps)
    is_all = best is full
    where = "all layers on the device" if is_all else "no layers on the device"
    is_proven = all(rates.is_by_interval(end, middle) for end in (none, full))
    fix: Fix = (
        command.fix(evidence, f"Put {where}: that is the faster end here.", ngl=None)
        if is_all
        else command.fix(evidence, f"Put {where}: that is the faster end here.", ngl=0)
    )
    return Finding(
        cause=f"With {middle.setting('n_gpu_layers')} layers on the device it writes "
        f"{units.rate(middle.mean_tps)}, less than with none ({units.rate(none.mean_tps)}) and "
        f"less than with all ({units.rate(full.mean_tps)}). The device is hardly faster than the "
        "processor, so splitting costs more than it brings.",
        cites=tuple(rates.cite(run, "n_gpu_layers") for run in (none, middle, full)),
        fix=fix,
        proof=f"The rate is near {units.rate(best.mean_tps)}, and the weights are on one side.",
        certainty=Certainty.PROVEN if is_proven else Certainty.LIKELY,
    )


RULE = Rule(
    id="partial-slower-than-ends",
    title="A part on the device is slower than either end",
    check=check,
    silent=silent,
    needs=needs,
    rests_on_rate=True,
)
