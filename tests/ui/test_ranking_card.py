"""What would help: a bar per change with its figure, and no bar without a figure."""

from dataclasses import replace

from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app.core.folklore import folklore
from app.core.forecast import forecast
from app.core.reading import Estimate
from app.rules import ranked
from app.ui.main_window import MainWindow
from app.ui.models.ranking_model import RankingView, ranking_view
from app.ui.tabs.diagnose_tab import DiagnoseTab
from app.ui.widgets.gain_bar import GainBarWidget
from app.ui.widgets.ranking_card import RankingCard
from tests.core.test_expectation import run
from tests.core.test_ranking import R, evidence


def _view(r: Estimate | None = R) -> RankingView:
    seen = replace(evidence(), runs=(run(3, 20.0),))
    found = forecast(seen, r)
    return ranking_view(seen, ranked.options(seen, found), folklore(seen, found))


def test_shows_gain_range_rate_and_command(qtbot: QtBot) -> None:
    card = RankingCard()
    qtbot.addWidget(card)
    card.show_view(_view())
    card.show()
    texts = [label.text() for label in card.findChildren(QLabel)]
    assert any("4.3" in text and "tok/s" in text for text in texts)
    assert any(text.startswith("llama-server") for text in texts)
    assert "Now: 20.00 tok/s" in card._now.text() and "do not add up" in card._now.text()
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
