"""Where the Logs tab gets its text: pasted, growing, rotated, gone, huge, or elsewhere."""

import time
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QComboBox, QLineEdit, QListView, QPushButton
from pytestqt.qtbot import QtBot

from app.core import codec
from app.core.evidence import Evidence
from app.gguf.sample import write_sample
from app.logs.scan import scan_file
from app.ui.main_window import MainWindow
from app.ui.tabs.logs_tab import LogsTab
from app.ui.widgets.log_view import LogView
from app.work.detection import Detection
from app.work.session import Session
from tests.ui.log_driver import PARTIAL, child, open_log, text_of, view_of

CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def tab(logs_tab: LogsTab) -> LogsTab:
    return logs_tab


@pytest.fixture
def view(tab: LogsTab) -> LogView:
    return view_of(tab)


def test_shows_pasted_text_and_deletes_it_at_the_end(
    tab: LogsTab, session: Session, view: LogView, qtbot: QtBot, user_folders: Path
) -> None:
    QGuiApplication.clipboard().setText("load_tensors: offloaded 5/19 layers to GPU\nend\n")
    qtbot.keyClick(tab, Qt.Key.Key_V, CTRL)
    qtbot.waitUntil(lambda: view.n_rows == 2 and session.jobs.running() == 0)
    assert text_of(tab, "meaningTitle") == "Asked: 5 of 19 layers"
    pasted = list((user_folders / "cache").glob("pasted-*.log"))
    assert [str(path) for path in pasted] == [session.log_path]
    tab.stop()
    assert not pasted[0].exists()


def test_pastes_into_the_search_field_as_usual(
    tab: LogsTab, session: Session, qtbot: QtBot
) -> None:
    open_log(tab, session, qtbot)
    QGuiApplication.clipboard().setText("Vulkan0")
    field = child(tab, QLineEdit, "logSearch")
    field.setFocus()
    qtbot.keyClick(field, Qt.Key.Key_V, CTRL)
    assert field.text() == "Vulkan0"
    assert session.log_path == str(PARTIAL)


def test_opens_copied_files(tab: LogsTab, session: Session, view: LogView, qtbot: QtBot) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(PARTIAL))])
    QGuiApplication.clipboard().setMimeData(data)
    child(tab, QPushButton, "pasteButton").click()
    qtbot.waitUntil(lambda: session.log_path == str(PARTIAL) and session.jobs.running() == 0)
    assert view.n_rows == 225


def test_says_so_when_nothing_is_copied(tab: LogsTab, session: Session, qtbot: QtBot) -> None:
    QGuiApplication.clipboard().clear()
    with qtbot.waitSignal(session.message) as said:
        child(tab, QPushButton, "pasteButton").click()
    assert said.args == ["Nothing is copied: copy the log's text first"]
    assert tab.is_empty_state


def test_says_so_when_the_pasted_text_cannot_be_kept(
    tab: LogsTab, session: Session, qtbot: QtBot, user_folders: Path
) -> None:
    user_folders.mkdir(exist_ok=True)
    (user_folders / "cache").write_text("a file where the folder should be")
    QGuiApplication.clipboard().setText("a line")
    with qtbot.waitSignal(session.error) as said:
        child(tab, QPushButton, "pasteButton").click()
    assert said.args is not None
    assert said.args[0].title == "The pasted text could not be kept"


