"""A control with its name above it, for rows of settings."""

from typing import cast

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QComboBox, QLabel, QVBoxLayout, QWidget

from app.ui import theme

_SHORTEST = 6  # characters


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
    box = narrow(QComboBox())
    box.setObjectName(name)
    for text, data in entries:
        box.addItem(text, data)
    return box


def narrow(box: QComboBox) -> QComboBox:
    """Let a combo box be narrower than its longest entry, so that a row of them fits."""
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    box.setMinimumContentsLength(_SHORTEST)
    return box
