"""Practice: make one of five faults on purpose, predict it, run it, and see it named."""

from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from app.core import practice
from app.core.evidence import Evidence
from app.core.forecast import forecast
from app.core.practice import Lesson
from app.core.request import LoadRequest
from app.core.rule import Diagnosis
from app.ui import theme
from app.ui.widgets.card import Card, dim_label
from app.ui.widgets.field import Combo
from app.work.jobs import Jobs, Latest


@dataclass(frozen=True, slots=True)
class _Offer:
    """A lesson and what the law predicts for it."""

    lesson: Lesson
    prediction: str


class PracticeCard(Card):
    """Closed until somebody wants to practise; everything is calculated only then."""

    lesson_wanted = Signal(object)  # a Lesson

    def __init__(self, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Practice"), parent)
        self._latest = Latest(jobs)
        self._evidence = Evidence()
        self._base = LoadRequest()
        self._offers: tuple[_Offer, ...] = ()
        self._lesson: Lesson | None = None
        self._open = QPushButton(self.tr("Break it on purpose, and find the fault"))
        self._open.setObjectName("practiceOpen")
        self._open.setCheckable(True)
        self._open.toggled.connect(self._on_toggled)
        self.body.addWidget(self._open, 0, Qt.AlignmentFlag.AlignLeft)
        self._choice = Combo()
        self._choice.setObjectName("practiceLesson")
        self._choice.setAccessibleName(self.tr("Fault"))
        self._choice.currentIndexChanged.connect(self._show_offer)
        self._start = QPushButton(self.tr("Run this fault"))
        self._start.setObjectName("practiceStart")
        self._start.clicked.connect(self._on_start)
        self._what, self._prediction = QLabel(), dim_label()
        self._what.setWordWrap(True)
        self._what.setObjectName("practiceWhat")
        self._prediction.setObjectName("practicePrediction")
        self._result = QLabel()
        self._result.setObjectName("practiceResult")
        self._result.setWordWrap(True)
        self._inside = QWidget()
        row = QHBoxLayout(self._inside)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.M)
        row.addWidget(self._choice)
        row.addWidget(self._start)
        row.addStretch(1)
        for widget in (self._inside, self._what, self._prediction, self._result):
            self.body.addWidget(widget)
            widget.hide()
        self._can_start = True

    def show_evidence(self, evidence: Evidence, base: LoadRequest, *, can_start: bool) -> None:
        """Take another model, machine and healthy load."""
        self._can_start = can_start
        self._show_offer()
        is_same = (evidence.model, evidence.machine, evidence.runs, base) == (
            self._evidence.model, self._evidence.machine, self._evidence.runs, self._base,
        )  # fmt: skip
        self._evidence, self._base = evidence, base
        if not is_same and self._open.isChecked():
            self._calculate()

    def remember(self, lesson: Lesson) -> None:
        """Keep which fault is made now."""
        self._lesson = lesson
        self._result.hide()

    def forget(self) -> None:
        """Let a lesson go, because another run starts."""
        self._lesson = None
        self._result.hide()

    def judge(self, evidence: Evidence, diagnosis: Diagnosis) -> None:
        """Say whether the fault that was made was named, and what it cost; else nothing."""
        if self._lesson is None:
            return
        undone = self.tr("The server has ended, so everything is as before.")
        named = practice.judged(self._lesson, diagnosis)
        failed = practice.failed(evidence, diagnosis)
        parts = (failed or named, practice.measured_text(evidence), undone)
        self._result.setText(" ".join(part for part in parts if part))
        self._result.show()
        self._lesson = None

    def _on_toggled(self, is_on: bool) -> None:
        for widget in (self._inside, self._what, self._prediction):
            widget.setVisible(is_on)
        if is_on:
            self._calculate()

    def _calculate(self) -> None:
        evidence, base = self._evidence, self._base
        job = self._latest.start(lambda _cancel, _progress: _offers(evidence, base), name="lessons")
        job.done.connect(self._on_offers)

    @Slot(object)
    def _on_offers(self, offers: tuple[_Offer, ...]) -> None:
        self._offers = offers
        before = self._choice.currentIndex()
        self._choice.blockSignals(True)
        self._choice.clear()
        self._choice.addItems([offer.lesson.title for offer in offers])
        self._choice.setCurrentIndex(max(0, before) if offers else -1)
        self._choice.blockSignals(False)
        self._show_offer()

    def _show_offer(self) -> None:
        index = self._choice.currentIndex()
        offer = self._offers[index] if 0 <= index < len(self._offers) else None
        self._start.setEnabled(offer is not None and not offer.lesson.why_not and self._can_start)
        self._what.setText(offer.lesson.what if offer is not None else "")
        self._prediction.setText(offer.prediction if offer is not None else "")

    def _on_start(self) -> None:
        index = self._choice.currentIndex()
        if 0 <= index < len(self._offers):
            self.lesson_wanted.emit(self._offers[index].lesson)


def _offers(evidence: Evidence, base: LoadRequest) -> tuple[_Offer, ...]:
    r = forecast(evidence).r
    return tuple(
        _Offer(lesson, practice.predicted(evidence, lesson, r))
        for lesson in practice.lessons(evidence, base)
    )
