"""Icons from SVG files, drawn in the colour asked for."""

from PySide6.QtCore import QByteArray, QRectF, Qt
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from app import paths


def icon(name: str, colour: str, size: int = 20) -> QIcon:
    """Return an icon; size in logical pixels, drawn at 1x, 2x and 3x."""
    result = QIcon()
    for scale in (1, 2, 3):
        result.addPixmap(pixmap(name, colour, size, scale))
    return result


def pixmap(name: str, colour: str, size: int, scale: float = 1.0) -> QPixmap:
    """Return one picture of an icon; OSError when the file is missing from the bundle."""
    text = (paths.resources() / "icons" / f"{name}.svg").read_text(encoding="utf-8")
    renderer = QSvgRenderer(QByteArray(text.replace("currentColor", colour).encode()))
    picture = QPixmap(round(size * scale), round(size * scale))
    picture.setDevicePixelRatio(scale)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    renderer.render(painter, QRectF(0, 0, size, size))
    painter.end()
    return picture
