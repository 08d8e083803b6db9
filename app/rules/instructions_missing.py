"""The binary was compiled without instructions that this processor has.

What: a build for all processors leaves AVX2 (x86) or dot products (Arm) out. What the processor
computes, layers or experts, is then several times slower.
Evidence: the program's own line system_info, and what the processor has. AVX-512 over AVX2 is no
such fault: the kernels gain little from it.
Arithmetic: none; the size is a measurement.
Fix: the normal build of the runtime. Proof: AVX2 = 1 in the line, a higher rate.
Sources: advice.md claims 38 and 39; llama-cpp-python fork issue 123; users.md row 15.
"""

from app.core.evidence import Evidence
from app.core.log import BufferKind, Fact, LogEvent, Role
from app.core.rule import Certainty, Finding, Fix, Rule
from app.rules import command, seen

# (said by builds for that family, what it should have, the processor's name for it)
_WANTED = (("SSSE3 = 1", "AVX2 = 1", "avx2"), ("NEON = 1", "DOTPROD = 1", "asimddp"))


def check(evidence: Evidence) -> Finding | None:
    """Find a build without instructions the processor has, where the processor computes."""
    info = _info(evidence)
    lacking = _lacking(info) if info is not None else None
    if info is None or lacking is None or _is_all_on_device(evidence):
        return None
    wanted, name = lacking
    has = evidence.machine.words("cpu.instruction_sets") if evidence.machine else None
    if has is not None and name not in has:
        return None
    short = wanted.removesuffix(" = 1")
    condition = "" if has is not None else f" if this processor has {short}"
    return Finding(
        cause=f"The part that the processor computes runs without {short}: this build of the "
        f"program was compiled without it{', for all processors' if has is None else ''}.",
        cites=(seen.cite(info), *seen.fact_cites(evidence, "cpu.model", "cpu.instruction_sets")),
        fix=Fix(
            f"Take a build with {short}{condition}, and measure again: the runtime's normal build, "
            "not one for compatibility (noavx, failsafe).",
            command.bench_ends(evidence) if has is not None else "",
        ),
        proof=f"The line system_info says {wanted}, and the rate is higher.",
        certainty=Certainty.PROVEN if has is not None else Certainty.LIKELY,
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    info = _info(evidence)
    if info is not None and _lacking(info) is not None:
        if _is_all_on_device(evidence):
            return "nothing is computed on the processor"
        return "the processor lacks these instructions too, so the build is right"
    return "the build has the instructions that matter"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return "" if _info(evidence) is not None else "no log with the line system_info"


def _info(evidence: Evidence) -> LogEvent | None:
    info = evidence.log.last(Fact.SYSTEM_INFO) if evidence.log else None
    return info if info is not None and info.values.get("features") else None


def _lacking(info: LogEvent) -> tuple[str, str] | None:
    """Return what is missing, as the line would say it and as the processor names it."""
    said = info.word("features")
    for family, wanted, name in _WANTED:
        if family in said and wanted not in said:
            return wanted, name
    return None


def _is_all_on_device(evidence: Evidence) -> bool:
    story, request = seen.load(evidence), evidence.request
    if request is not None and request.has_override:
        return False
    if story is None or story.offload_line is None or not story.weights_on_device:
        return False
    n, m = story.offload_line
    return n >= m and not story.bytes_of(BufferKind.HOST, Role.KV)


RULE = Rule(
    id="instructions-missing",
    title="The build lacks instructions of the processor",
    check=check,
    silent=silent,
    needs=needs,
)
