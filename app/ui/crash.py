"""What happens on a bug: the window stays, a dialog offers the text to copy."""

import logging
import sys
import traceback
from types import TracebackType

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QMessageBox

from app import product

_log = logging.getLogger(__name__)


def install() -> None:
    """Catch what no slot caught; the last good state stays on screen."""
    sys.excepthook = _on_exception


def report_text(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> str:
    """Return what a bug report needs: version, system and the traceback."""
    lines = traceback.format_exception(kind, error, trace)
    return f"{product.NAME} {product.VERSION}, Python {sys.version.split()[0]}\n" + "".join(lines)


def _on_exception(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    if issubclass(kind, KeyboardInterrupt):
        QApplication.quit()
        return
    text = report_text(kind, error, trace)
    _log.error("%s", text)
    box = QMessageBox(QApplication.activeWindow())
    box.setIcon(QMessageBox.Icon.Warning)
    box.setWindowTitle(product.NAME)
    box.setText("Something went wrong inside the program. What you see is still valid.")
    box.setInformativeText("Copy the details and send them with what you did last.")
    box.setDetailedText(text)
    copy = box.addButton("Copy details", QMessageBox.ButtonRole.ActionRole)
    box.addButton(QMessageBox.StandardButton.Close)
    box.exec()
    if box.clickedButton() is copy:
        QGuiApplication.clipboard().setText(text)
