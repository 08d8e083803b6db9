"""The layer map: a cell per block, the embedding before and the output layer after them."""

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QHelpEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.ui import theme

_CELL, _LABEL, _GAP, _WIDE = 44, 20, 2.0, 14.0


@dataclass(frozen=True, slots=True)
class Cell:
    """One layer; host_share is the part of its weights in system memory."""

    label: str  # under the cell, "" = none
    host_share: float
    tip: str


class LayerMap(QWidget):
    """Draws the cells; clicking a block asks for the n_gpu_layers that reaches it."""

    layer_clicked = Signal(int)  # index of the cell, the embedding is 0

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._cells: tuple[Cell, ...] = ()
        self._tensors: tuple[str, ...] = ()
        self.setObjectName("layerMap")
        self.setAccessibleName(self.tr("Layer map"))
        self.setMinimumHeight(_CELL + _LABEL)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_cells(self, cells: tuple[Cell, ...], sentence: str) -> None:
        """Show other layers; the sentence is read aloud."""
        self._cells = cells
        self.setAccessibleDescription(sentence)
        self.update()

    def show_tensors(self, texts: tuple[str, ...]) -> None:
        """Take what each cell's tip tells besides, which no setting changes."""
        self._tensors = texts

    def sizeHint(self) -> QSize:
        return QSize(480, _CELL + _LABEL)

    def event(self, event: QEvent) -> bool:
        """Answer a tooltip with the layer's bytes."""
        if event.type() is QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            index = self._index_at(event.pos().x())
            text = "" if index is None else self.tip(index)
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)

    def tip(self, index: int) -> str:
        """Return what a cell says on hover: its bytes, and its tensors."""
        tensors = self._tensors[index] if index < len(self._tensors) else ""
        return f"{self._cells[index].tip}\n{tensors}".strip()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Ask for the layer under the pointer."""
        index = self._index_at(int(event.position().x()))
        if index is not None and event.button() is Qt.MouseButton.LeftButton:
            self.layer_clicked.emit(index)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw each cell: device colour from the top, hatched system memory below."""
        tokens = theme.tokens_for(self)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = self.font()
        font.setPixelSize(11)
        painter.setFont(font)
        for cell, rect in zip(self._cells, self._rects(), strict=True):
            host_height = rect.height() * cell.host_share
            top = QRectF(rect.left(), rect.top(), rect.width(), rect.height() - host_height)
            bottom = QRectF(rect.left(), top.bottom(), rect.width(), host_height)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.fillRect(top, QColor(tokens.device))
            if host_height:
                fill, lines = theme.hatch(tokens.host, tokens.card)
                painter.fillRect(bottom, fill)
                painter.fillRect(bottom, lines)
            if cell.label:
                painter.setPen(QColor(tokens.dim))
                box = QRectF(rect.center().x() - 40, _CELL + 2, 80, _LABEL)
                inside = self._inside(box)
                side = Qt.AlignmentFlag.AlignHCenter
                if inside.left() > box.left():
                    side = Qt.AlignmentFlag.AlignLeft
                elif inside.left() < box.left():
                    side = Qt.AlignmentFlag.AlignRight
                painter.drawText(inside, side | Qt.AlignmentFlag.AlignVCenter, cell.label)
        painter.end()

    def _rects(self) -> list[QRectF]:
        """Return the cells' places; embedding and output stand a little apart."""
        n = len(self._cells)
        if not n:
            return []
        apart = 2 * _WIDE if n > 2 else 0.0
        width = max((self.width() - apart - _GAP * (n - 1)) / n, 1.0)
        rects, x = [], 0.0
        for i in range(n):
            if n > 2 and i in (1, n - 1):
                x += _WIDE
            rects.append(QRectF(x, 0, width, _CELL))
            x += width + _GAP
        return rects

    def _inside(self, box: QRectF) -> QRectF:
        if box.left() < 0:
            return box.translated(-box.left(), 0) if box.width() < self.width() else box
        over = box.right() - self.width()
        return box.translated(-over, 0) if over > 0 else box

    def _index_at(self, x: int) -> int | None:
        for i, rect in enumerate(self._rects()):
            if rect.left() - _GAP <= x <= rect.right() + _GAP:
                return i
        return None
