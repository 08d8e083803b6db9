"""Decides where the pages of a report end: not behind a heading, not inside a table's row."""

from PySide6.QtGui import (
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextTable,
    QTextTableCell,
)

from app.work.pdf_text import PaperText

_MOST_HEADINGS_MOVED = 40


def settle(paper: PaperText) -> int:
    """Move what a page's end would cut to the next page; return the number of pages."""
    paper.text.pageCount()  # lays the document out
    _keep_headings(paper)
    for table in _tables(paper.text):
        row = 0
        while row < table.rows():
            row += 1 + _moved(paper.text, table, row)
    return paper.text.pageCount()


def _keep_headings(paper: PaperText) -> None:
    """Move a heading to the next page when what belongs to it does not fit below it."""
    layout = paper.text.documentLayout()
    height = paper.text.pageSize().height()
    for _ in range(_MOST_HEADINGS_MOVED):
        for first, last in paper.together:
            heading = paper.text.findBlock(first)
            top = layout.blockBoundingRect(heading).top()
            bottom = layout.blockBoundingRect(paper.text.findBlock(last)).bottom()
            is_cut = int(top // height) != int((bottom - 1) // height)
            if is_cut and bottom - top < height and _start_page_with(heading):
                break
        else:
            return


def _start_page_with(block: QTextBlock) -> bool:
    """Put a page break before a block; False when it has one already."""
    always = QTextFormat.PageBreakFlag.PageBreak_AlwaysBefore
    shape = block.blockFormat()
    if shape.pageBreakPolicy() & always:
        return False
    shape.setPageBreakPolicy(always)
    QTextCursor(block).setBlockFormat(shape)
    return True


def _tables(text: QTextDocument) -> list[QTextTable]:
    return [frame for frame in text.rootFrame().childFrames() if isinstance(frame, QTextTable)]


def _moved(text: QTextDocument, table: QTextTable, row: int) -> bool:
    """Fill the page up before a row that its end would cut; False when the row is whole.

    Qt breaks a table between any two lines, and a break asked for in a cell leaves the row's
    colour on the page before: an empty row as high as the room that is left does neither.
    """
    height = text.pageSize().height()
    layout = text.documentLayout()
    cells = [table.cellAt(row, column) for column in range(table.columns())]
    top = min(layout.blockBoundingRect(_first(cell)).top() for cell in cells)
    bottom = max(layout.blockBoundingRect(_last(cell)).bottom() for cell in cells)
    is_cut = int(top // height) != int((bottom - 1) // height)
    if not is_cut or bottom - top >= height / 2:
        return False
    table.insertRows(row, 1)
    # Qt scales a fixed line height from 96 dots per inch to the paper's
    scale = 96 / layout.paintDevice().logicalDpiY()
    shape = table.format()  # Qt keeps the margin below the table free on each of its pages
    taken = 2 * shape.cellPadding() + shape.bottomMargin()
    left = max((height - top % height) * scale - taken, 0)
    for column in range(table.columns()):
        cell = table.cellAt(row, column)
        cell.setFormat(QTextCharFormat())
        line = QTextBlockFormat()
        line.setLineHeight(left, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        cell.firstCursorPosition().setBlockFormat(line)
    return True


def _first(cell: QTextTableCell) -> QTextBlock:
    return cell.firstCursorPosition().block()


def _last(cell: QTextTableCell) -> QTextBlock:
    return cell.lastCursorPosition().block()
