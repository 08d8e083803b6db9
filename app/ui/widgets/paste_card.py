"""The field for what a tool prints: facts that only an administrator or another tool can read."""

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.core.fact_words import title, value
from app.ui import theme
from app.ui.widgets.card import Card, dim_label
from app.work.pasted_facts import Command
from app.work.pasted_store import Entry

_HEIGHT = 92


class PasteCard(Card):
    """Shows the commands to run, and takes their output."""

    pasted = Signal(str)
    removed = Signal(str)  # the tool whose facts are to be forgotten

    def __init__(self, commands: tuple[Command, ...], parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        heading = QLabel(self.tr("Add what is missing"))
        heading.setObjectName("cardTitle")
        self.body.addWidget(heading)
        self.body.addWidget(
            dim_label(
                self.tr(
                    "Some facts need administrator rights. Run one of these commands yourself and "
                    "paste what it prints. Its facts are kept on this computer until you remove "
                    "them; the text with its serial numbers is not."
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
        self._kept = QVBoxLayout()
        self._kept.setSpacing(theme.S)
        self.body.addLayout(self._kept)

    def show_entries(self, entries: tuple[Entry, ...]) -> None:
        """Show what was pasted before: which tool, when, how much, and a way to remove it."""
        while (item := self._kept.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.setParent(None)
                widget.deleteLater()
        for number, entry in enumerate(entries):
            self._kept.addWidget(self._entry_row(number, entry))

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

    def _entry_row(self, number: int, entry: Entry) -> QWidget:
        n = len(entry.facts)
        facts = self.tr("1 fact") if n == 1 else self.tr("{} facts").format(n)
        when = f"{entry.time[:16].replace('T', ' ')} UTC"
        text = self.tr("{}, pasted {}: {}").format(entry.source, when, facts)
        remove = QPushButton(self.tr("Remove"))
        remove.setObjectName(f"removePasted{number}")
        remove.setAccessibleName(self.tr("Remove the facts of {}").format(entry.source))
        remove.clicked.connect(lambda: self.removed.emit(entry.source))
        widget = QWidget()
        row = QHBoxLayout(widget)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.S)
        row.addWidget(remove)
        label = QLabel(text)
        label.setToolTip("\n".join(f"{title(f.path)}: {value(f)}" for f in entry.facts))
        row.addWidget(label)
        row.addStretch(1)
        return widget

    def _on_changed(self) -> None:
        self._add.setEnabled(bool(self._text.toPlainText().strip()))

    def _on_add(self) -> None:
        self.pasted.emit(self._text.toPlainText())
