"""Every tab fits into the window, at its first and at its smallest size, with long texts."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.core.machine import Device, DeviceKind
from app.core.units import GIB
from app.ui.main_window import TABS, MainWindow
from app.ui.tabs.diagnose_tab import DiagnoseTab
from app.ui.widgets.page import Page
from app.work.settings import N_GEN, N_PROMPT
from tests.work import stand_ins

SIZES = ((1280, 800), (1024, 700))


@pytest.fixture
def proven(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> MainWindow:
    """Return the window after a run and its proof, in a folder whose name has no place to break."""
    folder = tmp_path / ("a-folder-with-a-long-name-" * 6)
    folder.mkdir()
    server = stand_ins.server(folder, log=stand_ins.LOG_DEVICE_NONE)
    session = window.session
    session.settings.set(N_PROMPT, 64)
    session.settings.set(N_GEN, 16)
    machine = stand_ins.evidence(server, stand_ins.bench(folder)).machine
    assert machine is not None
    device = Device(
        "RPC0", DeviceKind.RPC, "a-computer-with-a-long-name.example:50052",
        24 * GIB, 23 * GIB, "list",
    )  # fmt: skip
    session.set_machine(replace(machine, devices=(device,)))
    session.open_paths([str(stand_ins.model(folder))])
    qtbot.waitUntil(lambda: session.evidence.model is not None)
    tab = window.show_tab("diagnose")
    assert isinstance(tab, DiagnoseTab)
    devices = tab._options._device
    devices.setCurrentIndex(devices.findText("none"))
    tab.start_run()
    qtbot.waitUntil(lambda: not tab.is_running, timeout=30_000)
    stand_ins.server(folder)
    tab.prove()
    qtbot.waitUntil(lambda: not tab.is_running, timeout=30_000)
    assert tab._result.proof.isVisible()
    qtbot.waitUntil(lambda: session.jobs.running() == 0)
    return window


def _settled_room(page: Page, qtbot: QtBot) -> int:
    """Return the width of a page's scrolling part, pixels, once its content has taken it."""
    room = page._scroll.viewport()
    qtbot.waitUntil(lambda: page.content.width() == room.width())
    return room.width()


def test_no_tab_is_wider_than_its_page_when_texts_are_long(
    proven: MainWindow, qtbot: QtBot
) -> None:
    for width, height in SIZES:
        proven.resize(width, height)
        for spec in TABS:
            page = proven.show_tab(spec.id)
            qtbot.waitUntil(lambda: proven.session.jobs.running() == 0)
            room = _settled_room(page, qtbot)
            needed = page.body.minimumSize().width()
            assert needed <= room, (spec.id, width, needed, room)
        assert (proven.width(), proven.height()) == (width, height)


def test_the_copy_buttons_of_long_commands_are_in_the_page_when_it_is_narrow(
    proven: MainWindow, qtbot: QtBot
) -> None:
    proven.resize(*SIZES[-1])
    page = proven.show_tab("diagnose")
    button = page.findChild(QPushButton, "verdictCommandCopy")
    assert button is not None
    room = page._scroll.viewport()

    def is_inside() -> bool:
        right = button.mapTo(page.content, button.rect().topRight()).x()
        return button.isVisible() and 0 < right < room.width()

    qtbot.waitUntil(is_inside)
