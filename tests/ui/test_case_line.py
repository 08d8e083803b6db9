"""What the case rests on is named on the Diagnose tab, and a part can be taken out."""

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QLabel, QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from app.core.evidence import Evidence
from app.core.parts import Part
from app.ui.main_window import MainWindow
from app.ui.models import case_model
from app.ui.widgets.case_line import CaseLine
from tests.ui.log_driver import PARTIAL
from tests.work import stand_ins


def open_both(window: MainWindow, folder: Path, qtbot: QtBot) -> None:
    """Open a model, and then the log of another one."""
    session = window.session
    session.open_paths([str(stand_ins.model(folder))])
    qtbot.waitUntil(lambda: session.evidence.model is not None)
    session.open_paths([str(PARTIAL)])
    qtbot.waitUntil(lambda: session.evidence.log is not None)


def line_of(window: MainWindow) -> CaseLine:
    """Return the line with the parts."""
    line = window.show_tab("diagnose").findChild(CaseLine)
    assert isinstance(line, CaseLine)
    return line


def shown(line: CaseLine) -> list[str]:
    """Return the texts that are seen."""
    return [label.text() for label in line.findChildren(QLabel) if label.isVisible()]


def click(line: CaseLine, name: str, qtbot: QtBot) -> None:
    """Press the button that removes a part."""
    button = line.findChild(QToolButton, name)
    assert isinstance(button, QToolButton)
    assert button.accessibleName()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_an_empty_case_has_no_line(window: MainWindow) -> None:
    assert not line_of(window).isVisible()


def test_names_model_and_log_and_says_that_they_differ(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    open_both(window, tmp_path, qtbot)
    texts = shown(line_of(window))
    model, log = window.session.evidence.model, window.session.evidence.log
    assert model is not None
    assert log is not None
    assert f"the model {model.name}" in texts
    assert f"the log {log.name}, {log.n_lines:,} lines" in texts
    assert any(text.startswith("The log names another model") for text in texts)


def test_takes_out_the_log_and_keeps_the_model(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    open_both(window, tmp_path, qtbot)
    line = line_of(window)
    click(line, "remove-log", qtbot)
    session = window.session
    assert session.evidence.log is None
    assert session.log_file is None
    assert session.evidence.model is not None
    assert not any("The log names" in text for text in shown(line))


def test_takes_out_the_model_and_keeps_the_log(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    open_both(window, tmp_path, qtbot)
    for tab in ("offload", "fit", "benchmark", "hardware", "logs"):
        window.show_tab(tab)
    log = window.session.evidence.log
    click(line_of(window), "remove-model", qtbot)
    assert window.session.evidence.model is None
    assert window.session.evidence.log == log
    assert window.session.log_file is not None


def test_closes_the_log_on_its_own_tab(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    open_both(window, tmp_path, qtbot)
    tab = window.show_tab("logs")
    button = tab.findChild(QPushButton, "closeLog")
    assert isinstance(button, QPushButton)
    qtbot.waitUntil(button.isVisible)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert window.session.evidence.log is None
    assert not button.isVisible()


def test_what_is_still_read_does_not_come_back(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "long.log"
    path.write_bytes(PARTIAL.read_bytes() * 40)
    session = window.session
    with qtbot.waitSignal(session.log_found):
        session.open_paths([str(path)])
    session.remove(Part.LOG)
    qtbot.waitUntil(lambda: session.jobs.running() == 0)
    QCoreApplication.processEvents()
    assert session.evidence.log is None
    assert session.log_file is None


def test_measured_rates_are_a_part(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    open_both(window, tmp_path, qtbot)
    session = window.session
    evidence = session.evidence
    assert [part.part for part in case_model.case_parts(evidence)] == [Part.MODEL, Part.LOG]
    session.remove(Part.RUNS)
    assert session.evidence == evidence
    assert case_model.case_parts(Evidence()) == ()


def test_the_same_name_is_no_other_model(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    open_both(window, tmp_path, qtbot)
    evidence = window.session.evidence
    model, log = evidence.model, evidence.log
    assert model is not None
    assert log is not None
    assert case_model.other_model(evidence)
    for path in (f"C:\\models\\{model.name.upper()}", "/x/sha256-0123", "/x/mmproj-a.gguf", None):
        loads = tuple(replace(load, path=path) for load in log.loads)
        assert not case_model.other_model(replace(evidence, log=replace(log, loads=loads))), path