def test_follows_a_growing_file_and_stays_at_its_end(
    tab: LogsTab, session: Session, view: LogView, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "server.log"
    path.write_bytes(b"first\n" * 200)
    open_log(tab, session, qtbot, path)
    view.setFocus()
    qtbot.keyClick(view, Qt.Key.Key_End)
    with path.open("ab") as file:
        file.write(b"load_tensors: offloaded 5/19 layers to GPU\n")
    qtbot.waitUntil(lambda: view.n_rows == 201)
    assert view.visible_texts()[-1] == "load_tensors: offloaded 5/19 layers to GPU"
    model = child(tab, QListView, "evidenceList").model()
    qtbot.waitUntil(lambda: model.rowCount() == 1)
    assert view.current_line == 200  # the cursor stays where the user put it


def test_begins_anew_when_the_file_is_rotated(
    tab: LogsTab, session: Session, view: LogView, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "server.log"
    path.write_bytes(PARTIAL.read_bytes())
    open_log(tab, session, qtbot, path)
    path.rename(tmp_path / "server-1.log")
    path.write_bytes(b"new\nload_tensors: offloaded 5/19 layers to GPU\n")
    qtbot.waitUntil(lambda: view.n_rows == 2)
    model = child(tab, QListView, "evidenceList").model()
    qtbot.waitUntil(lambda: model.rowCount() == 1)
    assert view.visible_texts()[0] == "new"


def test_keeps_the_marked_lines_when_the_file_goes_away(
    tab: LogsTab, session: Session, view: LogView, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "server.log"
    path.write_bytes(PARTIAL.read_bytes())
    open_log(tab, session, qtbot, path)
    path.unlink()
    model = child(tab, QListView, "evidenceList").model()
    qtbot.waitUntil(lambda: view.n_rows == model.rowCount())
    assert "load_tensors: offloaded 9/19 layers to GPU" in view.visible_texts()
    assert tab._notice.text().startswith("server.log is not there any more.")


def test_does_not_look_at_the_file_while_it_is_hidden(tab: LogsTab) -> None:
    def states() -> list[bool]:
        found = []
        for is_visible in (True, False, True):
            tab.setVisible(is_visible)
            found.append(tab._follower.is_active)
        return found

    assert states() == [True, False, True]


def test_shows_what_another_persons_evidence_kept_of_a_log(
    tab: LogsTab, session: Session, view: LogView, qtbot: QtBot, tmp_path: Path
) -> None:
    theirs = tmp_path / "their-evidence.json"
    theirs.write_bytes(codec.dumps(Evidence(log=scan_file(PARTIAL))))
    session.open_paths([str(theirs)])
    qtbot.waitUntil(lambda: bool(session.read_only_path) and session.jobs.running() == 0)
    assert view.n_rows == child(tab, QListView, "evidenceList").model().rowCount()
    assert tab._notice.text().startswith("The log itself is not on this computer.")
    assert text_of(tab, "storyValue0") == "9 of 19"
    assert not child(tab, QComboBox, "logRows").isEnabled()
    session.return_to_own()
    assert tab.is_empty_state


def test_shows_a_line_that_is_wanted_before_the_log_is_read(
    session: Session, detection: Detection, qtbot: QtBot
) -> None:
    session.set_evidence(Evidence(log=scan_file(PARTIAL)), log_path=str(PARTIAL))
    late = LogsTab(session, detection)
    qtbot.addWidget(late)
    late.show_line(166)
    late.show()
    view = view_of(late)
    qtbot.waitUntil(lambda: view.current_line == 166 and session.jobs.running() == 0)
    assert text_of(late, "meaningTitle") == "Output: 4.0 MiB in Vulkan_Host"
    late.stop()


def test_keeps_the_text_when_reading_is_stopped_and_reads_again(
    tab: LogsTab, session: Session, view: LogView, qtbot: QtBot
) -> None:
    session.log_found.connect(tab._reading.cancel_wanted)
    session.open_paths([str(PARTIAL)])
    again = child(tab, QPushButton, "readingAgain")
    qtbot.waitUntil(again.isVisible)
    assert text_of(tab, "readingText").startswith("Reading was stopped")
    assert child(tab, QListView, "evidenceList").model().rowCount() == 0
    session.log_found.disconnect()
    session.log_found.connect(tab._on_log_found)
    again.click()
    qtbot.waitUntil(lambda: view.current_line == 147)
    qtbot.waitUntil(lambda: not again.isVisible())


def test_says_that_reading_was_stopped_when_another_file_is_opened_instead(
    tab: LogsTab, session: Session, qtbot: QtBot, tmp_path: Path
) -> None:
    model = tmp_path / "sample.gguf"
    write_sample(model)
    session.log_found.connect(lambda: session.open_paths([str(model)]))
    session.open_paths([str(PARTIAL)])
    qtbot.waitUntil(lambda: session.evidence.model is not None and session.jobs.running() == 0)
    assert child(tab, QPushButton, "readingAgain").isVisible()
    assert text_of(tab, "meaningTitle") == "The log is not read yet"
    tab._follower.look()  # it does not read on what was stopped
    assert session.jobs.running() == 0


def test_opens_200_000_lines_quickly_and_keeps_no_text(
    tab: LogsTab, session: Session, view: LogView, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "big.log"
    body = PARTIAL.read_bytes()
    filler = b"12.34.567.890 I srv  update_slots: all slots are idle\n"
    path.write_bytes(body + filler * 200_000 + b"load_tensors: offloaded 5/19 layers to GPU\n")
    before = time.monotonic()
    session.open_paths([str(path)])
    qtbot.waitUntil(lambda: bool(view.visible_texts()))
    assert time.monotonic() - before < 2  # 0.1 s on a quiet machine
    qtbot.waitUntil(lambda: session.log_path == str(path) and session.jobs.running() == 0)
    assert view.n_rows == 200_226
    assert len(view.visible_texts()) < 60
    view.go_to_line(200_226)
    assert text_of(tab, "meaningTitle") == "Asked: 5 of 19 layers"


def test_opens_a_dropped_log_in_the_real_window(window: MainWindow, qtbot: QtBot) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(PARTIAL))])
    copy, left, none = (
        Qt.DropAction.CopyAction,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(window, QDragEnterEvent(QPoint(300, 300), copy, data, left, none))
    QApplication.sendEvent(window, QDropEvent(QPointF(300, 300), copy, data, left, none))
    qtbot.waitUntil(lambda: window.current_tab == "logs")
    tab = window.tab("logs")
    assert isinstance(tab, LogsTab)
    view = view_of(tab)
    qtbot.waitUntil(lambda: view.current_line == 147 and window.session.jobs.running() == 0)
