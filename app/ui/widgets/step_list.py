"""The steps of a guided run: what is done, what is being done with its time, what is left."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QVBoxLayout, QWidget

from app.core import units
from app.ui import theme
from app.ui.widgets.card import Card, dim_label
from app.ui.widgets.icon_label import IconLabel
from app.work.steps import Steps

_ICON = 18


class StepList(Card):
    """Grows by a line for each step that starts."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(self.tr("Steps"), parent)
        self._rows: list[tuple[IconLabel, QLabel, QLabel]] = []
        self._is_open = False  # a step has started and not ended
        self._lines = QVBoxLayout()
        self._lines.setSpacing(theme.XS)
        self._bar = QProgressBar()
        self._bar.setObjectName("stepProgress")
        self._bar.setRange(0, 100)
        self._bar.setTextVisible(False)
        self._bar.setFixedHeight(8)
        self._bar.setAccessibleName(self.tr("Progress of this step"))
        self._doing = dim_label()
        self.body.addLayout(self._lines)
        self.body.addWidget(self._bar)
        self.body.addWidget(self._doing)

    def follow(self, run: Steps) -> None:
        """Show the steps of a run, whenever it runs."""
        run.step_started.connect(self.start_step)
        run.progressed.connect(self.show_progress)
        run.step_ended.connect(lambda _name, seconds, text: self.end_step(seconds, text))
        run.step_failed.connect(lambda _name, seconds, text: self.fail_step(seconds, text))

    def clear(self) -> None:
        """Start over."""
        self._is_open = False
        while self._lines.count():
            item = self._lines.takeAt(0)
            widget = item.widget() if item else None
            if widget is not None:
                widget.deleteLater()
        self._rows = []
        self._doing.setText("")
        self._bar.setRange(0, 0)
        self._bar.show()

    def start_step(self, name: str) -> None:
        """Add the step that starts now."""
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.M)
        picture = IconLabel("play", "accent", _ICON)
        title, result = QLabel(name), dim_label()
        title.setFixedWidth(260)
        title.setWordWrap(True)
        layout.addWidget(picture, 0, Qt.AlignmentFlag.AlignTop)
        layout.addWidget(title, 0, Qt.AlignmentFlag.AlignTop)
        layout.addWidget(result, 1)
        self._lines.addWidget(row)
        self._rows.append((picture, title, result))
        self._is_open = True
        self._bar.setRange(0, 0)
        self._doing.setText("")
        self.setAccessibleDescription(name)

    def show_progress(self, percent: int, text: str) -> None:
        """Show how far the step is; 0 = not known."""
        self._bar.setRange(0, 100 if percent else 0)
        self._bar.setValue(percent)
        self._doing.setText(text)

    def end_step(self, seconds: float, text: str) -> None:
        """Say what the last step brought and how long it took."""
        self._close_step("circle-check", "good", seconds, text)

    def fail_step(self, seconds: float, text: str) -> None:
        """Say why the last step did not succeed and how long it took."""
        self._close_step("circle-x", "error", seconds, text)

    def _close_step(self, icon: str, role: str, seconds: float, text: str) -> None:
        if not self._rows:
            return
        self._is_open = False
        picture, title, result = self._rows[-1]
        picture.show_icon(icon, role)
        result.setText(f"{units.seconds(seconds)} · {text}" if text else units.seconds(seconds))
        self.setAccessibleDescription(f"{title.text()}: {result.text()}")

    def finish(self, text: str) -> None:
        """Show the last word instead of the progress; a step still open did not succeed."""
        if self._is_open:
            self._is_open = False
            self._rows[-1][0].show_icon("circle-x", "error")
        self._bar.hide()
        self._doing.setText(text)
