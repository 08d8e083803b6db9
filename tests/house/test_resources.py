"""Every file in resources is used, and every file that is used is there."""

import ast
import re
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication, QImageReader

from tests.house import tree

RESOURCES = tree.ROOT / "resources"
ICONS = RESOURCES / "icons"
# who may name a resource besides app/
OTHERS = [tree.ROOT / "build.spec", *(tree.ROOT / "installers").rglob("*.*")]
ICON_CALLS = {"icon", "pixmap", "icons.icon", "icons.pixmap"}


def words_in_app() -> set[str]:
    return {text for path in tree.sources(tree.APP) for text, _ in tree.strings(tree.syntax(path))}


def test_every_icon_is_used() -> None:
    words = words_in_app()
    unused = [path.name for path in ICONS.glob("*.svg")
              if path.stem not in words and path.name not in words]  # fmt: skip
    assert not unused


@pytest.mark.parametrize("path", tree.sources(tree.APP / "ui"), ids=tree.name_of)
def test_every_named_icon_is_there(path: Path) -> None:
    for node in ast.walk(tree.syntax(path)):
        if not isinstance(node, ast.Call) or ast.unparse(node.func) not in ICON_CALLS:
            continue
        name = node.args[0] if node.args else None
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            assert (ICONS / f"{name.value}.svg").exists(), f"line {node.lineno}"


@pytest.mark.parametrize("icon", sorted(ICONS.glob("*.svg")), ids=lambda path: path.name)
def test_icon_takes_the_colour_of_the_theme(icon: Path) -> None:
    text = icon.read_text(encoding="utf-8")
    if icon.stem != "app":
        assert "currentColor" in text
    # Qt's renderer would leave these out without a word
    assert not re.search(r"<(mask|clipPath|filter|style)\b", text)


def test_every_other_file_is_used() -> None:
    named = " ".join(path.read_text(encoding="utf-8", errors="replace") for path in OTHERS)
    named += " ".join(words_in_app())
    licences = (RESOURCES / "licences" / "README.md").read_text(encoding="utf-8")
    for path in RESOURCES.rglob("*"):
        if path.is_dir() or path.parent == ICONS or path.name == "README.md":
            continue
        assert path.name in (licences if path.parent.name == "licences" else named), path.name


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("app.png", {256}),
        ("app.ico", {16, 24, 32, 48, 64, 256}),
        ("app.icns", {32, 64, 128, 256, 512}),
    ],
)
def test_application_icon_has_all_sizes(qapp: QGuiApplication, name: str, sizes: set[int]) -> None:
    reader = QImageReader(str(RESOURCES / name))
    found = set()
    for number in range(max(1, reader.imageCount())):
        reader.jumpToImage(number)
        image = reader.read()
        found.add(image.width())
        # the ring of the lens, left of the middle
        colour = image.pixelColor(
            round(image.width() * 40 / 256), round(image.height() * 112 / 256)
        )
        assert colour.blue() > 150, (image.width(), colour.name())
        assert colour.alpha() == 255
    assert found == sizes
