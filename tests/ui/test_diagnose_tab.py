"""The Diagnose tab: the verdict, Prove it, and before beside after."""

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.core.facts import known
from app.core.machine import Device, DeviceKind
from app.core.request import LoadRequest
from app.core.units import GIB
from app.ui.main_window import MainWindow
from app.ui.tabs.diagnose_tab import DiagnoseTab
from app.work.settings import N_GEN, N_PROMPT
from tests.work import stand_ins


def _text(parent: QWidget, name: str) -> str:
    found = parent.findChild(QLabel, name)
    assert found is not None
    return found.text()


def _tab(window: MainWindow, folder: Path, qtbot: QtBot) -> DiagnoseTab:
    """Show Diagnose with a model, and stand-ins whose first load keeps the device out."""
    server = stand_ins.server(folder, log=stand_ins.LOG_DEVICE_NONE)
    session = window.session
    session.settings.set(N_PROMPT, 64)
    session.settings.set(N_GEN, 16)
    session.set_machine(stand_ins.evidence(server, stand_ins.bench(folder)).machine)
    session.open_paths([str(stand_ins.model(folder))])
    qtbot.waitUntil(lambda: session.evidence.model is not None)
    tab = window.show_tab("diagnose")
    assert isinstance(tab, DiagnoseTab)
    devices = tab._options._device
    devices.setCurrentIndex(devices.findText("none"))
    return tab


def _click(tab: DiagnoseTab, name: str, qtbot: QtBot) -> None:
    button = tab.findChild(QPushButton, name)
    assert button is not None
    # the page is laid out after the evidence changed; before that a button has no size
    qtbot.waitUntil(lambda: button.isVisible() and button.isEnabled() and button.height() > 10)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert tab.is_running
    qtbot.waitUntil(lambda: not tab.is_running, timeout=30_000)


def test_proves_the_fix_and_shows_before_beside_after(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    tab = _tab(window, tmp_path, qtbot)
    _click(tab, "startDiagnose", qtbot)
    assert _text(tab, "verdictTitle") == "A device is there, but not used"
    assert not tab._result.proof.isVisible()
    stand_ins.server(tmp_path)
    _click(tab, "proveIt", qtbot)
    assert tab._result.proof.isVisible()
    again = window.session.evidence.again
    assert again is not None and again.request.use_devices
    texts = [label.text() for label in tab._result.proof.findChildren(QLabel)]
    assert "weights on devices" in texts and "29.34 MiB" in texts
    assert _text(tab, "proofTitle") and _text(tab, "proofSentence")
    note = tab._result.proof.findChild(QPushButton, "copyNote")
    assert note is not None
    note.click()
    copied = QGuiApplication.clipboard().text()
    assert copied.startswith("Symptom: ")
    assert "Cause: A device is there, but not used" in copied and "Verification: " in copied
    # the first load's verdict stays, with its evidence
    assert _text(tab, "verdictTitle") == "A device is there, but not used"
    qtbot.waitUntil(lambda: window.session.jobs.running() == 0)


def test_proves_a_ranked_change_instead_of_the_verdict(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    tab = _tab(window, tmp_path, qtbot)
    session = window.session
    machine = session.evidence.machine
    assert machine is not None
    cores = known("cpu.physical", 1, source="/proc/cpuinfo")
    session.set_machine(replace(machine, facts=(*machine.facts, cores)))
    tab._options._threads.setValue(4)
    _click(tab, "startDiagnose", qtbot)
    qtbot.waitUntil(lambda: session.jobs.running() == 0)
    _click(tab, "try-fewer-threads", qtbot)
    again = session.evidence.again
    assert again is not None and (again.rule_id, again.option_id) == ("", "fewer-threads")
    assert again.request.threads is None and again.request.use_devices is False
    # the stand-in prints the same log and the same rates
    assert _text(tab, "proofTitle") in ("Not proven", "Not decided")
    qtbot.waitUntil(lambda: session.jobs.running() == 0)


def test_says_why_a_fix_of_a_log_cannot_be_tried(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    tab = _tab(window, tmp_path, qtbot)
    session = window.session
    session.open_paths([str(stand_ins.LOG_DEVICE_NONE)])
    qtbot.waitUntil(lambda: session.evidence.log is not None)
    window.show_tab("diagnose")
    session.set_request(LoadRequest(use_devices=False))
    button = tab.findChild(QPushButton, "proveIt")
    assert button is not None and not button.isVisible()
    assert "did not load the model itself" in _text(tab, "noProof")
    qtbot.waitUntil(lambda: session.jobs.running() == 0)


def test_lets_a_second_run_go_with_another_log(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    tab = _tab(window, tmp_path, qtbot)
    _click(tab, "startDiagnose", qtbot)
    _click(tab, "proveIt", qtbot)
    session = window.session
    assert tab._result.proof.isVisible()
    session.set_log(session.evidence.log)
    assert session.proof is None
    assert not tab._result.proof.isVisible()
    qtbot.waitUntil(lambda: session.jobs.running() == 0)


def test_practises_a_fault_and_says_that_it_was_named(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    tab = _tab(window, tmp_path, qtbot)
    session = window.session
    machine = session.evidence.machine
    assert machine is not None
    card = Device("Vulkan0", DeviceKind.VULKAN, "card", 8 * GIB, 7 * GIB, "list")
    session.set_machine(replace(machine, devices=(card,)))
    opener = tab.findChild(QPushButton, "practiceOpen")
    assert opener is not None and not tab._practice._choice.isVisible()
    opener.click()
    qtbot.waitUntil(lambda: tab._practice._choice.count() == 5)
    assert "--device none" in _text(tab, "practiceWhat")
    assert "f will be 100.0 %" in _text(tab, "practicePrediction")
    tab.scroll_to(tab._practice)
    _click(tab, "practiceStart", qtbot)
    assert session.evidence.request is not None and not session.evidence.request.use_devices
    assert "gave it away" in _text(tab, "practiceResult")
    qtbot.waitUntil(lambda: session.jobs.running() == 0)
