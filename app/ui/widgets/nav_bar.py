"""The navigation: a real tab bar on the left, its entries horizontal with icon and text."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QLabel, QTabBar, QVBoxLayout, QWidget

from app import product
from app.ui import icons, theme

_ITEM, _TOP, _ICON = 44, 64, 18


class NavBar(QTabBar):
    """Keeps a tab bar's roles and keys; draws the entries itself."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._icons: list[str] = []
        self.setObjectName("navBar")
        self.setShape(QTabBar.Shape.RoundedWest)
        self.setDrawBase(False)
        self.setExpanding(False)
        self.setUsesScrollButtons(False)
        self.setElideMode(Qt.TextElideMode.ElideNone)
        self.setFixedWidth(theme.NAV_WIDTH)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(self.tr("Tabs"))

    def add(self, title: str, icon: str) -> None:
        """Add an entry."""
        self._icons.append(icon)
        self.addTab(title)

    def tabSizeHint(self, _index: int) -> QSize:
        """Give each entry the bar's width, as text runs horizontally."""
        return QSize(theme.NAV_WIDTH, _ITEM)

    def minimumTabSizeHint(self, index: int) -> QSize:
        """Do not let entries shrink."""
        return self.tabSizeHint(index)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the entries."""
        tokens = theme.tokens_for(self)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for i in range(self.count()):
            self._draw_entry(painter, i, tokens)
        painter.end()

    def _draw_entry(self, painter: QPainter, index: int, tokens: theme.Tokens) -> None:
        rect = QRectF(self.tabRect(index)).adjusted(theme.M, 2, -theme.M, -2)
        is_current = index == self.currentIndex()
        if is_current:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(tokens.raised))
            painter.drawRoundedRect(rect, theme.BUTTON_RADIUS, theme.BUTTON_RADIUS)
        if is_current and self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(tokens.accent), 2))
            painter.drawRoundedRect(
                rect.adjusted(1, 1, -1, -1), theme.BUTTON_RADIUS, theme.BUTTON_RADIUS
            )
        colour = tokens.text if is_current else tokens.dim
        picture = icons.pixmap(self._icons[index], colour, _ICON, self.devicePixelRatioF())
        left = int(rect.left()) + theme.M
        painter.drawPixmap(left, int(rect.center().y() - _ICON / 2), picture)
        font = self.font()
        font.setBold(is_current)
        painter.setFont(font)
        painter.setPen(QColor(colour))
        painter.drawText(
            rect.adjusted(theme.M + _ICON + theme.S, 0, 0, 0),
            Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft,
            self.tabText(index),
        )


class NavPanel(QFrame):
    """The left side: the product's name above the navigation."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("navPanel")
        self.bar = NavBar()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        name = QLabel(product.NAME)
        name.setObjectName("productName")
        name.setContentsMargins(theme.XL, 0, 0, 0)
        name.setFixedHeight(_TOP)
        layout.addWidget(name)
        layout.addWidget(self.bar)
        layout.addStretch(1)
