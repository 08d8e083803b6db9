"""Colours, spacing and the one style sheet, from one table of tokens for light and dark."""

from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QBrush, QColor, QFont, QFontDatabase, QPalette
from PySide6.QtWidgets import QApplication, QWidget

XS, S, M, L, XL, XXL = 4, 8, 12, 16, 24, 28
CARD_RADIUS, BUTTON_RADIUS, BAR_RADIUS = 10, 7, 4
NAV_WIDTH = 196

SYSTEM, LIGHT_NAME, DARK_NAME = "system", "light", "dark"


@dataclass(frozen=True, slots=True)
class Tokens:
    """The colours by meaning; contrast and colour-blind distance were measured for both sets."""

    window: str
    card: str
    raised: str
    line: str
    text: str
    dim: str
    accent: str
    on_accent: str
    error: str
    warning: str
    good: str
    device: str  # weights on a device
    host: str  # weights in system memory, always hatched too
    kv: str
    compute: str
    other: str  # memory of other programs
    free: str


DARK = Tokens(
    window="#17191d", card="#1f2227", raised="#282c32", line="#373c44", text="#e8eaed",
    dim="#a3aab5", accent="#6ea8ff", on_accent="#0d1117", error="#ff7a6b", warning="#f2b53a",
    good="#2fcf93", device="#a9d8f8", host="#f2953a", kv="#2fcf93", compute="#b558d6",
    other="#6b727d", free="#3a3f47",
)  # fmt: skip
LIGHT = Tokens(
    window="#f6f7f9", card="#ffffff", raised="#eef0f3", line="#d5d9df", text="#1b1f24",
    dim="#5a6270", accent="#1f63d6", on_accent="#ffffff", error="#c22f1f", warning="#8a5a00",
    good="#0b7a54", device="#125078", host="#96540a", kv="#12a070", compute="#c257d6",
    other="#8b93a0", free="#e3e6ea",
)  # fmt: skip


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
    app.setStyleSheet(_style_sheet(tokens))


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


