"""A finding as a card: fault, evidence lines to click, the one change, and how it is proven."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.ui import theme
from app.ui.models.diagnosis_model import CiteLine, FindingView
from app.ui.widgets.card import Card, dim_label
from app.ui.widgets.command_box import CommandBox
from app.ui.widgets.fixed_text import FixedText
from app.ui.widgets.icon_label import IconLabel

_MOST_CITES = 6


class FindingCard(Card):
    """Shows one finding; the verdict is drawn larger than the others."""

    line_wanted = Signal(int)
    prove_wanted = Signal()

    def __init__(self, *, is_verdict: bool, parent: QWidget | None = None) -> None:
        super().__init__("", parent)
        self.setObjectName("card")
        self._icon = IconLabel(size=24)
        self._title = QLabel()
        self._title.setObjectName("verdictTitle" if is_verdict else "cardTitle")
        self._title.setWordWrap(True)
        if is_verdict:
            self._title.setStyleSheet("font-size: 22px; font-weight: 600;")
        self._certainty = dim_label()
        head = QHBoxLayout()
        head.setSpacing(theme.M)
        head.addWidget(self._icon, 0, Qt.AlignmentFlag.AlignTop)
        titles = QVBoxLayout()
        titles.setSpacing(2)
        titles.addWidget(self._title)
        titles.addWidget(self._certainty)
        head.addLayout(titles, 1)
        self.body.addLayout(head)
        self._cause = QLabel()
        self._cause.setObjectName("verdictCause" if is_verdict else "findingCause")
        self._cause.setWordWrap(True)
        self.body.addWidget(self._cause)
        self._cites = QVBoxLayout()
        self._cites.setSpacing(2)
        self.body.addLayout(self._cites)
        self._fix_title = QLabel(self.tr("Change one thing"))
        self._fix_title.setObjectName("cardTitle")
        self._fix = QLabel()
        self._fix.setObjectName("verdictFix" if is_verdict else "findingFix")
        self._fix.setWordWrap(True)
        self._command = CommandBox("verdictCommand" if is_verdict else "findingCommand")
        self._proof = dim_label()
        for widget in (self._fix_title, self._fix, self._command, self._proof):
            self.body.addWidget(widget)
        self._prove = QPushButton(self.tr("Prove it"))
        self._prove.setObjectName("proveIt")
        self._prove.setProperty("primary", True)
        self._prove.clicked.connect(self.prove_wanted)
        self._no_proof = dim_label()
        self._no_proof.setObjectName("noProof")
        row = QHBoxLayout()
        row.setSpacing(theme.M)
        row.addWidget(self._prove)
        row.addWidget(self._no_proof, 1)
        self.body.addLayout(row)
        self.show_proof(None)

    def show_finding(self, view: FindingView) -> None:
        """Show another finding."""
        if view.is_fault:
            self._icon.show_icon("triangle-alert", "warning")
        else:
            self._icon.show_icon("circle-check", "good")
        self._title.setText(view.title)
        self._certainty.setText(view.certainty)
        self._cause.setText(view.cause)
        self._fix_title.setVisible(view.is_fault)
        self._fix.setText(view.fix)
        self._command.show_command(view.command)
        self._command.setVisible(bool(view.command))
        self._proof.setText(self.tr("Proof: {}").format(view.proof) if view.proof else "")
        self._proof.setVisible(bool(view.proof))
        self._show_cites(view.cites)
        self.setAccessibleName(f"{view.title}. {view.cause}")

    def show_proof(self, why_not: str | None, *, can_start: bool = True) -> None:
        """Offer to try the fix, or say why it cannot be tried; None hides both."""
        self._prove.setVisible(why_not == "")
        self._prove.setEnabled(can_start)
        hint = self.tr(
            "Loads and measures once more with this one change. Nothing of yours changes."
        )
        self._no_proof.setText(why_not or hint)
        self._no_proof.setVisible(why_not is not None)

    def _show_cites(self, cites: tuple[CiteLine, ...]) -> None:
        while self._cites.count():
            item = self._cites.takeAt(0)
            widget = item.widget() if item else None
            if widget is not None:
                widget.deleteLater()
        for cite in cites[:_MOST_CITES]:
            self._cites.addWidget(self._cite(cite))
        rest = len(cites) - _MOST_CITES
        if rest > 0:
            self._cites.addWidget(dim_label(self.tr("and {} more lines").format(rest)))

    def _cite(self, cite: CiteLine) -> QWidget:
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.M)
        if cite.line is None:
            where: QWidget = dim_label(cite.where, wrap=False)
        else:
            button = QPushButton(cite.where)
            button.setObjectName("link")
            button.setAccessibleName(self.tr("Show {} in the log").format(cite.where))
            button.setCursor(Qt.CursorShape.PointingHandCursor)
            line = cite.line
            button.clicked.connect(lambda: self.line_wanted.emit(line))
            where = button
        where.setMinimumWidth(96)
        text = FixedText("citeText", has_focus=False)
        text.setPlainText(cite.text)
        layout.addWidget(where, 0, Qt.AlignmentFlag.AlignTop)
        layout.addWidget(text, 1)
        return row
