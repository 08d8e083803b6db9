"""The text of a log of any size: only the lines in view are read, and none is kept."""

import bisect
from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QPoint, QPointF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QGuiApplication,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QToolTip, QWidget

from app.ui import theme
from app.ui.models import found_spans, log_text
from app.ui.models.found_spans import Spans
from app.ui.models.log_text import KeptLines, LineSource, ShownLine
from app.ui.widgets.log_marks import LineMarks
from app.ui.widgets.log_rows import Row, RowMetrics, RowPainter
from app.ui.widgets.mark_bar import MarkBar

MAX_COPY = 10_000  # lines; more would hold the window up
_NOTHING = KeptLines(0, ())


class LogView(QAbstractScrollArea):
    """Shows lines with numbers, marks and found text; rows are lines, or some of the lines."""

    current_changed = Signal(int)  # the line with the cursor, from 1
    copied = Signal(int, int)  # lines copied, lines selected

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._source: LineSource = _NOTHING
        self._rows: Sequence[int] | None = None  # lines from 1; None = all
        self._n_rows = 0
        self._current = self._anchor = 0
        self._marks = LineMarks()
        self._note_of: Callable[[int], str] = lambda _line: ""
        self._spans_of: Callable[[str], Spans] = found_spans.nothing
        self._searched: Sequence[int] = ()  # lines from 1 that hold the text
        self._found: Sequence[int] = ()  # those of them that are shown
        self._first, self._shown, self._spans = 0, list[ShownLine](), list[Spans]()
        self._width = 0.0
        self._dragging = QTimer(self)  # scrolls on while the mouse is held beyond the edge
        self._dragging.setObjectName("dragTimer")
        self._dragging.setInterval(30)
        self._dragging.timeout.connect(self._on_dragging)
        self._bar = MarkBar(self)
        self.setVerticalScrollBar(self._bar)
        self._metrics = RowMetrics()
        self.setObjectName("logView")
        self.setAccessibleName(self.tr("Log"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFrameShape(QAbstractScrollArea.Shape.NoFrame)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self.setMinimumHeight(120)

    def show_source(self, source: LineSource | None) -> None:
        """Show another log from its beginning, None for none."""
        self._source = source or _NOTHING
        self._rows = None
        self._marks, self._searched, self._found = LineMarks(), (), ()
        self._current = self._anchor = 0
        self._width = 0.0
        self._bar.setValue(0)
        self.horizontalScrollBar().setValue(0)
        self.refresh()

    def refresh(self, *, follow: bool = False) -> None:
        """Show what the source has by now; follow: stay at the end when it is in view."""
        at_end = self._bar.value() == self._bar.maximum()
        self._n_rows = self._source.n_lines if self._rows is None else len(self._rows)
        self._lay_out()
        if follow and at_end:
            self._bar.setValue(self._bar.maximum())
        self._tell_marks()
        self._load()

    def show_marks(self, marks: LineMarks, note_of: Callable[[int], str]) -> None:
        """Mark other lines; note_of says what a line means."""
        self._marks, self._note_of = marks, note_of
        self._tell_marks()
        self.viewport().update()

    def show_found(self, lines: Sequence[int], spans_of: Callable[[str], Spans]) -> None:
        """Highlight what was found: the lines that hold it, from 1, and the places in a line."""
        self._searched, self._spans_of = lines, spans_of
        self._spans = [spans_of(line.text) for line in self._shown]
        self._tell_marks()
        self.viewport().update()

    def show_rows(self, lines: Sequence[int] | None) -> None:
        """Show only these lines, in order and from 1; None for all. The cursor stays close."""
        line = self.current_line
        self._rows = lines
        self._width = 0.0
        self.refresh()
        if line:
            self.go_to_line(line)

    def update_rows(self, lines: Sequence[int]) -> None:
        """Show more of such lines, or others, without moving the cursor."""
        self._rows = lines
        self._current = min(self._current, max(0, len(lines) - 1))
        self._anchor = min(self._anchor, self._current)
        self.refresh(follow=True)

    def go_to_line(self, line: int) -> None:
        """Put the cursor on a line, from 1, or on the next one that is shown, and show it."""
        if self._n_rows:
            row = line - 1 if self._rows is None else bisect.bisect_left(self._rows, line)
            self._move(min(max(0, row), self._n_rows - 1), extend=False, centre=True)

    @property
    def current_line(self) -> int:
        """Return the line with the cursor, from 1; 0 when there is none."""
        return self._line(self._current) if self._n_rows else 0

    @property
    def found_lines(self) -> Sequence[int]:
        """Return the lines, from 1, that hold the text searched for and are shown."""
        return self._found

    @property
    def n_rows(self) -> int:
        """Return how many rows there are."""
        return self._n_rows

    def selected_rows(self) -> tuple[int, int]:
        """Return the first and the last selected row, from 0."""
        return min(self._anchor, self._current), max(self._anchor, self._current)

    def visible_texts(self) -> tuple[str, ...]:
        """Return the rows in view."""
        return tuple(line.text for line in self._shown)

    def selected_texts(self) -> list[str]:
        """Return the selected rows as plain text, the first 10,000 of them."""
        first, last = self.selected_rows()
        return self._read(first, min(last + 1, first + MAX_COPY)) if self._n_rows else []

    def copy(self) -> None:
        """Copy the selected rows as plain text."""
        if texts := self.selected_texts():
            first, last = self.selected_rows()
            QGuiApplication.clipboard().setText("\n".join(texts) + "\n")
            self.copied.emit(len(texts), last + 1 - first)

    def select_all(self) -> None:
        """Select all rows."""
        if self._n_rows:
            self._anchor = 0
            self._move(self._n_rows - 1, extend=True)

    def _line(self, row: int) -> int:
        return row + 1 if self._rows is None else self._rows[row]

    def _read(self, first: int, stop: int) -> list[str]:
        if self._rows is None:
            return self._source.lines(first, stop)
        return [
            text for line in self._rows[first:stop] for text in self._source.lines(line - 1, line)
        ]

    @property
    def _gutter(self) -> float:
        return self._metrics.gutter(self._source.n_lines)

    @property
    def _page(self) -> int:
        return max(1, self.viewport().height() // self._metrics.height)

    def _lay_out(self) -> None:
        self._bar.setPageStep(self._page)
        self._bar.setRange(0, max(0, self._n_rows - self._page))
        room = self.viewport().width() - self._gutter - theme.S
        across = self.horizontalScrollBar()
        across.setPageStep(max(1, round(room)))
        across.setSingleStep(round(8 * self._metrics.character))
        across.setRange(0, max(0, round(self._width - room)))

    def _load(self) -> None:
        """Read the rows in view; painting reads nothing."""
        self._first = self._bar.value()
        stop = min(self._n_rows, self._first + self._page + 2)
        self._shown = [log_text.shown(text) for text in self._read(self._first, stop)]
        self._spans = [self._spans_of(line.text) for line in self._shown]
        widths = (self._metrics.width(line.text) for line in self._shown)
        width = max(widths, default=0.0) + theme.L
        if width > self._width:
            self._width = width
            self._lay_out()
        self.viewport().update()

    def _tell_marks(self) -> None:
        self._found = self._searched
        if self._rows is not None and self._searched:
            shown = set(self._rows)
            self._found = [line for line in self._searched if line in shown]
        self._bar.show_marks(self._n_rows, self._rows, self._marks, self._found)

    def _move(self, row: int, *, extend: bool, centre: bool = False) -> None:
        """Put the cursor on a row and bring it into view."""
        self._current = row
        if not extend:
            self._anchor = row
        top = self._bar.value()
        if not top <= row < top + self._page:
            above = self._page // 3 if centre else 0
            self._bar.setValue(row - above if centre or row < top else row - self._page + 1)
        self._describe()
        self.viewport().update()
        self.current_changed.emit(self.current_line)

    def _describe(self) -> None:
        number = self._current - self._first
        text = self._shown[number].text if 0 <= number < len(self._shown) else ""
        line = self.current_line
        note = self._note_of(line) if line in self._marks.by_line else ""
        self.setAccessibleDescription(
            self.tr("Line {line} of {count}. {note} {text}").format(
                line=line, count=self._source.n_lines, note=note, text=text
            )
        )

    def sizeHint(self) -> QSize:
        """Ask for little: the layout gives what is left, and the page should not scroll."""
        return QSize(600, 160)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as many rows as fit; the end stays in view when it was."""
        super().resizeEvent(event)
        at_end = 0 < self._bar.maximum() == self._bar.value()
        self._lay_out()
        if at_end:
            self._bar.setValue(self._bar.maximum())
        self._load()

    def changeEvent(self, event: QEvent) -> None:
        """Take another font or theme."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.PaletteChange):
            self._metrics = RowMetrics()
            self.viewport().update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show that keys go here."""
        super().focusInEvent(event)
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Show that keys go elsewhere."""
        super().focusOutEvent(event)
        self.viewport().update()

    def scrollContentsBy(self, _dx: int, dy: int) -> None:
        """Read what has come into view."""
        if dy:
            self._load()
        self.viewport().update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move, select and copy by keys."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_all()
        elif event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            across = self.horizontalScrollBar()
            step = across.singleStep()
            across.setValue(across.value() + (step if event.key() == Qt.Key.Key_Right else -step))
        elif self._n_rows and (row := self._row_for(Qt.Key(event.key()))) is not None:
            extend = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self._move(min(max(0, row), self._n_rows - 1), extend=extend)
        else:
            super().keyPressEvent(event)

    def _row_for(self, key: Qt.Key) -> int | None:
        return {
            Qt.Key.Key_Up: self._current - 1,
            Qt.Key.Key_Down: self._current + 1,
            Qt.Key.Key_PageUp: self._current - self._page,
            Qt.Key.Key_PageDown: self._current + self._page,
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: self._n_rows - 1,
        }.get(key)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Put the cursor on a row; with Shift, select up to it."""
        if event.button() is Qt.MouseButton.LeftButton and self._n_rows:
            extend = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self._move(self._row_at(event.position()), extend=extend)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Select rows while the button is held."""
        if event.buttons() & Qt.MouseButton.LeftButton and self._n_rows:
            self._move(self._row_at(event.position()), extend=True)
            is_beyond = not 0 <= event.position().y() < self.viewport().height()
            if is_beyond != self._dragging.isActive():
                self._dragging.start() if is_beyond else self._dragging.stop()

    def mouseReleaseEvent(self, _event: QMouseEvent) -> None:
        """End the selection."""
        self._dragging.stop()

    def _on_dragging(self) -> None:
        is_above = self.viewport().mapFromGlobal(self.cursor().pos()).y() < 0
        row = self._current + (-3 if is_above else 3)
        self._move(min(max(0, row), self._n_rows - 1), extend=True)

    def _row_at(self, at: QPointF) -> int:
        row = self._first + int(at.y() // self._metrics.height)
        return min(max(0, row), self._n_rows - 1)

    def viewportEvent(self, event: QEvent) -> bool:
        """Say on hover what a marked line means."""
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            self._show_note(event.pos(), event.globalPos())
            return True
        return super().viewportEvent(event)

    def _show_note(self, at: QPoint, where: QPoint) -> None:
        row = self._first + at.y() // self._metrics.height
        line = self._line(row) if 0 <= row < self._n_rows else 0
        note = self._note_of(line) if line in self._marks.by_line else ""
        QToolTip.showText(where, note, self)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the rows in view."""
        tokens = theme.tokens_for(self)
        painter = QPainter(self.viewport())
        painter.fillRect(self.viewport().rect(), QColor(tokens.card))
        rows = RowPainter(
            painter,
            self._metrics,
            tokens,
            gutter=self._gutter,
            width=self.viewport().width(),
            offset=self.horizontalScrollBar().value(),
        )
        selected = self.selected_rows()
        for i, line in enumerate(self._shown[: self._n_rows - self._first]):
            row = self._first + i
            number = self._line(row)
            is_selected = selected[0] <= row <= selected[1]
            mark = self._marks.by_line.get(number)
            look = Row(number, line, mark, is_selected, row == self._current, self._spans[i])
            rows.draw(look, i * self._metrics.height)
        if self.hasFocus():
            painter.setPen(QPen(QColor(tokens.accent), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(self.viewport().rect().adjusted(1, 1, -1, -1))
        painter.end()
