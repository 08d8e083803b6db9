"""Keeps the card of both words up to date: asks llama.cpp in the background, when there is one."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.core.fit_result import FitResult
from app.core.machine import Device, Machine
from app.core.placement import Placement
from app.core.said import Said, compare
from app.ui.models import said_model
from app.ui.models.offload_model import Choice
from app.ui.models.said_model import Note
from app.ui.widgets.said_card import SaidCard
from app.work import dry_pass
from app.work.asker import Asker
from app.work.dry_pass import Question
from app.work.session import Session


class SaidPanel(QWidget):
    """Shows the placement that it is given, and what llama.cpp says of it."""

    taken = Signal(int)  # n_gpu_layers that llama.cpp would choose

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._asker = Asker(session, self)
        self._card = SaidCard()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._card)
        self._placed: Placement | None = None
        self._question: Question | None = None
        self._said: Said | None = None
        self._card.asked.connect(self._on_asked)
        self._card.stopped.connect(self._on_stopped)
        self._card.taken.connect(self.taken)
        self._asker.started.connect(self._on_started)
        self._asker.answered.connect(self._on_answered)
        self._asker.failed.connect(self._on_failed)

    @property
    def card(self) -> SaidCard:
        """Return the card."""
        return self._card

    def show_placement(self, choice: Choice, placed: Placement) -> None:
        """Show a placement; a moment later llama.cpp is asked about the same load."""
        self._placed = placed
        self._question = self._question_of(choice, placed)
        question = self._question
        if self._said is None or question is None or self._said.request != question.request:
            self._said = None
        self._show()
        if question is None:
            self._asker.stop()
            self._card.show_asking(False, can_ask=False)
            self._card.show_note(Note(self._why_not(choice)))
        elif self._said is None:
            self._card.show_asking(self._asker.is_running)
            self._asker.ask_soon(question, placed)

    def show_fit(self, result: FitResult) -> None:
        """Show what llama.cpp would choose for a load whose layers it may choose."""
        self._card.show_fit(result)

    def forget_fit(self) -> None:
        """Take down what was said of another model."""
        self._card.forget_fit()

    def stop(self) -> None:
        """Stop what is running."""
        self._asker.stop()

    def _question_of(self, choice: Choice, placed: Placement) -> Question | None:
        evidence = self._session.evidence
        has_card = any(d not in _found(evidence.machine) for d in choice.devices)
        if evidence.model is None or has_card or self._session.read_only_path:
            return None
        return dry_pass.question_of(evidence.model, choice.request, evidence.machine, placed)

    def _why_not(self, choice: Choice) -> str:
        if self._session.read_only_path:
            return self.tr("This is another computer's evidence; its llama.cpp is not here.")
        if any(d not in _found(self._session.evidence.machine) for d in choice.devices):
            return self.tr("llama.cpp knows no card that is only thought of.")
        name = dry_pass.program_name(choice.request.tool)
        return self.tr("No {} was found on this computer to ask.").format(name)

    def _show(self) -> None:
        if self._placed is not None:
            self._card.show_figures(compare(self._placed, self._said))

    @Slot()
    def _on_asked(self) -> None:
        if self._question is not None and self._placed is not None:
            self._asker.ask_now(self._question, self._placed)

    @Slot()
    def _on_stopped(self) -> None:
        self._asker.stop()
        self._card.show_asking(False)
        self._card.show_note(Note(self.tr("Stopped.")))

    @Slot()
    def _on_started(self) -> None:
        self._card.show_asking(True)
        if self._question is not None:
            name = self._question.program.name
            self._card.show_note(Note(self.tr("Asking {}…").format(name)))

    @Slot(object)
    def _on_answered(self, said: Said) -> None:
        self._card.show_asking(False)
        if self._question is None or self._question.request != said.request:
            return
        self._said = said
        self._show()
        self._card.show_note(said_model.answer_note(said))
        self._session.set_said(said)

    @Slot(object)
    def _on_failed(self, error: Exception) -> None:
        self._card.show_asking(False)
        self._card.show_note(said_model.failure_note(error))


def _found(machine: Machine | None) -> tuple[Device, ...]:
    return machine.devices if machine else ()
