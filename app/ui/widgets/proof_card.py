"""Before and after of one change, side by side: rates first, then the evidence lines."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.ui import theme
from app.ui.models.proof_model import ProofView, Row
from app.ui.widgets.card import Card, dim_label
from app.ui.widgets.icon_label import IconLabel


class ProofCard(Card):
    """Shows what the second run proved."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("", parent)
        self._icon = IconLabel(size=24)
        self._title = QLabel()
        self._title.setObjectName("proofTitle")
        self._title.setStyleSheet("font-size: 18px; font-weight: 600;")
        self._title.setWordWrap(True)
        self._sentence = QLabel()
        self._sentence.setObjectName("proofSentence")
        self._sentence.setWordWrap(True)
        head = QHBoxLayout()
        head.setSpacing(theme.M)
        head.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        titles = QVBoxLayout()
        titles.setSpacing(2)
        titles.addWidget(self._title)
        titles.addWidget(self._sentence)
        head.addLayout(titles, 1)
        self.body.addLayout(head)
        self._table = QWidget()
        self.body.addWidget(self._table)
        self._left = dim_label()
        self._left.setObjectName("proofLeft")
        self.body.addWidget(self._left)
        self._note = ""
        copy = QPushButton(self.tr("Copy the incident note"))
        copy.setObjectName("copyNote")
        copy.setToolTip(self.tr("Symptom, evidence, cause, fix and verification, as text."))
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self._note))
        self.body.addWidget(copy, 0, Qt.AlignmentFlag.AlignLeft)

    def show_view(self, view: ProofView, note: str = "") -> None:
        """Show another proof; note is what its button copies."""
        self._note = note
        if view.is_proven:
            self._icon.show_icon("circle-check", "good")
        else:
            self._icon.show_icon("triangle-alert", "warning")
        self._title.setText(view.title)
        self._sentence.setText(view.sentence)
        self._left.setText(view.left)
        self._left.setVisible(bool(view.left))
        table = self._made(view.rows)
        self.body.replaceWidget(self._table, table)
        self._table.deleteLater()
        self._table = table
        self.setAccessibleName(f"{view.title}. {view.sentence}")

    def _made(self, rows: tuple[Row, ...]) -> QWidget:
        table = QWidget()
        grid = QGridLayout(table)
        grid.setContentsMargins(0, theme.S, 0, 0)
        grid.setHorizontalSpacing(theme.L)
        grid.setVerticalSpacing(theme.XS)
        for column, title in enumerate(("", self.tr("Before"), self.tr("After"), "")):
            grid.addWidget(dim_label(title, wrap=False), 0, column)
            grid.setColumnStretch(column, (2, 4, 4, 1)[column])
        for index, row in enumerate(rows, 1):
            for column, text in enumerate((row.what, row.before, row.after, row.word)):
                grid.addWidget(_cell(text, is_strong=row.is_changed, column=column), index, column)
        return table


def _cell(text: str, *, is_strong: bool, column: int) -> QLabel:
    if column in (0, 3) and not is_strong:
        return dim_label(text)
    cell = QLabel(text)
    cell.setTextFormat(Qt.TextFormat.PlainText)
    cell.setWordWrap(True)
    cell.setAlignment(Qt.AlignmentFlag.AlignTop)
    if column in (1, 2):
        cell.setFont(theme.fixed_font())
        cell.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    elif is_strong:
        font = cell.font()
        font.setBold(True)
        cell.setFont(font)
    return cell
