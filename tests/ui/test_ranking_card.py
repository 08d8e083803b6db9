"""What would help: a bar per change with its figure, and no bar without a figure."""

from dataclasses import replace

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app.core.folklore import folklore
from app.core.forecast import forecast
from app.core.reading import Estimate
from app.rules import ranked
from app.ui.main_window import MainWindow
from app.ui.models.ranking_model import RankingView, ranking_view
from app.ui.tabs.diagnose_tab import DiagnoseTab
from app.ui.widgets.fixed_text import FixedText
from app.ui.widgets.gain_bar import GainBarWidget
from app.ui.widgets.ranking_card import RankingCard
from tests.core.test_expectation import run
from tests.core.test_ranking import R, evidence


def _view(r: Estimate | None = R) -> RankingView:
    seen = replace(evidence(), runs=(run(3, 20.0),))
    found = forecast(seen, r)
    return ranking_view(seen, ranked.ranking(seen, found), folklore(seen, found))


def test_shows_gain_range_rate_and_command(qtbot: QtBot) -> None:
    card = RankingCard()
    qtbot.addWidget(card)
    card.show_view(_view())
    card.show()
    texts = [label.text() for label in card.findChildren(QLabel)]
    assert any("4.3" in text and "tok/s" in text for text in texts)
    commands = card.findChildren(FixedText, "optionCommand")
    assert any(command.text().startswith("llama-server") for command in commands)
    assert "Now: 20.00 tok/s" in card._now.text() and "do not add up" in card._chosen.text()
    bars = card.findChildren(GainBarWidget)
    assert bars and all(bar.accessibleDescription() for bar in bars)
    assert not card.grab().isNull()


def test_draws_no_bar_without_a_figure(qtbot: QtBot) -> None:
    card = RankingCard()
    qtbot.addWidget(card)
    card.show_view(_view(None))
    assert card.findChildren(GainBarWidget) == []
    assert any("r is not known" in label.text() for label in card.findChildren(QLabel))


def test_unfolds_why_popular_advice_does_not_help(qtbot: QtBot) -> None:
    card = RankingCard()
    qtbot.addWidget(card)
    card.show_view(_view())
    card.show()
    assert not card._advice.isVisible()
    toggle = card.findChild(QPushButton, "folkloreToggle")
    assert toggle is not None
    toggle.click()
    assert card._advice.isVisible() and "-ngl 99" in card._advice.text()


def test_the_tab_ranks_away_from_the_window(window: MainWindow, qtbot: QtBot) -> None:
    tab = window.show_tab("diagnose")
    assert isinstance(tab, DiagnoseTab)
    window.session.set_evidence(evidence())
    qtbot.waitUntil(lambda: window.session.jobs.running() == 0)
    assert tab._result.ranking.isVisible()
    window.session.set_evidence(replace(evidence(), model=None))
    qtbot.waitUntil(lambda: window.session.jobs.running() == 0)
    assert not tab._result.ranking.isVisible()


def test_walks_through_the_columns_with_the_keyboard(qtbot: QtBot) -> None:
    card = RankingCard()
    qtbot.addWidget(card)
    card.show_view(_view())
    card.resize(800, 900)
    card.show()
    view = card.path
    assert view.isVisible() and len(view.told) == 4
    assert view.accessibleDescription().startswith("Now: 20.00 tok/s")
    qtbot.keyClick(view, Qt.Key.Key_Right)
    assert card._chosen.text() == view.told[0]
    qtbot.keyClick(view, Qt.Key.Key_Right)
    assert card._chosen.text().startswith("More layers on the device: 4.3")
    assert "r measured here" in view.accessibleDescription()
    qtbot.keyClick(view, Qt.Key.Key_End)
    assert card._chosen.text().startswith("Best: 162 tok/s")
    qtbot.keyClick(view, Qt.Key.Key_Home)
    assert card._chosen.text() == view.told[0]
    assert not view.grab().isNull()


def test_chooses_the_column_that_is_clicked(qtbot: QtBot) -> None:
    card = RankingCard()
    qtbot.addWidget(card)
    card.show_view(_view())
    card.resize(800, 900)
    card.show()
    assert card.path._drawing is not None
    zone = card.path._drawing.zones[1]
    at = QPoint(int((zone.left + zone.right) / 2), 60)
    qtbot.mouseClick(card.path, Qt.MouseButton.LeftButton, pos=at)
    assert card._chosen.text() == zone.told


def test_says_why_no_path_is_drawn(qtbot: QtBot) -> None:
    card = RankingCard()
    qtbot.addWidget(card)
    card.show_view(_view(None))
    card.show()
    assert not card.path.isVisible()
    assert "r is not known" in card._chosen.text()
