"""What is wrong with a model file, in the words of a finding: title, cause and first fix."""

from app.core import units
from app.core.evidence import Evidence
from app.core.log import LogEvent
from app.core.rule import Fix
from app.core.saved_page import POINTER, instead_of_model
from app.rules import seen

Words = tuple[str, str, Fix]


def of_line(evidence: Evidence, error: LogEvent) -> Words:
    """Return the words for the first error line about a file."""
    what = instead_of_model(error.text)
    if what:
        return _saved_page(what)
    return of_fault(evidence, _file_fault(evidence, error))


def of_fault(evidence: Evidence, why: str) -> Words:
    """Tell format, version, a missing file and damage apart; `why` is the log reader's word."""
    if why in ("not-gguf", "older", "endian"):
        return (
            "The file is no model this program can read",
            "The file is not a GGUF file of a version that this program reads.",
            Fix("Get the GGUF file of the same model."),
        )
    if why == "other-tensors":
        return (
            "The program does not know this file's contents",
            "The tensors in the file are not those that this program expects. The file was made "
            "for another version of it, or converted wrongly.",
            Fix(
                "Update the program that runs the model: the file itself may be fine. If the "
                "newest says the same, get the model from another maker, or convert it again."
            ),
        )
    if why == "newer":
        return (
            "The program does not know this file's contents",
            "The file was made for another version of the program.",
            Fix("Update the program that runs the model. The file itself may be fine."),
        )
    if why == "missing":
        return (
            "The model file is not there",
            "The program could not open the model file.",
            Fix("Check the path of the model file."),
        )
    if why == "split":
        return (
            "A part of the model is missing",
            "This model is cut into several files, and the program did not find them all.",
            Fix("Put all parts into one folder, and open the first one."),
        )
    return (
        "The model file is damaged",
        f"The model file is not whole.{_missing_bytes(evidence)}",
        Fix("Download the file again. Then compare its length and hash with its page."),
    )


def _file_fault(evidence: Evidence, error: LogEvent) -> str:
    """Return the log reader's word; a missing part of a set is first said as a missing file."""
    story = seen.load(evidence)
    said = [e.values.get("why") for e in story.errors] if story else []
    return "split" if "split" in said else str(error.values.get("why", "damaged"))


def _saved_page(what: str) -> Words:
    """Tell of a small text that was saved in place of the file: a web page, or a pointer to it."""
    how = "git lfs pull fetches it" if what == POINTER else "use its download link, not its page"
    return (
        "The file is no model this program can read",
        f"What was saved is {what}, and not the model file.",
        Fix(f"Download the file itself ({how}). Then compare its length with its page."),
    )


def _missing_bytes(evidence: Evidence) -> str:
    problems = evidence.model.problems if evidence.model else ()
    missing = next((p.missing_bytes for p in problems if p.missing_bytes), None)
    return f" {units.size(missing)} are missing at its end." if missing else ""