def _style_sheet(t: Tokens) -> str:
    return f"""
    QWidget {{ font-size: 13px; }}
    QMainWindow, #page, #scroll, #scrollBody {{ background: {t.window}; }}
    QLabel {{ background: transparent; }}
    QFrame#navPanel {{ background: {t.card}; border: none; border-right: 1px solid {t.line}; }}
    #productName {{ font-size: 18px; font-weight: 600; }}
    #title {{ font-size: 22px; font-weight: 600; }}
    #caption, #dim {{ color: {t.dim}; }}
    #caption {{ font-size: 11px; }}
    #cardTitle {{ font-weight: 600; }}
    #errorText {{ color: {t.error}; }}
    #warningText {{ color: {t.warning}; }}
    #goodText {{ color: {t.good}; }}
    QFrame#card {{ background: {t.card}; border: 1px solid {t.line};
        border-radius: {CARD_RADIUS}px; }}
    QFrame#dropZone {{ background: {t.card}; border: 2px dashed {t.line};
        border-radius: {CARD_RADIUS}px; }}
    QFrame#dropZone[over="true"] {{ border-color: {t.accent}; background: {t.raised}; }}
    QFrame#dropZone:focus {{ border-color: {t.accent}; }}
    QPushButton, QToolButton {{ background: {t.raised}; border: 1px solid {t.line};
        border-radius: {BUTTON_RADIUS}px; padding: 6px 12px; color: {t.text}; }}
    QPushButton:hover, QToolButton:hover {{ border-color: {t.dim}; }}
    QPushButton:pressed, QToolButton:pressed {{ background: {t.line}; }}
    QPushButton:focus, QToolButton:focus {{ border: 2px solid {t.accent}; padding: 5px 11px; }}
    QPushButton:disabled, QToolButton:disabled {{ color: {t.dim}; background: {t.window}; }}
    QPushButton[primary="true"] {{ background: {t.accent}; border-color: {t.accent};
        color: {t.on_accent}; font-weight: 600; }}
    QPushButton[primary="true"]:focus {{ border: 2px solid {t.text}; }}
    QPushButton[primary="true"]:disabled {{ background: {t.raised}; border-color: {t.line};
        color: {t.dim}; }}
    QPushButton#link {{ background: transparent; border: none; color: {t.accent};
        padding: 2px 0; text-align: left; }}
    QPushButton#link:focus {{ text-decoration: underline; }}
    QLineEdit, QPlainTextEdit {{ background: {t.window};
        border: 1px solid {t.line}; border-radius: {BUTTON_RADIUS}px; padding: 4px 8px;
        selection-background-color: {t.accent}; selection-color: {t.on_accent}; }}
    QLineEdit:focus, QPlainTextEdit:focus {{ border: 2px solid {t.accent}; padding: 3px 7px; }}
    QComboBox, QSpinBox, QDoubleSpinBox {{ min-height: 24px; }}
    QToolBar QPushButton {{ padding: 4px 12px; }}
    QToolBar QPushButton:focus {{ padding: 3px 11px; }}
    QCheckBox:focus {{ color: {t.accent}; }}
    QToolBar {{ background: {t.card}; border: none; border-bottom: 1px solid {t.line};
        spacing: {S}px; padding: 2px {XL}px 2px {L}px; }}
    QStatusBar {{ background: {t.card}; border-top: 1px solid {t.line}; color: {t.dim}; }}
    QStatusBar::item {{ border: none; }}
    QAbstractItemView {{ background: {t.card}; border: none; outline: none;
        alternate-background-color: {t.window}; }}
    QAbstractItemView::item {{ padding: 4px 8px; }}
    QAbstractItemView::item:selected {{ background: {t.accent}; color: {t.on_accent}; }}
    QTableView {{ gridline-color: {t.line}; }}
    QTableView:focus, QListView:focus {{ border: 2px solid {t.accent}; }}
    QHeaderView {{ background: {t.card}; }}
    QHeaderView::section {{ background: {t.card}; color: {t.dim}; border: none;
        border-bottom: 1px solid {t.line}; padding: 6px 8px; }}
    QTableCornerButton::section {{ background: {t.card}; border: none; }}
    QScrollArea {{ border: none; background: transparent; }}
    QScrollBar:vertical {{ background: transparent; width: 12px; margin: 0; }}
    QScrollBar:horizontal {{ background: transparent; height: 12px; margin: 0; }}
    QScrollBar::handle {{ background: {t.line}; border-radius: 4px; min-height: 32px;
        min-width: 32px; margin: 2px; }}
    QScrollBar::handle:hover {{ background: {t.dim}; }}
    QScrollBar::add-line, QScrollBar::sub-line {{ width: 0; height: 0; }}
    QScrollBar::add-page, QScrollBar::sub-page {{ background: transparent; }}
    QProgressBar {{ background: {t.raised}; border: none; border-radius: {BAR_RADIUS}px;
        height: 8px; text-align: center; }}
    QProgressBar::chunk {{ background: {t.accent}; border-radius: {BAR_RADIUS}px; }}
    QSlider::groove:horizontal {{ height: 6px; background: {t.line}; border-radius: 3px; }}
    QSlider::sub-page:horizontal {{ background: {t.accent}; border-radius: 3px; }}
    QSlider::handle:horizontal {{ width: 14px; height: 14px; margin: -7px 0;
        border-radius: 10px; background: {t.text}; border: 3px solid {t.card}; }}
    QSlider::handle:horizontal:focus {{ border: 3px solid {t.accent}; }}
    QToolTip {{ background: {t.raised}; color: {t.text}; border: 1px solid {t.line};
        padding: 4px; }}
    QMenu {{ background: {t.card}; border: 1px solid {t.line}; }}
    QMenu::item {{ padding: 6px 24px; }}
    QMenu::item:selected {{ background: {t.accent}; color: {t.on_accent}; }}
    QSplitter::handle, QAbstractScrollArea::corner {{ background: transparent; }}
    """
