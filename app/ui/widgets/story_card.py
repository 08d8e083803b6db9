"""The card above a log: in one sentence what the load did, then its figures with their lines."""

from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.ui import icons, theme
from app.ui.widgets.card import Card, dim_label

_WIDE = 900  # below it the figures go into two rows


class StoryTone(Enum):
    """How the load went; the values are style names."""

    GOOD = "goodText"
    WARNING = "warningText"
    ERROR = "errorText"
    QUIET = "dim"


_ICONS = {
    StoryTone.GOOD: "circle-check",
    StoryTone.WARNING: "triangle-alert",
    StoryTone.ERROR: "circle-x",
    StoryTone.QUIET: "info",
}


@dataclass(frozen=True, slots=True)
class StoryCell:
    """One figure of a load; line is where the log says it, from 1, None for nowhere."""

    caption: str
    value: str
    detail: str
    line: int | None = None
    is_missing: bool = False
    source: str = ""


@dataclass(frozen=True, slots=True)
class Story:
    """What the card shows."""

    headline: str
    tone: StoryTone
    title: str = ""
    cells: tuple[StoryCell, ...] = ()
    note: str = ""

    @property
    def sentence(self) -> str:
        """Return everything as one text, to be read aloud."""
        cells = [f"{cell.caption}: {cell.value}. {cell.detail}" for cell in self.cells]
        return " ".join(part for part in (f"{self.headline}.", *cells, self.note) if part)


class StoryCard(Card):
    """Shows one story; each figure links to its line."""

    line_wanted = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", parent)
        self._story = Story("", StoryTone.QUIET)
        self._icon = QLabel()
        self._headline = QLabel()
        self._headline.setObjectName("storyHeadline")
        self._headline.setStyleSheet("font-weight: 600;")
        self._headline.setWordWrap(True)
        self._title = QLabel()
        self._title.setObjectName("caption")
        self.head.addWidget(self._icon)
        self.head.addWidget(self._headline, 1)
        self.head.addWidget(self._title)
        self.body.addLayout(self.head)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(theme.L)
        self._grid.setVerticalSpacing(theme.S)
        self.body.addLayout(self._grid)
        self._note = dim_label()
        self._note.setObjectName("storyNote")
        self.body.addWidget(self._note)
        self._cells: list[_Cell] = []
        self._columns = 0
        self.setAccessibleName(self.tr("What the load did"))

    def show_story(self, story: Story) -> None:
        """Show another story."""
        self._story = story
        self._headline.setText(story.headline)
        self._title.setText(story.title)
        self._note.setText(story.note)
        self._note.setVisible(bool(story.note))
        while len(self._cells) < len(story.cells):
            cell = _Cell(len(self._cells), self)
            cell.line_wanted.connect(self.line_wanted)
            self._cells.append(cell)
            self._columns = 0
        for i, widget in enumerate(self._cells):
            widget.setVisible(i < len(story.cells))
            if i < len(story.cells):
                widget.show_cell(story.cells[i])
        self.setAccessibleDescription(story.sentence)
        self._lay_out()
        self._colour()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the figures into one row or two."""
        super().resizeEvent(event)
        self._lay_out()

    def changeEvent(self, event: QEvent) -> None:
        """Draw the icon in the theme's colour."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange and hasattr(self, "_story"):
            self._colour()

    def _colour(self) -> None:
        tokens = theme.tokens_for(self)
        colour = {
            StoryTone.GOOD: tokens.good,
            StoryTone.WARNING: tokens.warning,
            StoryTone.ERROR: tokens.error,
        }.get(self._story.tone, tokens.dim)
        name = _ICONS[self._story.tone]
        self._icon.setPixmap(icons.pixmap(name, colour, 18, self.devicePixelRatioF()))

    def _lay_out(self) -> None:
        columns = 6 if self.width() >= _WIDE else 3
        if columns == self._columns:
            return
        self._columns = columns
        for i, widget in enumerate(self._cells):
            self._grid.addWidget(widget, i // columns, i % columns, Qt.AlignmentFlag.AlignTop)
        for column in range(6):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)


class _Cell(QWidget):
    """One figure: its name and line, the value, the detail."""

    line_wanted = Signal(int)

    def __init__(self, number: int, parent: QWidget) -> None:
        super().__init__(parent)  # shown without one it would flash as a window
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(1)
        head = QHBoxLayout()
        head.setSpacing(theme.S)
        self._caption = QLabel()
        self._caption.setObjectName("caption")
        self._link = QPushButton()
        self._link.setObjectName("link")
        self._link.setStyleSheet("font-size: 11px; padding: 0;")
        self._link.setCursor(Qt.CursorShape.PointingHandCursor)
        self._link.clicked.connect(self._on_link)
        head.addWidget(self._caption)
        head.addWidget(self._link)
        head.addStretch(1)
        self._value = QLabel()
        self._value.setObjectName(f"storyValue{number}")
        self._value.setWordWrap(True)
        self._detail = QLabel()
        self._detail.setObjectName("caption")
        self._detail.setWordWrap(True)
        self._detail.setAlignment(Qt.AlignmentFlag.AlignTop)
        layout.addLayout(head)
        layout.addWidget(self._value)
        layout.addWidget(self._detail)
        layout.addStretch(1)
        self._line: int | None = None

    def show_cell(self, cell: StoryCell) -> None:
        """Show another figure."""
        self._line = cell.line
        self._caption.setText(cell.caption)
        self._value.setText(cell.value)
        self._value.setStyleSheet("" if cell.is_missing else "font-weight: 600;")
        self._value.setToolTip(cell.source)
        self._detail.setText(cell.detail)
        self._detail.setToolTip(cell.source)
        self._link.setVisible(cell.line is not None)
        self._link.setText(self.tr("line {0}").format(f"{cell.line or 0:,}"))
        self._link.setAccessibleName(
            self.tr("Show the line about: {0}").format(cell.caption.lower())
        )

    def _on_link(self) -> None:
        if self._line is not None:
            self.line_wanted.emit(self._line)
