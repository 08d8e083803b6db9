"""The Logs tab: open a log, jump, search, copy, and have its lines explained."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QGuiApplication
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QLineEdit,
    QListView,
    QPushButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.ui import theme
from app.ui.tabs.logs_tab import LogsTab
from app.ui.widgets.log_view import LogView
from app.ui.widgets.story_card import StoryCard
from app.work.session import Session
from tests.ui.log_driver import PARTIAL, child, open_log, show_rows, text_of, view_of

CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def tab(logs_tab: LogsTab) -> LogsTab:
    return logs_tab


@pytest.fixture
def view(tab: LogsTab) -> LogView:
    return view_of(tab)


def test_says_what_to_do_when_there_is_no_log(tab: LogsTab, qtbot: QtBot) -> None:
    assert tab.is_empty_state
    with qtbot.waitSignal(tab.open_wanted):
        child(tab, QPushButton, "emptyAction").click()


def test_shows_a_log_with_its_story_and_goes_to_the_telling_line(
    tab: LogsTab, session: Session, view: LogView, qtbot: QtBot
) -> None:
    open_log(tab, session, qtbot)
    assert view.n_rows == 225
    assert view.current_line == 147
    assert text_of(tab, "storyHeadline") == "Part of the weights is on Vulkan0"
    assert text_of(tab, "storyValue0") == "9 of 19"
    assert text_of(tab, "meaningTitle") == "Weights: 29.3 MiB in Vulkan0"
    assert "the memory of a device (GPU)" in text_of(tab, "meaningText")
    assert tab.subtitle.text() == f"{PARTIAL.name} · 225 lines · 17.3 KiB"
    evidence = child(tab, QListView, "evidenceList")
    assert evidence.currentIndex().data() == "Weights: 29.3 MiB in Vulkan0"


def test_steps_through_the_evidence_with_f8(
    tab: LogsTab, session: Session, view: LogView, qtbot: QtBot
) -> None:
    open_log(tab, session, qtbot)
    qtbot.keyClick(tab, Qt.Key.Key_F8)
    assert view.current_line == 148
    assert text_of(tab, "meaningTitle") == "Harmless"
    qtbot.keyClick(tab, Qt.Key.Key_F8, SHIFT)
    qtbot.keyClick(tab, Qt.Key.Key_F8, SHIFT)
    assert view.current_line == 146
    view.go_to_line(225)
    with qtbot.waitSignal(session.message) as said:
        qtbot.keyClick(tab, Qt.Key.Key_F8)
    assert said.args == ["There is no further line that matters"]
    assert view.current_line == 225


def test_goes_to_the_line_that_is_chosen_in_the_list(
    tab: LogsTab, session: Session, view: LogView, qtbot: QtBot
) -> None:
    open_log(tab, session, qtbot)
    evidence = child(tab, QListView, "evidenceList")
    evidence.setFocus()
    qtbot.keyClick(evidence, Qt.Key.Key_Home)
    assert view.current_line == 1
    assert "line 1" in view.accessibleDescription().lower()


def test_shows_the_line_of_a_figure(
    tab: LogsTab, session: Session, view: LogView, qtbot: QtBot
) -> None:
    open_log(tab, session, qtbot)
    show_rows(tab, "Marked lines")
    story = tab.findChild(StoryCard)
    assert story is not None
    story.line_wanted.emit(169)
    assert view.current_line == 169
    tab.show_line(12)  # no evidence: all lines are shown again
    assert view.current_line == 12
    assert child(tab, QComboBox, "logRows").currentText() == "All lines"


def test_explains_nothing_on_a_line_without_a_mark(
    tab: LogsTab, session: Session, view: LogView, qtbot: QtBot
) -> None:
    open_log(tab, session, qtbot)
    view.go_to_line(12)
    assert text_of(tab, "meaningTitle") == "This line is not marked"
    assert not child(tab, QListView, "evidenceList").currentIndex().isValid()


def test_shows_only_marked_lines_when_asked(
    tab: LogsTab, session: Session, view: LogView, qtbot: QtBot
) -> None:
    open_log(tab, session, qtbot)
    show_rows(tab, "Marked lines")
    model = child(tab, QListView, "evidenceList").model()
    assert view.n_rows == model.rowCount() < 100
    assert view.current_line == 147
    show_rows(tab, "All lines")
    assert view.n_rows == 225


def test_finds_text_from_the_cursor_on(
    tab: LogsTab, session: Session, view: LogView, qtbot: QtBot
) -> None:
    open_log(tab, session, qtbot)
    qtbot.keyClick(tab, Qt.Key.Key_F, CTRL)
    field = child(tab, QLineEdit, "logSearch")
    assert field.hasFocus()
    qtbot.keyClicks(field, "kv BUFFER")
    qtbot.waitUntil(lambda: view.current_line == 168)
    count = tab._pane.find_bar.count
    assert count.text() == "1 of 4"
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert (view.current_line, count.text()) == (169, "2 of 4")
    qtbot.keyClick(field, Qt.Key.Key_Return, SHIFT)
    qtbot.keyClick(field, Qt.Key.Key_Return, SHIFT)
    assert (view.current_line, count.text()) == (175, "4 of 4")  # round from the first
    qtbot.keyClick(tab, Qt.Key.Key_F3)
    assert view.current_line == 168
    view.go_to_line(1)
    assert count.text() == "4 lines"
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    assert view.hasFocus()
    qtbot.waitUntil(lambda: count.text() == "")


def test_says_that_a_text_is_not_in_the_log(tab: LogsTab, session: Session, qtbot: QtBot) -> None:
    open_log(tab, session, qtbot)
    field = child(tab, QLineEdit, "logSearch")
    qtbot.keyClicks(field, "nowhere")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: tab._pane.find_bar.count.text() == "0 lines")
    assert not child(tab, QWidget, "logFindNext").isEnabled()


def test_copies_lines_and_says_so(
    tab: LogsTab, session: Session, view: LogView, qtbot: QtBot
) -> None:
    open_log(tab, session, qtbot)
    view.setFocus()
    qtbot.keyClick(view, Qt.Key.Key_Down, SHIFT)
    with qtbot.waitSignal(session.message) as said:
        qtbot.keyClick(view, Qt.Key.Key_C, CTRL)
    assert said.args == ["Copied 2 lines"]
    copied = QGuiApplication.clipboard().text().splitlines()
    assert copied[0].endswith("Vulkan0 model buffer size =    29.34 MiB")
    assert len(copied) == 2


def test_names_every_widget_that_takes_the_focus(
    tab: LogsTab, session: Session, qtbot: QtBot
) -> None:
    open_log(tab, session, qtbot)
    nameless = []
    for widget in tab.findChildren(QWidget):
        if widget.focusPolicy() is Qt.FocusPolicy.NoFocus or not widget.isVisible():
            continue
        interface = QAccessible.queryAccessibleInterface(widget)
        if interface is not None and not interface.text(QAccessible.Text.Name):
            nameless.append(f"{type(widget).__name__} {widget.objectName()}")
    assert nameless == []


@pytest.mark.parametrize("choice", [theme.LIGHT_NAME, theme.DARK_NAME])
def test_follows_the_theme(
    tab: LogsTab, session: Session, qtbot: QtBot, qapp: QApplication, choice: str
) -> None:
    open_log(tab, session, qtbot)
    theme.apply(qapp, choice)
    tokens = theme.DARK if choice == theme.DARK_NAME else theme.LIGHT
    view = view_of(tab)
    image = view.viewport().grab().toImage()
    assert image.pixelColor(image.width() - 4, image.height() - 12).name() == tokens.card
