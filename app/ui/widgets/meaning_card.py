"""What the chosen line of a log says and means, in plain words."""

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QRectF, Qt
from PySide6.QtGui import QPainter, QPixmap
from PySide6.QtWidgets import QLabel, QWidget

from app.ui import theme
from app.ui.widgets import log_marks
from app.ui.widgets.card import Card
from app.ui.widgets.log_marks import Mark

_SHAPE = 12


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a line means: its number and kind, in a few words, and in sentences."""

    mark: Mark
    place: str  # "Line 147"
    title: str
    text: str


class MeaningCard(Card):
    """Shows one meaning."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", parent)
        self._mark: Mark | None = None
        self._shape = QLabel()
        self._place = QLabel()
        self._place.setObjectName("caption")
        self._title = QLabel()
        self._title.setObjectName("meaningTitle")
        self._title.setStyleSheet("font-weight: 600;")
        self._title.setWordWrap(True)
        self._text = QLabel()
        self._text.setObjectName("meaningText")
        self._text.setWordWrap(True)
        self._text.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.head.addWidget(self._shape)
        self.head.addWidget(self._place, 1)
        self.body.addLayout(self.head)
        self.body.addWidget(self._title)
        self.body.addWidget(self._text, 1)
        # room for five lines, so that the list above keeps its size while lines are stepped through
        self._text.setMinimumHeight(5 * self._text.fontMetrics().lineSpacing())
        self.setAccessibleName(self.tr("What the line means"))
        self.show_meaning(None)

    def show_meaning(self, meaning: Meaning | None) -> None:
        """Show another line's meaning, None for a line that is not known here."""
        if meaning is None:
            title = self.tr("This line is not marked")
            self._show("", title, self.tr("Step through the marked lines with F8 and Shift+F8."))
        else:
            place = f"{meaning.place} · {meaning.mark.value}"
            self._show(place, meaning.title, meaning.text, meaning.mark)

    def show_waiting(self) -> None:
        """Say that there are no meanings yet."""
        text = self.tr("The lines that matter are marked when the whole log was read.")
        self._show("", self.tr("The log is not read yet"), text)

    def _show(self, place: str, title: str, text: str, mark: Mark | None = None) -> None:
        self._mark = mark
        self._place.setText(place)
        self._title.setText(title)
        self._text.setText(text)
        self.setAccessibleDescription(
            f"{self._place.text()} {self._title.text()}. {self._text.text()}".strip()
        )
        self._draw()

    def changeEvent(self, event: QEvent) -> None:
        """Draw the shape in the theme's colour."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange and hasattr(self, "_text"):
            self._draw()

    def _draw(self) -> None:
        self._shape.setVisible(self._mark is not None)
        if self._mark is None:
            return
        scale = self.devicePixelRatioF()
        picture = QPixmap(round(_SHAPE * scale), round(_SHAPE * scale))
        picture.setDevicePixelRatio(scale)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        ink = log_marks.colour(self._mark, theme.tokens_for(self))
        log_marks.draw(painter, self._mark, QRectF(0, 0, _SHAPE, _SHAPE), ink)
        painter.end()
        self._shape.setPixmap(picture)
