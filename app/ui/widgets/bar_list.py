"""Memory bars under each other, each with its name and headline."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.ui import theme
from app.ui.widgets.byte_bar import ByteBar, NamedBar


class BarList(QWidget):
    """One memory bar per device and one for the system memory."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(theme.M)
        self._rows: list[tuple[QLabel, QLabel, ByteBar]] = []

    def show_bars(self, bars: tuple[NamedBar, ...]) -> None:
        """Show other bars; rows are made once and used again."""
        while len(self._rows) < len(bars):
            self._rows.append(self._add_row(len(self._rows)))
        for i, (title, headline, bar) in enumerate(self._rows):
            is_used = i < len(bars)
            for widget in (title, headline, bar):
                widget.setVisible(is_used)
            if not is_used:
                continue
            title.setText(bars[i].title)
            headline.setText(bars[i].headline)
            headline.setObjectName("errorText" if bars[i].is_over else "dim")
            headline.style().polish(headline)
            bar.setAccessibleName(bars[i].title)
            bar.show_bar(bars[i].bar)

    def _add_row(self, index: int) -> tuple[QLabel, QLabel, ByteBar]:
        head = QHBoxLayout()
        title, headline = QLabel(), QLabel()
        title.setObjectName("cardTitle")
        headline.setAlignment(Qt.AlignmentFlag.AlignRight)
        head.addWidget(title)
        head.addWidget(headline, 1)
        bar = ByteBar("")
        bar.setProperty("row", index)
        self._layout.addLayout(head)
        self._layout.addWidget(bar)
        return title, headline, bar
