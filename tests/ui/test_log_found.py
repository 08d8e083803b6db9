"""What a search found is highlighted in the lines, and what it could not check is said."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QLineEdit, QToolButton
from pytestqt.qtbot import QtBot

from app.ui.models import found_spans
from app.ui.tabs.logs_tab import LogsTab
from app.ui.widgets.find_bar import FindBar
from app.ui.widgets.log_view import LogView
from app.work.session import Session
from tests.ui.log_driver import child, open_log


class Two:
    """A source of two lines."""

    n_lines = 2

    def lines(self, first: int, last: int) -> list[str]:
        return ["x" * 30 + "KV" + "x" * 10, "none"][first:last]


def bar_of(tab: LogsTab) -> FindBar:
    """Return the bar with the field."""
    bar = tab.findChild(FindBar)
    assert isinstance(bar, FindBar)
    return bar


def columns(view: LogView) -> set[int]:
    """Return at which tenth of the first row the picture is not of the row's colour."""
    image = view.viewport().grab().toImage()
    row = [QColor(image.pixel(x, 3)) for x in range(80, image.width() - 4)]
    plain = row[-1]
    return {x * 10 // len(row) for x, colour in enumerate(row) if colour != plain}


def test_finds_a_text_case_aside() -> None:
    assert found_spans.of_text("a.b")("A.B axb a.b") == ((0, 3), (8, 11))
    assert found_spans.of_text("")("text") == ()
    assert len(found_spans.of_text("a")("a" * 5000)) == found_spans.MAX_SPANS


@pytest.mark.parametrize("spans", [found_spans.of_text("kv"), found_spans.of_pattern(r"k\w")])
def test_draws_a_place_where_the_text_is(qtbot: QtBot, spans: object) -> None:
    view = LogView()
    qtbot.addWidget(view)
    view.resize(800, 200)
    view.show_source(Two())
    view.show()
    qtbot.waitExposed(view)
    view._move(1, extend=False)  # the row with the cursor has another colour
    assert columns(view) == set()
    view.show_found([1], spans)  # type: ignore[arg-type]
    assert columns(view)
    view.show_found([], found_spans.nothing)
    assert columns(view) == set()


def test_says_how_many_lines_were_too_hard(
    logs_tab: LogsTab, session: Session, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "a.log"
    path.write_text("llama_context: n_ctx = 4096\naa\n" + ("a" * 3000 + "!\n") * 2)
    open_log(logs_tab, session, qtbot, path)
    child(logs_tab, QToolButton, "logRegex").setChecked(True)
    field = child(logs_tab, QLineEdit, "logSearch")
    qtbot.keyClicks(field, r"(a+)+$")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    count = bar_of(logs_tab).count
    qtbot.waitUntil(lambda: "not checked" in count.text())
    assert count.text() == "1 of 1, 2 not checked"
    assert "too many steps" in count.toolTip()
