"""Asks for files and folders, beginning where the user was last, never in the program's folder."""

from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from app.work.session import Session


def files(parent: QWidget, session: Session, title: str) -> list[str]:
    """Ask for files to open; empty when the user cancels."""
    names, _filter = QFileDialog.getOpenFileNames(parent, title, str(session.folder))
    if names:
        session.set_folder(Path(names[0]).parent)
    return names


def target(
    parent: QWidget, session: Session, title: str, name: str, filters: str
) -> tuple[str, str]:
    """Ask for a file to write, with a name proposed; "" and "" when the user cancels.

    The folder is remembered by whoever has written there: see written.
    """
    return QFileDialog.getSaveFileName(parent, title, str(session.folder / name), filters)


def written(session: Session, path: Path) -> None:
    """Remember the folder of a file that was written, to begin there the next time."""
    session.set_folder(path.parent)


def folder(parent: QWidget, title: str, start: str = "") -> str:
    """Ask for a folder, from the present one or from the home folder on; "" when cancelled."""
    return QFileDialog.getExistingDirectory(parent, title, start or str(Path.home()))
