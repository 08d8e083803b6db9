"""The toolbar: open, the model and the runtime in use, export."""

from PySide6.QtCore import QEvent, Qt, Signal, SignalInstance
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QLabel, QMenu, QPushButton, QSizePolicy, QToolBar, QWidget

from app.core import units
from app.core.evidence import Evidence
from app.ui import icons, theme


class MainToolBar(QToolBar):
    """Shows what the session holds and offers the two actions of every tab."""

    open_wanted = Signal()
    export_wanted = Signal()
    theme_chosen = Signal(str)  # system, light or dark
    about_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Main toolbar"))
        self.setMovable(False)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self._open = self._button("openButton", self.tr("Open…"), self.open_wanted)
        self._model = QLabel()
        self._model.setObjectName("modelLabel")
        self._runtime = QLabel()
        self._runtime.setObjectName("dim")
        spacer = QWidget()
        spacer.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._export = self._button("exportButton", self.tr("Export report"), self.export_wanted)
        self._view = QPushButton(self.tr("View"))
        self._view.setObjectName("viewButton")
        self._view.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._view.setMenu(self._make_menu())
        for widget in (self._open, self._model, spacer, self._runtime, self._export, self._view):
            self.addWidget(widget)
        self._draw_icons()

    def show_evidence(self, evidence: Evidence) -> None:
        """Show the model and the runtime; a report needs something to report."""
        model = evidence.model
        self._model.setText(
            f"{model.name} · {units.size(model.file_bytes)}" if model else self.tr("No model")
        )
        self._model.setToolTip(model.path if model else "")
        machine = evidence.machine
        found = next((r for r in machine.runtimes if r.programs), None) if machine else None
        if machine is None:
            text = ""
        elif found is None:
            text = self.tr("No runtime found")
        else:
            text = f"{found.title} {found.version or ''}".strip()
        self._runtime.setText(text)
        self._runtime.setToolTip(found.folder if found else "")
        self._export.setEnabled(any((model, evidence.log, evidence.runs)))

    def show_theme(self, choice: str) -> None:
        """Tick the colours in use."""
        for action in self._themes.actions():
            action.setChecked(action.data() == choice)

    def changeEvent(self, event: QEvent) -> None:
        """Draw the icons in the colours of a new theme."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange and hasattr(self, "_view"):
            self._draw_icons()

    def _button(self, name: str, text: str, wanted: SignalInstance) -> QPushButton:
        button = QPushButton()
        button.setObjectName(name)
        button.setText(text)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.clicked.connect(wanted)
        return button

    def _make_menu(self) -> QMenu:
        menu = QMenu(self)
        self._themes = QActionGroup(menu)
        for text, choice in (
            (self.tr("Colours of the system"), theme.SYSTEM),
            (self.tr("Light"), theme.LIGHT_NAME),
            (self.tr("Dark"), theme.DARK_NAME),
        ):
            action = self._themes.addAction(text)
            action.setCheckable(True)
            action.setData(choice)
        self._themes.triggered.connect(lambda action: self.theme_chosen.emit(action.data()))
        menu.addActions(self._themes.actions())
        menu.addSeparator()
        menu.addAction(self.tr("About…")).triggered.connect(self.about_wanted)
        return menu

    def _draw_icons(self) -> None:
        colour = theme.tokens_for(self).text
        self._open.setIcon(icons.icon("folder-open", colour, 16))
        self._export.setIcon(icons.icon("download", colour, 16))
        self._view.setIcon(icons.icon("sun-moon", colour, 16))
