"""Exports a report: redacts, judges again, writes PDF, HTML, Markdown or JSON; Qt for PDF only."""

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path

from app.core import codec
from app.core.evidence import Evidence
from app.core.forecast import forecast
from app.core.model import Model
from app.core.reading import Estimate
from app.gguf.fingerprint import header_sha256
from app.report import document, html, markdown
from app.report.document import Document
from app.report.redact import Person, redact, this_person
from app.rules import judge, ranked, verify
from app.work import whole_file


class Format(Enum):
    """The files a report is exported as; the value is the ending of their names."""

    PDF = "pdf"
    HTML = "html"
    MARKDOWN = "md"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class Export:
    """A report and the evidence it was made from, as other people may see them."""

    evidence: Evidence
    document: Document


def prepare(
    evidence: Evidence,
    *,
    keeps_names: bool = False,
    r: Estimate | None = None,
    person: Person | None = None,
    now: datetime | None = None,
) -> Export:
    """Make a report; without keeps_names nothing personal is in it.

    r is known from elsewhere than the evidence's own runs, None = it is not.
    person is whose details are taken out, None = the person at this computer.
    """
    sha256 = _header_hash(evidence.model)
    removed = None
    if not keeps_names:
        redacted = redact(evidence, person or this_person())
        evidence, removed = redacted.evidence, redacted.removed
    diagnosis = judge.diagnose(evidence)
    predicted = forecast(evidence, r)
    made = document.build(
        evidence,
        diagnosis,
        predicted=predicted,
        ranked=ranked.ranking(evidence, predicted),
        proof=verify.proof_of(evidence, diagnosis),
        created=_date(now or datetime.now(UTC)),
        header_sha256=sha256,
        removed=removed,
    )
    return Export(evidence, made)


def write(export: Export, path: Path, form: Format) -> None:
    """Write the file; PDF needs a QGuiApplication. UserError when it cannot be written."""
    if form is Format.PDF:
        from app.work.pdf import write_pdf  # the other forms work without Qt

        write_pdf(export.document, export.evidence, path)
        return
    whole_file.write_report(path, content(export, form))


def content(export: Export, form: Format) -> bytes:
    """Return a file's bytes; for PDF there is app.work.pdf."""
    if form is Format.JSON:
        return codec.dumps(export.evidence)
    texts = {Format.HTML: html.to_html, Format.MARKDOWN: markdown.to_markdown}
    return texts[form](export.document).encode("utf-8", "replace")


def _header_hash(model: Model | None) -> str:
    if model is None or not model.parts:
        return ""
    return header_sha256(model.path, model.parts[0].data_offset) or ""


def _date(when: datetime) -> str:
    """Return a date that every country reads in the same order, in no language."""
    return f"{when.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
