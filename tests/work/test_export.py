"""Exports: private unless it is asked otherwise, and every form from the same values."""

import hashlib
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.core import codec
from app.core.errors import UserError
from app.core.evidence import Evidence
from app.core.model import Part
from app.report.redact import Person
from app.work.export import Export, Format, content, prepare, write
from tests.report import sample

PETER = Person("/home/peter", "peter", "peters-box")
NOW = datetime(2026, 11, 30, 9, 5, tzinfo=UTC)


@pytest.fixture
def export() -> Export:
    return prepare(sample.evidence(), person=PETER, now=NOW)


def test_export_holds_nothing_personal(export: Export) -> None:
    assert export.document.created == "2026-11-30 09:05 UTC"
    for form in (Format.HTML, Format.MARKDOWN, Format.JSON):
        text = content(export, form).decode()
        assert "peter" not in text and "geheim" not in text


def test_names_stay_when_the_user_ticks_it() -> None:
    kept = prepare(sample.evidence(), keeps_names=True, now=NOW)
    assert "/home/peter" in content(kept, Format.MARKDOWN).decode()
    assert "were not taken out" in content(kept, Format.MARKDOWN).decode()


def test_json_opens_again(export: Export, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write(export, path, Format.JSON)
    assert codec.loads(path.read_bytes()) == export.evidence


@pytest.mark.parametrize("form", Format)
def test_every_form_is_written_whole(
    qtbot: QtBot, export: Export, tmp_path: Path, form: Format
) -> None:
    path = tmp_path / f"report.{form.value}"
    write(export, path, form)
    assert path.stat().st_size > 1000
    assert [item.name for item in tmp_path.iterdir()] == [path.name]


def test_hash_is_of_the_model_before_its_path_is_hidden(tmp_path: Path) -> None:
    file = tmp_path / "m.gguf"
    file.write_bytes(b"GGUF" + bytes(4096))
    evidence = sample.evidence()
    assert evidence.model is not None
    model = replace(evidence.model, parts=(Part(str(file), 4100, 1000, 32),))
    text = content(prepare(Evidence(model=model), person=PETER), Format.MARKDOWN).decode()
    assert hashlib.sha256((b"GGUF" + bytes(4096))[:1000]).hexdigest()[:16] in text
    assert str(tmp_path) not in text


def test_file_in_the_place_of_the_folder_is_named(
    qtbot: QtBot, export: Export, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("not a folder")
    for form in (Format.MARKDOWN, Format.PDF):
        with pytest.raises(UserError, match="could not be written"):
            write(export, tmp_path / "file" / f"a.{form.value}", form)


def test_folder_that_cannot_be_written_is_named(export: Export, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="could not be written"):
        write(export, tmp_path / "none" / "a.md", Format.MARKDOWN)
