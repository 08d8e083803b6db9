"""Writes a report as one HTML page without scripts, links or pictures from outside."""

from html import escape

from app.core import units
from app.report import drawing, svg
from app.report.blocks import (
    Block,
    Bullets,
    ByteBar,
    ByteChart,
    Callout,
    Column,
    Command,
    CurveChart,
    Heading,
    Ink,
    Line,
    Paragraph,
    Quote,
    RateBar,
    RateChart,
    StepChart,
    Table,
)
from app.report.document import Document, Section

# the light data colours of shipping.md section 5
COLOURS = {
    Ink.DEVICE: "#125078",
    Ink.HOST: "#96540a",
    Ink.CACHE: "#12a070",
    Ink.COMPUTE: "#c257d6",
    Ink.FREE: "#e3e6ea",
    Ink.PROMPT: "#1f63d6",
    Ink.GENERATION: "#125078",
}
_PICTURE_WIDTH, _PICTURE_SIZE = 720.0, 12.0  # in the page's pixels
_STYLE = """
:root{color-scheme:light}
body{font:14px/1.5 system-ui,"Segoe UI","Noto Sans",sans-serif;color:#1b1f24;background:#f6f7f9;
margin:0}
main{max-width:52rem;margin:2rem auto;padding:2rem 2.5rem;background:#fff;border:1px solid #d5d9df;
border-radius:10px}
h1{font-size:22px;margin:0}h2{font-size:17px;margin:2rem 0 .5rem;padding-top:1rem;
border-top:1px solid #d5d9df}h3{font-size:14px;margin:1.25rem 0 .25rem}
p{margin:.4rem 0}.quiet,.meta,caption{color:#5a6270;font-size:12px}
.callout{border-left:4px solid #1f63d6;background:#eef0f3;border-radius:4px;padding:.75rem 1rem;
margin:1rem 0}.callout.fault{border-color:#c22f1f}.callout.doubt{border-color:#96540a}
.callout .word{font-size:11px;text-transform:uppercase;letter-spacing:.06em;color:#5a6270}
.callout .title{font-size:17px;font-weight:600}
pre{font:12px/1.5 ui-monospace,"DejaVu Sans Mono",monospace;background:#eef0f3;border-radius:4px;
padding:.6rem .8rem;margin:.5rem 0;white-space:pre-wrap;overflow-wrap:anywhere}
pre .n{color:#5a6270;user-select:none}
table{border-collapse:collapse;width:100%;margin:.5rem 0;font-size:13px}
th{text-align:left;background:#eef0f3;font-weight:600}th,td{padding:.25rem .6rem;vertical-align:top;
overflow-wrap:anywhere}tr:nth-child(even) td{background:#f6f7f9}.num{text-align:right;
font-variant-numeric:tabular-nums;white-space:nowrap}
.bar{display:flex;height:14px;background:#e3e6ea;border-radius:4px;overflow:hidden}
.bar i{display:block}.legend{font-size:12px;color:#5a6270}.legend b{display:inline-block;width:9px;
height:9px;border-radius:2px;margin:0 .3em 0 1em}
@media print{body{background:#fff}main{border:0;margin:0;padding:0;max-width:none}}
"""


def to_html(document: Document) -> str:
    """Return the whole page."""
    body = "\n".join(_section(section) for section in document.sections)
    meta = " · ".join(text for text in (document.created, document.made_by) if text)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{escape(document.title)}: {escape(document.subtitle)}</title>"
        f"<style>{_STYLE}</style></head><body><main>\n"
        f"<h1>{escape(document.title)}</h1>\n"
        f'<p>{escape(document.subtitle)}</p><p class="meta">{escape(meta)}</p>\n'
        f"{body}\n</main></body></html>\n"
    )


def _section(section: Section) -> str:
    title = f"<h2>{escape(section.title)}</h2>\n" if section.title else ""
    blocks = "\n".join(_block(block) for block in section.blocks)
    return f'<section id="{escape(section.key)}">\n{title}{blocks}\n</section>'


