"""The fold: the first lines at once, the rest behind a button with their number."""

from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app.ui.widgets.folded_list import FoldedList


def test_opens_the_rest_and_closes_it_again(qtbot: QtBot) -> None:
    card = FoldedList("Ruled out", "ruledOut")
    qtbot.addWidget(card)
    card.show_lines(("one", "two"), ("three",))
    rest = card.findChild(QLabel, "ruledOutMore")
    button = card.findChild(QPushButton, "ruledOutToggle")
    assert rest is not None and button is not None
    assert rest.isHidden() and button.text() == "Show 1 more"
    button.click()
    assert not rest.isHidden() and rest.text() == "three"
    assert button.text() == "Show fewer"
    card.show_lines(("one",), ("three", "four"))
    assert rest.isHidden() and button.text() == "Show 2 more"


def test_hides_what_is_empty(qtbot: QtBot) -> None:
    card = FoldedList("Not checked", "notChecked")
    qtbot.addWidget(card)
    card.show_lines(("one",), ())
    button = card.findChild(QPushButton, "notCheckedToggle")
    assert button is not None and button.isHidden()
    card.show_lines((), ())
    assert card.isHidden()
