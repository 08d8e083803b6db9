"""The frame of every tab: a title line, a scrolling body, and the empty state."""

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.ui import theme
from app.ui.widgets.short_label import ShortLabel


class Page(QWidget):
    """A tab's page; `body` scrolls, `set_empty` shows what to do instead of it."""

    action = Signal()  # the empty state's button
    tab_wanted = Signal(str)  # the id of another tab to show
    open_wanted = Signal()  # the file dialog
    export_wanted = Signal()  # the report
    line_wanted = Signal(int)  # a line of the log, from 1

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        outer = QVBoxLayout(self)
        outer.setContentsMargins(theme.XXL, theme.L, theme.XXL, 0)
        outer.setSpacing(theme.M)
        self.head = QHBoxLayout()  # tabs add their buttons behind the subtitle
        heading = QLabel(title)
        heading.setObjectName("title")
        self.subtitle = ShortLabel()
        self.subtitle.setObjectName("dim")
        self.subtitle.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.head.addWidget(heading)
        self.head.addWidget(self.subtitle, 1)
        outer.addLayout(self.head)
        self._notice = QLabel()
        self._notice.setObjectName("warningText")
        self._notice.setWordWrap(True)
        self._notice.hide()
        outer.addWidget(self._notice)
        self._stack = QStackedWidget()
        outer.addWidget(self._stack, 1)
        self.content = _Content()
        self.content.setObjectName("scrollBody")
        self.body = QVBoxLayout(self.content)
        self.body.setContentsMargins(0, 0, theme.S, theme.L)
        self.body.setSpacing(theme.M)
        scroll = self._scroll = QScrollArea()
        scroll.setObjectName("scroll")
        scroll.setWidgetResizable(True)
        scroll.setWidget(self.content)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._stack.addWidget(scroll)
        self._stack.addWidget(self._make_empty())

    def set_empty(self, sentence: str, button: str = "", detail: str = "") -> None:
        """Show the empty state: one sentence, a detail, one button ("" = none)."""
        self._sentence.setText(sentence)
        self._detail.setText(detail)
        self._detail.setVisible(bool(detail))
        self._button.setText(button)
        self._button.setVisible(bool(button))
        self._stack.setCurrentIndex(1)

    def scroll_to(self, widget: QWidget) -> None:
        """Bring a widget of the body to the top, after the layout has settled."""

        def scroll() -> None:
            self.body.activate()
            self._scroll.verticalScrollBar().setValue(widget.y())

        QTimer.singleShot(0, self, scroll)

    def set_notice(self, text: str) -> None:
        """Show a warning under the title, "" = none."""
        self._notice.setText(text)
        self._notice.setVisible(bool(text))

    def set_filled(self) -> None:
        """Show the body."""
        self._stack.setCurrentIndex(0)

    def show_line(self, line: int) -> None:
        """Show a line of the log, from 1; only the Logs tab has lines."""

    def stop(self) -> None:
        """Stop what this tab has running; called before the window closes."""

    @property
    def is_empty_state(self) -> bool:
        """Tell whether the empty state is shown."""
        return self._stack.currentIndex() == 1

    def _make_empty(self) -> QWidget:
        frame = QFrame()
        frame.setObjectName("dropZone")
        layout = QVBoxLayout(frame)
        layout.setSpacing(theme.M)
        self._sentence = QLabel()
        self._sentence.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._sentence.setWordWrap(True)
        self._sentence.setStyleSheet("font-size: 17px; font-weight: 600;")
        self._detail = QLabel()
        self._detail.setObjectName("dim")
        self._detail.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._detail.setWordWrap(True)
        self._button = QPushButton()
        self._button.setObjectName("emptyAction")
        self._button.setProperty("primary", True)
        self._button.clicked.connect(self.action)
        layout.addStretch(1)
        layout.addWidget(self._sentence)
        layout.addWidget(self._detail)
        layout.addWidget(self._button, 0, Qt.AlignmentFlag.AlignCenter)
        layout.addStretch(1)
        return frame


class _Content(QWidget):
    """What scrolls; always as wide as its page, which has no horizontal scroll bar."""

    def minimumSizeHint(self) -> QSize:
        """Ask for no width: a row without room is cut, and not the whole page."""
        return QSize(0, super().minimumSizeHint().height())
