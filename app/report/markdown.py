"""Writes a report as Markdown, whole or as the fields that an issue tracker's form asks for."""

import re
from enum import Enum

from app.core import units
from app.report.blocks import (
    Block,
    Bullets,
    ByteBar,
    ByteChart,
    Callout,
    Command,
    CurveChart,
    Heading,
    Line,
    Paragraph,
    Quote,
    RateBar,
    RateChart,
    StepChart,
    Table,
)
from app.report.document import Document

_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~])")
_MENTION = re.compile(r"@(?=\w)")
_MISSING = "not known"


class Project(Enum):
    """Whose issue form is filled; the value is what --issue takes."""

    LLAMA_CPP = "llama.cpp"
    OLLAMA = "ollama"
    LM_STUDIO = "lm-studio"


def to_markdown(document: Document) -> str:
    """Return the whole report."""
    meta = " · ".join(text for text in (document.created, document.made_by) if text)
    parts = [f"# {_plain(document.title)}", _plain(document.subtitle), _plain(meta)]
    for section in document.sections:
        if section.title:
            parts.append(f"## {_plain(section.title)}")
        parts += [_block(block) for block in section.blocks]
    return "\n\n".join(part for part in parts if part) + "\n"


def issue_markdown(document: Document, project: Project) -> str:
    """Return the fields of a project's form, in its order, to paste one by one or as a whole."""
    fields = {
        Project.LLAMA_CPP: _llama_cpp,
        Project.OLLAMA: _ollama,
        Project.LM_STUDIO: _lm_studio,
    }[project](document)
    return "\n\n".join(f"### {title}\n\n{text or _MISSING}" for title, text in fields) + "\n"


def _llama_cpp(document: Document) -> tuple[tuple[str, str], ...]:
    """Follow the forms 011 (bug: model use) and 019 (misc) of llama.cpp."""
    form = document.form
    return (
        ("Name and Version", _plain(form.program)),
        ("Operating systems", _plain(form.system)),
        ("GGML backends", _plain(form.backends)),
        ("Hardware", _plain(form.hardware)),
        ("Models", _plain(form.model)),
        ("Problem description & steps to reproduce", _problem(document)),
        ("First Bad Commit", ""),
        ("Relevant log output", _fenced(form.log)),
    )


def _ollama(document: Document) -> tuple[tuple[str, str], ...]:
    form = document.form
    return (
        ("What is the issue?", _problem(document)),
        ("Relevant log output", _fenced(form.log)),
        ("OS", _plain(form.system)),
        ("GPU", _plain(form.gpu)),
        ("CPU", _plain(form.cpu)),
        ("Ollama version", _plain(form.program)),
    )


def _lm_studio(document: Document) -> tuple[tuple[str, str], ...]:
    form = document.form
    return (
        ("Which version of LM Studio?", _plain(form.program)),
        ("Which operating system?", _plain(form.system)),
        ("What is the bug?", _problem(document)),
        ("Hardware", _plain(form.hardware)),
        ("Logs", _fenced(form.log)),
        ("To Reproduce", _fenced(form.command)),
    )


def _problem(document: Document) -> str:
    form = document.form
    parts = [_plain(form.problem)]
    if form.command:
        parts.append(f"Command:\n\n{_fenced(form.command)}")
    rates = document.section("rates")
    tables = [block for block in rates.blocks if isinstance(block, Table)] if rates else []
    parts += [_table(table) for table in tables[:1]]
    parts.append(_plain(f"Collected with {document.made_by}."))
    return "\n\n".join(parts)


def _block(block: Block) -> str:
    match block:
        case Heading():
            return f"{'#' * (block.level + 1)} {_plain(block.text)}"
        case Paragraph():
            return _plain(block.text)
        case Callout():
            title = f"**{_plain(block.word)}: {_plain(block.title)}**"
            return f"> {title}\n>\n> {_plain(block.text)}"
        case Quote():
            return _fenced("\n".join(_line(line) for line in block.lines))
        case Command():
            return _fenced(block.text)
        case Bullets():
            return "\n".join(f"- {_plain(item)}" for item in block.items)
        case Table():
            return _table(block)
        case ByteChart():
            items = "\n".join(f"- {_byte_bar(bar)}" for bar in block.bars)
            return f"{_plain(block.title)}:\n\n{items}"
        case RateChart():
            items = "\n".join(f"- {_rate_bar(bar)}" for bar in block.bars)
            return f"{_plain(block.title)}:\n\n{items}"
        case StepChart():
            items = "\n".join(f"- {_plain(bar.told)}" for bar in block.bars)
            return f"{_plain(block.title)}:\n\n{items}"
        case CurveChart():
            return f"{_plain(block.title)}: {_plain(block.told)}"


def _line(line: Line) -> str:
    place = f"line {line.number}" if line.number is not None else line.source
    return f"{place}: {line.text}"


def _table(table: Table) -> str:
    def row(cells: tuple[str, ...]) -> str:
        return f"| {' | '.join(_plain(cell) for cell in cells)} |"

    rule = "|".join(" ---: " if column.is_number else " --- " for column in table.columns)
    head = row(tuple(column.title for column in table.columns))
    return "\n".join((head, f"|{rule}|", *(row(cells) for cells in table.rows)))


def _byte_bar(bar: ByteBar) -> str:
    of = f" of {units.size(bar.total_bytes)}" if bar.total_bytes else ""
    words = ", ".join(f"{piece.ink.value} {units.size(piece.n_bytes)}" for piece in bar.pieces)
    return _plain(f"{bar.label}: {units.size(bar.used_bytes)}{of} ({words})")


def _rate_bar(bar: RateBar) -> str:
    span = ""
    if bar.low is not None and bar.high is not None:
        span = f" ({units.interval(bar.low, bar.high)})"
    return _plain(f"{bar.label}: {units.rate(bar.value)}{span}")


def _plain(text: str) -> str:
    """Return text that Markdown shows as it is: no marks, no mentions, no line breaks."""
    flat = " ".join(text.split())
    return _MENTION.sub("@\u200b", _SPECIAL.sub(r"\\\1", flat))


def _fenced(text: str) -> str:
    """Return a code block whose fence is longer than any run of backticks in the text."""
    if not text:
        return ""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"
