"""The report holds what helpers ask for, in their order, and only what was seen."""

from dataclasses import replace

import pytest

from app.core.evidence import Evidence
from app.core.forecast import forecast
from app.core.machine import Machine, Runtime
from app.core.model import Fault, ModelProblem
from app.core.reading import Estimate
from app.core.rule import Diagnosis
from app.core.slowdown import Prediction
from app.report import program
from app.report.blocks import (
    Block,
    Bullets,
    ByteChart,
    Callout,
    Command,
    Paragraph,
    Quote,
    RateChart,
    Table,
)
from app.report.document import Document, build
from app.report.redact import Person, redact
from app.rules import judge
from tests.report import sample

PETER = Person("/home/peter", "peter", "peters-box")


@pytest.fixture(scope="module")
def document() -> Document:
    redacted = redact(sample.evidence(), PETER)
    return build(
        redacted.evidence, judge.diagnose(redacted.evidence), created="30 November 2026",
        header_sha256="3fa9c2d47b1e8805" * 4, removed=redacted.removed,
    )  # fmt: skip


def blocks(document: Document, key: str) -> tuple[Block, ...]:
    """Return a section's blocks."""
    section = document.section(key)
    assert section is not None
    return section.blocks


def table_text(document: Document, key: str) -> str:
    """Return all cells of a section's tables."""
    tables = [block for block in blocks(document, key) if isinstance(block, Table)]
    return "\n".join(" | ".join(row) for table in tables for row in table.rows)


def test_program_command_and_evidence_come_first(document: Document) -> None:
    assert [section.key for section in document.sections] == [
            "verdict", "program", "command", "evidence", "steps", "placement", "rates",
            "incident", "model", "computer", "privacy", "annex",
    ]  # fmt: skip


def test_verdict_has_the_fault_and_one_command(document: Document) -> None:
    found = blocks(document, "verdict")
    callout = next(block for block in found if isinstance(block, Callout))
    assert callout.word == "Proven" and "9 of 19 layers" in callout.text
    assert sum(isinstance(block, Command) for block in found) == 1


def test_evidence_quotes_lines_with_their_numbers(document: Document) -> None:
    quote = next(block for block in blocks(document, "evidence") if isinstance(block, Quote))
    assert [line.number for line in quote.lines] == [144, 147, 145, 146]
    assert quote.lines[0].text == "load_tensors: offloaded 9/19 layers to GPU"


def test_command_is_there_without_its_key(document: Document) -> None:
    command = next(block for block in blocks(document, "command") if isinstance(block, Command))
    assert "--api-key '<secret>'" in command.text and "geheim" not in command.text


def test_placement_sets_asked_beside_given(document: Document) -> None:
    text = table_text(document, "placement")
    assert "Layers on the device | 9 | 9 of 19, says the offload line" in text
    assert "Context | 4,096 | 4,096 tokens, 4,096 for each chat (trained for 32,768)" in text
    assert "Vulkan0 | weights | device | 29.34 MiB | 147" in text


def test_chart_has_each_memory_with_its_size(document: Document) -> None:
    chart = next(b for b in blocks(document, "placement") if isinstance(b, ByteChart))
    assert [bar.label for bar in chart.bars] == ["Vulkan0", "System memory"]
    assert chart.bars[0].total_bytes == 8176 * 1024**2
    assert chart.bars[0].used_bytes == sum(piece.n_bytes for piece in chart.bars[0].pieces)


def test_rates_stand_apart_with_intervals(document: Document) -> None:
    charts = [b for b in blocks(document, "rates") if isinstance(b, RateChart)]
    assert [len(chart.bars) for chart in charts] == [2, 2]
    assert all(bar.low is not None for chart in charts for bar in chart.bars)
    assert "generation | 128 | 4,096 | 24.17 tok/s | 23.16 to 25.17 tok/s | 3" in table_text(
        document, "rates"
    )


def test_model_is_found_by_its_hash_under_any_name(document: Document) -> None:
    text = table_text(document, "model")
    assert "SHA-256 of the header | 3fa9c2d47b1e8805…" in text
    assert "Number formats | q8_0 74 %, q4_K 18 %, q6_K 8 %" in text
    assert "Not in the header | begin token, pre-tokenizer" in text


