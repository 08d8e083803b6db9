"""The text of a log with its search field, its filter and the legend of its marks."""

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QColor, QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import QComboBox, QWidget

from app.ui import theme
from app.ui.widgets import log_marks
from app.ui.widgets.card import Card
from app.ui.widgets.find_bar import FindBar
from app.ui.widgets.log_marks import Mark
from app.ui.widgets.log_view import LogView


class LogPane(Card):
    """Puts the parts together; the tab connects them."""

    private_copy_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", parent)
        self.find_bar = FindBar()
        self.rows = QComboBox()
        self.rows.setObjectName("logRows")
        self.rows.setAccessibleName(self.tr("Lines to show"))
        self.view = LogView()
        self.head.setSpacing(theme.L)
        self.head.addWidget(self.find_bar, 1)
        self.head.addWidget(self.rows)
        self.body.addLayout(self.head)
        self.body.addWidget(self.view, 1)
        self.body.addWidget(Legend())
        for text, key, slot in (
            (self.tr("Copy lines"), QKeySequence.StandardKey.Copy, self.view.copy),
            (
                self.tr("Copy without personal details"),
                QKeySequence("Ctrl+Shift+C"),
                self.private_copy_wanted.emit,
            ),
            (self.tr("Select all"), QKeySequence.StandardKey.SelectAll, self.view.select_all),
        ):
            action = QAction(text, self.view)
            action.setShortcut(QKeySequence(key))
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            action.triggered.connect(slot)
            self.view.addAction(action)
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)


class Legend(QWidget):
    """The shapes and colours of the marks with their words, in one line."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("logLegend")
        words = ", ".join(mark.value for mark in Mark)
        self.setAccessibleName(self.tr("Marks: {0}").format(words))

    def sizeHint(self) -> QSize:
        """Ask for one line of small text."""
        return QSize(200, 18)

    def minimumSizeHint(self) -> QSize:
        """Allow what does not fit to be cut."""
        return QSize(100, 18)

    def changeEvent(self, event: QEvent) -> None:
        """Follow the theme."""
        super().changeEvent(event)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the shapes and words from the left."""
        tokens = theme.tokens_for(self)
        painter = QPainter(self)
        font = self.font()
        font.setPixelSize(11)
        painter.setFont(font)
        x = 0.0
        for mark in Mark:
            width = painter.fontMetrics().horizontalAdvance(mark.value)
            if x + 14 + width > self.width():
                break  # a word cut in its middle says nothing
            log_marks.draw(painter, mark, QRectF(x, 4, 9, 9), log_marks.colour(mark, tokens))
            painter.setPen(QColor(tokens.dim))
            box = QRectF(x + 14, 0, width + 1, 18)
            painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, mark.value)
            x += 14 + width + theme.L
        painter.end()
