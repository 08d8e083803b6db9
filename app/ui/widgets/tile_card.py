"""A card of figures: what part it is, memory bars, rows of name and value, notes."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QSizePolicy, QWidget

from app.ui import theme
from app.ui.models.device_model import Line, Tile
from app.ui.widgets.bar_list import BarList
from app.ui.widgets.card import Card, dim_label


class TileCard(Card):
    """Shows one Tile; made anew when the machine changed."""

    def __init__(self, tile: Tile, parent: QWidget | None = None) -> None:
        super().__init__("", parent)
        self.setProperty("tile", tile.name)
        self.setAccessibleName(f"{tile.part}: {tile.title}")
        part, title = QLabel(tile.part), QLabel(tile.title)
        part.setObjectName("caption")
        title.setObjectName("cardTitle")
        title.setWordWrap(True)
        self.body.addWidget(part)
        self.body.addWidget(title)
        if tile.text:
            text = QLabel(tile.text)
            text.setWordWrap(True)
            self.body.addWidget(text)
        if tile.bars:
            bars = BarList()
            bars.show_bars(tile.bars)
            self.body.addWidget(bars)
        if tile.lines:
            self.body.addLayout(_line_grid(tile.lines))
        for note in tile.notes:
            label = QLabel(note)
            label.setObjectName("warningText")
            label.setWordWrap(True)
            self.body.addWidget(label)
        self.body.addStretch(1)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)


def _line_grid(lines: tuple[Line, ...]) -> QGridLayout:
    """Return names and values in two columns; hovering shows the source."""
    grid = QGridLayout()
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(theme.L)
    grid.setVerticalSpacing(theme.XS)
    grid.setColumnStretch(1, 1)
    for row, line in enumerate(lines):
        name = dim_label(line.label, wrap=False)
        value = dim_label(line.value) if line.is_missing else QLabel(line.value)
        value.setWordWrap(True)
        value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        for label in (name, value):
            label.setAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
            label.setToolTip(line.source)
        grid.addWidget(name, row, 0)
        grid.addWidget(value, row, 1)
    return grid
