"""Predicted beside measured: the rates, what placement explains of them, and the picture."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.ui import theme
from app.ui.models.diagnosis_model import RateLine
from app.ui.models.prediction_model import Picture, PredictionView
from app.ui.widgets.card import Card, dim_label

if TYPE_CHECKING:
    from app.ui.widgets.slowdown_plot import SlowdownPlot


class PredictionCard(Card):
    """Shows rates with their prediction; the picture is made when there is one."""

    ends_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Predicted and measured"), parent)
        self._rates = QVBoxLayout()
        self.body.addLayout(self._rates)
        self._told = QLabel()
        self._told.setObjectName("explained")
        self._told.setWordWrap(True)
        self.body.addWidget(self._told)
        self._plot: SlowdownPlot | None = None
        self._note = dim_label()
        self._note.setObjectName("pictureNote")
        self.body.addWidget(self._note)
        self._ends = QPushButton(self.tr("Measure both ends"))
        self._ends.setObjectName("measureEnds")
        self._ends.clicked.connect(self.ends_wanted)
        self._missing = dim_label()
        row = QHBoxLayout()
        row.setSpacing(theme.M)
        row.addWidget(self._ends)
        row.addWidget(self._missing, 1)
        self.body.addLayout(row)

    def show_view(self, lines: tuple[RateLine, ...], view: PredictionView) -> None:
        """Show other rates and their prediction."""
        while self._rates.count():
            item = self._rates.takeAt(0)
            widget = item.widget() if item else None
            if widget is not None:
                widget.setParent(None)
                widget.deleteLater()
        for line in lines:
            self._rates.addWidget(_rate_row(line))
        self._told.setText("\n".join(view.sentences))
        self._told.setVisible(bool(view.sentences))
        font = self._told.font()
        font.setBold(view.is_second_fault)
        self._told.setFont(font)
        self._missing.setText(view.missing)
        self._missing.setVisible(bool(view.missing))
        self._ends.setVisible(bool(view.missing))
        self._show_picture(view.picture)

    def set_running(self, *, is_running: bool, can_measure: bool) -> None:
        """Let the ends be measured only while nothing else runs."""
        self._ends.setEnabled(can_measure and not is_running)

    def _show_picture(self, picture: Picture | None) -> None:
        self._note.setVisible(picture is not None)
        if picture is None:
            if self._plot is not None:
                self._plot.hide()
            return
        if self._plot is None:
            # pyqtgraph takes a while to load, and this is the start page
            from app.ui.widgets.slowdown_plot import SlowdownPlot

            self._plot = SlowdownPlot()
            self.body.insertWidget(self.body.indexOf(self._note), self._plot)
        self._plot.show_curve(picture.curve)
        self._plot.show_measured(picture.measured)
        self._plot.show_point(*picture.own, picture.label)
        self._plot.show()
        self._note.setText(picture.note)


def _rate_row(line: RateLine) -> QWidget:
    row = QLabel(f"<b>{line.name}</b>&nbsp;&nbsp;{line.value}")
    row.setWordWrap(True)
    row.setToolTip(line.detail)
    holder = QWidget()
    layout = QVBoxLayout(holder)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(0)
    layout.addWidget(row)
    layout.addWidget(dim_label(line.detail))
    return holder
