"""The same model with the same settings is slower with a newer build of the program.

What: builds change kernels and defaults, sometimes for the worse on one device.
Evidence: two rates with all settings equal, two builds, the newer one slower: by intervals apart,
or by a factor of 1.3 where only one rate of each is known. The older may come from the notebook, if
the machine was quiet then. A setting that only one of the builds prints is no difference, unless
rates depend on it.
Arithmetic: the rates' ratio.
Fix: compare the placement of both first; if it is equal, the former build, and a report.
Proof: the build number, and the rate.
Sources: advice.md part 3 row "Slower after an update"; users.md row 6.
"""

from dataclasses import replace
from itertools import product

from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence
from app.core.rule import Certainty, Finding, Fix, Rule
from app.rules import rates

_CLEAR = 1.05  # the intervals lie apart as well
_CLEAR_ALONE = 1.3  # without an interval: far above what single runs differ by
# a run that does not name one of these had another value, or it cannot be told
_DECIDING = frozenset(
    {
        "n_gpu_layers", "devices", "n_threads", "type_k", "type_v", "flash_attn", "n_ubatch",
        "no_kv_offload", "n_cpu_moe", "tensor_buft_overrides", "tensor_split", "n_ctx",
    }
)  # fmt: skip


def check(evidence: Evidence) -> Finding | None:
    """Find a newer build that is slower, by interval."""
    for test in Test:
        now = rates.of(evidence, test)
        before = (run for run in evidence.history if run.test is test and not run.busy)
        for old, new in product((*before, *now), now):
            is_slower = old.mean_tps > _CLEAR * new.mean_tps and rates.is_by_interval(old, new)
            if (is_slower or rates.is_faster(old, new, _CLEAR_ALONE)) and _is_update(old, new):
                return _finding(old, new)
    return None


def silent(_evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    return "no newer build is slower with the same settings"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    builds = {run.build for run in (*evidence.history, *evidence.runs) if run.build}
    return "" if len(builds) >= 2 else "the rates of two builds are not known"


def _is_update(old: BenchRun, new: BenchRun) -> bool:
    is_same = (
        _are_set_alike(old, new)
        and (old.model_name, old.model_bytes) == (new.model_name, new.model_bytes)
        and (old.depth, old.n_tokens) == (new.depth, new.n_tokens)
        and (old.instrument, old.backends) == (new.instrument, new.backends)
    )
    are_builds = old.build.isdigit() and new.build.isdigit()
    return is_same and are_builds and int(old.build) < int(new.build)


def _are_set_alike(old: BenchRun, new: BenchRun) -> bool:
    """Tell whether no setting differs; newer builds print some that older ones do not have."""
    first, last = dict(old.settings), dict(new.settings)
    names = _DECIDING | (first.keys() & last.keys())
    return all(first.get(name) == last.get(name) for name in names)


def _finding(old: BenchRun, new: BenchRun) -> Finding:
    return Finding(
        cause=f"Build {new.build} is {old.mean_tps / new.mean_tps:.2f} times slower than build "
        f"{old.build} here, with the same model and settings.",
        cites=tuple(
            replace(cite, text=f"{cite.text} (build {run.build})")
            for run in (old, new)
            for cite in [rates.cite(run)]
        ),
        fix=Fix(
            "Compare where both put the weights and the KV cache (their logs with -lv 4). If that "
            f"is equal, go back to build {old.build} and report both rates to llama.cpp."
        ),
        proof=f"Build {old.build} gives its former rate again.",
        certainty=Certainty.LIKELY,
    )


RULE = Rule(
    id="slower-after-update",
    title="Slower after an update",
    check=check,
    silent=silent,
    needs=needs,
    rests_on_rate=True,
)
