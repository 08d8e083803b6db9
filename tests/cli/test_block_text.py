"""Report blocks in a terminal: wrapped words, aligned columns, evidence lines left whole."""

from app.cli.block_text import WIDTH, block_text
from app.report.blocks import (
    NAME_VALUE,
    Bullets,
    Callout,
    Column,
    Command,
    Heading,
    Line,
    Paragraph,
    Quote,
    RateChart,
    Table,
    Tone,
)

LONG = " ".join(["word"] * 40)


def test_keeps_prose_within_the_width() -> None:
    text = block_text(
        (Callout(Tone.FAULT, "Proven", "Title", LONG), Paragraph(LONG), Bullets((LONG,)))
    )
    assert all(len(line) <= WIDTH for line in text.splitlines())
    assert text.split().count("word") == 120
    assert text.startswith("Proven: Title\n  word word")


def test_breaks_neither_commands_nor_evidence_lines() -> None:
    line = "load_tensors:   CPU_Mapped model buffer size =   235.16 MiB " + "x" * 100
    command = "llama-server -m " + "/folder" * 30
    text = block_text((Quote((Line(line, 1142, "log"), Line("busy", None, "psutil"))),
                       Command(command)))  # fmt: skip
    assert f"  line 1,142: {line}\n  psutil: busy" in text
    assert f"    {command}" in text.splitlines()


def test_aligns_numbers_and_wraps_the_last_column_of_words() -> None:
    table = Table(
        (Column("Rate"), Column("Mean", is_number=True), Column("Because")),
        (("prompt", "9", LONG), ("generation", "100", "short")),
    )
    lines = block_text((table,)).splitlines()
    assert lines[0] == "  Rate         Mean   Because"
    assert lines[1].startswith("  prompt          9   word")
    assert lines[2].startswith(" " * 22 + "word")
    assert lines[-1] == "  generation    100   short"
    assert all(len(line) <= WIDTH for line in lines)


def test_puts_words_below_a_row_that_leaves_no_room() -> None:
    name = "n" * 80
    lines = block_text((Table(NAME_VALUE, ((name, LONG),)),)).splitlines()
    assert lines[0] == f"  {name}"
    assert lines[1].startswith("      word")
    assert len(lines) > 2


def test_leaves_charts_to_the_table_beside_them() -> None:
    chart = RateChart("Generation", ())
    assert block_text((Heading("Speed"), chart, Paragraph("None."))) == "Speed\n\n  None."
