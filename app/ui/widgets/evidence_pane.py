"""The list of evidence lines beside a log, with what the chosen line means."""

from PySide6.QtCore import QEvent, QModelIndex, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QListView, QSizePolicy, QVBoxLayout, QWidget

from app.core import units
from app.ui import icons, theme
from app.ui.models import log_model
from app.ui.models.log_model import LogModel
from app.ui.widgets.card import Card
from app.ui.widgets.evidence_delegate import EvidenceDelegate
from app.ui.widgets.find_bar import arrow_button
from app.ui.widgets.meaning_card import Meaning, MeaningCard


class EvidencePane(QWidget):
    """Lists the lines; choosing one asks to show it."""

    line_chosen = Signal(int)
    next_wanted = Signal()
    previous_wanted = Signal()

    def __init__(self, model: LogModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.M)
        self._list = Card()
        self._title = QLabel()
        self._title.setObjectName("cardTitle")
        self._previous = arrow_button("evidencePrevious", self.tr("Previous evidence (Shift+F8)"))
        self._next = arrow_button("evidenceNext", self.tr("Next evidence (F8)"))
        self._previous.clicked.connect(self.previous_wanted)
        self._next.clicked.connect(self.next_wanted)
        self._list.head.addWidget(self._title, 1)
        self._list.head.addWidget(self._previous)
        self._list.head.addWidget(self._next)
        self._list.body.addLayout(self._list.head)
        self.view = QListView()
        self.view.setObjectName("evidenceList")
        self.view.setAccessibleName(self.tr("Marked lines"))
        self.view.setModel(model)
        self.view.setItemDelegate(EvidenceDelegate(self.view))
        self.view.setUniformItemSizes(True)
        # what is left of the page; by its own wish the page would scroll
        self.view.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Ignored)
        self.view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self._list.body.addWidget(self.view, 1)
        self._meaning = MeaningCard()
        layout.addWidget(self._list, 1)
        layout.addWidget(self._meaning)
        model.modelReset.connect(self._count)
        model.rowsInserted.connect(self._count)
        self.view.selectionModel().currentChanged.connect(self._on_current)
        self.view.clicked.connect(self._on_current)
        self._count()
        self._restyle()

    def show_line(self, line: int) -> None:
        """Choose the row of a line without asking to show it; none when it has no row."""
        row = self._model.row_of(line)
        selection = self.view.selectionModel()
        with QSignalBlocker(self):
            if row is None:
                selection.clear()
                self.view.viewport().update()
            else:
                self.view.setCurrentIndex(self._model.index(row))
                self._reveal()
        self.view.viewport().update()

    def _reveal(self) -> None:
        index = self.view.currentIndex()
        if index.isValid() and not self.view.viewport().rect().contains(
            self.view.visualRect(index)
        ):
            self.view.scrollTo(index, QListView.ScrollHint.PositionAtCenter)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the chosen line in view."""
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self._reveal)

    def show_meaning(self, meaning: Meaning | None) -> None:
        """Say what the chosen line means, None for a line that is not known."""
        self._meaning.show_meaning(meaning)

    def show_waiting(self) -> None:
        """Say that the marks come when the log is read."""
        self._title.setText(self.tr("No lines are marked yet"))
        self._meaning.show_waiting()

    def changeEvent(self, event: QEvent) -> None:
        """Draw the arrows in the theme's colour."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange and hasattr(self, "_meaning"):
            self._restyle()

    def _restyle(self) -> None:
        colour = theme.tokens_for(self).text
        self._previous.setIcon(icons.icon("chevron-up", colour, 16))
        self._next.setIcon(icons.icon("chevron-down", colour, 16))

    def _count(self) -> None:
        count = self._model.rowCount()
        self._title.setText(self.tr("{0} marked lines").format(units.count(count)))
        self.view.setAccessibleDescription(self._title.text())
        for button in (self._previous, self._next):
            button.setEnabled(count > 0)

    def _on_current(self, index: QModelIndex) -> None:
        if index.isValid():
            self.line_chosen.emit(index.data(log_model.LINE))
