"""Writes a report as PDF: A4, vector charts, "page n of N", the evidence attached as JSON.

Conditions that were found by looking at pages are in shipping.md section 4. Runs in the GUI
thread under a QGuiApplication; no widget is needed.
"""

from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QMarginsF, QPointF, QRectF
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QFontMetricsF,
    QPageLayout,
    QPageSize,
    QPainter,
    QPalette,
    QPdfWriter,
    QTextDocument,
)

from app import product
from app.core import codec
from app.core.evidence import Evidence
from app.report.document import Document
from app.report.markdown import to_markdown
from app.work import whole_file
from app.work.pdf_charts import DIM
from app.work.pdf_pages import settle
from app.work.pdf_text import PaperText, body_font

EVIDENCE_NAME = "evidence.json"
TEXT_NAME = "report.md"
_RESOLUTION = 600
_MARGINS_MM = QMarginsF(18, 16, 18, 14)
_FOOTER_PT, _FOOTER_SIZE = 22.0, 7.5


def write_pdf(document: Document, evidence: Evidence, path: Path) -> int:
    """Write the report and return its number of pages; UserError when the file cannot be written.

    The evidence is attached as it is: give the one that was redacted for this report.
    """
    data, n_pages = pdf_bytes(document, evidence)
    whole_file.write_report(path, data)
    return n_pages


def pdf_bytes(document: Document, evidence: Evidence) -> tuple[bytes, int]:
    """Return the PDF and its number of pages."""
    store = QByteArray()
    buffer = QBuffer(store)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setResolution(_RESOLUTION)
    writer.setPageLayout(
        QPageLayout(
            QPageSize(QPageSize.PageSizeId.A4),
            QPageLayout.Orientation.Portrait,
            _MARGINS_MM,
            QPageLayout.Unit.Millimeter,
        )
    )
    writer.setTitle(f"{document.title}: {document.subtitle}")
    writer.setAuthor(product.NAME)
    writer.setCreator(document.made_by)
    writer.addFileAttachment(EVIDENCE_NAME, QByteArray(codec.dumps(evidence)), "application/json")
    text = to_markdown(document).encode("utf-8", "replace")
    writer.addFileAttachment(TEXT_NAME, QByteArray(text), "text/markdown")
    n_pages = _paint(document, writer)
    buffer.close()
    return bytes(store.data()), n_pages


def _paint(document: Document, writer: QPdfWriter) -> int:
    point = writer.resolution() / 72
    page = QRectF(0, 0, writer.width(), writer.height() - _FOOTER_PT * point)
    paper = PaperText(document, writer, page.width(), page.height())
    n_pages = settle(paper)
    painter = QPainter(writer)
    for number in range(n_pages):
        if number:
            writer.newPage()
        _paint_page(painter, paper.text, page, number)
        _paint_footer(painter, writer, document, f"page {number + 1} of {n_pages}")
    painter.end()
    return n_pages


def _paint_page(painter: QPainter, text: QTextDocument, page: QRectF, number: int) -> None:
    context = QAbstractTextDocumentLayout.PaintContext()
    context.clip = page.translated(0, number * page.height())
    palette = QPalette()
    palette.setColor(QPalette.ColorRole.Text, "black")  # a dark theme would print light grey
    context.palette = palette
    painter.save()
    painter.translate(0, -number * page.height())
    painter.setClipRect(context.clip)
    text.documentLayout().draw(painter, context)
    painter.restore()


def _paint_footer(painter: QPainter, writer: QPdfWriter, document: Document, words: str) -> None:
    font = body_font()
    font.setPointSizeF(_FOOTER_SIZE)
    painter.setFont(font)
    painter.setPen(DIM)
    metrics = QFontMetricsF(font, writer)
    y = writer.height() - metrics.descent()
    painter.drawText(QPointF(0, y), f"{document.title}  ·  {document.created}".rstrip(" ·"))
    painter.drawText(QPointF(writer.width() - metrics.horizontalAdvance(words), y), words)
