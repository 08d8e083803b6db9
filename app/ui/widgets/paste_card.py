"""The field for what a tool prints: facts that only an administrator or another tool can read."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPlainTextEdit, QPushButton, QWidget

from app.ui import theme
from app.ui.widgets.card import Card, dim_label
from app.work.pasted_facts import Command

_HEIGHT = 92


class PasteCard(Card):
    """Shows the commands to run, and takes their output."""

    pasted = Signal(str)

    def __init__(self, commands: tuple[Command, ...], parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        title = QLabel(self.tr("Add what is missing"))
        title.setObjectName("cardTitle")
        self.body.addWidget(title)
        self.body.addWidget(
            dim_label(
                self.tr(
                    "Some facts need administrator rights. Run one of these commands yourself and "
                    "paste what it prints; it stays on this computer, serial numbers are not read."
                )
            )
        )
        for number, command in enumerate(commands):
            self.body.addLayout(self._command_row(number, command))
        self._text = QPlainTextEdit()
        self._text.setObjectName("pasteText")
        self._text.setAccessibleName(self.tr("Output of a command"))
        self._text.setPlaceholderText(self.tr("Paste the output here"))
        self._text.setTabChangesFocus(True)
        self._text.setFixedHeight(_HEIGHT)
        self._text.textChanged.connect(self._on_changed)
        self.body.addWidget(self._text)
        self._add = QPushButton(self.tr("Add facts"))
        self._add.setObjectName("pasteAdd")
        self._add.setEnabled(False)
        self._add.clicked.connect(self._on_add)
        self._result = dim_label()
        self._result.setObjectName("pasteResult")
        row = QHBoxLayout()
        row.setSpacing(theme.M)
        row.addWidget(self._add)
        row.addWidget(self._result, 1)
        self.body.addLayout(row)

    def show_result(self, sentence: str, *, is_added: bool) -> None:
        """Say what was understood; the field is emptied when something was."""
        if is_added:
            self._text.clear()
        self._result.setText(sentence)

    def _command_row(self, number: int, command: Command) -> QHBoxLayout:
        words = QLabel(command.words)
        words.setFont(theme.number_font(self.font(), 13))
        copy = QPushButton(self.tr("Copy"))
        copy.setObjectName(f"copyCommand{number}")
        copy.setAccessibleName(self.tr("Copy the command {}").format(command.words))
        copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(command.words))
        row = QHBoxLayout()
        row.setSpacing(theme.S)
        row.addWidget(copy)
        row.addWidget(words)
        row.addWidget(dim_label(command.tells, wrap=False))
        row.addStretch(1)
        return row

    def _on_changed(self) -> None:
        self._add.setEnabled(bool(self._text.toPlainText().strip()))

    def _on_add(self) -> None:
        self.pasted.emit(self._text.toPlainText())
