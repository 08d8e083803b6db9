"""Two programs give two rates because their settings differ, not because one of them is slow.

What: llama-bench places all layers and needs a small context; a server fits, with a large one and
several slots.
Evidence: two rates of the same model and test from two programs, clearly apart, and settings that
matter which differ.
Arithmetic: the rates' ratio.
Fix: measure with the server's settings. Proof: the intervals meet.
Sources: advice.md claim 93 and part 3 row "Bench and server differ"; users.md row 18.
"""

from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence
from app.core.rule import Certainty, Finding, Fix, Rule
from app.rules import command, rates

_THAT_MATTER = frozenset(
    {"n_gpu_layers", "type_k", "type_v", "flash_attn", "n_ubatch", "n_batch", "n_threads"}
)
_FLAGS = {"n_gpu_layers": "-ngl", "type_k": "-ctk", "type_v": "-ctv", "n_ubatch": "-ub",
          "n_batch": "-b", "n_threads": "-t"}  # fmt: skip


def check(evidence: Evidence) -> Finding | None:
    """Find two programs whose settings explain their rates."""
    pair = _pair(evidence)
    if pair is None:
        return None
    fast, slow = pair
    names = sorted(rates.differences(fast, slow) & _THAT_MATTER)
    said = ", ".join(f"{name} {fast.setting(name)} against {slow.setting(name)}" for name in names)
    return Finding(
        cause=f"{fast.instrument} and {slow.instrument} did not measure the same load: {said}.",
        cites=tuple(rates.cite(run, *names) for run in pair),
        fix=Fix(
            "Measure again with the settings of the program that you use: its layers, flash "
            "attention, cache types and micro-batch. Only then compare.",
            _bench(evidence, slow, names),
        ),
        proof="With the same settings the intervals of both programs meet.",
        certainty=Certainty.LIKELY,
    )


def silent(_evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    return "no two programs measured the same model with settings that differ"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    programs = {run.instrument for run in evidence.runs}
    return "" if len(programs) >= 2 else "the rates of two programs are not known"


def _pair(evidence: Evidence) -> tuple[BenchRun, BenchRun] | None:
    for test in Test:
        for fast, slow in rates.pairs(evidence, test):
            known = dict(fast.settings).keys() & dict(slow.settings).keys()
            changed = rates.differences(fast, slow) & _THAT_MATTER & known
            if fast.instrument != slow.instrument and changed and fast.depth == slow.depth:
                return fast, slow
    return None


def _bench(evidence: Evidence, run: BenchRun, names: list[str]) -> str:
    words = [f"{_FLAGS[name]} {run.setting(name)}" for name in names if name in _FLAGS]
    return " ".join(["llama-bench", "-m", command.model_path(evidence), *words, "-r 5"])


RULE = Rule(
    id="settings-differ",
    title="Two programs, two settings",
    check=check,
    silent=silent,
    needs=needs,
    rests_on_rate=True,
)
