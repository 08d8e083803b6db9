"""The text of a log: only the rows in view are read, keys and mouse move and select."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from app.logs.reader import LineIndex
from app.ui.models import found_spans
from app.ui.models.log_text import KeptLines, Tone, shown
from app.ui.widgets import log_marks
from app.ui.widgets.log_marks import LineMarks, Mark
from app.ui.widgets.log_view import MAX_COPY, LogView
from app.ui.widgets.mark_bar import MarkBar


class Numbered:
    """A source of numbered lines that notes what is read of it."""

    def __init__(self, n_lines: int) -> None:
        self.n_lines = n_lines
        self.asked: list[tuple[int, int]] = []

    def lines(self, first: int, last: int) -> list[str]:
        self.asked.append((first, last))
        return [f"line {number + 1}" for number in range(first, min(last, self.n_lines))]


@pytest.fixture
def view(qtbot: QtBot) -> LogView:
    found = LogView()
    qtbot.addWidget(found)
    found.resize(600, 400)
    found.show()
    qtbot.waitExposed(found)
    return found


def _index(path: Path, data: bytes) -> LineIndex:
    path.write_bytes(data)
    index = LineIndex(path)
    index.extend()
    return index


def test_reads_only_the_rows_in_view(view: LogView) -> None:
    source = Numbered(5_000_000)
    view.show_source(source)
    view.go_to_line(4_000_000)
    assert "line 4000000" in view.visible_texts()
    assert max(last - first for first, last in source.asked) < 40
    assert sum(last - first for first, last in source.asked) < 400


def test_moves_by_keys(view: LogView, qtbot: QtBot) -> None:
    view.show_source(Numbered(1000))
    for key, line in (
        (Qt.Key.Key_End, 1000),
        (Qt.Key.Key_Up, 999),
        (Qt.Key.Key_Home, 1),
        (Qt.Key.Key_Up, 1),
        (Qt.Key.Key_Down, 2),
    ):
        qtbot.keyClick(view, key)
        assert view.current_line == line
    qtbot.keyClick(view, Qt.Key.Key_PageDown)
    page = view.verticalScrollBar().pageStep()
    assert view.current_line == 2 + page
    assert f"line {view.current_line}" in view.visible_texts()
    qtbot.keyClick(view, Qt.Key.Key_PageUp)
    assert view.current_line == 2


def test_says_the_line_with_the_cursor_to_screen_readers(view: LogView) -> None:
    view.show_source(Numbered(50))
    view.show_marks(LineMarks({7: Mark.ERROR}, ((Mark.ERROR, [7]),)), lambda line: f"bad {line}.")
    view.go_to_line(7)
    assert view.accessibleDescription() == "Line 7 of 50. bad 7. line 7"


def test_copies_the_selected_lines(view: LogView, qtbot: QtBot) -> None:
    view.show_source(Numbered(100))
    view.go_to_line(3)
    qtbot.keyClick(view, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClick(view, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    with qtbot.waitSignal(view.copied) as copied:
        qtbot.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert copied.args == [3, 3]
    assert QGuiApplication.clipboard().text() == "line 3\nline 4\nline 5\n"


def test_says_how_much_of_a_huge_selection_was_copied(view: LogView, qtbot: QtBot) -> None:
    view.show_source(Numbered(MAX_COPY + 5))
    qtbot.keyClick(view, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    with qtbot.waitSignal(view.copied) as copied:
        view.copy()
    assert copied.args == [MAX_COPY, MAX_COPY + 5]


def test_copies_nothing_when_there_is_nothing(view: LogView, qtbot: QtBot) -> None:
    with qtbot.assertNotEmitted(view.copied):
        view.copy()
        view.select_all()
    assert view.current_line == 0


def test_selects_with_the_mouse(view: LogView, qtbot: QtBot) -> None:
    view.show_source(Numbered(100))
    port = view.viewport()
    height = port.height() // view.verticalScrollBar().pageStep()
    qtbot.mousePress(port, Qt.MouseButton.LeftButton, pos=QPoint(200, 2 * height + 3))
    assert view.current_line == 3
    qtbot.mouseRelease(port, Qt.MouseButton.LeftButton)
    shift = Qt.KeyboardModifier.ShiftModifier
    qtbot.mouseClick(port, Qt.MouseButton.LeftButton, shift, QPoint(200, 5 * height + 3))
    assert view.selected_rows() == (2, 5)


def test_shows_only_some_lines_and_keeps_the_cursor_close(view: LogView) -> None:
    view.show_source(Numbered(1000))
    view.go_to_line(500)
    view.show_rows([10, 400, 510, 900])
    assert view.n_rows == 4
    assert view.current_line == 510
    assert view.visible_texts() == ("line 10", "line 400", "line 510", "line 900")
    view.show_rows(None)
    assert view.current_line == 510
    assert view.n_rows == 1000


def test_keeps_only_the_found_lines_that_are_shown(view: LogView) -> None:
    view.show_source(Numbered(1000))
    view.show_found([10, 11, 400], found_spans.of_text("line"))
    view.show_rows([10, 400, 510])
    assert view.found_lines == [10, 400]
    view.show_rows(None)
    assert view.found_lines == [10, 11, 400]


def test_stays_at_the_end_when_the_log_grows(view: LogView, qtbot: QtBot) -> None:
    source = Numbered(1000)
    view.show_source(source)
    source.n_lines = 1100
    view.refresh(follow=True)
    assert "line 1" in view.visible_texts()
    qtbot.keyClick(view, Qt.Key.Key_End)
    source.n_lines = 1200
    view.refresh(follow=True)
    assert "line 1200" in view.visible_texts()


def test_stays_at_the_end_when_it_gets_smaller(view: LogView, qtbot: QtBot) -> None:
    view.show_source(Numbered(1000))
    qtbot.keyClick(view, Qt.Key.Key_End)
    view.resize(600, 200)
    assert "line 1000" in view.visible_texts()
    view.go_to_line(10)
    view.resize(600, 300)
    assert "line 10" in view.visible_texts()


def test_scrolls_sideways_through_long_lines(view: LogView, qtbot: QtBot, tmp_path: Path) -> None:
    view.show_source(_index(tmp_path / "a.log", b"x" * 3000 + b"\nshort\n"))
    across = view.horizontalScrollBar()
    assert across.maximum() > 10_000
    qtbot.keyClick(view, Qt.Key.Key_Right)
    assert across.value() == across.singleStep()
    qtbot.keyClick(view, Qt.Key.Key_Left)
    assert across.value() == 0


def test_shows_broken_bytes_colours_and_progress_lines(view: LogView, tmp_path: Path) -> None:
    data = b"bad \xff\xfe byte\n\x1b[32mI \x1b[0mgreen\nload 10%\rload 90%\r\nnul\0nul\na\tb\n"
    view.show_source(_index(tmp_path / "a.log", data))
    assert view.visible_texts() == (
        "bad \ufffd\ufffd byte",
        "I green",
        "load 90%",
        "nulnul",
        "a       b",
    )


def test_shows_utf_16_as_powershell_writes_it(view: LogView, tmp_path: Path) -> None:
    view.show_source(_index(tmp_path / "a.log", "größer\r\nzwei\r\n".encode("utf-16")))
    assert view.visible_texts() == ("größer", "zwei")


def test_shows_empty_rows_when_the_file_is_gone(view: LogView, tmp_path: Path) -> None:
    view.show_source(_index(tmp_path / "a.log", b"one\n" * 500))
    (tmp_path / "a.log").unlink()
    view.go_to_line(400)
    assert set(view.visible_texts()) == {""}


def test_paints_every_mark_in_both_themes(view: LogView, qtbot: QtBot) -> None:
    lines = list(range(1, 8))
    view.show_source(Numbered(9))
    marks = LineMarks(
        dict(zip(lines, Mark, strict=True)),
        tuple((mark, [line]) for line, mark in zip(lines, Mark, strict=True)),
    )
    view.show_marks(marks, lambda _line: "")
    plain = view.grab().toImage()
    view.show_marks(LineMarks(), lambda _line: "")
    assert view.grab().toImage() != plain


def test_gives_each_mark_its_own_shape(qtbot: QtBot) -> None:
    from PySide6.QtCore import QRectF
    from PySide6.QtGui import QColor, QImage, QPainter

    images = []
    for mark in Mark:
        image = QImage(24, 24, QImage.Format.Format_ARGB32)
        image.fill(0)
        painter = QPainter(image)
        log_marks.draw(painter, mark, QRectF(2, 2, 20, 20), QColor("black"))
        painter.end()
        images.append(image)
    assert all(a != b for i, a in enumerate(images) for b in images[:i])


def _ticks(n_rows: int, rows: Sequence[int] | None, marks: LineMarks, height: int) -> list[Mark]:
    bar = MarkBar()
    bar.resize(12, height)
    bar.show_marks(n_rows, rows, marks, ())
    return [mark for _y, mark in bar.place() if mark is not None]


def test_shows_the_most_urgent_mark_where_many_fall_together(qtbot: QtBot) -> None:
    harmless = list(range(1, 100_001))
    marks = LineMarks({}, ((Mark.ERROR, [50_000]), (Mark.HARMLESS, harmless)))
    ticks = _ticks(100_000, None, marks, 200)
    assert len(ticks) == 100
    assert ticks.count(Mark.ERROR) == 1


def test_shows_marks_by_row_when_lines_are_filtered(qtbot: QtBot) -> None:
    rows = [10, 20, 900]
    marks = LineMarks({}, ((Mark.ERROR, [900]), (Mark.NOTE, [10, 20])))
    assert _ticks(3, rows, marks, 6) == [Mark.NOTE, Mark.NOTE, Mark.ERROR]


def test_marks_every_line_once_when_there_are_few(qtbot: QtBot) -> None:
    marks = LineMarks({}, ((Mark.ERROR, [3]),))
    assert _ticks(5, None, marks, 300) == [Mark.ERROR]


def test_keeps_lines_of_a_log_that_is_elsewhere() -> None:
    kept = KeptLines(9, ())
    assert kept.n_lines == 9
    assert kept.lines(0, 99) == [""] * 9


@pytest.mark.parametrize(
    ("text", "n_prefix", "tone"),
    [
        ("0.00.017.747 E load failed", 15, Tone.ERROR),
        ("0.00.017.747 W careful", 15, Tone.WARNING),
        ("12.00.017.747 D details", 16, Tone.QUIET),
        ("I plain", 2, Tone.PLAIN),
        ("no prefix at all", 0, Tone.PLAIN),
        ("", 0, Tone.PLAIN),
    ],
)
def test_tells_time_and_level_from_the_text(text: str, n_prefix: int, tone: Tone) -> None:
    line = shown(text)
    assert (line.n_prefix, line.tone) == (n_prefix, tone)
