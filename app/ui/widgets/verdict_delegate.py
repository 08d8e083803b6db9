"""Draws a verdict as a coloured pill with its words; the colour never stands alone."""

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.core.fit_table import Verdict
from app.ui import theme
from app.ui.models.fit_model import VERDICT_ROLE

_ROLES = {
    Verdict.WHOLE: "good",
    Verdict.LAYERS: "warning",
    Verdict.HOST: "host",
    Verdict.NO: "error",
    Verdict.UNKNOWN: "dim",
}


class VerdictDelegate(QStyledItemDelegate):
    """Paints cells that carry a verdict; others as usual."""

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Draw the pill and the words."""
        verdict = index.data(VERDICT_ROLE)
        if not isinstance(verdict, Verdict):
            super().paint(painter, option, index)
            return
        tokens = theme.tokens_for(option.widget)
        colour = QColor(getattr(tokens, _ROLES[verdict]))
        fill = QColor(colour)
        fill.setAlpha(40)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        rect = QRectF(option.rect).adjusted(3, 3, -3, -3)
        painter.setBrush(fill)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.setPen(QColor(tokens.accent) if selected else Qt.PenStyle.NoPen)
        painter.drawRoundedRect(rect, theme.BAR_RADIUS, theme.BAR_RADIUS)
        painter.setPen(colour)
        painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, str(index.data()))
        painter.restore()

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        """Leave room around the pill."""
        size = super().sizeHint(option, index)
        return QSize(size.width() + theme.XS, max(size.height(), 32))
