"""The result of a diagnosis: the verdict, the rates, and what else was found or ruled out."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.ui import theme
from app.ui.models.diagnosis_model import DiagnosisView, FindingView
from app.ui.models.ranking_model import RankingView
from app.ui.widgets.finding_card import FindingCard
from app.ui.widgets.folded_list import FoldedList
from app.ui.widgets.prediction_card import PredictionCard
from app.ui.widgets.proof_card import ProofCard
from app.ui.widgets.ranking_card import RankingCard


class ResultPanel(QWidget):
    """Shows one diagnosis; the verdict stands alone, the rest below it."""

    line_wanted = Signal(int)
    prove_wanted = Signal()
    try_wanted = Signal(str)  # the id of a ranked change

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._no_proof: str | None = None
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(theme.M)
        self._verdict = FindingCard(is_verdict=True)
        self._verdict.line_wanted.connect(self.line_wanted)
        self._verdict.prove_wanted.connect(self.prove_wanted)
        self._layout.addWidget(self._verdict)
        self.proof = ProofCard()
        self.proof.hide()
        self._layout.addWidget(self.proof)
        self.prediction = PredictionCard()
        self._layout.addWidget(self.prediction)
        self.ranking = RankingCard()
        self.ranking.try_wanted.connect(self.try_wanted)
        self.ranking.hide()
        self._layout.addWidget(self.ranking)
        self._also = QVBoxLayout()
        self._also.setSpacing(theme.M)
        self._layout.addLayout(self._also)
        self._steps = FoldedList(self.tr("The seven steps"), "sevenSteps")
        self._layout.addWidget(self._steps)
        self._checked = FoldedList(self.tr("Ruled out"), "ruledOut")
        self._missing = FoldedList(self.tr("Not checked"), "notChecked")
        self._layout.addWidget(self._checked)
        self._layout.addWidget(self._missing)

    def show_view(self, view: DiagnosisView) -> None:
        """Show another diagnosis."""
        self._verdict.show_finding(view.verdict)
        self._no_proof = view.no_proof if view.verdict.is_fault else None
        if view.proof is not None:
            self.proof.show_view(view.proof, view.note)
        self.proof.setVisible(view.proof is not None)
        self.prediction.show_view((*view.rates, view.prediction), view.beside)
        _clear(self._also)
        for finding in view.also:
            self._also.addWidget(self._other(finding))
        self._steps.show_lines(view.steps, ())
        self._checked.show_lines(view.ruled_out, view.more_ruled_out)
        self._missing.show_lines((*view.notes, *view.not_checked), view.more_not_checked)

    def show_running(self, *, is_running: bool) -> None:
        """Let a fix be tried only while nothing else runs."""
        self._verdict.show_proof(self._no_proof, can_start=not is_running)
        self.ranking.show_running(is_running=is_running)

    def show_ranking(self, view: RankingView | None) -> None:
        """Show the ranked changes, None = they are not known."""
        if view is not None:
            self.ranking.show_view(view)
        self.ranking.setVisible(view is not None)

    def _other(self, finding: FindingView) -> FindingCard:
        card = FindingCard(is_verdict=False)
        card.line_wanted.connect(self.line_wanted)
        card.show_finding(finding)
        return card


def _clear(layout: QVBoxLayout) -> None:
    while layout.count():
        item = layout.takeAt(0)
        widget = item.widget() if item else None
        if widget is not None:
            widget.setParent(None)
            widget.deleteLater()
