"""The PDF, read by other programs: text, fonts, pages, attachments, and a picture's colours."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from app.core import codec
from app.core.errors import UserError
from app.core.evidence import Evidence
from app.core.rule import Diagnosis
from app.probes.host import RealHost
from app.report.blocks import Column, Table
from app.report.document import Document, Section, build
from app.report.redact import Person, redact
from app.rules import judge
from app.work.pdf import EVIDENCE_NAME, TEXT_NAME, pdf_bytes, write_pdf
from tests.report import sample

pytestmark = pytest.mark.real  # poppler's programs read the file
ROOT = Path(__file__).parent.parent.parent
PETER = Person("/home/peter", "peter", "peters-box")


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    return redact(sample.evidence(), PETER).evidence


@pytest.fixture(scope="module")
def document(evidence: Evidence) -> Document:
    return build(evidence, judge.diagnose(evidence), created="30 November 2026",
                 header_sha256="3fa9c2d47b1e8805" * 4)  # fmt: skip


@pytest.fixture
def pdf(qtbot: QtBot, document: Document, evidence: Evidence, tmp_path: Path) -> Path:
    path = tmp_path / "report.pdf"
    write_pdf(document, evidence, path)
    return path


def ask(*argv: object) -> str:
    """Run a program of poppler and return what it printed."""
    answer = RealHost().run([str(word) for word in argv], timeout_s=30)
    assert answer.code == 0, answer
    return answer.stdout


def test_text_holds_the_evidence_line_and_the_command(pdf: Path) -> None:
    text = ask("pdftotext", "-layout", pdf, "-")
    assert "line 144" in text and "load_tensors: offloaded 9/19 layers to GPU" in text
    assert "Layers are not on the device, by request" in text
    assert "llama-bench -m" in text and "3fa9c2d47b1e8805" in text
    assert "28.48 tok/s" in text  # the text of a chart can be selected too
    assert "peter" not in text


def test_pages_are_a4_and_numbered(pdf: Path, document: Document) -> None:
    facts = dict(line.split(":", 1) for line in ask("pdfinfo", pdf).splitlines() if ":" in line)
    assert "(A4)" in facts["Page size"]
    assert facts["Title"].strip() == f"{document.title}: {document.subtitle}"
    assert facts["Author"].strip() == "Slowscope"
    n_pages = int(facts["Pages"])
    assert n_pages > 2
    text = ask("pdftotext", "-layout", pdf, "-")
    assert all(f"page {n} of {n_pages}" in text for n in range(1, n_pages + 1))


def test_all_fonts_are_embedded_and_no_picture_is_in_it(pdf: Path) -> None:
    rows = ask("pdffonts", pdf).splitlines()[2:]
    assert rows and all(row.split()[-5] == "yes" for row in rows)
    assert ask("pdfimages", "-list", pdf).splitlines()[2:] == []
    assert pdf.stat().st_size < 400_000


def test_attached_evidence_is_what_the_report_was_made_from(
    pdf: Path, evidence: Evidence, tmp_path: Path
) -> None:
    listed = ask("pdfdetach", "-list", pdf)
    assert EVIDENCE_NAME in listed and TEXT_NAME in listed
    ask("pdfdetach", "-saveall", "-o", tmp_path, pdf)
    data = (tmp_path / EVIDENCE_NAME).read_bytes()
    assert json.loads(data)["schema"] == "slowscope.evidence/1"
    assert codec.loads(data) == evidence
    assert (tmp_path / TEXT_NAME).read_text(encoding="utf-8").startswith("# Slowscope report")


def test_long_table_repeats_its_header(qtbot: QtBot, tmp_path: Path) -> None:
    notes = tuple(f"fact {n}" for n in range(3))
    evidence = Evidence(machine=sample.machine(), notes=notes)
    machine = evidence.machine
    assert machine is not None
    many = tuple(machine.facts for _ in range(8))
    long = Evidence(machine=type(machine)(facts=sum(many, ()), devices=machine.devices))
    path = tmp_path / "long.pdf"
    n_pages = write_pdf(build(long, judge.diagnose(long)), long, path)
    pages = ask("pdftotext", "-layout", path, "-").split("\f")
    assert n_pages >= 5
    inside = [page for page in pages[2:-1] if "/proc/meminfo" in page or "/sys/" in page]
    assert inside and all("Source" in page for page in inside)


def test_rows_of_a_table_are_not_cut_by_the_end_of_a_page(
    document: Document, evidence: Evidence, qtbot: QtBot, tmp_path: Path
) -> None:
    texts = [f"begin{n} " + "many words of it " * (n % 13 + 1) + f"end{n}" for n in range(200)]
    table = Table(
        (Column("Fact"), Column("Value", share=2)), tuple(("a fact", text) for text in texts)
    )
    path = tmp_path / "rows.pdf"
    long = replace(document, sections=(Section("computer", "Computer", (table,)),))
    assert write_pdf(long, evidence, path) >= 8
    pages = ask("pdftotext", "-layout", path, "-").split("\f")
    for n in range(200):
        assert [f"begin{n} " in page for page in pages] == [
            f"end{n}\n" in page for page in pages
        ], n


def test_headings_stay_with_what_follows(pdf: Path, document: Document) -> None:
    titles = [section.title for section in document.sections if section.title]
    for page in ask("pdftotext", "-layout", pdf, "-").split("\f"):
        lines = [line.strip() for line in page.splitlines() if line.strip()]
        if len(lines) > 1:
            assert lines[-2] not in titles  # the last line is the footer


def test_page_is_light_with_a_red_mark_when_a_fault_is_proven(pdf: Path, tmp_path: Path) -> None:
    ask("pdftoppm", "-r", "50", "-png", "-f", "1", "-l", "1", "-singlefile", pdf, tmp_path / "p")
    image = QImage(str(tmp_path / "p.png"))
    pixels = [image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height())]
    white = sum(pixel.lightness() > 245 for pixel in pixels)
    red = sum(pixel.red() > 150 and pixel.green() < 110 for pixel in pixels)
    assert 0.6 < white / len(pixels) < 0.97
    assert 20 < red < len(pixels) // 50


def test_report_of_nothing_is_one_page(qtbot: QtBot) -> None:
    data, n_pages = pdf_bytes(build(Evidence(), Diagnosis(None)), Evidence())
    assert n_pages == 1
    assert data.startswith(b"%PDF-") and data.rstrip().endswith(b"%%EOF")


def test_folder_that_cannot_be_written_is_named(
    qtbot: QtBot, document: Document, evidence: Evidence, tmp_path: Path
) -> None:
    path = tmp_path / "no such folder" / "report.pdf"
    with pytest.raises(UserError, match="could not be written") as caught:
        write_pdf(document, evidence, path)
    assert str(path) in caught.value.detail


def test_old_report_stays_when_the_new_one_fails(
    qtbot: QtBot, document: Document, evidence: Evidence, tmp_path: Path
) -> None:
    path = tmp_path / "report.pdf"
    path.mkdir()
    with pytest.raises(UserError):
        write_pdf(document, evidence, path)
    assert list(tmp_path.iterdir()) == [path]


def test_works_without_widgets() -> None:
    code = (
        "import sys\n"
        "from PySide6.QtGui import QGuiApplication\n"
        "app = QGuiApplication(['x', '-platform', 'offscreen'])\n"
        "from app.core.evidence import Evidence\n"
        "from app.core.rule import Diagnosis\n"
        "from app.report.document import build\n"
        "from app.work.pdf import pdf_bytes\n"
        "data, pages = pdf_bytes(build(Evidence(), Diagnosis(None)), Evidence())\n"
        "print(pages, 'PySide6.QtWidgets' in sys.modules)\n"
    )
    run = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{code}"
    assert ask(sys.executable, "-c", run).split() == ["1", "False"]
