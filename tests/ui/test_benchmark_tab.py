"""The Benchmark tab with a real llama-bench."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QFileDialog, QLabel, QPushButton, QSpinBox, QTableView
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from app.core.bench import BenchRun, Test
from app.core.forecast import measured_r
from app.ui.models.bench_model import RunModel, comparison_text, rate_text
from app.ui.tabs.benchmark_tab import BenchmarkTab
from app.work.detection import Detection
from app.work.notebook import Entry, Notebook
from app.work.session import Session


def entry(run_id: str, tps: tuple[float, ...], threads: str = "4") -> Entry:
    run = BenchRun(Test.GENERATION, 128, tps, "llama-bench", (("n_threads", threads),))
    return Entry(run_id, f"2026-11-30T10:00:0{run_id}Z", "m.gguf", (run,))


def test_compares_by_interval_and_names_what_differed() -> None:
    slow, fast = entry("1", (10.0, 10.1, 9.9), "1"), entry("2", (20.0, 20.1, 19.9), "2")
    text = comparison_text(slow, fast)
    assert "Generation: faster, 2.00 times the first" in text
    assert "n_threads 1 → 2" in text
    assert "no difference" in comparison_text(slow, slow)


def test_says_when_one_repetition_decides_nothing() -> None:
    assert "too few repetitions" in comparison_text(entry("1", (10.0,)), entry("2", (20.0,)))


def test_says_too_few_repetitions_when_an_interval_reaches_zero() -> None:
    wide, narrow = entry("1", (10.0, 30.0)).runs[0], entry("2", (10.0, 10.1, 9.9)).runs[0]
    assert rate_text(wide) == "20.00 tok/s (too few repetitions for an interval)"
    assert rate_text(narrow).startswith("10.00 tok/s (9.")


def test_marks_a_disturbed_run_in_its_first_column() -> None:
    model = RunModel()
    model.show_entries((replace(entry("1", (10.0,)), busy="other programs"), entry("2", (9.0,))))
    quiet, busy = model.index(0, 0), model.index(1, 0)
    model.set_mark(QIcon())
    spoken = Qt.ItemDataRole.AccessibleTextRole
    assert str(busy.data(spoken)).endswith("disturbed: other programs")
    assert quiet.data(spoken) is None
    assert busy.data(Qt.ItemDataRole.DecorationRole) is not None
    assert quiet.data(Qt.ItemDataRole.DecorationRole) is None


def test_model_keeps_qt_contract_when_filled(qtmodeltester: ModelTester) -> None:
    model = RunModel()
    model.show_entries((entry("1", (10.0, 11.0)), entry("2", (20.0,))))
    qtmodeltester.check(model)


@pytest.fixture
def tab(
    qtbot: QtBot, session: Session, detection: Detection, llama_bin: Path, gemma: Path
) -> BenchmarkTab:
    """Return the tab with the real program and the real model."""
    found = BenchmarkTab(session, detection)
    qtbot.addWidget(found)
    found.resize(1100, 800)
    found.show()
    session.set_llama_folder(str(llama_bin))
    qtbot.waitUntil(lambda: session.evidence.machine is not None, timeout=30_000)
    with qtbot.waitSignal(session.opened):
        session.open_paths([str(gemma)])
    for name, value in (
        ("benchPrompt", 32), ("benchGen", 8), ("benchRepetitions", 3), ("benchThreads", 1),
    ):  # fmt: skip
        spin = found.findChild(QSpinBox, name)
        assert spin is not None
        spin.setValue(value)
    return found


def button(tab: BenchmarkTab, name: str) -> QPushButton:
    found = tab.findChild(QPushButton, name)
    assert found is not None
    return found


@pytest.mark.real
def test_measures_both_rates_and_keeps_them_in_the_notebook(
    tab: BenchmarkTab, session: Session, qtbot: QtBot
) -> None:
    for _ in range(2):
        button(tab, "benchMeasure").click()
        qtbot.waitUntil(button(tab, "benchMeasure").isEnabled, timeout=120_000)
    qtbot.waitUntil(lambda: len(Notebook().read().entries) == 2)
    entries = Notebook().read().entries
    for kept in entries:
        assert {run.test for run in kept.runs} == {Test.PROMPT, Test.GENERATION}
        assert all(run.n == 3 and run.mean_tps > 0 for run in kept.runs)
    assert len(session.evidence.runs) == 4
    table = tab.findChild(QTableView, "notebookTable")
    assert table is not None
    qtbot.waitUntil(lambda: table.model().rowCount() == 2)
    table.selectAll()
    text = tab.findChild(QLabel, "comparison")
    assert text is not None
    assert "Nothing that was recorded differed" in text.text()
    table.selectionModel().clear()
    table.selectionModel().select(
        table.model().index(0, 0),
        QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows,
    )
    assert "Select two runs" in text.text()
    # no device here: both ends are on the host, so there is no r
    assert measured_r(session.evidence.runs, 19) is None


@pytest.mark.real
def test_cancels_a_run_and_leaves_no_program(
    tab: BenchmarkTab, session: Session, qtbot: QtBot
) -> None:
    spin = tab.findChild(QSpinBox, "benchGen")
    assert spin is not None
    spin.setValue(4096)
    button(tab, "benchMeasure").click()
    qtbot.waitUntil(lambda: session.processes.running() == 1, timeout=30_000)
    assert button(tab, "benchCancel").isVisible()
    button(tab, "benchCancel").click()
    qtbot.waitUntil(lambda: not tab.is_running, timeout=30_000)
    assert session.processes.running() == 0
    assert session.evidence.runs == ()


def test_deletes_a_run_takes_it_back_and_exports_the_table(
    qtbot: QtBot, session: Session, detection: Detection, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    for made in (entry("1", (10.0, 11.0)), entry("2", (20.0, 21.0))):
        Notebook().append(made)
    tab = BenchmarkTab(session, detection)
    qtbot.addWidget(tab)
    table = tab.findChild(QTableView, "notebookTable")
    assert table is not None
    qtbot.waitUntil(lambda: table.model().rowCount() == 2)
    assert not button(tab, "notebookDelete").isEnabled()
    table.selectRow(0)
    button(tab, "notebookDelete").click()
    qtbot.waitUntil(lambda: len(tab._entries) == 1)
    button(tab, "notebookUndo").click()
    qtbot.waitUntil(lambda: len(tab._entries) == 2)
    target = tmp_path / "runs.csv"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    button(tab, "notebookExport").click()
    qtbot.waitUntil(lambda: target.exists() and session.jobs.running() == 0)
    assert len(target.read_text().splitlines()) == 3
    qtbot.waitUntil(lambda: session.folder == tmp_path)


def test_shows_what_another_window_or_tab_has_kept(
    qtbot: QtBot, session: Session, detection: Detection
) -> None:
    Notebook().append(entry("1", (10.0, 11.0)))
    tab = BenchmarkTab(session, detection)
    qtbot.addWidget(tab)
    table = tab.findChild(QTableView, "notebookTable")
    assert table is not None
    qtbot.waitUntil(lambda: table.model().rowCount() == 1)
    tab.show()
    qtbot.waitUntil(lambda: session.jobs.running() == 0)
    table.selectRow(0)
    tab.hide()
    tab.show()  # nothing new: the selection stays
    qtbot.waitUntil(lambda: session.jobs.running() == 0)
    assert len(tab._selected()) == 1
    Notebook().append(entry("2", (20.0, 21.0)))
    tab.hide()
    tab.show()
    qtbot.waitUntil(lambda: table.model().rowCount() == 2)
    qtbot.waitUntil(lambda: session.jobs.running() == 0)
