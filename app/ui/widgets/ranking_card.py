"""What would help, ranked: each change alone, with its range, cost and command."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.ui import theme
from app.ui.models.ranking_model import GainBar, RankingView
from app.ui.widgets.card import Card, dim_label
from app.ui.widgets.command_box import CommandBox
from app.ui.widgets.gain_bar import GainBarWidget
from app.ui.widgets.waterfall_view import WaterfallView


class RankingCard(Card):
    """Shows the changes that apply, and why popular advice does not."""

    try_wanted = Signal(str)  # the id of a change

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("What would help, and by how much"), parent)
        self._now = dim_label()
        self._now.setObjectName("rankingNow")
        self.body.addWidget(self._now)
        self.path = WaterfallView()
        self._chosen = dim_label()
        self._chosen.setObjectName("waterfallText")
        self.path.chosen.connect(self._chosen.setText)
        self.body.addWidget(self.path)
        self.body.addWidget(self._chosen)
        self._rows = QWidget()
        self._tries: list[QPushButton] = []
        self._is_running = False
        self.body.addWidget(self._rows)
        self._toggle = QPushButton(self.tr("What would not help here, and why"))
        self._toggle.setObjectName("folkloreToggle")
        self._toggle.setCheckable(True)
        self._toggle.toggled.connect(self._on_toggled)
        self.body.addWidget(self._toggle, 0, Qt.AlignmentFlag.AlignLeft)
        self._advice = dim_label()
        self._advice.setObjectName("folklore")
        self._advice.hide()
        self.body.addWidget(self._advice)

    def show_view(self, view: RankingView) -> None:
        """Show other changes."""
        self._now.setText(f"{view.now}.")
        self.path.show_chart(view.path)
        self._chosen.setText(self._hint(view))
        self._chosen.setVisible(bool(self._chosen.text()))
        self._tries = []
        rows = self._made(view)
        self.body.replaceWidget(self._rows, rows)
        self._rows.deleteLater()
        self._rows = rows
        self._advice.setText("\n\n".join((*view.refused, *view.not_advised)))
        self._toggle.setVisible(bool(view.refused or view.not_advised))

    def _hint(self, view: RankingView) -> str:
        if view.path is not None:
            return self.tr(
                "Each column is one change on top of those before it, planned anew, in the order "
                "of what they cost; hatched ones cost context or quality. Choose a column to read "
                "it. Below, each change alone: those gains do not add up."
            )
        if view.no_path:
            return self.tr("No path to the best speed is drawn: {}.").format(view.no_path)
        return ""

    def show_running(self, *, is_running: bool) -> None:
        """Let a change be tried only while nothing else runs."""
        self._is_running = is_running
        for button in self._tries:
            button.setEnabled(not is_running)

    def _on_toggled(self, is_on: bool) -> None:
        self._advice.setVisible(is_on)

    def _made(self, view: RankingView) -> QWidget:
        rows = QWidget()
        layout = QVBoxLayout(rows)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.M)
        most = max((bar.high for bar in view.bars), default=1.0)
        for bar in view.bars:
            layout.addLayout(_head(bar))
            if bar.value is not None:
                layout.addWidget(GainBarWidget(bar, most))
            layout.addWidget(dim_label(f"{bar.text} Cost: {bar.cost}"))
            if bar.command:
                box = CommandBox("optionCommand")
                box.show_command(bar.command)
                layout.addWidget(box)
            if bar.can_try and not view.no_try:
                layout.addWidget(self._try(bar), 0, Qt.AlignmentFlag.AlignLeft)
        if not view.bars:
            layout.addWidget(dim_label("Nothing that this program can calculate would help."))
        return rows

    def _try(self, bar: GainBar) -> QPushButton:
        button = QPushButton(self.tr("Prove this change"))
        button.setObjectName(f"try-{bar.id}")
        button.setAccessibleName(self.tr("Prove: {}").format(bar.title))
        button.setToolTip(
            self.tr("Loads and measures once more with this one change, and compares.")
        )
        button.setEnabled(not self._is_running)
        button.clicked.connect(lambda: self.try_wanted.emit(bar.id))
        self._tries.append(button)
        return button


def _head(bar: GainBar) -> QHBoxLayout:
    head = QHBoxLayout()
    title, figure = QLabel(bar.title), QLabel(bar.figure)
    title.setObjectName("cardTitle")
    figure.setObjectName("gainFigure")
    figure.setToolTip(bar.source)
    for label in (title, figure):
        label.setWordWrap(True)
    figure.setAlignment(Qt.AlignmentFlag.AlignRight)
    head.addWidget(title, 1)
    head.addWidget(figure, 1)
    return head
