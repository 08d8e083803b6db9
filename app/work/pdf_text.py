"""Turns a report into a text document for paper: type, boxes, tables, places for charts."""

from PySide6.QtCore import QSizeF, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontDatabase,
    QPaintDevice,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFrameFormat,
    QTextLength,
    QTextListFormat,
    QTextOption,
    QTextTable,
    QTextTableFormat,
)

from app.report.blocks import (
    Block,
    Bullets,
    ByteChart,
    Callout,
    Chart,
    Command,
    CurveChart,
    Heading,
    Paragraph,
    Quote,
    RateChart,
    StepChart,
    Table,
    Tone,
)
from app.report.document import Document
from app.work.pdf_charts import CHART_OBJECT, CHART_PROPERTY, DIM, TEXT, ChartObject

_BOX = QColor("#eef0f3")
_ZEBRA = QColor("#f6f7f9")
_TONES = {
    Tone.FAULT: QColor("#c22f1f"),
    Tone.DOUBT: QColor("#96540a"),
    Tone.CLEAR: QColor("#1f63d6"),
}
_CELL = 5.0  # space left and right in a table's cell
_INDENT = 12.0
_WHOLE_ROWS = 9  # a table of so many rows stays on one page with its heading
_TITLE, _SECTION, _PART, _BODY, _SMALL, _MONO = 20.0, 13.0, 10.0, 9.5, 8.0, 8.0
_OBJECT = "\ufffc"
# Qt scales margins, padding and fixed lengths from 96 dots per inch to the paint device by itself
# (QTextDocumentLayoutPrivate::scaleToDevice, Qt 6.11)
_POINT = 96 / 72


