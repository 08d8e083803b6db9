"""The KV cache has types that the GPU's attention has no code for, so the CPU computes it.

What: CUDA and ROCm builds before September 2026 take attention to the processor for unequal K and
V types and for q5_0, q5_1, q4_1 and iq4_nl, without a line. Later ones convert and warn.
Evidence: those types with such a backend, and a prompt rate that other types exceed by far; or
the warning of later builds.
Arithmetic: prompt rate with equal q8_0 or f16 over the rate with these types, at least 1.5.
Fix: K and V both q8_0. Proof: the types in the cache's line, and the prompt's rate.
Sources: advice.md claims 26 and 27; llama.cpp issues 28455 and 27150, pull request 28456;
fattn.cu of build 11434; users.md row 16.
"""

from app.core.bench import BenchRun, Test
from app.core.evidence import Evidence
from app.core.log import Fact
from app.core.rule import Certainty, Cite, Finding, Fix, Rule
from app.rules import command, rates, seen

_FIRST_WARNING = 11434  # the first build seen that converts and warns; the change is a bit older
_WITHOUT = frozenset({"q5_0", "q5_1", "q4_1", "iq4_nl"})
_FACTOR = 1.5


def check(evidence: Evidence) -> Finding | None:
    """Find cache types without code for the GPU."""
    warning = evidence.log.last(Fact.KV_CONVERTED) if evidence.log else None
    if warning is not None:
        return _finding(evidence, (seen.cite(warning),), Certainty.PROVEN, "is converted each time")
    types = _types(evidence)
    if types is None or not _lacks_kernel(*types) or not seen.is_cuda(evidence):
        return None
    number = seen.build(evidence)
    if number is not None and number >= _FIRST_WARNING:
        return None
    pair = _pair(evidence)
    said = Cite(f"cache types: K {types[0]}, V {types[1]}", source="command or log")
    what = "is computed by the processor, without a word in the log"
    if pair is None:
        return _finding(evidence, (said,), Certainty.NOT_PROVEN, what)
    cites = (said, *(rates.cite(run, "type_k", "type_v") for run in pair))
    return _finding(evidence, cites, Certainty.LIKELY, what)


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    types = _types(evidence)
    if types is None or not _lacks_kernel(*types):
        return "the types of the KV cache have code on every GPU"
    if not seen.is_cuda(evidence):
        return "this backend computes with these types"
    return "this build converts such types and would say so"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return "" if _types(evidence) is not None else "the types of the KV cache are not known"


def _finding(
    evidence: Evidence, cites: tuple[Cite, ...], certainty: Certainty, what: str
) -> Finding:
    return Finding(
        cause=f"The GPU has no code for attention over these types of the KV cache: it {what}. "
        "Prompts are then many times slower, with all layers on the GPU.",
        cites=cites,
        fix=_fix(evidence),
        proof="The cache's line says q8_0 for K and V, and the prompt's rate (512 tokens) is far "
        "higher.",
        certainty=certainty,
    )


def _fix(evidence: Evidence) -> Fix:
    return command.fix(
        evidence,
        "Set both cache types, K and V, to q8_0, and measure the prompt's rate again. It takes "
        "about half of the memory of f16.",
        cache_type_k="q8_0",
        cache_type_v="q8_0",
    )


def _types(evidence: Evidence) -> tuple[str, str] | None:
    story, request = seen.load(evidence), evidence.request
    if story is not None and story.cache_type_k and story.cache_type_v:
        return story.cache_type_k, story.cache_type_v
    return (request.cache_type_k, request.cache_type_v) if request is not None else None


def _lacks_kernel(key: str, value: str) -> bool:
    return key != value or key in _WITHOUT


def _pair(evidence: Evidence) -> tuple[BenchRun, BenchRun] | None:
    """Return the prompt rates with these types and, faster, with others; same build."""
    for fast, slow in rates.pairs(evidence, Test.PROMPT):
        if not {"type_k", "type_v"} >= rates.differences(fast, slow) or fast.build != slow.build:
            continue
        if rates.is_faster(fast, slow, _FACTOR) and _lacks_kernel(*_run_types(slow)):
            return fast, slow
    return None


def _run_types(run: BenchRun) -> tuple[str, str]:
    return run.setting("type_k") or "f16", run.setting("type_v") or "f16"


RULE = Rule(
    id="kv-type-without-kernel",
    title="The KV cache's types have no code on the GPU",
    check=check,
    silent=silent,
    needs=needs,
    rests_on_rate=True,
)
