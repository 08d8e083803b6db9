"""The Logs tab: rows by level and by pattern, copying without details, logs on this computer."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLineEdit, QMenu, QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from app.report.redact import Person
from app.runtimes.log_places import JOURNAL, FoundLog, FoundLogs
from app.ui.tabs.logs_tab import LogsTab
from app.ui.widgets.log_view import LogView
from app.work import private_text
from app.work.session import Session
from tests.ui.log_driver import PARTIAL, child, open_log, show_rows, view_of

ERRORS = PARTIAL.with_name("b11434-load-error-truncated-data-lv4.log")
CTRL_SHIFT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def tab(logs_tab: LogsTab) -> LogsTab:
    return logs_tab


@pytest.fixture
def view(tab: LogsTab) -> LogView:
    return view_of(tab)


def search(tab: LogsTab, qtbot: QtBot, text: str) -> None:
    field = child(tab, QLineEdit, "logSearch")
    field.clear()
    qtbot.keyClicks(field, text)
    qtbot.keyClick(field, Qt.Key.Key_Return)


def test_shows_the_lines_of_a_level(
    tab: LogsTab, session: Session, view: LogView, qtbot: QtBot
) -> None:
    open_log(tab, session, qtbot, ERRORS)
    n_lines = view.n_rows
    show_rows(tab, "Errors")
    qtbot.waitUntil(lambda: view.n_rows < n_lines)
    errors = view.n_rows
    assert all(" E " in text for text in view.visible_texts())
    show_rows(tab, "Warnings and errors")
    qtbot.waitUntil(lambda: view.n_rows > errors)
    assert view.n_rows < n_lines
    show_rows(tab, "All lines")
    assert view.n_rows == n_lines


def test_shows_only_the_lines_found_and_follows_the_search(
    tab: LogsTab, session: Session, view: LogView, qtbot: QtBot
) -> None:
    open_log(tab, session, qtbot)
    search(tab, qtbot, "kv buffer")
    qtbot.waitUntil(lambda: len(view.found_lines) == 4)
    show_rows(tab, "Lines found")
    assert view.n_rows == 4
    search(tab, qtbot, "offload")
    qtbot.waitUntil(lambda: view.n_rows == 3)
    assert all("offload" in text for text in view.visible_texts())


def test_searches_by_pattern_when_asked(
    tab: LogsTab, session: Session, view: LogView, qtbot: QtBot
) -> None:
    open_log(tab, session, qtbot)
    child(tab, QToolButton, "logRegex").setChecked(True)
    search(tab, qtbot, r"(model|KV) buffer size = +\d+")
    qtbot.waitUntil(lambda: len(view.found_lines) == 7)
    child(tab, QToolButton, "logRegex").setChecked(False)
    qtbot.waitUntil(lambda: len(view.found_lines) == 0)


def test_bad_pattern_says_so_beside_the_field(
    tab: LogsTab, session: Session, view: LogView, qtbot: QtBot
) -> None:
    open_log(tab, session, qtbot)
    child(tab, QToolButton, "logRegex").setChecked(True)
    search(tab, qtbot, "offloaded (")
    count = tab._pane.find_bar.count
    qtbot.waitUntil(lambda: count.text().startswith("no valid pattern: "))
    assert "at character" in count.text()
    assert "at character" in count.toolTip()
    search(tab, qtbot, "offloaded [0-9]")
    qtbot.waitUntil(lambda: len(view.found_lines) == 1)
    assert count.toolTip() == ""


def test_copies_lines_without_personal_details(
    tab: LogsTab, session: Session, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = view_of(tab)
    person = Person(home="/home/somebody", user="somebody", host="")
    monkeypatch.setattr(private_text, "this_person", lambda: person)
    path = tmp_path / "run.log"
    path.write_text("srv load_model: loading model '/home/somebody/m.gguf'\nfine\n")
    open_log(tab, session, qtbot, path)
    view.setFocus()
    view.select_all()
    with qtbot.waitSignal(session.message) as said:
        qtbot.keyClick(view, Qt.Key.Key_C, CTRL_SHIFT)
    text = QGuiApplication.clipboard().text()
    assert "somebody" not in text
    assert text.endswith("m.gguf'\nfine\n")
    assert said.args is not None
    assert said.args[0].startswith("Copied 2 lines; taken out: 1 ")


# a menu that pops up asks the offscreen platform for more than it has
no_platform_warnings = pytest.mark.qt_log_ignore("This plugin does not support", extend=True)


@no_platform_warnings
def test_offers_the_logs_on_this_computer_by_name(
    tab: LogsTab, session: Session, view: LogView, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = FoundLogs((FoundLog(str(PARTIAL), "Ollama", 2048),), (JOURNAL,))
    monkeypatch.setattr("app.ui.widgets.log_menu.look_for_logs", lambda _cancel, _progress: found)
    menu = child(tab, QMenu, "logsHereMenu")
    with qtbot.waitSignal(menu.aboutToShow):
        child(tab, QPushButton, "logsHereButton").click()
    first, second = menu.actions()
    assert first.text() == f"Ollama: {PARTIAL.name} (2.0 KiB)"
    menu.close()
    second.trigger()
    assert QGuiApplication.clipboard().text() == JOURNAL
    first.trigger()
    qtbot.waitUntil(lambda: session.log_path == str(PARTIAL) and session.jobs.running() == 0)
    assert view.n_rows == 225


@no_platform_warnings
def test_says_so_when_there_are_no_logs(
    tab: LogsTab, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "app.ui.widgets.log_menu.look_for_logs", lambda _cancel, _progress: FoundLogs(())
    )
    menu = child(tab, QMenu, "logsHereMenu")
    with qtbot.waitSignal(menu.aboutToShow):
        child(tab, QPushButton, "logsHereButton").click()
    (only,) = menu.actions()
    assert not only.isEnabled()
    menu.close()