def _block(block: Block) -> str:
    match block:
        case Heading():
            return f"<h{block.level + 1}>{escape(block.text)}</h{block.level + 1}>"
        case Paragraph():
            quiet = ' class="quiet"' if block.is_quiet else ""
            return f"<p{quiet}>{escape(block.text)}</p>"
        case Callout():
            return (
                f'<div class="callout {block.tone.value}"><div class="word">{escape(block.word)}'
                f'</div><div class="title">{escape(block.title)}</div><p>{escape(block.text)}</p>'
                "</div>"
            )
        case Quote():
            return f"<pre>{chr(10).join(_line(line) for line in block.lines)}</pre>"
        case Command():
            return f"<pre>{escape(block.text)}</pre>"
        case Bullets():
            return f"<ul>{''.join(f'<li>{escape(item)}</li>' for item in block.items)}</ul>"
        case Table():
            return _table(block)
        case ByteChart():
            return _byte_chart(block)
        case RateChart():
            return _rate_chart(block)
        case StepChart() | CurveChart():
            return _picture(block)


def _line(line: Line) -> str:
    place = f"line {line.number}" if line.number is not None else line.source
    return f'<span class="n">{escape(place)}  </span>{escape(line.text)}'


def _table(table: Table) -> str:
    head = ""
    if any(column.title for column in table.columns):
        cells = "".join(_cell("th", column, column.title) for column in table.columns)
        head = f"<thead><tr>{cells}</tr></thead>"
    rows = "".join(
        f"<tr>{''.join(_cell('td', c, t) for c, t in zip(table.columns, row, strict=True))}</tr>"
        for row in table.rows
    )
    return f"<table>{head}<tbody>{rows}</tbody></table>"


def _cell(tag: str, column: Column, text: str) -> str:
    number = ' class="num"' if column.is_number else ""
    return f"<{tag}{number}>{escape(text)}</{tag}>"


def _picture(chart: StepChart | CurveChart) -> str:
    """Return a vector picture, and what is said of it below."""
    told = chart.told if isinstance(chart, CurveChart) else " ".join(b.told for b in chart.bars)
    made = svg.to_svg(drawing.drawn(chart, _PICTURE_WIDTH, _PICTURE_SIZE), chart.title, told)
    below = f'<p class="quiet">{escape(told)}</p>' if isinstance(chart, CurveChart) else ""
    return f"<h3>{escape(chart.title)}</h3>{made}{below}"


def _byte_chart(chart: ByteChart) -> str:
    bars = "".join(_byte_bar(bar) for bar in chart.bars)
    inks = dict.fromkeys(piece.ink for bar in chart.bars for piece in bar.pieces)
    legend = "".join(
        f'<b style="background:{COLOURS[ink]}"></b>{escape(ink.value)}' for ink in inks
    )
    return f'<h3>{escape(chart.title)}</h3>{bars}<p class="legend">{legend}</p>'


def _byte_bar(bar: ByteBar) -> str:
    """Return a bar that is the whole memory; its pieces are shares of that."""
    own = max(bar.used_bytes, bar.total_bytes or 0) or 1
    pieces = "".join(
        f'<i style="width:{100 * piece.n_bytes / own:.2f}%;background:{COLOURS[piece.ink]}"></i>'
        for piece in bar.pieces
    )
    of = f" of {units.size(bar.total_bytes)}" if bar.total_bytes else ""
    words = ", ".join(f"{piece.ink.value} {units.size(piece.n_bytes)}" for piece in bar.pieces)
    return (
        f"<p>{escape(bar.label)}: {units.size(bar.used_bytes)}{of} "
        f'<span class="quiet">({escape(words)})</span></p>'
        f'<div class="bar">{pieces}</div>'
    )


def _rate_chart(chart: RateChart) -> str:
    scale = max((bar.high or bar.value for bar in chart.bars), default=0) or 1
    bars = "".join(_rate_bar(bar, scale) for bar in chart.bars)
    return f"<h3>{escape(chart.title)}</h3>{bars}"


def _rate_bar(bar: RateBar, scale: float) -> str:
    span = ""
    if bar.low is not None and bar.high is not None:
        span = f" ({units.interval(bar.low, bar.high)})"
    return (
        f"<p>{escape(bar.label)}: {units.rate(bar.value)}{span}</p>"
        f'<div class="bar"><i style="width:{100 * bar.value / scale:.2f}%;'
        f'background:{COLOURS[bar.ink]}"></i></div>'
    )
