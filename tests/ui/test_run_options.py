"""The load that Diagnose makes: devices one by one, and devices by RPC."""

from PySide6.QtWidgets import QComboBox, QLineEdit
from pytestqt.qtbot import QtBot

from app.core.request import LoadRequest
from app.ui.widgets.run_options import RunOptions


def _options(qtbot: QtBot) -> tuple[RunOptions, QComboBox, QLineEdit]:
    options = RunOptions()
    qtbot.addWidget(options)
    devices = options.findChild(QComboBox, "runDevice")
    servers = options.findChild(QLineEdit, "runRpc")
    assert devices is not None and servers is not None
    return options, devices, servers


def test_asks_for_a_plain_load_with_4096_tokens(qtbot: QtBot) -> None:
    options, _devices, servers = _options(qtbot)
    assert options.request == LoadRequest(ctx=4096)
    assert servers.accessibleName() and servers.toolTip()


def test_chooses_one_device_of_several_and_keeps_the_choice(qtbot: QtBot) -> None:
    options, devices, _servers = _options(qtbot)
    options.show_devices(("CUDA0", "CUDA1"))
    devices.setCurrentText("CUDA1")
    options.show_devices(("CUDA0", "CUDA1", "RPC0"))
    assert options.request.device_ids == ("CUDA1",) and options.request.use_devices
    devices.setCurrentText("none")
    assert options.request == LoadRequest(ctx=4096, use_devices=False)
    options.show_devices(("CUDA0",))
    assert devices.count() == 2
    assert options.request == LoadRequest(ctx=4096, use_devices=False)


def test_takes_rpc_servers_and_leaves_out_what_is_none(qtbot: QtBot) -> None:
    options, _devices, servers = _options(qtbot)
    servers.setText("127.0.0.1:50052, box:50053 nonsense")
    assert options.request.rpc_servers == ("127.0.0.1:50052", "box:50053")
