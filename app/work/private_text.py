"""Takes personal details out of lines that are copied, by the report's own redaction."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.core.cancel import Cancel
from app.core.evidence import Evidence
from app.report.redact import Redactor, folders_of, this_person


@dataclass(frozen=True, slots=True)
class PrivateText:
    """The text for other eyes, and what was taken out, in words; "" for nothing."""

    text: str
    n_lines: int
    removed: str


def private_text(lines: Sequence[str], evidence: Evidence, cancel: Cancel) -> PrivateText:
    """Return the lines without names, folders, keys and addresses; meant to run in a Job."""
    redactor = Redactor(this_person(), folders_of(evidence))
    kept = []
    for line in lines:
        cancel.check()
        kept.append(redactor.text(line))
    removed = ", ".join(f"{n} × {kind}" for kind, n in redactor.removed)
    return PrivateText("\n".join(kept) + "\n", len(kept), removed)
