"""Draws a row of the evidence list: shape, what the line says, its number and its text."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.ui import theme
from app.ui.models import log_model
from app.ui.widgets import log_marks

_HEIGHT, _SHAPE = 44, 10


class EvidenceDelegate(QStyledItemDelegate):
    """Two lines a row: the meaning in words, below it the line itself, cut to fit."""

    def sizeHint(
        self, _option: QStyleOptionViewItem, _index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        """Give all rows one height."""
        return QSize(120, _HEIGHT)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Draw one row."""
        tokens = theme.tokens_for(option.widget)
        rect = option.rect
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.save()
        painter.fillRect(rect, QColor(tokens.raised if is_selected else tokens.card))
        if is_selected:
            edge = QRect(rect.left(), rect.top(), 3, rect.height())
            painter.fillRect(edge, QColor(tokens.accent))
        mark = index.data(log_model.MARK)
        shape = QRectF(rect.left() + theme.M, rect.top() + 8, _SHAPE, _SHAPE)
        log_marks.draw(painter, mark, shape, log_marks.colour(mark, tokens))
        left = rect.left() + theme.M + _SHAPE + theme.S
        text = QRect(left, rect.top() + 4, rect.right() - left - theme.S, _HEIGHT // 2 - 4)
        number = f"{index.data(log_model.LINE):,}"
        font = painter.font()
        font.setPixelSize(11)
        painter.setFont(font)
        painter.setPen(QColor(tokens.dim))
        painter.drawText(text, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, number)
        room = text.width() - painter.fontMetrics().horizontalAdvance(number) - theme.S
        font.setPixelSize(13)
        painter.setFont(font)
        is_quiet = mark in (log_marks.Mark.NOTE, log_marks.Mark.HARMLESS)
        painter.setPen(QColor(tokens.dim if is_quiet else tokens.text))
        _draw(painter, text, index.data(), room)
        fixed = theme.fixed_font()
        fixed.setPixelSize(11)
        painter.setFont(fixed)
        painter.setPen(QColor(tokens.dim))
        _draw(painter, text.translated(0, _HEIGHT // 2 - 5), index.data(log_model.TEXT), 0)
        painter.restore()


def _draw(painter: QPainter, rect: QRect, text: str, width: int) -> None:
    width = width or rect.width()
    shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, width)
    painter.drawText(rect, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, shown)
