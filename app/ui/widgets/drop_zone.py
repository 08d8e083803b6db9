"""The drop area of the start page: says what to drop, and what was dropped."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.ui import theme
from app.ui.widgets.icon_label import IconLabel


class DropZone(QFrame):
    """Shows the invitation, or the chosen file with links to the tabs that show it."""

    choose_wanted = Signal()
    link_clicked = Signal(str)  # the id of a tab

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("dropZone")
        self.setAcceptDrops(False)  # the whole window takes drops
        layout = QHBoxLayout(self)
        layout.setContentsMargins(theme.XL, theme.L, theme.XL, theme.L)
        layout.setSpacing(theme.L)
        self._icon = IconLabel(size=36)
        layout.addWidget(self._icon)
        texts = QVBoxLayout()
        texts.setSpacing(theme.XS)
        self._title = QLabel()
        self._title.setObjectName("dropTitle")
        self._title.setStyleSheet("font-size: 17px; font-weight: 600;")
        self._title.setWordWrap(True)
        self._detail = QLabel()
        self._detail.setObjectName("dim")
        self._detail.setWordWrap(True)
        texts.addWidget(self._title)
        texts.addWidget(self._detail)
        self._links = QHBoxLayout()
        self._links.setSpacing(theme.L)
        texts.addLayout(self._links)
        for tab, text in (
            ("offload", self.tr("See where its bytes go")),
            ("fit", self.tr("See what fits")),
        ):
            link = QPushButton(text)
            link.setObjectName("link")
            link.setCursor(Qt.CursorShape.PointingHandCursor)
            link.clicked.connect(lambda _checked=False, name=tab: self.link_clicked.emit(name))
            self._links.addWidget(link)
        self._links.addStretch(1)
        layout.addLayout(texts, 1)
        self._choose = QPushButton(self.tr("Choose a file…"))
        self._choose.setObjectName("chooseFile")
        self._choose.clicked.connect(self.choose_wanted)
        layout.addWidget(self._choose)
        self.show_file("", "")

    def show_file(self, title: str, detail: str) -> None:
        """Show what was dropped; an empty title invites to drop."""
        is_filled = bool(title)
        if is_filled:
            self._icon.show_icon("file-box", "accent")
        else:
            self._icon.show_icon("upload", "dim")
        self._title.setText(
            title or self.tr("Drop a model (GGUF), a log, a benchmark or an evidence file here")
        )
        self._detail.setText(
            detail or self.tr("Several files make one case. Nothing leaves this computer.")
        )
        for i in range(self._links.count()):
            item = self._links.itemAt(i)
            widget = item.widget() if item else None
            if widget is not None:
                widget.setVisible(is_filled)
