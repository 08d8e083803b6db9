"""A control with its name above it, for rows of settings."""

from typing import cast

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtWidgets import QComboBox, QLabel, QVBoxLayout, QWidget

from app.ui import theme

_SHORTEST = 98  # pixels: six characters and the arrow
_FRAME = 24  # pixels beside the longest entry of an open list


class Field(QWidget):
    """Puts a caption above a control and names the control for screen readers."""

    def __init__(self, caption: str, control: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.XS)
        self._control = control
        label = self._label = QLabel(caption)
        label.setObjectName("caption")
        label.setBuddy(control)
        control.setAccessibleName(caption)
        control.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        control.installEventFilter(self)
        layout.addWidget(label)
        layout.addWidget(control)

    def set_caption(self, caption: str) -> None:
        """Name the control otherwise."""
        self._label.setText(caption)
        self._control.setAccessibleName(caption)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let the wheel scroll the page: a control under the pointer must not change by it."""
        if event.type() is QEvent.Type.Wheel and not cast(QWidget, watched).hasFocus():
            event.ignore()
            return True
        return super().eventFilter(watched, event)


def combo(name: str, entries: tuple[tuple[str, object], ...]) -> QComboBox:
    """Return a combo box of (text, data) entries."""
    box = Combo()
    box.setObjectName(name)
    for text, data in entries:
        box.addItem(text, data)
    return box


class Combo(QComboBox):
    """As wide as its longest entry where there is room, narrower in a full row."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)

    def minimumSizeHint(self) -> QSize:
        """Let a row of combo boxes fit."""
        whole = super().minimumSizeHint()
        return QSize(min(whole.width(), _SHORTEST), whole.height())

    def showPopup(self) -> None:
        """Show the entries whole, also where the box is narrower."""
        view = self.view()
        view.setMinimumWidth(view.sizeHintForColumn(self.modelColumn()) + _FRAME)
        super().showPopup()
