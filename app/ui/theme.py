"""Colours, spacing and the one style sheet, from one table of tokens for light and dark."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontDatabase, QPalette
from PySide6.QtWidgets import QApplication, QWidget

from app.ui.style_sheet import style_sheet
from app.ui.tokens import (
    BAR_RADIUS,
    BUTTON_RADIUS,
    CARD_RADIUS,
    DARK,
    DARK_NAME,
    LIGHT,
    LIGHT_NAME,
    NAV_WIDTH,
    SYSTEM,
    XL,
    XS,
    XXL,
    L,
    M,
    S,
    Tokens,
)

__all__ = [
    "BAR_RADIUS", "BUTTON_RADIUS", "CARD_RADIUS", "DARK", "DARK_NAME", "LIGHT", "LIGHT_NAME",
    "NAV_WIDTH", "SYSTEM", "XL", "XS", "XXL", "L", "M", "S", "Tokens",
    "apply", "fixed_font", "hatch", "number_font", "refresh", "tokens_for",
]  # fmt: skip


def apply(app: QApplication, choice: str) -> None:
    """Show the application in light, dark or the system's colours."""
    scheme = {LIGHT_NAME: Qt.ColorScheme.Light, DARK_NAME: Qt.ColorScheme.Dark}.get(
        choice, Qt.ColorScheme.Unknown
    )
    hints = app.styleHints()
    if hints.colorScheme() != scheme:
        hints.setColorScheme(scheme)
    refresh(app, choice)


def refresh(app: QApplication, choice: str) -> None:
    """Set palette and style sheet for the scheme that is now in force."""
    is_dark = choice == DARK_NAME or (
        choice == SYSTEM and app.styleHints().colorScheme() is Qt.ColorScheme.Dark
    )
    tokens = DARK if is_dark else LIGHT
    app.setPalette(_palette(tokens))
    app.setStyleSheet(style_sheet(tokens))


def tokens_for(widget: QWidget) -> Tokens:
    """Return the tokens that match a widget's palette; painted widgets ask in each paint."""
    return DARK if widget.palette().color(QPalette.ColorRole.Window).lightness() < 128 else LIGHT


def hatch(colour: str, background: str) -> tuple[QBrush, QBrush]:
    """Return the fill and the hatch that mark system memory without relying on colour."""
    return QBrush(QColor(colour)), QBrush(QColor(background), Qt.BrushStyle.BDiagPattern)


def fixed_font() -> QFont:
    """Return the system's font for logs and commands."""
    return QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)


def number_font(base: QFont, pixels: int) -> QFont:
    """Return a semibold font with digits of one width, so that numbers do not jitter."""
    font = QFont(base)
    font.setPixelSize(pixels)
    font.setWeight(QFont.Weight.DemiBold)
    font.setFeature(QFont.Tag("tnum"), 1)
    return font


def _palette(t: Tokens) -> QPalette:
    palette = QPalette()
    role = QPalette.ColorRole
    for which, colour in (
        (role.Window, t.window), (role.WindowText, t.text), (role.Base, t.card),
        (role.AlternateBase, t.raised), (role.Text, t.text), (role.Button, t.raised),
        (role.ButtonText, t.text), (role.ToolTipBase, t.raised), (role.ToolTipText, t.text),
        (role.Highlight, t.accent), (role.HighlightedText, t.on_accent), (role.Link, t.accent),
        (role.PlaceholderText, t.dim), (role.BrightText, t.error), (role.Mid, t.line),
        (role.Dark, t.line), (role.Light, t.raised), (role.Accent, t.accent),
    ):  # fmt: skip
        palette.setColor(which, QColor(colour))
    for which in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, which, QColor(t.dim))
    return palette
