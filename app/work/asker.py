"""Asks llama.cpp about the newest request only, a moment after it was made."""

from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.core.placement import Placement
from app.core.said import Said
from app.work.dry_pass import DryPass, Question, compared
from app.work.session import Session

_WAIT_MS = 700  # a slider that is dragged asks once, where it stops


@dataclass(frozen=True, slots=True)
class _Wish:
    question: Question
    placed: Placement

    @property
    def key(self) -> tuple[object, ...]:
        """Return what the answer depends on."""
        question = self.question
        return question.program.path, question.model.path, question.request


class Asker(QObject):
    """Emits an answer or a failure for the newest question; an older one is dropped."""

    started = Signal()
    answered = Signal(object)  # Said, with its differences
    failed = Signal(object)  # an Exception

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._dry_pass = DryPass(session.jobs, session.processes, self)
        self._dry_pass.done.connect(self._on_done)
        self._dry_pass.failed.connect(self._on_failed)
        self._dry_pass.finished.connect(self._on_finished)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_WAIT_MS)
        self._timer.timeout.connect(self._start)
        self._wish: _Wish | None = None
        self._asked: _Wish | None = None

    @property
    def is_running(self) -> bool:
        """Tell whether a program is being asked."""
        return self._dry_pass.is_running

    def ask_soon(self, question: Question, placed: Placement) -> None:
        """Ask when nothing newer comes; what was asked last is not asked again."""
        wish = _Wish(question, placed)
        if self._asked is not None and self._asked.key == wish.key:
            self._timer.stop()
            return
        self._wish = wish
        self._timer.start()

    def ask_now(self, question: Question, placed: Placement) -> None:
        """Ask at once, also what was asked before."""
        self._wish = _Wish(question, placed)
        self._start()

    def stop(self) -> None:
        """Stop waiting and asking."""
        self._wish = None
        self._timer.stop()
        self._dry_pass.cancel()

    @Slot()
    def _start(self) -> None:
        self._timer.stop()
        if self._dry_pass.is_running:
            self._dry_pass.cancel()  # its end starts the next
            return
        wish, self._wish = self._wish, None
        if wish is not None:
            self._asked = wish
            self._dry_pass.start(wish.question)
            self.started.emit()

    @Slot(object)
    def _on_done(self, said: Said) -> None:
        if self._asked is not None and self._wish is None:
            self.answered.emit(compared(said, self._asked.placed))

    @Slot(object)
    def _on_failed(self, error: Exception) -> None:
        if self._wish is None:
            self.failed.emit(error)

    @Slot()
    def _on_finished(self) -> None:
        if self._wish is not None and not self._timer.isActive():
            self._start()
