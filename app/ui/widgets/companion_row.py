"""Files beside the model: a draft model and a projector are chosen here and taken out again."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from app.core.beside import Companion, Kind
from app.core.model import Model
from app.ui import choose, theme
from app.work.jobs import Latest
from app.work.readers import ReadResult, read_files
from app.work.session import Session


class CompanionRow(QWidget):
    """Emits `changed` when a file was read or taken out; `companions` are those there now."""

    changed = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._found: dict[Kind, Companion] = {}
        self._reading = {kind: Latest(session.jobs) for kind in Kind}
        self._buttons: dict[Kind, QPushButton] = {}
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.M)
        for kind in (Kind.DRAFT, Kind.PROJECTOR):
            button = QPushButton()
            button.setObjectName(f"{kind.value}File")
            button.clicked.connect(partial(self._on_clicked, kind))
            self._buttons[kind] = button
            layout.addWidget(button)
        self._note = QLabel()
        self._note.setObjectName("errorText")
        self._note.setWordWrap(True)
        layout.addWidget(self._note, 1, Qt.AlignmentFlag.AlignVCenter)
        self._show()

    @property
    def companions(self) -> tuple[Companion, ...]:
        """Return the files that are loaded beside the model."""
        return tuple(self._found.values())

    def take(self, kind: Kind, path: str) -> None:
        """Read a file's header away from the window, then count it."""
        job = self._reading[kind].start(
            lambda cancel, progress: read_files((path,), cancel, progress),
            name="file beside the model",
        )
        job.done.connect(partial(self._on_read, kind))

    def forget(self) -> None:
        """Take all out, without telling."""
        for latest in self._reading.values():
            latest.cancel()
        self._found.clear()
        self._show()

    def show_problems(self, problems: tuple[str, ...]) -> None:
        """Show why a file that was read cannot be counted; () = all are."""
        self._note.setText("\n".join(problems))

    def _on_clicked(self, kind: Kind) -> None:
        if self._found.pop(kind, None) is not None:
            self._show()
            self.changed.emit()
            return
        title = self.tr("Draft model") if kind is Kind.DRAFT else self.tr("Projector")
        for path in choose.files(self, self._session, title)[:1]:
            self.take(kind, path)

    def _on_read(self, kind: Kind, result: ReadResult) -> None:
        for error in result.errors:
            self._show(error.sentence())
            return
        model = result.opened[0].part
        if not isinstance(model, Model) or (model.arch == "clip") is not (kind is Kind.PROJECTOR):
            name = Path(result.opened[0].path).name
            what = self.tr("draft model") if kind is Kind.DRAFT else self.tr("projector")
            self._show(self.tr("{} is no {}. Choose another file.").format(name, what))
            return
        self._found[kind] = Companion(kind, model)
        self._show()
        self.changed.emit()

    def _show(self, problem: str = "") -> None:
        captions = {
            Kind.DRAFT: (self.tr("Add a draft model…"), self.tr("Take out the draft model")),
            Kind.PROJECTOR: (self.tr("Add a projector…"), self.tr("Take out the projector")),
        }
        for kind, button in self._buttons.items():
            button.setText(captions[kind][kind in self._found])
        self._note.setText(problem)
