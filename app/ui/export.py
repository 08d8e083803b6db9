"""Asks where the report shall go, and writes it."""

from pathlib import Path

from PySide6.QtWidgets import QCheckBox, QLabel, QMessageBox, QWidget

from app.core.errors import UserError
from app.ui import choose
from app.work import export
from app.work.export import Format
from app.work.session import Session

_FILTERS = {
    "PDF for support (*.pdf)": Format.PDF,
    "Web page (*.html)": Format.HTML,
    "Markdown for an issue tracker (*.md)": Format.MARKDOWN,
    "Evidence that opens here again (*.json)": Format.JSON,
}


def export_report(parent: QWidget, session: Session) -> None:
    """Ask for the file and for what may be in it, then write it; errors go to the session."""
    title = parent.tr("Export report")
    name, chosen = choose.target(
        parent, session, title, "slow-model-report.pdf", ";;".join(_FILTERS)
    )
    if not name:
        return
    form = format_of(name, chosen)
    path = Path(name)
    if not path.suffix:
        path = path.with_suffix(f".{form.value}")
    keeps = _ask_names(parent)
    if keeps is None:
        return
    try:
        export.write(export.prepare(session.evidence, keeps_names=keeps), path, form)
    except UserError as error:
        session.error.emit(error)
        return
    choose.written(session, path)
    session.message.emit(parent.tr("Report written: {}").format(path))


def format_of(name: str, chosen: str) -> Format:
    """Return the format by the file's ending, else by the chosen filter."""
    ending = Path(name).suffix.lower().lstrip(".")
    by_ending = {form.value: form for form in Format}
    return by_ending.get(ending) or _FILTERS.get(chosen, Format.PDF)


def _ask_names(parent: QWidget) -> bool | None:
    """Return whether names and paths may stay in the report, None = do not write it."""
    box = QMessageBox(parent)
    box.setWindowTitle(parent.tr("Export report"))
    box.setText(parent.tr("The report holds the verdict, its evidence, machine and model."))
    box.setInformativeText(
        parent.tr("Home folder, user and host names, addresses and keys are replaced.")
    )
    tick = QCheckBox(parent.tr("Keep personal details, for my own use"))
    box.setCheckBox(tick)
    save = box.addButton(parent.tr("Write report"), QMessageBox.ButtonRole.AcceptRole)
    box.addButton(QMessageBox.StandardButton.Cancel)
    for label in box.findChildren(QLabel):
        label.setWordWrap(True)
    box.exec()
    return tick.isChecked() if box.clickedButton() is save else None
