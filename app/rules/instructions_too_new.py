"""The program uses instructions that this processor does not have, and crashes at once.

What: a build for newer processors (AVX2, AVX-512, newer Arm) on an older one.
Evidence: "Illegal instruction" in the log, or the exit code that means it.
Arithmetic: none.
Fix: the build for older processors, or one made on this computer.
Proof: the program starts. Sources: users.md row 15; Windows status 0xC000001D, signal 4 elsewhere.
"""

from app.core.evidence import Evidence
from app.core.log import Fact
from app.core.rule import Cite, Finding, Fix, Rule
from app.rules import seen

_WORDS = ("illegal instruction", "0xc000001d", "invalid opcode")


def check(evidence: Evidence) -> Finding | None:
    """Find a crash at an instruction the processor lacks."""
    cite = _log_cite(evidence) or _exit_cite(evidence)
    if cite is None:
        return None
    return Finding(
        cause="The program crashed at an instruction that this processor does not have: the build "
        "is for newer ones.",
        cites=(cite, *seen.fact_cites(evidence, "cpu.model", "cpu.instruction_sets")),
        fix=Fix(
            "Take the build for older processors (noavx2, compatibility), or one that chooses by "
            "itself: llama.cpp's own archives hold a library for each kind of processor."
        ),
        proof="The program starts and says that it is ready.",
    )


def silent(_evidence: Evidence) -> str:
    """Say nothing: such a crash is plain where it happens."""
    return ""


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    if evidence.log is None and evidence.outcome is None:
        return "no log of a start, and no program was started"
    return ""


def _log_cite(evidence: Evidence) -> Cite | None:
    crashes = evidence.log.all(Fact.CRASHED) if evidence.log else ()
    line = next((e for e in crashes if any(w in e.text.lower() for w in _WORDS)), None)
    return seen.cite(line) if line is not None else None


def _exit_cite(evidence: Evidence) -> Cite | None:
    outcome = evidence.outcome
    if outcome is None or not any(w in outcome.exit_text.lower() for w in _WORDS):
        return None
    return Cite(outcome.exit_text, source=outcome.program)


RULE = Rule(
    id="instructions-too-new",
    title="The build is for newer processors",
    check=check,
    silent=silent,
    needs=needs,
)
