"""The card of the slowdown curve, with what to know about it below."""

from PySide6.QtWidgets import QWidget

from app.ui.models.offload_model import PlotPoint
from app.ui.widgets.card import Card, dim_label
from app.ui.widgets.curve import Curve
from app.ui.widgets.slowdown_plot import SlowdownPlot


class CurveCard(Card):
    """Shows a curve and its note; without a curve the note says why there is none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Slowdown against all layers on the device"), parent)
        self._plot = SlowdownPlot()
        self._note = dim_label()
        self._note.setObjectName("curveNote")
        self.body.addWidget(self._plot, 1)
        self.body.addWidget(self._note)
        self.body.addStretch(1)  # a higher neighbour must not pull the title down

    def show_curve(self, curve: Curve, note: str) -> None:
        """Show another curve; one without points is hidden."""
        self._plot.show_curve(curve)
        self._plot.setVisible(bool(curve.x))
        self._note.setText(note)

    def show_point(self, point: PlotPoint) -> None:
        """Move the chosen point."""
        self._plot.show_point(point.x, point.y, point.text)

    def show_none(self, note: str) -> None:
        """Take the curve down and say why, or that it is being calculated."""
        self._plot.hide()
        self._note.setText(note)
