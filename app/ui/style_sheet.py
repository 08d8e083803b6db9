"""The one style sheet of the application, generated from the theme's tokens."""

from app.ui.tokens import BAR_RADIUS, BUTTON_RADIUS, CARD_RADIUS, XL, L, S, Tokens


def style_sheet(t: Tokens) -> str:
    """Return the whole sheet for one set of colours."""
    return _surfaces(t) + _controls(t) + _views(t)


def _surfaces(t: Tokens) -> str:
    return f"""
    QWidget {{ font-size: 13px; }}
    QMainWindow, #page, #scroll, #scrollBody {{ background: {t.window}; }}
    QLabel {{ background: transparent; }}
    QFrame#navPanel {{ background: {t.card}; border: none; border-right: 1px solid {t.line}; }}
    #productName {{ font-size: 18px; font-weight: 600; }}
    #title {{ font-size: 22px; font-weight: 600; }}
    #caption, #dim, #bestText, #curveNote {{ color: {t.dim}; }}
    #caption {{ font-size: 11px; }}
    #cardTitle {{ font-weight: 600; }}
    #errorText {{ color: {t.error}; }}
    #warningText {{ color: {t.warning}; }}
    #goodText {{ color: {t.good}; }}
    QFrame#card {{ background: {t.card}; border: 1px solid {t.line};
        border-radius: {CARD_RADIUS}px; }}
    QFrame#dropZone {{ background: {t.card}; border: 2px dashed {t.line};
        border-radius: {CARD_RADIUS}px; }}
    QFrame#dropZone:focus {{ border-color: {t.accent}; }}
    """


def _controls(t: Tokens) -> str:
    return f"""
    QPushButton, QToolButton {{ background: {t.raised}; border: 1px solid {t.line};
        border-radius: {BUTTON_RADIUS}px; padding: 6px 12px; color: {t.text}; }}
    QPushButton:hover, QToolButton:hover {{ border-color: {t.dim}; }}
    QPushButton:pressed, QToolButton:pressed {{ background: {t.line}; }}
    QToolButton:checked {{ color: {t.accent}; border-color: {t.accent}; font-weight: 600; }}
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
    QComboBox QAbstractItemView {{ border: 1px solid {t.dim}; }}
    QToolBar QPushButton {{ padding: 4px 12px; }}
    QToolBar QPushButton:focus {{ padding: 3px 11px; }}
    QCheckBox:focus {{ color: {t.accent}; }}
    """


def _views(t: Tokens) -> str:
    return f"""
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
