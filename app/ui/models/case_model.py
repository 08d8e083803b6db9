"""What a case rests on, part by part, and whether its log is of another model."""

import re
from dataclasses import dataclass

from app.core import units
from app.core.evidence import Evidence
from app.core.parts import Part


@dataclass(frozen=True, slots=True)
class CasePart:
    """One thing that the diagnosis is made from."""

    part: Part
    text: str
    name: str  # the whole name, where the text has a part of it
    removal: str  # what taking it out does


def case_parts(evidence: Evidence) -> tuple[CasePart, ...]:
    """Return what was added to the case; the computer itself is always part of it."""
    parts = list[CasePart]()
    if evidence.model is not None:
        name = evidence.model.name
        removal = "Take the model out of the case, and with it what was measured"
        parts.append(CasePart(Part.MODEL, f"the model {_short(name)}", name, removal))
    if (log := evidence.log) is not None:
        n_lines = units.lines(log.n_lines)
        text = f"the log {_short(log.name)}, {n_lines}" if log.name else f"a log of {n_lines}"
        parts.append(CasePart(Part.LOG, text, log.name, "Take the log out of the case"))
    if n_runs := len(evidence.runs):
        text = f"{units.count(n_runs)} measured rates" if n_runs > 1 else "1 measured rate"
        parts.append(CasePart(Part.RUNS, text, "", "Take what was measured out of the case"))
    return tuple(parts)


def other_model(evidence: Evidence) -> str:
    """Return what to say when the log names another model file, "" when nothing tells so."""
    load = evidence.log.load if evidence.log is not None else None
    if evidence.model is None or load is None or load.path is None:
        return ""
    name = re.split(r"[\\/]", load.path)[-1]
    is_file = name.lower().endswith(".gguf") and "mmproj" not in name.lower()
    if not is_file or name.lower() == evidence.model.name.lower():
        return ""
    return (
        f"The log names another model, {name}. If it is not the same under another name, take "
        "one of the two out: both are judged together."
    )


def _short(name: str) -> str:
    """Return a name of at most 40 characters, its beginning and its end."""
    return name if len(name) <= 40 else f"{name[:22]}…{name[-17:]}"
