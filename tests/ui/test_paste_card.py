"""The field for pasted output, driven in the Hardware tab: what it adds, and what it says."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QPushButton
from pytestqt.qtbot import QtBot

from app.core import bandwidth
from app.core.bandwidth import HostRate
from app.ui.models import device_model, hardware_model
from app.ui.models.hardware_model import FactModel
from app.ui.tabs.hardware_tab import HardwareTab
from app.work import bandwidth_run
from app.work.detection import Detection
from app.work.pasted_store import PastedStore
from app.work.session import Session
from tests import machines
from tests.hosts import FakeHost, sample


def test_pasted_output_fills_what_was_missing(qtbot: QtBot, session: Session) -> None:
    detection = Detection(session, host=FakeHost())
    tab = HardwareTab(session, detection)
    qtbot.addWidget(tab)
    session.set_machine(machines.linux())
    text = tab.findChild(QPlainTextEdit, "pasteText")
    button = tab.findChild(QPushButton, "pasteAdd")
    result = tab.findChild(QLabel, "pasteResult")
    assert text is not None and button is not None and result is not None
    assert not button.isEnabled()
    text.setPlainText("hello")
    assert button.isEnabled()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert "Nothing in it was understood" in result.text()
    assert text.toPlainText() == "hello"
    text.setPlainText(sample("dmidecode-two-of-four.txt"))
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    machine = session.evidence.machine
    assert machine is not None and machine.number("memory.channels") == 2
    assert "dmidecode" in result.text() and not text.toPlainText()
    # a new look keeps it, until it is removed
    with qtbot.waitSignal(detection.finished):
        detection.start()
    remove = tab.findChild(QPushButton, "removePasted0")
    assert remove is None  # the recorded computer is another one
    session.set_machine(PastedStore().with_kept(machines.linux()))
    remove = tab.findChild(QPushButton, "removePasted0")
    assert remove is not None and "dmidecode" in remove.accessibleName()
    with qtbot.waitSignal(detection.finished):
        qtbot.mouseClick(remove, Qt.MouseButton.LeftButton)
    assert PastedStore().entries(machines.linux()) == ()
    copy = tab.findChild(QPushButton, "copyCommand0")
    assert copy is not None
    qtbot.mouseClick(copy, Qt.MouseButton.LeftButton)
    assert QGuiApplication.clipboard().text()
    tab.stop()


def test_a_figure_that_cannot_be_right_is_marked_in_the_table(qtbot: QtBot) -> None:
    model = FactModel()
    model.show_groups(hardware_model.matching(machines.strix_halo(), "gtt may borrow"))
    heading = model.index(0, 0)
    row = next(
        r
        for r in range(model.rowCount(heading))
        if "Not plausible" in str(model.index(r, 1, heading).data())
    )
    assert model.index(row, 3, heading).data() == "not plausible"
    assert "128 GiB" in str(model.index(row, 1, heading).data())


def test_the_button_measures_memory_and_shows_the_range(
    qtbot: QtBot, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = machines.linux()
    rate = HostRate(
        value=30e9, low=29e9, high=31e9, n=5, threads=16, buffer_bytes=1 << 28,
        time="2026-12-01T00:00:00Z", processor=machine.text("cpu.model") or "",
    )  # fmt: skip
    monkeypatch.setattr(bandwidth_run, "measure_and_keep", lambda _host, _machine: rate)
    tab = HardwareTab(session, Detection(session, host=FakeHost()))
    qtbot.addWidget(tab)
    session.set_machine(machine)
    button = tab.findChild(QPushButton, "measureMemory")
    assert button is not None and button.isEnabled()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)

    def is_measured() -> bool:
        found = session.evidence.machine
        return found is not None and found.number(bandwidth.MEASURED) == 30_000_000_000

    qtbot.waitUntil(is_measured)
    qtbot.waitUntil(button.isEnabled)
    memory = next(tile for tile in device_model.tiles(session.evidence.machine or machine)
                  if tile.name == "memory")  # fmt: skip
    line = next(line for line in memory.lines if line.label == "Read bandwidth")
    assert line.value == "29.0 GB/s to 31.0 GB/s (measured)"
    tab.stop()
