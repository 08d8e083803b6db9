"""What this program is, its version, and the licences of what it ships."""

from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from app import paths, product
from app.ui import theme


def show_about(parent: QWidget) -> None:
    """Show the dialog."""
    AboutDialog(parent).exec()


class AboutDialog(QDialog):
    """Name, version, privacy and licences."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("About {}").format(product.NAME))
        self.resize(640, 480)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.XL, theme.XL, theme.XL, theme.L)
        title = QLabel(f"{product.NAME} {product.VERSION}")
        title.setObjectName("title")
        summary = QLabel(product.SUMMARY)
        privacy = QLabel(
            self.tr(
                "It talks to programs on this computer only, sends nothing anywhere, and changes "
                "no setting of the system or of a runtime."
            )
        )
        for label in (summary, privacy):
            label.setWordWrap(True)
        texts = QPlainTextEdit(licences())
        texts.setReadOnly(True)
        texts.setAccessibleName(self.tr("Licences"))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        for widget in (title, summary, privacy, texts, buttons):
            layout.addWidget(widget)


def licences() -> str:
    """Return the licence texts of everything that is shipped, each under its name."""
    parts = [
        f"{path.stem}\n\n{path.read_text(encoding='utf-8', errors='replace').strip()}"
        for path in sorted((paths.resources() / "licences").glob("*.txt"))
    ]
    return "\n\n\n".join(parts)
