"""A mixture of experts is placed by whole layers, where only its experts belong on the host.

What: of the experts each token reads only a few, of everything else all. So the experts should go
to system memory first, and all the rest stay on the device.
Evidence: two runs, one with fewer layers and one with the experts on the host, the second clearly
faster; or the header of such a model, layers left out by number, and no tensor moved by name.
Arithmetic: the rates' ratio. Used / total experts times their bytes is what the host reads.
Fix: no number of layers (the fit then moves experts first), or the experts of N layers by hand.
Proof: all layers on the device, only tensors named exps on the host, rate up.
Sources: advice.md claim 12; slowdown.md section 9; Ollama issue 11772; fit.cpp, build 11434.
"""

from app.core import units
from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence
from app.core.log import Fact
from app.core.rule import Certainty, Finding, Fix, Rule
from app.rules import command, rates, seen


def check(evidence: Evidence) -> Finding | None:
    """Find experts that share their place with whole layers."""
    pair = _pair(evidence)
    return _by_rates(evidence, *pair) if pair is not None else _by_header(evidence)


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    if evidence.model is not None and not _n_experts(evidence):
        return "the model has no experts"
    return "no layer of a mixture of experts was left out by number"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    if evidence.model is None and not evidence.runs:
        return "no model file, so whether it has experts is not known"
    return ""


def _pair(evidence: Evidence) -> tuple[BenchRun, BenchRun] | None:
    """Return the run with experts on the host and a slower one with fewer layers."""
    for fast, slow in rates.pairs(evidence, Test.GENERATION):
        more, fewer = rates.whole(fast, "n_gpu_layers"), rates.whole(slow, "n_gpu_layers")
        if more is None or fewer is None or fewer < 0:
            continue
        is_moved = _has_experts_on_host(fast) and not _has_experts_on_host(slow)
        if is_moved and (more < 0 or more > fewer):
            return fast, slow
    return None


def _has_experts_on_host(run: BenchRun) -> bool:
    return (rates.whole(run, "n_cpu_moe") or 0) > 0 or run.setting("cpu_moe") in ("1", "true", "on")


def _by_rates(evidence: Evidence, fast: BenchRun, slow: BenchRun) -> Finding:
    ratio = fast.mean_tps / slow.mean_tps
    names = ("n_gpu_layers", "n_cpu_moe", "cpu_moe")
    prompts = [run for run in rates.of(evidence, Test.PROMPT) if run.settings == fast.settings]
    is_proven = rates.is_by_interval(fast, slow)
    return Finding(
        cause="This mixture of experts was placed by whole layers. With only the experts in system "
        f"memory and everything else on the device it writes {ratio:.1f} times as fast here.",
        cites=tuple(rates.cite(run, *names) for run in (slow, fast, *prompts[:1])),
        fix=_fix(evidence),
        proof="All layers are on the device, only tensors with “exps” in their name on the host, "
        "and the rate is higher.",
        certainty=Certainty.PROVEN if is_proven else Certainty.LIKELY,
    )


def _by_header(evidence: Evidence) -> Finding | None:
    story = seen.load(evidence)
    n_experts = _n_experts(evidence)
    if story is None or not n_experts or story.offload_line is None:
        return None
    n, m = story.offload_line
    claim = story.event(Fact.OFFLOADED)
    is_moved = evidence.request is not None and evidence.request.has_override
    if n >= m or claim is None or is_moved or story.event(Fact.OVERRIDDEN) is not None:
        return None
    if seen.moved_by_fit(story) or not story.weights_on_device:
        return None
    if seen.shares_system_memory(evidence):
        return None
    return Finding(
        cause=f"This model is a mixture of {units.count(n_experts)} experts, and {m - n} of {m} "
        "whole layers are in system memory. Their attention, which each token needs, is there too.",
        cites=(seen.cite(claim),),
        fix=_fix(evidence),
        proof="All layers are on the device, only tensors with “exps” in their name on the host, "
        "and the rate is higher.",
        certainty=Certainty.LIKELY,
    )


def _n_experts(evidence: Evidence) -> int:
    return (evidence.model.whole("expert_count") or 0) if evidence.model is not None else 0


def _fix(evidence: Evidence) -> Fix:
    if seen.runtime(evidence) == "ollama":
        return Fix(
            "Remove num_gpu: Ollama's own fit then keeps all layers on the GPU and moves experts "
            "to the host first, as few as it must. To force it: its service passes this "
            "variable on to llama.cpp (not documented).",
            "LLAMA_ARG_CPU_MOE=1",
        )
    return command.fix(
        evidence,
        "Put all layers on the device and the experts in system memory. Then bring experts back, "
        "with -ncmoe and a smaller number, as long as they fit.",
        ngl=None,
        cpu_moe=True,
    )


RULE = Rule(
    id="moe-experts",
    title="Whole layers are on the host, not only experts",
    check=check,
    silent=silent,
    needs=needs,
)
