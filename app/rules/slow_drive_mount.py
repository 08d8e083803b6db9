"""The model lies on a Windows drive that WSL reaches over its network file system.

What: below /mnt/c each read goes through Windows; loading is many times slower, and a mapped file
that is dropped from memory is read again that way.
Evidence: WSL, and a model path below /mnt and a drive's letter.
Arithmetic: file bytes over load time, where both are known, below 300 MB/s.
Fix: copy the file into WSL's own file system. Proof: the load time.
Sources: users.md row 11; hardware.md section 7; llama.cpp issue 1205, text-generation-webui issue
2607 (7 s and 113 s for one file), Ollama issue 6006.
"""

from app.core import names, units
from app.core.evidence import Evidence
from app.core.rule import Certainty, Cite, Finding, Fix, Rule
from app.rules import command

_SLOW = 300e6  # bytes per s; an SSD inside WSL reads several times that


def check(evidence: Evidence) -> Finding | None:
    """Find a model on a Windows drive in WSL."""
    path = command.model_path(evidence)
    machine = evidence.machine
    if machine is None or not machine.flag("os.is_wsl") or not names.is_on_windows_drive(path):
        return None
    speed = _speed(evidence)
    if speed is not None and speed >= _SLOW:
        return None
    said = f" It was read at {units.bandwidth(speed)}." if speed is not None else ""
    return Finding(
        cause=f"The model lies on a Windows drive, which WSL reads slowly.{said} That concerns the "
        "load, and files that do not stay in memory.",
        cites=(Cite(path, source="model path"),),
        fix=Fix(
            "Copy the file into WSL's own file system, and load it from there.", f"cp {path} ~/"
        ),
        proof="The load takes a fraction of the time.",
        certainty=Certainty.LIKELY,
    )


def silent(evidence: Evidence) -> str:
    """Name the observation that rules it out."""
    if evidence.machine is None or not evidence.machine.flag("os.is_wsl"):
        return ""
    speed = _speed(evidence)
    if speed is not None and speed >= _SLOW:
        return f"the file was read at {units.bandwidth(speed)}"
    return "the model does not lie on a Windows drive seen from WSL"


def needs(evidence: Evidence) -> str:
    """Say what is missing to check it."""
    return "" if evidence.machine is not None else "the operating system is not known"


def _speed(evidence: Evidence) -> float | None:
    outcome, model = evidence.outcome, evidence.model
    if outcome is None or not outcome.load_s or model is None:
        return None
    return model.file_bytes / outcome.load_s


RULE = Rule(
    id="slow-drive-mount",
    title="The model lies on a slow mount",
    check=check,
    silent=silent,
    needs=needs,
)
