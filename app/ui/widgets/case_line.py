"""Says what a case rests on, and takes a part out of it."""

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from app.core.evidence import Evidence
from app.core.parts import Part
from app.ui import icons, theme
from app.ui.models import case_model
from app.ui.models.case_model import CasePart
from app.ui.widgets.find_bar import arrow_button
from app.ui.widgets.short_label import ShortLabel


class CaseLine(QWidget):
    """A line with the parts, each with a button that removes it; hidden without parts."""

    remove_wanted = Signal(object)  # a Part

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("caseLine")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.XS)
        row = QHBoxLayout()
        row.setSpacing(theme.S)
        head = QLabel(self.tr("This case rests on"))
        head.setObjectName("dim")
        row.addWidget(head)
        self._parts = {part: _PartBox(part) for part in Part}
        for box in self._parts.values():
            box.remove.clicked.connect(lambda _=False, part=box.part: self._on_remove(part))
            row.addWidget(box)
        self._computer = QLabel()
        self._computer.setObjectName("dim")
        row.addWidget(self._computer)
        row.addStretch(1)
        layout.addLayout(row)
        self._warning = QLabel()
        self._warning.setObjectName("caseWarning")
        self._warning.setTextFormat(Qt.TextFormat.PlainText)
        self._warning.setWordWrap(True)
        layout.addWidget(self._warning)

    def show_evidence(self, evidence: Evidence, *, can_remove: bool, is_own: bool) -> None:
        """Show the parts; those of another person's evidence stay together."""
        parts = {part.part: part for part in case_model.case_parts(evidence)}
        for name, box in self._parts.items():
            box.show_part(parts.get(name), can_remove=can_remove and is_own)
        self._computer.setText(
            self.tr("and this computer") if is_own else self.tr("and its computer")
        )
        warning = case_model.other_model(evidence)
        self._warning.setText(warning)
        self._warning.setVisible(bool(warning))
        self.setVisible(bool(parts))

    def _on_remove(self, part: Part) -> None:
        self.remove_wanted.emit(part)


class _PartBox(QWidget):
    """The name of a part and the button that removes it."""

    def __init__(self, part: Part) -> None:
        super().__init__()
        self.part = part
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.XS)
        self._text = ShortLabel()
        self._text.setTextFormat(Qt.TextFormat.PlainText)
        self._text.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        self.remove: QToolButton = arrow_button(f"remove-{part.value}", "")
        layout.addWidget(self._text)
        layout.addWidget(self.remove)
        self._draw()

    def show_part(self, part: CasePart | None, *, can_remove: bool) -> None:
        """Show a part of the case, None when it has none of this kind."""
        self.setVisible(part is not None)
        self.remove.setVisible(can_remove)
        if part is not None:
            self._text.setText(part.text)
            self._text.setToolTip(part.name)
            self.remove.setToolTip(part.removal)
            self.remove.setAccessibleName(part.removal)

    def changeEvent(self, event: QEvent) -> None:
        """Draw the icon in the colours of a new theme."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange and hasattr(self, "remove"):
            self._draw()

    def _draw(self) -> None:
        self.remove.setIcon(icons.icon("circle-x", theme.tokens_for(self).dim, 16))
