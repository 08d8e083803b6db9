"""A slider with named marks below it: each mark is a button that goes to its position."""

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QSlider, QVBoxLayout, QWidget

from app.ui import theme

_HANDLE = 20  # the style sheet's: 14 and a border of 3 on each side
_ROW, _TICK = 18, 6


@dataclass(frozen=True, slots=True)
class Mark:
    """A position worth to know: the word below it, its name read aloud, and why."""

    value: int
    word: str
    name: str
    tip: str


class PositionSlider(QWidget):
    """Emits `moved` when the position changes, by the user or by set_value."""

    moved = Signal(int)
    mark_taken = Signal(int)  # the index of a mark that was clicked

    def __init__(self, name: str, spoken: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setObjectName(name)
        self.slider.setAccessibleName(spoken)
        self.slider.setPageStep(4)
        self.slider.valueChanged.connect(self.moved)
        self._strip = _Strip(self.slider)
        self._strip.taken.connect(self.mark_taken)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.slider)
        layout.addWidget(self._strip)

    @property
    def value(self) -> int:
        """Return the position."""
        return self.slider.value()

    def set_value(self, value: int) -> None:
        """Go to a position and tell so."""
        self.slider.setValue(value)

    def reset(self, maximum: int, value: int) -> None:
        """Take another range without telling; the former marks are gone."""
        self.slider.blockSignals(True)
        self.slider.setRange(0, maximum)
        self.slider.setValue(value)
        self.slider.blockSignals(False)
        self.show_marks(())

    def show_marks(self, marks: tuple[Mark, ...]) -> None:
        """Show other marks."""
        self._strip.show_marks(marks)


class _Strip(QWidget):
    """Draws a tick for each mark, and places its button under it."""

    taken = Signal(int)

    def __init__(self, slider: QSlider) -> None:
        super().__init__()
        self._slider = slider
        self._marks: tuple[Mark, ...] = ()
        self._buttons: list[QPushButton] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.hide()

    def show_marks(self, marks: tuple[Mark, ...]) -> None:
        """Place a button per mark; one row each, so that neighbours never touch."""
        self._marks = marks
        while len(self._buttons) < len(marks):
            index = len(self._buttons)
            button = QPushButton(self)
            button.setObjectName("link")
            button.setStyleSheet("font-size: 11px; padding: 0;")
            button.setCursor(Qt.CursorShape.PointingHandCursor)
            button.clicked.connect(lambda _checked=False, i=index: self._on_clicked(i))
            self._buttons.append(button)
        for i, button in enumerate(self._buttons):
            button.setVisible(i < len(marks))
            if i < len(marks):
                button.setText(marks[i].word)
                button.setAccessibleName(marks[i].name)
                button.setAccessibleDescription(marks[i].tip)
                button.setToolTip(marks[i].tip)
        self.setFixedHeight(_TICK + _ROW * len(marks))
        self.setVisible(bool(marks))
        self._place()

    def sizeHint(self) -> QSize:
        """Return room for every row."""
        return QSize(200, _TICK + _ROW * len(self._marks))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Move the buttons along."""
        super().resizeEvent(event)
        self._place()

    def changeEvent(self, event: QEvent) -> None:
        """Place again what has another font."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.StyleChange:
            self._place()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw a line from the slider to each word."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(theme.tokens_for(self).accent), 2))
        for row, mark in enumerate(self._marks):
            x = self._x(mark.value)
            painter.drawLine(QPointF(x, 0), QPointF(x, _TICK + row * _ROW))
        painter.end()

    def _on_clicked(self, index: int) -> None:
        self._slider.setValue(self._marks[index].value)
        self.taken.emit(index)

    def _place(self) -> None:
        for row, (mark, button) in enumerate(zip(self._marks, self._buttons, strict=False)):
            width = button.sizeHint().width()
            left = self._x(mark.value) - width / 2
            left = min(max(left, 0), max(self.width() - width, 0))
            button.setGeometry(int(left), _TICK + row * _ROW, width, _ROW)
        self.update()

    def _x(self, value: int) -> float:
        """Return the middle of the slider's handle at a value."""
        most = max(self._slider.maximum(), 1)
        return _HANDLE / 2 + (self.width() - _HANDLE) * value / most
