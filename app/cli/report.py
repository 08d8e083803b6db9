"""The subcommand report: a report of saved evidence, as a file or as the text of an issue."""

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from app.cli import ANSWERED, UNREADABLE, CommandError, running
from app.core import codec
from app.core.errors import UserError
from app.core.evidence import Evidence
from app.gguf.sniff import FileKind, sniff
from app.report.markdown import Project, issue_markdown
from app.work import export
from app.work.export import Format

_READABLE = (FileKind.EVIDENCE, FileKind.JSON)  # the codec says what is wrong with other JSON
_IN_PDF = "The evidence is attached to this PDF: save the attachment with a PDF viewer"


def add_options(parser: ArgumentParser) -> None:
    """Add the options of this subcommand."""
    parser.add_argument("evidence", type=Path, metavar="EVIDENCE",
                        help="an evidence file: exported in the window, written by diagnose "
                        "--evidence, or attached to a report's PDF")  # fmt: skip
    form = parser.add_mutually_exclusive_group(required=True)
    form.add_argument("--pdf", type=Path, metavar="FILE")
    form.add_argument("--html", type=Path, metavar="FILE")
    form.add_argument("--markdown", type=Path, metavar="FILE")
    form.add_argument("--issue", type=Project, choices=list(Project),
                      metavar="|".join(project.value for project in Project),
                      help="print the fields of that project's issue form")  # fmt: skip


def main(options: Namespace) -> int:
    """Write the report and return the exit status; names and folders are taken out."""
    report = export.prepare(_read(options.evidence))
    if options.issue is not None:
        sys.stdout.write(issue_markdown(report.document, options.issue))
    elif options.html is not None:
        export.write(report, options.html, Format.HTML)
    elif options.markdown is not None:
        export.write(report, options.markdown, Format.MARKDOWN)
    else:
        with running.application(draws=True):
            export.write(report, options.pdf, Format.PDF)
    return ANSWERED


def _read(path: Path) -> Evidence:
    try:
        kind = sniff(path)
        if kind not in _READABLE:
            detail = _IN_PDF if kind is FileKind.PDF else ""
            raise UserError(f"{path.name} is not an evidence file", detail)
        with path.open("rb") as file:
            return codec.loads(file.read(codec.MAX_BYTES + 1))
    except UserError as error:
        raise CommandError.of(UNREADABLE, error) from error
    except OSError as error:
        raise CommandError(UNREADABLE, f"{path}: {error.strerror}.") from error