def body_font() -> QFont:
    """Return the system's text font, laid out without regard to a screen's pixels."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    font.setPointSizeF(_BODY)
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return font


class PaperText:
    """Builds the text document; all sizes are in points."""

    def __init__(self, document: Document, device: QPaintDevice, width: float, height: float):
        self.text = QTextDocument()
        # positions from a heading to the end of what may not leave it
        self.together: list[tuple[int, int]] = []
        self._heading_at: int | None = None
        self._last_table: QTextTable | None = None
        self._device = device
        self._width = width
        self._charts: list[Chart] = []
        self._font = body_font()
        self._fixed = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        self._fixed.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
        self._start(height)
        self._cursor = QTextCursor(self.text)
        self._head(document)
        for section in document.sections:
            if section.title:
                self._heading(section.title, _SECTION, before=16)
            for block in section.blocks:
                self._block(block)

    def _start(self, height: float) -> None:
        layout = self.text.documentLayout()
        layout.setPaintDevice(self._device)
        # the document does not own the handler, so it lives as long as this object
        self._object = ChartObject(self._charts, self._device, self._font, self._width)
        layout.registerHandler(CHART_OBJECT, self._object)
        self.text.setDocumentMargin(0)
        self.text.setDefaultFont(self._font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.text.setDefaultTextOption(option)
        self.text.setPageSize(QSizeF(self._width, height))
        self.text.setIndentWidth(_INDENT * _POINT)
        self.text.setUndoRedoEnabled(False)

    def _head(self, document: Document) -> None:
        self._paragraph(document.title, _chars(_TITLE, weight=QFont.Weight.DemiBold), after=2)
        self._paragraph(document.subtitle, _chars(_BODY + 1), after=2)
        meta = "  ·  ".join(part for part in (document.created, document.made_by) if part)
        self._paragraph(meta, _chars(_SMALL, DIM), after=10)

    def _block(self, block: Block) -> None:
        self._write(block)
        if self._heading_at is not None and not isinstance(block, Heading):
            self.together.append((self._heading_at, self._end_of(block)))
            self._heading_at = None

    def _end_of(self, block: Block) -> int:
        """Return the position up to which a block stays with its heading."""
        table = self._last_table
        if isinstance(block, Table) and table is not None and table.rows() > _WHOLE_ROWS:
            return table.cellAt(2, 0).firstPosition()
        if isinstance(block, Table | Quote | Command | Callout) and table is not None:
            return table.lastPosition()
        return self._cursor.block().position()

    def _write(self, block: Block) -> None:
        match block:
            case Heading():
                self._heading(block.text, _PART, before=9)
            case Paragraph():
                size, colour = (_SMALL, DIM) if block.is_quiet else (_BODY, TEXT)
                self._paragraph(block.text, _chars(size, colour), after=4)
            case Callout():
                self._callout(block)
            case Quote():
                places = [_place(line.number, line.source) for line in block.lines]
                self._box([line.text for line in block.lines], places)
            case Command():
                self._box([block.text], [])
            case Bullets():
                self._bullets(block.items)
            case Table():
                self._table(block)
            case ByteChart() | RateChart() | StepChart() | CurveChart():
                self._chart(block)

    def _heading(self, text: str, size: float, *, before: float) -> None:
        self._paragraph(text, _chars(size, weight=QFont.Weight.DemiBold), before=before, after=3)
        if self._heading_at is None:  # a part's heading right under a section's belongs to that
            self._heading_at = self._cursor.block().position()

    def _paragraph(
        self, text: str, chars: QTextCharFormat, *, before: float = 0, after: float = 0
    ) -> None:
        shape = QTextBlockFormat()
        shape.setTopMargin(before * _POINT)
        shape.setBottomMargin(after * _POINT)
        shape.setLineHeight(118, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        self._new_block(shape, chars)
        self._cursor.insertText(text, chars)

    def _new_block(self, shape: QTextBlockFormat, chars: QTextCharFormat) -> None:
        """Start a block; the first one of the document is there already."""
        if self.text.isEmpty():
            self._cursor.setBlockFormat(shape)
            self._cursor.setBlockCharFormat(chars)
        else:
            self._cursor.insertBlock(shape, chars)

    def _callout(self, block: Callout) -> None:
        table = self._frame(columns=[("fixed", 3.0), ("rest", 0.0)], padding=0, margin=4)
        strip = table.cellAt(0, 0).format()
        strip.setBackground(QBrush(_TONES[block.tone]))
        table.cellAt(0, 0).setFormat(strip)
        cell = table.cellAt(0, 1)
        shape = cell.format().toTableCellFormat()
        shape.setBackground(QBrush(_BOX))
        for side in (shape.setLeftPadding, shape.setRightPadding):
            side(11 * _POINT)
        for side in (shape.setTopPadding, shape.setBottomPadding):
            side(8 * _POINT)
        cell.setFormat(shape)
        cursor = cell.firstCursorPosition()
        cursor.insertText(block.word.upper(), _chars(7.5, _TONES[block.tone],
                                                     weight=QFont.Weight.DemiBold))  # fmt: skip
        cursor.insertBlock()
        cursor.insertText(block.title, _chars(14, weight=QFont.Weight.DemiBold))
        shape_below = QTextBlockFormat()
        shape_below.setTopMargin(3 * _POINT)
        shape_below.setLineHeight(118, QTextBlockFormat.LineHeightTypes.ProportionalHeight.value)
        cursor.insertBlock(shape_below)
        cursor.insertText(block.text, _chars(_BODY))
        self._leave()

    def _box(self, texts: list[str], places: list[str]) -> None:
        """Write fixed-width lines in a grey box, with their places in a narrow column."""
        columns = [("share", 13.0), ("share", 87.0)] if places else [("share", 100.0)]
        table = self._frame(columns, rows=len(texts), padding=2.5, margin=3)
        for row, text in enumerate(texts):
            cells = [places[row], text] if places else [text]
            for column, words in enumerate(cells):
                cell = table.cellAt(row, column)
                shape = cell.format().toTableCellFormat()
                shape.setBackground(QBrush(_BOX))
                if column == 0:
                    shape.setLeftPadding(7 * _POINT)
                cell.setFormat(shape)
                chars = _chars(_MONO, DIM if places and column == 0 else TEXT)
                chars.setFontFamilies([self._fixed.family()])
                cell.firstCursorPosition().insertText(words, chars)
        self._leave()

    def _bullets(self, items: tuple[str, ...]) -> None:
        shape = QTextListFormat()
        shape.setStyle(QTextListFormat.Style.ListDisc)
        shape.setIndent(1)
        for index, item in enumerate(items):
            self._paragraph(item, _chars(_BODY), after=2)
            if index == 0:
                made = self._cursor.createList(shape)
            else:
                made.add(self._cursor.block())

    def _table(self, block: Table) -> None:
        has_titles = any(column.title for column in block.columns)
        whole = sum(column.share for column in block.columns)
        columns = [("share", 100 * column.share / whole) for column in block.columns]
        table = self._frame(columns, rows=len(block.rows) + has_titles, padding=2.6, margin=4)
        if has_titles:
            shape = table.format()
            shape.setHeaderRowCount(1)
            table.setFormat(shape)
            self._row(table, 0, tuple(c.title for c in block.columns), block, _BOX, is_head=True)
        for index, cells in enumerate(block.rows):
            colour = _ZEBRA if index % 2 else None
            self._row(table, index + has_titles, cells, block, colour)
        self._leave()

    def _row(
        self, table: QTextTable, row: int, cells: tuple[str, ...], block: Table,
        colour: QColor | None, *, is_head: bool = False,
    ) -> None:  # fmt: skip
        is_list = not any(column.title for column in block.columns)
        for index, (column, text) in enumerate(zip(block.columns, cells, strict=True)):
            cell = table.cellAt(row, index)
            shape = cell.format().toTableCellFormat()
            shape.setLeftPadding(_CELL * _POINT)
            shape.setRightPadding(_CELL * _POINT)
            if colour is not None:
                shape.setBackground(QBrush(colour))
            cell.setFormat(shape)
            cursor = cell.firstCursorPosition()
            if column.is_number:
                side = QTextBlockFormat()
                side.setAlignment(Qt.AlignmentFlag.AlignRight)
                cursor.setBlockFormat(side)
            weight = QFont.Weight.DemiBold if is_head else QFont.Weight.Normal
            ink = DIM if is_list and index == 0 else TEXT
            cursor.insertText(text, _chars(_SMALL + 0.5, ink, weight=weight))

    def _chart(self, chart: Chart) -> None:
        self._charts.append(chart)
        chars = QTextCharFormat()
        chars.setObjectType(CHART_OBJECT)
        chars.setProperty(CHART_PROPERTY, len(self._charts) - 1)
        shape = QTextBlockFormat()
        shape.setTopMargin(6 * _POINT)
        self._new_block(shape, QTextCharFormat())
        self._cursor.insertText(_OBJECT, chars)

    def _frame(
        self, columns: list[tuple[str, float]], *, rows: int = 1, padding: float, margin: float
    ) -> QTextTable:
        """Insert a table as wide as the page; borders are not drawn reliably, so it has none."""
        shape = QTextTableFormat()
        shape.setBorder(0)
        shape.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_None)
        shape.setCellSpacing(0)
        shape.setCellPadding(padding * _POINT)
        shape.setTopMargin(margin * _POINT)
        shape.setBottomMargin((margin + 3) * _POINT)
        shape.setWidth(QTextLength(QTextLength.Type.PercentageLength, 100))
        shape.setColumnWidthConstraints([self._length(kind, value) for kind, value in columns])
        self._last_table = self._cursor.insertTable(rows, len(columns), shape)
        return self._last_table

    def _length(self, kind: str, value: float) -> QTextLength:
        if kind == "fixed":
            return QTextLength(QTextLength.Type.FixedLength, value * _POINT)
        if kind == "share":
            return QTextLength(QTextLength.Type.PercentageLength, value)
        return QTextLength(QTextLength.Type.VariableLength, 0)

    def _leave(self) -> None:
        """Go on behind the table; the block that Qt puts there takes no room."""
        self._cursor.movePosition(QTextCursor.MoveOperation.End)


def _chars(
    size: float, colour: QColor = TEXT, *, weight: QFont.Weight = QFont.Weight.Normal
) -> QTextCharFormat:
    chars = QTextCharFormat()
    chars.setFontPointSize(size)
    chars.setFontWeight(weight)
    chars.setForeground(QBrush(colour))
    return chars


def _place(number: int | None, source: str) -> str:
    return f"line {number}" if number is not None else source
