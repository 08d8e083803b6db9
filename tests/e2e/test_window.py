"""The real window with real events, real files and real programs."""

import subprocess
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QAccessible, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QDoubleSpinBox, QLabel, QPushButton, QSlider, QWidget
from pytestqt.qtbot import QtBot

from app.ui.main_window import TABS, MainWindow
from app.ui.tabs.diagnose_tab import DiagnoseTab
from app.work import export
from app.work.export import Format
from app.work.settings import N_GEN, N_PROMPT

pytestmark = pytest.mark.real


@pytest.fixture
def vulkan_device(vulkan_server: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the Vulkan build, with its one software device visible."""
    monkeypatch.setenv("GGML_VK_VISIBLE_DEVICES", "0")
    monkeypatch.setenv("OMP_WAIT_POLICY", "passive")
    return vulkan_server.parent


def drop(window: MainWindow, *paths: Path) -> bool:
    """Drop files on the window as the system does; return whether it took them."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    enter = QDragEnterEvent(QPoint(400, 400), Qt.DropAction.CopyAction, data, buttons, keys)
    QApplication.sendEvent(window, enter)
    event = QDropEvent(QPointF(400, 400), Qt.DropAction.CopyAction, data, buttons, keys)
    QApplication.sendEvent(window, event)
    return enter.isAccepted() and event.isAccepted()


def label(parent: QWidget, name: str) -> str:
    found = parent.findChild(QLabel, name)
    assert found is not None
    return found.text()


def test_drops_a_model_and_follows_the_slider(
    window: MainWindow, qtbot: QtBot, gemma: Path
) -> None:
    with qtbot.waitSignal(window.session.opened):
        assert drop(window, gemma)
    assert window.current_tab == "diagnose"
    assert label(window, "dropTitle").startswith("gemma-3-270m-q4_k_m.gguf")
    tab = window.show_tab("offload")
    ratio = tab.findChild(QDoubleSpinBox, "slowRatio")
    slider = tab.findChild(QSlider, "nglSlider")
    assert ratio is not None and slider is not None
    ratio.setValue(10)
    seen = []
    for ngl in (19, 10, 1):
        slider.setValue(ngl)
        seen.append((label(tab, "shareValue"), label(tab, "slowdownValue")))
    shares = [float(share.removesuffix(" %")) for share, _ in seen]
    slowdowns = [float(text.removesuffix("×")) for _, text in seen]
    assert shares == sorted(shares) and len(set(shares)) == 3
    assert slowdowns == sorted(slowdowns) and len(set(slowdowns)) == 3
    qtbot.waitUntil(lambda: window.session.jobs.running() == 0)


def test_diagnoses_with_real_programs_to_a_verdict_and_a_pdf(
    window: MainWindow, qtbot: QtBot, gemma: Path, vulkan_device: Path, tmp_path: Path
) -> None:
    session = window.session
    session.settings.set(N_PROMPT, 32)
    session.settings.set(N_GEN, 8)
    session.set_llama_folder(str(vulkan_device))
    qtbot.waitUntil(lambda: not window.detection.is_running, timeout=30_000)
    drop(window, gemma)
    qtbot.waitUntil(lambda: session.evidence.model is not None)
    tab = window.show_tab("diagnose")
    assert isinstance(tab, DiagnoseTab)
    devices = tab._options._device
    devices.setCurrentIndex(devices.findText("none"))  # --device none
    start = tab.findChild(QPushButton, "startDiagnose")
    assert start is not None and start.isEnabled()
    qtbot.mouseClick(start, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not tab.is_running, timeout=180_000)
    verdict = session.diagnosis.verdict
    assert verdict is not None
    assert verdict.rule_id == "device-present-but-unused"
    assert "nothing is on the gpu" in label(tab, "verdictCause").lower()
    line = verdict.cites[0].text
    report = tmp_path / "report.pdf"
    export.write(export.prepare(session.evidence), report, Format.PDF)
    text = subprocess.run(
        ["pdftotext", "-layout", str(report), "-"], capture_output=True, text=True, check=True
    ).stdout
    assert "".join(line.split())[:60] in "".join(text.split())
    assert str(Path.home()) not in text
    qtbot.waitUntil(lambda: session.jobs.running() == 0)


def test_says_in_words_why_a_web_page_is_no_model(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    page = tmp_path / "model.gguf"
    page.write_text("<!DOCTYPE html><html><body>Not found</body></html>")
    with qtbot.waitSignal(window.session.error):
        drop(window, page)
    assert "web page" in window._banner.text().lower()


def test_opens_every_tab_by_key_and_names_every_control(
    window: MainWindow, qtbot: QtBot, gemma: Path
) -> None:
    with qtbot.waitSignal(window.session.opened):
        drop(window, gemma)
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    nameless = []
    for i, spec in enumerate(TABS):
        qtbot.keyClick(window, Qt.Key(Qt.Key.Key_1 + i), Qt.KeyboardModifier.ControlModifier)
        assert window.current_tab == spec.id
        nameless += [
            f"{spec.id}: {type(widget).__name__} {widget.objectName()}"
            for widget in window.findChildren(QWidget)
            if widget.focusPolicy() & Qt.FocusPolicy.TabFocus
            and widget.window() is window  # the lists of combo boxes are windows of their own
            and widget.isVisible()
            and not widget.objectName().startswith("qt_")  # inner parts of a named control
            and not _name(widget)
        ]
    assert not nameless, "\n".join(nameless)
    qtbot.waitUntil(lambda: window.session.jobs.running() == 0, timeout=30_000)


def _name(widget: QWidget) -> str:
    found = QAccessible.queryAccessibleInterface(widget)
    return found.text(QAccessible.Text.Name) if found is not None else ""
