"""The parts of a report as text for a terminal: wrapped, aligned, nothing cut off."""

import textwrap
from collections.abc import Iterable, Iterator

from app.core import units
from app.report.blocks import (
    Block,
    Bullets,
    Callout,
    Command,
    Heading,
    Line,
    Paragraph,
    Quote,
    Table,
)

WIDTH = 96
_INDENT = "  "
_GAP = "   "
_LEAST_COLUMN = 30  # a last column that would be narrower goes under its row


def block_text(blocks: Iterable[Block]) -> str:
    """Return the blocks with an empty line between; charts are left out, a table has them too."""
    parts = ("\n".join(_lines(block)) for block in blocks)
    return "\n\n".join(part for part in parts if part)


def _lines(block: Block) -> Iterator[str]:
    match block:
        case Callout():
            yield from _wrap(f"{block.word}: {block.title}", "")
            yield from _wrap(block.text)
        case Heading():
            yield block.text
        case Paragraph():
            yield from _wrap(block.text)
        case Command():
            # whole and unbroken, so that it can be copied
            yield from (f"{_INDENT}{_INDENT}{line}" for line in block.text.splitlines())
        case Quote():
            yield from _quote(block.lines)
        case Bullets():
            for item in block.items:
                yield from _wrap(item, f"{_INDENT}- ", _INDENT * 2)
        case Table():
            yield from _table(block)


def _quote(lines: tuple[Line, ...]) -> Iterator[str]:
    """Yield evidence lines word for word, each with its number or its source."""
    for line in lines:
        where = line.source if line.number is None else f"line {units.count(line.number)}"
        yield f"{_INDENT}{where}: {line.text}"


def _table(table: Table) -> Iterator[str]:
    titles = tuple(column.title for column in table.columns)
    rows = [titles, *table.rows] if any(titles) else list(table.rows)
    widths = [max(len(row[i]) for row in rows) for i in range(len(titles))]
    fixed = len(_INDENT) + sum(widths[:-1]) + len(_GAP) * (len(widths) - 1)
    room = WIDTH - fixed
    for row in rows:
        cells = [
            cell.rjust(width) if column.is_number else cell.ljust(width)
            for cell, width, column in zip(row, widths, table.columns, strict=True)
        ]
        line = f"{_INDENT}{_GAP.join(cells)}".rstrip()
        if len(line) <= WIDTH or table.columns[-1].is_number:
            yield line
        elif room >= _LEAST_COLUMN:
            first = f"{_INDENT}{_GAP.join(cells[:-1])}{_GAP}"
            yield from _wrap(row[-1], first, " " * fixed)
        else:
            yield f"{_INDENT}{_GAP.join(cells[:-1])}".rstrip()
            yield from _wrap(row[-1], _INDENT * 3)


def _wrap(text: str, first: str = _INDENT, rest: str | None = None) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=first if rest is None else rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