def test_computer_says_what_could_not_be_read(document: Document) -> None:
    text = table_text(document, "computer")
    assert "Total | 31.21 GiB | /proc/meminfo" in text
    assert "needs root; run the command and paste its output" in text


def test_what_was_taken_out_is_counted(document: Document) -> None:
    assert "key or token | 1" in table_text(document, "privacy")
    bullets = next(b for b in blocks(document, "privacy") if isinstance(b, Bullets))
    assert bullets.items == ("llama-bench was not found; the rates come from llama-server.",)


def test_nothing_personal_is_in_any_part(document: Document) -> None:
    assert not [word for word in ("peter", "geheim", "/home") if word in repr(document)]


def test_report_of_nothing_says_so() -> None:
    document = build(Evidence(), judge.diagnose(Evidence()))
    callout = blocks(document, "verdict")[0]
    assert isinstance(callout, Callout) and callout.title == "Nothing found"
    assert document.section("model") is None
    assert document.subtitle == "no model file"


def test_clear_result_counts_the_checks() -> None:
    evidence = replace(sample.evidence(), log=None, outcome=None)
    callout = blocks(build(evidence, judge.diagnose(evidence)), "verdict")[0]
    assert isinstance(callout, Callout)
    assert "checks matched" in callout.text and "could not be made" in callout.text


def test_settings_asked_for_are_unknown_when_only_a_log_is_there() -> None:
    evidence = Evidence(log=sample.evidence().log)
    text = table_text(build(evidence, judge.diagnose(evidence)), "placement")
    assert "Layers on the device | not known | 9 of 19" in text


def test_prediction_shows_its_range_and_source() -> None:
    r = Estimate.typed(8.0)
    found = forecast(sample.evidence())
    made = build(
        sample.evidence(), Diagnosis(None),
        predicted=replace(found, r=r, prediction=Prediction(Estimate.typed(4.5))),
    )  # fmt: skip
    text = table_text(made, "rates")
    assert "8.00×; typed in" in text
    assert "4.50× (4.50×); (1 − s) + s × r" in text


def test_faults_of_the_file_are_listed() -> None:
    evidence = sample.evidence()
    assert evidence.model is not None
    problem = ModelProblem(Fault.TRUNCATED_DATA, "22 MiB are missing", 22 << 20)
    cut = replace(evidence, model=replace(evidence.model, problems=(problem,)))
    document = build(cut, Diagnosis(None))
    assert Bullets(("22 MiB are missing",)) in blocks(document, "model")
    assert "Whole | no, see below" in table_text(document, "model")


def test_form_answers_what_trackers_ask(document: Document) -> None:
    form = document.form
    assert form.program == "build 1 (7e4c0a9) with GNU 11.4.0 for Linux x86_64"
    assert form.system == "Debian GNU/Linux 13 (trixie), 6.12.41-amd64, x86_64"
    assert form.backends == "Vulkan"
    assert "AMD Radeon RX 7600 (RADV NAVI33) (7.98 GiB)" in form.gpu
    assert form.problem.startswith("Slow while writing. Layers are not on the device")
    assert "144: load_tensors: offloaded 9/19 layers to GPU" in form.log


@pytest.mark.parametrize(
    ("version", "build", "shown"),
    [
        ("build 11434", 11434, "build 11434"),
        ("b11434", 11434, "b11434"),
        ("0.5.1", 10434, "0.5.1; build 10434"),
        (None, 11434, "build 11434"),
        (None, None, "version not told"),
    ],
)
def test_names_the_build_of_a_program_once(
    version: str | None, build: int | None, shown: str
) -> None:
    runtime = Runtime("llama.cpp", "llama.cpp", "/opt/llama", version, build, (), "PATH")
    (table,) = program.blocks(Evidence(machine=Machine((), (), (runtime,))))
    assert isinstance(table, Table)
    assert table.rows == (("Installed: llama.cpp", shown),)


def test_notes_of_a_run_are_not_called_steps_that_were_not_possible() -> None:
    note = "The model is slow here, so it was measured with 64 prompt tokens."
    found = build(Evidence(notes=(note,)), Diagnosis(None))
    texts = [b.text for b in blocks(found, "privacy") if isinstance(b, Paragraph)]
    assert not any("not possible" in text for text in texts)
    assert "What to know about the run:" in texts
