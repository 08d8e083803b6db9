"""The runtimes that were found, each with where it is and what it has loaded."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from app.ui import theme
from app.ui.models.device_model import RuntimeEntry
from app.ui.widgets.card import dim_label


class RuntimeList(QWidget):
    """Shows runtimes under each other; one sentence when there is none."""

    def __init__(self, none_text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("runtimeList")
        self._none_text = none_text
        self._labels: list[QLabel] = []
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(2)

    def show_entries(self, entries: tuple[RuntimeEntry, ...]) -> None:
        """Show other runtimes."""
        for label in self._labels:
            self._layout.removeWidget(label)
            label.hide()
            label.deleteLater()
        self._labels = []
        if not entries:
            self._add(dim_label(self._none_text))
        for entry in entries:
            title = QLabel(entry.title)
            title.setWordWrap(True)
            title.setContentsMargins(0, theme.XS if self._labels else 0, 0, 0)
            self._add(title)
            for detail in entry.details:
                self._add(dim_label(detail))

    def text(self) -> str:
        """Return what is shown."""
        return "\n".join(label.text() for label in self._labels)

    def _add(self, label: QLabel) -> None:
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._labels.append(label)
        self._layout.addWidget(label)
