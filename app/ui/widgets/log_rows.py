"""Draws the rows of a log: number and mark on the left, the text, found words, the selection."""

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from app.ui import theme
from app.ui.models.found_spans import Spans
from app.ui.models.log_text import ShownLine, Tone
from app.ui.widgets import log_marks
from app.ui.widgets.log_marks import Mark

MARK, FONT_PIXELS, ROW_GAP = 9, 12, 6
_SELECTED, _MARKED, _FOUND = 70, 26, 80  # opacity, of 255


@dataclass(frozen=True, slots=True)
class Row:
    """One row in view; number is the line, from 1."""

    number: int
    line: ShownLine
    mark: Mark | None
    is_selected: bool
    is_current: bool
    spans: Spans = ()  # of what was searched for


class RowMetrics:
    """The sizes that follow from the font, in pixels."""

    def __init__(self) -> None:
        self.font = QFont(theme.fixed_font())
        self.font.setPixelSize(FONT_PIXELS)
        self._metrics = QFontMetricsF(self.font)
        self.height = round(self._metrics.height()) + ROW_GAP
        self.baseline = ROW_GAP / 2 + self._metrics.ascent()
        self.character = self._metrics.horizontalAdvance("0")

    def gutter(self, n_lines: int) -> float:
        """Return the width of marks and numbers."""
        digits = max(3, len(str(n_lines)))
        return theme.S + MARK + theme.S + digits * self.character + theme.M

    def width(self, text: str) -> float:
        """Return how wide a text is."""
        if text.isascii():  # of a fixed font; measuring 4,000 characters takes its time
            return len(text) * self.character
        return self._metrics.horizontalAdvance(text)


class RowPainter:
    """Draws rows with one painter; offset is how far the text is moved to the left."""

    def __init__(
        self,
        painter: QPainter,
        metrics: RowMetrics,
        tokens: theme.Tokens,
        *,
        gutter: float,
        width: float,
        offset: float,
    ) -> None:
        self._painter = painter
        self._metrics = metrics
        self._tokens = tokens
        self._gutter = gutter
        self._width = width
        self._offset = offset
        painter.setFont(metrics.font)

    def draw(self, row: Row, top: float) -> None:
        """Draw a row."""
        painter, tokens = self._painter, self._tokens
        box = QRectF(0, top, self._width, self._metrics.height)
        if row.mark not in (None, Mark.NOTE, Mark.HARMLESS):
            ink = log_marks.colour(row.mark, tokens)
            painter.fillRect(box, _faint(ink, _MARKED))
        if row.is_selected:
            painter.fillRect(box, _faint(QColor(tokens.accent), _SELECTED))
        painter.save()
        painter.setClipRect(box.adjusted(self._gutter, 0, 0, 0))
        self._draw_found(row, top)
        self._draw_text(row, top)
        painter.restore()
        if row.is_current:
            painter.fillRect(QRectF(0, top, 3, box.height()), QColor(tokens.accent))
        if row.mark is not None:
            place = QRectF(theme.S, top + (box.height() - MARK) / 2, MARK, MARK)
            log_marks.draw(painter, row.mark, place, log_marks.colour(row.mark, tokens))
        painter.setPen(QColor(tokens.text if row.is_current else tokens.dim))
        numbers = box.adjusted(0, 0, self._gutter - theme.M - self._width, 0)
        align = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(numbers, align, str(row.number))

    def _draw_text(self, row: Row, top: float) -> None:
        line, text, tokens = row.line, row.line.text, self._tokens
        left = self._gutter - self._offset
        first, stop = self._columns(text)
        baseline = top + self._metrics.baseline
        ink = {Tone.ERROR: tokens.error, Tone.WARNING: tokens.warning, Tone.QUIET: tokens.dim}
        if row.is_selected or row.spans:
            ink = {}  # red or brown cannot be read on a selection and on what was found
        for start, end, colour in (
            (first, min(line.n_prefix, stop), tokens.dim),
            (max(first, line.n_prefix), stop, ink.get(line.tone, tokens.text)),
        ):
            if start < end:
                self._painter.setPen(QColor(colour))
                x = left + self._metrics.width(text[:start])
                self._painter.drawText(QPointF(x, baseline), text[start:end])

    def _columns(self, text: str) -> tuple[int, int]:
        """Return which characters are in view; all of them unless the text is plain."""
        if not text.isascii():
            return 0, len(text)
        first = int(self._offset / self._metrics.character)
        room = int((self._width - self._gutter) / self._metrics.character) + 2
        return min(first, len(text)), min(first + room, len(text))

    def _draw_found(self, row: Row, top: float) -> None:
        ink = _faint(QColor(self._tokens.warning), _FOUND)
        text, left = row.line.text, self._gutter - self._offset
        for start, stop in row.spans:
            x = left + self._metrics.width(text[:start])
            width = self._metrics.width(text[start:stop])
            self._painter.fillRect(QRectF(x, top + 2, width, self._metrics.height - 4), ink)


def _faint(colour: QColor, opacity: int) -> QColor:
    result = QColor(colour)
    result.setAlpha(opacity)
    return result
