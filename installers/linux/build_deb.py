"""Makes the Debian package from the bundle: dist/slowscope -> dist/slowscope_VERSION_ARCH.deb.

python3 installers/linux/build_deb.py [--fast]
"""

import argparse
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from app import product

HERE = Path(__file__).resolve().parent
# proved in a bare Debian 12: the bundle brings the rest; without the last two there is no font
DEPENDS = "libgl1, libegl1, fontconfig-config, fonts-dejavu-core"
# where each file of this folder goes in the system
PLACES = {
    ".desktop": "usr/share/applications/{id}.desktop",
    ".metainfo.xml": "usr/share/metainfo/{id}.metainfo.xml",
    ".mime.xml": "usr/share/mime/packages/{id}.xml",
}


def newest_glibc(folder: Path) -> str:
    """Return the newest version of glibc that a library of the bundle asks for."""
    asked = {(2, 34)}  # PySide6's wheels
    for path in folder.rglob("*.so*"):
        if not path.is_symlink():
            found = re.findall(rb"GLIBC_(\d+)\.(\d+)\b", path.read_bytes())
            asked |= {(int(major), int(minor)) for major, minor in found}
    return ".".join(map(str, max(asked)))


def control(tree: Path, bundle: Path, architecture: str) -> str:
    """Return the package's description for dpkg."""
    files = [path for path in tree.rglob("*") if path.is_file() and not path.is_symlink()]
    installed_kib = sum(-(-path.stat().st_size // 1024) for path in files)
    return f"""Package: {product.SLUG}
Version: {product.VERSION}
Architecture: {architecture}
Maintainer: The {product.NAME} developers
Section: utils
Priority: optional
Installed-Size: {installed_kib}
Depends: libc6 (>= {newest_glibc(bundle)}), {DEPENDS}
Description: {product.SUMMARY}
 For people who run language models on their own computer: drop the model
 file, get one verdict with its evidence, one change to make first, and the
 measurement that proves it.
"""


def copyright_text() -> str:
    """Return the licences in the form that Debian looks for."""
    third = (ROOT / "resources" / "licences" / "README.md").read_text(encoding="utf-8")
    licence = (ROOT / "LICENSE").read_text(encoding="utf-8")
    place = f"/opt/{product.SLUG}/_internal/resources/licences"
    return f"{licence}\n\n{third}\nThe texts are in {place}.\n"


def fill(tree: Path, bundle: Path) -> None:
    """Lay out the files as they will be in the system."""
    target = tree / "opt" / product.SLUG
    shutil.copytree(bundle, target, symlinks=True)
    link = tree / "usr" / "bin" / product.SLUG
    link.parent.mkdir(parents=True)
    link.symlink_to(f"/opt/{product.SLUG}/{product.SLUG}")
    for suffix, place in PLACES.items():
        copy(HERE / f"{product.DESKTOP_ID}{suffix}", tree / place.format(id=product.DESKTOP_ID))
    icons = tree / "usr" / "share" / "icons" / "hicolor"
    resources = ROOT / "resources"
    copy(resources / "icons" / "app.svg", icons / f"scalable/apps/{product.DESKTOP_ID}.svg")
    copy(resources / "app.png", icons / f"256x256/apps/{product.DESKTOP_ID}.png")
    document = tree / "usr" / "share" / "doc" / product.SLUG / "copyright"
    document.parent.mkdir(parents=True)
    document.write_text(copyright_text(), encoding="utf-8")


def copy(source: Path, target: Path) -> None:
    """Copy a file, making its folder."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, target)


def set_modes(tree: Path) -> None:
    """Let everybody read everything, whatever the umask of the builder was."""
    tree.chmod(0o755)
    for path in tree.rglob("*"):
        if not path.is_symlink():
            is_open = path.is_dir() or path.stat().st_mode & 0o100
            path.chmod(0o755 if is_open else 0o644)


def main() -> int:
    """Build the package and print where it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bundle", type=Path, default=ROOT / "dist" / product.SLUG)
    parser.add_argument("--fast", action="store_true", help="compress less, for a trial")
    options = parser.parse_args()
    bundle: Path = options.bundle.resolve()
    if not (bundle / product.SLUG).exists():
        print(f"no bundle in {bundle}: run `python -m PyInstaller build.spec` first")
        return 2
    architecture = subprocess.run(
        ["dpkg", "--print-architecture"], capture_output=True, text=True, check=True
    ).stdout.strip()
    tree = ROOT / "build" / "deb"
    shutil.rmtree(tree, ignore_errors=True)
    fill(tree, bundle)
    (tree / "DEBIAN").mkdir()
    text = control(tree, bundle, architecture)
    (tree / "DEBIAN" / "control").write_text(text, encoding="utf-8")
    set_modes(tree)
    package = bundle.parent / f"{product.SLUG}_{product.VERSION}_{architecture}.deb"
    compression = ["-Zgzip", "-z1"] if options.fast else ["-Zxz"]
    subprocess.run(
        ["dpkg-deb", "--root-owner-group", *compression, "--build", str(tree), str(package)],
        check=True,
    )
    shutil.rmtree(tree)
    print(package)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
