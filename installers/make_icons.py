"""Draws the application's icon files from resources/icons/app.svg; run it after changing that.

.venv/bin/python installers/make_icons.py
"""

import os
import struct
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QBuffer, QIODevice
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

RESOURCES = Path(__file__).resolve().parent.parent / "resources"
SVG = RESOURCES / "icons" / "app.svg"
# Windows reads small pictures as bitmaps everywhere, the large one as PNG
ICO_BITMAPS = (16, 24, 32, 48, 64)
ICO_PNGS = (256,)
# Apple's four-letter name of each size in pixels
ICNS = ((b"ic11", 32), (b"ic12", 64), (b"ic07", 128), (b"ic08", 256), (b"ic09", 512))


def picture(size: int) -> QImage:
    """Draw the icon with a side of `size` pixels."""
    image = QImage(size, size, QImage.Format.Format_ARGB32)
    image.fill(0)
    painter = QPainter(image)
    QSvgRenderer(str(SVG)).render(painter)
    painter.end()
    return image


def png(size: int) -> bytes:
    """Return the icon as PNG."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    picture(size).save(buffer, "PNG")  # type: ignore[call-overload] # the stub wants bytes
    return bytes(buffer.data().data())


def bitmap(size: int) -> bytes:
    """Return the icon as the bitmap of an .ico: colours, last row first, then an empty mask."""
    image = picture(size)
    pixels = bytes(image.constBits())
    rows = [pixels[4 * size * y : 4 * size * (y + 1)] for y in reversed(range(size))]
    mask = bytes((size + 31) // 32 * 4 * size)
    header = struct.pack("<IiiHHIIiiII", 40, size, 2 * size, 1, 32, 0, 0, 0, 0, 0, 0)
    return header + b"".join(rows) + mask


def ico() -> bytes:
    """Return a Windows icon with all sizes."""
    pictures = [(size, bitmap(size)) for size in ICO_BITMAPS]
    pictures += [(size, png(size)) for size in ICO_PNGS]
    offset = 6 + 16 * len(pictures)
    directory = struct.pack("<HHH", 0, 1, len(pictures))
    for size, data in pictures:
        side = size % 256  # 0 stands for 256
        directory += struct.pack("<BBBBHHII", side, side, 0, 0, 1, 32, len(data), offset)
        offset += len(data)
    return directory + b"".join(data for _size, data in pictures)


def icns() -> bytes:
    """Return a macOS icon with all sizes."""
    parts = [(name, png(size)) for name, size in ICNS]
    body = b"".join(name + struct.pack(">I", 8 + len(data)) + data for name, data in parts)
    return b"icns" + struct.pack(">I", 8 + len(body)) + body


def main() -> None:
    """Write app.png, app.ico and app.icns."""
    application = QGuiApplication([])
    (RESOURCES / "app.png").write_bytes(png(256))
    (RESOURCES / "app.ico").write_bytes(ico())
    (RESOURCES / "app.icns").write_bytes(icns())
    application.quit()


if __name__ == "__main__":
    main()
