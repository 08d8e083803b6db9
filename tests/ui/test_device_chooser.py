"""Any of the detected devices can be chosen."""

import pytest
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from app.core.machine import Device, DeviceKind
from app.core.units import GIB
from app.ui.widgets.check_menu import CheckMenu
from app.ui.widgets.device_chooser import DeviceChooser

CARDS = tuple(
    Device(f"CUDA{i}", DeviceKind.CUDA, "a card", 8 * GIB, 8 * GIB, "test") for i in range(3)
)


@pytest.fixture
def chooser(qtbot: QtBot) -> DeviceChooser:
    """Return the chooser with three cards, some of them to be chosen."""
    found = DeviceChooser()
    qtbot.addWidget(found)
    found.set_devices(CARDS, is_known=True)
    found.show()
    box = found.findChild(QComboBox, "device")
    assert box is not None
    box.setCurrentIndex(box.findText("Some devices"))
    return found


def menu_of(chooser: DeviceChooser) -> CheckMenu:
    found = chooser.findChild(CheckMenu, "someDevices")
    assert found is not None
    return found


def ids(chooser: DeviceChooser) -> list[str]:
    return list(chooser.device_ids)


def entries(chooser: DeviceChooser) -> list[QAction]:
    menu = menu_of(chooser).menu()
    assert menu is not None
    return menu.actions()


def test_a_subset_is_named_to_the_runtime(qtbot: QtBot, chooser: DeviceChooser) -> None:
    assert menu_of(chooser).isVisible()
    assert menu_of(chooser).accessibleName() == "Devices to use"
    assert ids(chooser) == ["CUDA0", "CUDA1", "CUDA2"]
    with qtbot.waitSignal(chooser.changed):
        entries(chooser)[1].trigger()
    assert ids(chooser) == ["CUDA0", "CUDA2"]
    assert chooser.devices == (CARDS[0], CARDS[2])
    assert menu_of(chooser).text() == "CUDA0, CUDA2"


def test_one_stays_chosen(chooser: DeviceChooser) -> None:
    for entry in entries(chooser):
        entry.trigger()
    assert ids(chooser) == ["CUDA2"]


def test_the_choice_outlives_a_new_look_at_the_computer(chooser: DeviceChooser) -> None:
    entries(chooser)[0].trigger()
    chooser.set_devices(CARDS, is_known=True)
    assert ids(chooser) == ["CUDA1", "CUDA2"]
    # all that were chosen are gone: what is there is used
    chooser.set_devices((CARDS[0],), is_known=True)
    assert chooser.devices == (CARDS[0],)
